/**
 * `Idempotency-Key`: a POST that is sent again with the same key gets the answer of the first and does nothing twice, so that a caller whose
 * connection broke may ask again (docs/api-contract.md#sending-again). Only what was done is kept: a refused request may be mended and sent again.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
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
/** A longer body is packed: of an answer with thousands of changes a tenth or less is left. */
const LONGEST_PLAIN = 512;
/** Characters of an answer as it is kept. `expect` keeps a document that has a longer one from being done twice. */
const MOST_CHARACTERS = 1_048_576;
/** A large one has more characters than this; a workspace keeps so many of them in a day, and further ones count as too long. */
const LARGE = { characters: 16_384, mostADay: 32 } as const;
const pack = promisify(deflateRaw);
const unpack = promisify(inflateRaw);

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
    await keep(api, call, { name, request }, response);
    return response;
  } catch (error) {
    await answers.forget(name).catch(() => {});
    throw error;
  }
}

/** Never rejects: what was done is done, and is answered so. Meanwhile it counts as being answered, so that it is not done twice at once. */
async function keep(
  api: Api,
  { workspace, nowMs }: KeyCall | ProjectCall,
  { name, request }: { readonly name: string; readonly request: string },
  response: ApiAnswer,
): Promise<void> {
  const { answers } = api.state;
  try {
    const text = isStream(response) || !isKept(response) ? null : await sealedAnswer(api, name, response);
    if (text !== null && (await hasRoom(api, workspace.id, text.length, nowMs)))
      await answers.keep(name, request, text, DAY_MS, api.clock.now());
    else await answers.forget(name);
  } catch (error) {
    api.log.warn({ err: error }, "the answer to a request with an Idempotency-Key could not be kept");
  }
}

async function hasRoom({ state }: Api, workspaceId: number, characters: number, nowMs: number): Promise<boolean> {
  if (characters > MOST_CHARACTERS) return false;
  if (characters <= LARGE.characters) return true;
  return state.counters.takeFrom(`large answers ${workspaceId}`, LARGE.mostADay, DAY_MS, nowMs);
}

function callerOf({ session, key }: KeyCall): string {
  return session === null ? String(key?.id) : `session ${session.id}`;
}

/** Only answers of success are kept: a refusal (400 and above) did nothing, so the caller may correct the request and send it again. */
function isKept({ status, body }: ApiResponse): boolean {
  return status < 300 && typeof body === "string";
}

/** A new key and a heartbeat's address are in some answers, so it is sealed. */
async function sealedAnswer(api: Api, name: string, { status, headers, body }: ApiResponse): Promise<string> {
  if (body.length <= LONGEST_PLAIN) return api.sealing.seal(purposeOf(name), JSON.stringify([status, headers, body]));
  const packed = (await pack(body)).toString("base64");
  return PACKED + api.sealing.seal(purposeOf(name), JSON.stringify([status, headers, packed]));
}

/** Before a sealed answer whose body is packed; no sealed text begins so. */
const PACKED = "packed:";

async function replayed(
  api: Api,
  route: Route,
  { request }: KeyCall,
  name: string,
  text: string,
): Promise<ApiResponse> {
  const isPacked = text.startsWith(PACKED);
  const sealed = isPacked ? text.slice(PACKED.length) : text;
  const [status, headers, kept] = JSON.parse(api.sealing.open(purposeOf(name), sealed)) as [number, string[], string];
  const body = isPacked ? (await unpack(Buffer.from(kept, "base64"))).toString() : kept;
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
