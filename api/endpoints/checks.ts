/** One-off checks of a configuration, with a key and without (docs/api-contract.md#checks-without-a-monitor, #regions). */
import { z } from "zod";
import { TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import { ANY_LOCATION } from "../../model/monitor.ts";
import type { Api } from "../api.ts";
import { type JsonObject, readObject } from "../body.ts";
import { acceptAnonymousTargets, TARGET_REFUSED } from "../checks/anonymous.ts";
import {
  type Allowance,
  allowanceOf,
  publicLimitExceeded,
  publicLimitHeaders,
  refuseRequest,
  takePublicCheck,
} from "../checks/anonymous-quota.ts";
import {
  acceptEngine,
  type CheckOrder,
  checkFields,
  engineField,
  knownCheckFields,
  PUBLIC_TIMEOUT_S,
  readCheck,
  refuseAnonymous,
  TIMEOUT_S,
} from "../checks/order.ts";
import { runCheck } from "../checks/run.ts";
import { acceptTargets } from "../checks/targets.ts";
import { ApiError } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { locate, readRegion, regionFields, requireAnyRegion, requireRegionOnPlan } from "../on-demand/region.ts";
import { type Call, type KeyCall, type Refusal, type ResponseHeader, type Route, shape } from "../route.ts";

/** The id that anonymous callers' share at a checker is counted under: no workspace has it. */
const NO_WORKSPACE = 0;

async function check(api: Api, call: KeyCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const wanted = readRegion(body);
  const order = readCheck(body, TIMEOUT_S, true);
  await acceptEngine(order);
  await acceptTargets(api.targets, order);
  requireRegionOnPlan(wanted, call.plan);
  const location = await locate(api, wanted);
  return ok(await runCheck(api, order, { checkClass: "api", location, organizationId: call.workspace.id }));
}

async function publicCheck(api: Api, call: Call): Promise<ApiResponse> {
  const { counters } = api.state;
  const { clientAddress, nowMs } = call;
  const refused = await refuseRequest(counters, clientAddress, nowMs);
  if (refused !== undefined) return refused;
  let allowance = await allowanceOf(counters, clientAddress, nowMs);
  if (allowance.remaining === 0) return publicLimitExceeded(allowance, nowMs);
  try {
    const order = await readPublicCheck(api, call);
    const take = await takePublicCheck(counters, clientAddress, nowMs);
    allowance = take.allowance;
    if (!take.isTaken) return publicLimitExceeded(allowance, nowMs);
    try {
      const to = { checkClass: "public", location: ANY_LOCATION, organizationId: NO_WORKSPACE } as const;
      return withHeaders(ok(await runCheck(api, order, to)), allowance);
    } catch (error) {
      // No check was made: it does not count.
      await take.giveBack();
      allowance = await allowanceOf(counters, clientAddress, nowMs);
      throw error;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const headers = [...(error.extras.headers ?? []), ...publicLimitHeaders(allowance)];
    throw new ApiError(error.status, error.message, { ...error.extras, headers });
  }
}

async function readPublicCheck(api: Api, call: Call): Promise<CheckOrder> {
  const body = readObject(call.request);
  const order = readCheck(body, PUBLIC_TIMEOUT_S, false);
  refuseAnonymous(order);
  await acceptAnonymousTargets(api.publicTargets, order.tunnel.endpoints, api.config.publicAllowNets.length > 0);
  requireAnyRegion(body);
  return order;
}

function withHeaders(response: ApiResponse, allowance: Allowance): ApiResponse {
  return { ...response, headers: response.headers.concat(publicLimitHeaders(allowance)) };
}

const REFUSALS: readonly Refusal[] = [
  "configInvalid",
  "protocolUndetected",
  "endpointMissing",
  [400, "Missing host for openconnect"],
  "regionOnPlan",
  [413, "config must be at most 102400 bytes (received 102401)."],
  [422, `Unsupported protocol. Supported: ${TUNNEL_PROTOCOLS.join(", ")}.`],
  [422, "Invalid VPN configuration: missing username"],
  "checkerUnreachable",
  "noChecker",
];

const limitHeader = (description: string): ResponseHeader => ({
  description,
  schema: z.int().min(0),
  on: [200, 400, 402, 413, 422, 429, 502, 503],
  // A store that is away cannot count.
  required: false,
});

function bodyOf(id: string, fields: Readonly<Record<string, z.ZodType>>): NonNullable<Route["body"]> {
  const fieldsOf = ({ protocol }: JsonObject) => knownCheckFields(protocol as TunnelProtocol, Object.keys(fields));
  return { schema: z.object(fields).meta({ id }), required: true, fieldsOf };
}

export const checks: readonly Route[] = [
  {
    method: "POST",
    path: "/check",
    operationId: "checkConfig",
    audit: null,
    group: "Tests",
    summary: "Check a configuration once, without saving it",
    description:
      "Waits for the result. Does not use the on-demand quota. A protocol that this version cannot run answers `down` with `checker_error`: a fault of ours, said of no server.",
    scope: "key",
    body: bodyOf("CheckConfig", { ...checkFields, ...engineField, ...regionFields }),
    responses: { 200: shape("check") },
    refusals: [
      ...REFUSALS,
      "regionInvalid",
      [422, "vpn.example.com is reserved for documentation and cannot be monitored."],
      "engineInvalid",
      "noCheckerInRegion",
    ],
    handle: check,
  },
  {
    method: "POST",
    path: "/check/public",
    operationId: "checkConfigWithoutKey",
    audit: null,
    group: "Tests",
    summary: "Check a configuration once, without a key",
    description:
      "5 per IPv4 address or IPv6 /64 in any 24 hours; what was not checked does not count. At most 60 requests in any hour, whatever came of them. Nothing of the configuration is stored or logged.",
    scope: "public",
    cors: true,
    body: bodyOf("CheckConfigWithoutKey", { ...checkFields, region: z.literal("any").optional() }),
    responses: { 200: shape("check"), 429: shape("publicLimitError") },
    headers: {
      "X-RateLimit-Limit": limitHeader("Checks in any 24 hours"),
      "X-RateLimit-Remaining": limitHeader("Left now"),
      "X-RateLimit-Reset": limitHeader("Unix seconds when the next one is free"),
      "Retry-After": { description: "Seconds", schema: z.int().min(1), on: [429], required: true },
    },
    refusals: [...REFUSALS, "redisAway", [422, TARGET_REFUSED]],
    handle: publicCheck,
  },
];
