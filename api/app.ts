/** From a request to its response: finds the route, asks who calls, runs the handler, words every failure. Never rejects. */
import { andThen, type MaybePromise } from "../model/maybe-promise.ts";
import { StoreError, type StoreName } from "../store/errors.ts";
import { clientAddressOf } from "./address.ts";
import type { Api } from "./api.ts";
import { auditRule, withAudit } from "./audit.ts";
import { type Admission, admit, mayStill as mayStillRead } from "./auth.ts";
import { ApiError, errorResponse, RETRY_SOON, refusal, resultsAway } from "./errors.ts";
import { type ApiAnswer, type ApiRequest, type ApiResponse, type Handle, isStream } from "./http.ts";
import { onceFor } from "./idempotency.ts";
import { createListed } from "./listed.ts";
import type { Source } from "./read-gate.ts";
import type { Call, KeyCall, ProjectCall, ProjectRoute, Route } from "./route.ts";
import { allowedMethods, createRouter, PREFLIGHT_S } from "./router.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";
import type { StreamReader } from "./streams.ts";
import { TextRefused } from "./texts/texts.ts";
import { createWarned } from "./warned.ts";

const CORS: readonly string[] = ["Access-Control-Allow-Origin", "*"];
/** Answers to keys may carry heartbeat addresses and new keys. */
const PRIVATE: readonly string[] = ["Cache-Control", "no-store"];

export function createApp(api: Api, routes: readonly Route[]): Handle {
  const router = createRouter(routes);
  const addressOf = clientAddressOf(api.config.trustedProxies);
  const warned = createWarned(routes);
  const asListed = createListed();
  /** The names of routes in the usage counts; made once, not for each request. */
  const endpoints = new Map(routes.map((route) => [route, `${route.method} ${route.path}`]));

  function serve(request: ApiRequest): MaybePromise<ApiAnswer> {
    const startedAt = performance.now();
    const found = router.find(request.method, request.path);
    if (found.type !== "route") {
      const refused = secured(
        found.type === "unknown" ? errorResponse(refusal("notFound")) : wrongMethod(request.method, found.routes),
      );
      record(api, { request, route: null, admission: null, startedAt }, refused);
      return refused;
    }
    const { route } = found;
    const nowMs = api.clock.now();
    const call: Call = { request, params: found.params, nowMs, clientAddress: addressOf(request) };
    const admission: Admission = { call, limitHeaders: null, counted: null, sessionId: null, workspaceId: null };
    const ready = andThen(answer(api, route, admission), (answered): MaybePromise<ApiAnswer> => {
      const admitted = isStream(answered) ? api.streams.admit(answered, readerOf(api, route, admission)) : answered;
      const complete = warned(route, request, withHeaders(route, admission, admitted));
      return isStream(complete) ? complete : asListed(route, request, complete);
    });
    return andThen(ready, (response) => {
      if (admission.counted !== null) {
        const { organizationId, keyId } = admission.counted;
        const endpoint = endpoints.get(route) ?? "";
        api.state.counters.countEndpoint(organizationId, keyId, endpoint, response.status >= 400, nowMs);
      }
      record(api, { request, route, admission, startedAt }, response);
      return response;
    });
  }

  const failed = (error: unknown): ApiResponse => {
    api.log.error({ err: error }, "request failed");
    return secured(errorResponse(refusal("internal")));
  };
  return (request) => {
    try {
      const served = serve(request);
      return served instanceof Promise ? served.catch(failed) : served;
    } catch (error) {
      return failed(error);
    }
  };
}

function answer(api: Api, route: Route, admission: Admission): MaybePromise<ApiAnswer> {
  try {
    const answered = route.scope === "public" ? route.handle(api, admission.call) : answerKey(api, route, admission);
    return answered instanceof Promise ? answered.catch((error) => worded(api, route, error)) : answered;
  } catch (error) {
    return worded(api, route, error);
  }
}

