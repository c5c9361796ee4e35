/** From a request to its response: finds the route, asks who calls, runs the handler, words every failure. Never rejects. */
import { StoreError } from "../store/sql/control-plane.ts";
import { clientAddressOf } from "./address.ts";
import type { Api } from "./api.ts";
import type { Admission } from "./auth.ts";
import { admit } from "./auth.ts";
import { ApiError, errorResponse, RETRY_SOON, refusal } from "./errors.ts";
import type { ApiRequest, ApiResponse, Handle } from "./http.ts";
import type { Call, KeyCall, ProjectCall, Route } from "./route.ts";
import { allowedMethods, createRouter, PREFLIGHT_S } from "./router.ts";

const CORS: readonly string[] = ["Access-Control-Allow-Origin", "*"];
/** Answers to keys may carry heartbeat addresses and new keys. */
const PRIVATE: readonly string[] = ["Cache-Control", "no-store"];

export function createApp(api: Api, routes: readonly Route[]): Handle {
  const router = createRouter(routes);
  const addressOf = clientAddressOf(api.config.trustedProxies);
  /** As usage names them; put together once, not for each request. */
  const endpoints = new Map(routes.map((route) => [route, `${route.method} ${route.path}`]));

  async function serve(request: ApiRequest): Promise<ApiResponse> {
    const startedAt = performance.now();
    const found = router.find(request.method, request.path);
    if (found.type !== "route") {
      const refused =
        found.type === "unknown" ? errorResponse(refusal("notFound")) : wrongMethod(request.method, found.routes);
      log(api, request, null, null, refused, startedAt);
      return refused;
    }
    const { route } = found;
    const admission: Admission = { limitHeaders: null, counted: null };
    const nowMs = api.clock.now();
    const call: Call = { request, params: found.params, nowMs, clientAddress: addressOf(request) };
    const response = withHeaders(route, admission, await answer(api, route, call, admission));
    if (admission.counted !== null) {
      const { organizationId, keyId } = admission.counted;
      const endpoint = endpoints.get(route) ?? "";
      api.state.counters.countEndpoint(organizationId, keyId, endpoint, response.status >= 400, nowMs);
    }
    log(api, request, route, admission, response, startedAt);
    return response;
  }

  return async (request) => {
    try {
      return await serve(request);
    } catch (error) {
      api.log.error({ err: error }, "request failed");
      return errorResponse(refusal("internal"));
    }
  };
}

async function answer(api: Api, route: Route, call: Call, admission: Admission): Promise<ApiResponse> {
  try {
    if (route.scope === "public") return await route.handle(api, call);
    const admitted = await admit(api, route, call, admission);
    if ("status" in admitted) return admitted;
    // admit() gives a project call exactly to project routes.
    if (route.scope === "key") return await route.handle(api, admitted satisfies KeyCall);
    return await route.handle(api, admitted as ProjectCall);
  } catch (error) {
    if (error instanceof ApiError) return errorResponse(error);
    if (error instanceof StoreError) {
      api.log.warn({ route: route.path, reason: error.message }, "a store refused");
      return errorResponse(refusal("storeAway", { headers: RETRY_SOON }));
    }
    api.log.error({ route: route.path, err: error }, "request failed");
    return errorResponse(refusal("internal"));
  }
}

function withHeaders(route: Route, admission: Admission, response: ApiResponse): ApiResponse {
  let extra = admission.limitHeaders;
  if (route.scope !== "public") extra = extra === null ? PRIVATE : extra.concat(PRIVATE);
  else if (route.cors === true) extra = CORS;
  if (extra === null) return response;
  return { status: response.status, headers: response.headers.concat(extra), body: response.body };
}

/** 405 with Allow; OPTIONS of a public endpoint answers CORS instead (open-points 18.1.18). */
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

/** One line a request, at debug. The route's pattern stands for the path, which may hold a heartbeat's token. */
function log(
  api: Api,
  request: ApiRequest,
  route: Route | null,
  admission: Admission | null,
  response: ApiResponse,
  startedAt: number,
): void {
  if (!api.log.isLevelEnabled("debug")) return;
  const fields = {
    method: request.method.slice(0, 20),
    route: route?.path ?? null,
    status: response.status,
    keyId: admission?.counted?.keyId,
    ms: Math.round((performance.now() - startedAt) * 10) / 10,
  };
  api.log.debug(fields, "request");
}
