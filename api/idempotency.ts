/**
 * `Idempotency-Key`: a POST that is sent again with the same key gets the answer of the first and does nothing twice, so that a caller whose
 * connection broke may ask again (docs/api-contract.md#sending-again). Only what was done is kept: a refused request may be mended and sent again.
 */
import { createHash } from "node:crypto";
import { andThen, type MaybePromise } from "../model/maybe-promise.ts";
import type { Api } from "./api.ts";
import { readOptionalObject } from "./body.ts";
import { RETRY_SOON, refusal } from "./errors.ts";
import { type ApiAnswer, type ApiResponse, isStream } from "./http.ts";
import { restS } from "./limits.ts";
import { type KeyCall, type ProjectCall, type Route, takesIdempotencyKey } from "./route.ts";

export const REPLAYED_HEADER = "Idempotency-Replayed";
/** Visible ASCII. Two lines of a header are joined by a comma and a blank (RFC 9110 section 5.3), so two keys hold a blank and are refused. */
const KEY = /^[\x21-\x7e]{1,255}$/;
/** How long a request counts as being answered. The slowest one, POST /test, waits 75 s; after this time its process must have died. */
const RUNS_MS = 150_000;
const DAY_MS = 86_400_000;
/** Of one workspace in a day: bounds what it keeps. */
const MOST_KEYS_A_DAY = 10_000;
/** Characters of an answer that is kept. Documents with thousands of changes have longer ones; `expect` keeps them from being done twice. */
const MOST_BYTES = 262_144;

/** Runs the handler unless the request was answered before. */
export function onceFor(
  api: Api,
  route: Route,
  call: KeyCall | ProjectCall,
  work: () => MaybePromise<ApiAnswer>,
): MaybePromise<ApiAnswer> {
  const key = call.request.idempotencyKey;
  if (key === null || !takesIdempotencyKey(route) || call.request.body === "too-large") return work();
  if (!KEY.test(key)) throw refusal("idempotencyKeyInvalid");
  return once(api, route, call, hashOf(`${call.workspace.id} ${callerOf(call)} ${key}`), work);
}

async function once(
  api: Api,
  route: Route,
  call: KeyCall | ProjectCall,
  name: string,
  work: () => MaybePromise<ApiAnswer>,
): Promise<ApiAnswer> {
  const { answers, counters } = api.state;
  const request = requestOf(call);
  const begun = await answers.begin(name, request, RUNS_MS, call.nowMs);
  switch (begun.type) {
    case "running":
      throw refusal("idempotencyKeyRunning", { headers: RETRY_SOON });
    case "other":
      throw refusal("idempotencyKeyOther");
    case "answered":
      return replayed(api, route, call, name, begun.answer);
    case "first":
  }
  try {
    const counted = `idempotency ${call.workspace.id}`;
    if (!(await counters.takeFrom(counted, MOST_KEYS_A_DAY, DAY_MS, call.nowMs)))
      throw refusal("idempotencyKeysUsedUp", { retryAfterS: restS(DAY_MS, call.nowMs) });
    const response = await andThen(work(), (answered) => answered);
    if (isStream(response) || !isKept(response)) {
      await answers.forget(name);
      return response;
    }
    await keep(api, name, request, response);
    return response;
  } catch (error) {
    await answers.forget(name).catch(() => {});
    throw error;
  }
}

/** Never rejects: what was done is done, and is answered so. Meanwhile it counts as being answered, so that it is not done twice at once. */
async function keep(api: Api, name: string, request: string, { status, headers, body }: ApiResponse): Promise<void> {
  // A new key and a heartbeat's address are in some answers.
  const sealed = api.sealing.seal(purposeOf(name), JSON.stringify([status, headers, body]));
  try {
    await api.state.answers.keep(name, request, sealed, DAY_MS, api.clock.now());
  } catch (error) {
    api.log.warn({ err: error }, "the answer to a request with an Idempotency-Key could not be kept");
  }
}

function callerOf({ session, key }: KeyCall): string {
  return session === null ? String(key?.id) : `session ${session.id}`;
}

/** Only answers of success are kept: a refusal (400 and above) did nothing, so the caller may correct the request and send it again. */
function isKept({ status, body }: ApiResponse): boolean {
  return status < 300 && typeof body === "string" && body.length <= MOST_BYTES;
}

function replayed(api: Api, route: Route, { request }: KeyCall, name: string, sealed: string): ApiResponse {
  const [status, headers, body] = JSON.parse(api.sealing.open(purposeOf(name), sealed)) as [number, string[], string];
  // The body is read although nothing uses it here: warned.ts then finds it and warns of its unknown fields, as it did the first time.
  if (route.body !== undefined) readOptionalObject(request);
  return { status, headers: [...headers, REPLAYED_HEADER, "true"], body };
}

/** An answer is sealed for its name: copied to the name of another request in the store, it cannot be opened. */
function purposeOf(name: string): string {
  return `answer ${name}`;
}

/** Everything that decides what a request does. */
function requestOf(call: KeyCall | ProjectCall): string {
  const { method, path, query, body } = call.request;
  const project = "project" in call ? call.project.id : "";
  return hashOf(`${method} ${path}?${query}\n${project}\n`, body === null || body === "too-large" ? "" : body);
}

function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("base64url");
}