function answerKey(
  api: Api,
  route: Exclude<Route, { scope: "public" }>,
  admission: Admission,
): MaybePromise<ApiAnswer> {
  return andThen(admit(api, route, admission), (admitted) => {
    if ("status" in admitted) return admitted;
    admission.sessionId = admitted.session?.id ?? null;
    admission.workspaceId = admitted.workspace.id;
    // admit() gives a project call exactly to project routes.
    const work = () =>
      route.scope === "key"
        ? route.handle(api, admitted satisfies KeyCall)
        : withinBudget(api, route, admitted as ProjectCall);
    const rule = auditRule(route);
    const audited = rule === null ? work : () => withAudit(api, route, rule, admitted, async () => work());
    return whenChanged(api, route, admitted, () => onceFor(api, route, admitted, audited));
  });
}

/** What was kept before a change is not shown after it, whatever was changed. */
function whenChanged(
  api: Api,
  route: Route,
  call: KeyCall | ProjectCall,
  work: () => MaybePromise<ApiAnswer>,
): MaybePromise<ApiAnswer> {
  if (route.method === "GET" || !("project" in call)) return work();
  return andThen(work(), (answer) => {
    api.keptAnswers.forget(call.project.id);
    return answer;
  });
}

/** A read waits or is refused before it makes a check late. */
function withinBudget(api: Api, route: ProjectRoute, call: ProjectCall): MaybePromise<ApiAnswer> {
  const current = route.kept?.(api, call);
  if (current !== undefined) return showKept(api, route, call, current);
  if (mayBeOlder(api, route)) return shared(api, route, call);
  if (route.fromMemory === undefined) return made(api, route, call);
  return andThen(
    behindGate(api, route, call, "memory", () => route.fromMemory?.(api, call)),
    (answered) => answered ?? made(api, route, call),
  );
}

function showKept(api: Api, route: ProjectRoute, call: ProjectCall, kept: ApiResponse): MaybePromise<ApiAnswer> {
  const entered = api.reads.enter(route, call.request, "memory", call.workspace.id, kept.body.length);
  return andThen(entered, (leave) => {
    leave();
    return kept;
  });
}

function made(api: Api, route: ProjectRoute, call: ProjectCall): MaybePromise<ApiAnswer> {
  return behindGate(api, route, call, "made", () => route.handle(api, call));
}

function behindGate<T>(
  api: Api,
  route: ProjectRoute,
  call: ProjectCall,
  source: Source,
  work: () => MaybePromise<T>,
): MaybePromise<T> {
  return andThen(api.reads.enter(route, call.request, source, call.workspace.id), (leave) => {
    try {
      const answered = work();
      if (answered instanceof Promise) return answered.finally(leave);
      leave();
      return answered;
    } catch (error) {
      leave();
      throw error;
    }
  });
}

function mayBeOlder({ reads }: Api, { mayBeKept }: ProjectRoute): boolean {
  if (mayBeKept === undefined) return false;
  return reads.isPressed || (mayBeKept === "when reads are many" && reads.areMany);
}

/**
 * An answer that is shown for a second, and made anew before that is over, so that its readers do not wait for it. Of several who ask for one that is not there
 * one makes it, and the others wait for that: it would cost each of them a turn at the gate. When it fails, they ask for themselves.
 */
function shared(api: Api, route: ProjectRoute, call: ProjectCall, waits = true): MaybePromise<ApiAnswer> {
  const key = api.keptAnswers.keyOf(route.path, call);
  const nowMs = api.clock.now();
  const kept = api.keptAnswers.find(key, nowMs);
  if (kept !== undefined) {
    api.keptAnswers.renewIfDue(key, nowMs, () => renew(api, route, call, key));
    return showKept(api, route, call, kept);
  }
  const making = waits ? api.keptAnswers.making(key) : undefined;
  if (making !== undefined) return making.then(() => shared(api, route, call, false));
  return makeShared(api, route, call, key);
}

/** No caller waits for it, so a failure is not reported: the first caller after the old answer has ended makes it again, and gets the failure. */
async function renew(api: Api, route: ProjectRoute, call: ProjectCall, key: string): Promise<void> {
  try {
    await makeShared(api, route, call, key);
  } catch (error) {
    api.log.debug({ route: route.path, err: error }, "a kept answer was not made anew");
  }
}

function makeShared(api: Api, route: ProjectRoute, call: ProjectCall, key: string): MaybePromise<ApiAnswer> {
  return api.keptAnswers.make(
    key,
    behindGate(api, route, call, "shared", () => keepAnswer(api, route, call, key)),
  );
}

function keepAnswer(api: Api, route: ProjectRoute, call: ProjectCall, key: string): MaybePromise<ApiAnswer> {
  const from = { generation: api.authCache.generation(), atMs: api.clock.now() };
  return andThen(route.handle(api, call), (answer) =>
    isStream(answer) ? answer : api.keptAnswers.keep(key, from, answer, route.isList === true, api.clock.now()),
  );
}

/** The answer to a failure. Its cause is only in the log. */
function worded(api: Api, route: Route, error: unknown): ApiResponse {
  if (error instanceof ApiError) return errorResponse(error);
  if (error instanceof StoreError) {
    api.log.warn({ route: route.path, reason: error.message }, "a store refused");
    return errorResponse(away(api, error.store));
  }
  if (error instanceof TextRefused)
    return errorResponse(error.isBusy ? refusal("textsBusy", { headers: RETRY_SOON }) : refusal("textTooMuch"));
  api.log.error({ route: route.path, err: error }, "request failed");
  return errorResponse(refusal("internal"));
}

function away(api: Api, store: StoreName): ApiError {
  if (store === "results") return resultsAway(api.storeCondition());
  return refusal(store === "redis" ? "redisAway" : "storeAway", { headers: RETRY_SOON });
}

function readerOf(api: Api, route: Route, { call, sessionId, workspaceId }: Admission): StreamReader {
  const mayStill = async (): Promise<boolean> =>
    route.scope === "public" || mayStillRead(api, route, { ...call, nowMs: api.clock.now() });
  return { method: call.request.method, workspaceId, sessionId, mayStill };
}

function withHeaders(route: Route, admission: Admission, response: ApiAnswer): ApiAnswer {
  if (!isStream(response) && response.whole !== undefined) return response;
  const security = response.security ?? SECURITY_HEADERS;
  let extra: readonly string[] = [];
  if (route.scope !== "public")
    extra = admission.limitHeaders === null ? PRIVATE : admission.limitHeaders.concat(PRIVATE);
  else if (route.isPrivate === true) extra = PRIVATE;
  else if (route.cors === true) extra = CORS;
  return { ...response, headers: response.headers.concat(extra, security) };
}

function secured(response: ApiResponse): ApiResponse {
  return { ...response, headers: response.headers.concat(SECURITY_HEADERS) };
}

/** 405 with Allow; OPTIONS of a public endpoint answers CORS instead (docs/api-contract.md#health-and-documents). */
function wrongMethod(method: string, routes: readonly Route[]): ApiResponse {
  const cors = routes.some((route) => route.scope === "public" && route.cors === true);
  const allow = allowedMethods(
    routes.map((route) => route.method),
    cors,
  );
  if (cors && method === "OPTIONS") {
    const headers = [...CORS, "Access-Control-Allow-Methods", allow, "Access-Control-Allow-Headers", "Content-Type"];
    return { status: 204, headers: [...headers, "Access-Control-Max-Age", PREFLIGHT_S, "Allow", allow], body: "" };
  }
  return errorResponse(refusal("methodNotAllowed", { headers: ["Allow", allow] }));
}

interface Served {
  readonly request: ApiRequest;
  /** null: there is none for it. */
  readonly route: Route | null;
  readonly admission: Admission | null;
  readonly startedAt: number;
}

/** In the metrics, and one line at debug. The route's pattern stands for the path, which may hold a heartbeat's token. */
function record(api: Api, { request, route, admission, startedAt }: Served, response: ApiAnswer): void {
  const ms = performance.now() - startedAt;
  api.requests.count(route, response.status, ms / 1_000);
  if (!api.log.isLevelEnabled("debug")) return;
  const fields = {
    method: request.method.slice(0, 20),
    route: route?.path ?? null,
    status: response.status,
    keyId: admission?.counted?.keyId,
    ms: Math.round(ms * 10) / 10,
  };
  api.log.debug(fields, "request");
}
