/** The heartbeat address: `{base}/api/push/<token>`, any method, no key (docs/api-contract.md#heartbeat-address). */

import { z } from "zod";
import { StoreError } from "../../store/errors.ts";
import type { HeartbeatCall } from "../../store/sql/monitors/heartbeats-port.ts";
import type { Api } from "../api.ts";
import { RETRY_SOON } from "../errors.ts";
import { type ApiResponse, JSON_HEADERS, json } from "../http.ts";
import { restS } from "../limits.ts";
import { hashToken, TOKEN } from "../monitors/token.ts";
import { textParameter } from "../query.ts";
import { type Call, type Route, shape } from "../route.ts";

const CALLS_PER_MINUTE = 60;
const MINUTE_MS = 60_000;
/** Code points. */
const MAX_MESSAGE = 255;
const MAX_PING_MS = 100_000_000_000;
const PING = /^[0-9]{1,15}(?:\.[0-9]{1,15})?$/;

const query = {
  status: textParameter("`up` (default) or `down`; other values count as down."),
  msg: textParameter("Short text kept with a down result, cut at 255 characters; default OK."),
  ping: textParameter("Milliseconds, 0 to 100000000000, shown as latency_ms."),
} as const;

async function push(api: Api, call: Call): Promise<ApiResponse> {
  try {
    const token = call.params[0] ?? "";
    const hash = TOKEN.test(token) ? hashToken(token) : null;
    const heartbeat = hash === null ? undefined : await api.controlPlane.heartbeats.byTokenHash(hash);
    if (hash === null || heartbeat === undefined) return refused(404, "Unknown or paused heartbeat.");
    if (!(await api.state.counters.takeFrom(`push:${hash}`, CALLS_PER_MINUTE, MINUTE_MS, call.nowMs))) {
      return refused(429, `More than ${CALLS_PER_MINUTE} calls in a minute.`, [
        "Retry-After",
        String(restS(MINUTE_MS, call.nowMs)),
      ]);
    }
    const sent = readCall(call.request.query);
    if (sent === null) return refused(404, `ping must be a number from 0 to ${MAX_PING_MS}.`);
    await api.controlPlane.heartbeats.record(heartbeat.monitorId, call.nowMs, sent);
    api.state.notices.publish("heartbeats");
    return json(200, { ok: true });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    api.log.warn({ reason: error.message }, "a heartbeat could not be stored");
    return refused(503, "The call could not be stored. Try again in a few seconds.", RETRY_SOON);
  }
}

/** @returns null when `ping` is not a number within its bounds */
function readCall(queryText: string): HeartbeatCall | null {
  if (queryText === "") return { up: true, message: "OK", pingMs: null };
  const sent = new URLSearchParams(queryText);
  const ping = sent.get("ping") ?? "";
  if (ping !== "" && (!PING.test(ping) || Number(ping) > MAX_PING_MS)) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: PostgreSQL keeps no NUL in a text
  const message = (sent.get("msg") || "OK").replace(/\u0000/g, "");
  return {
    up: (sent.get("status") || "up") === "up",
    message: [...message.slice(0, 2 * MAX_MESSAGE)].slice(0, MAX_MESSAGE).join(""),
    pingMs: ping === "" ? null : Math.round(Number(ping)),
  };
}

/** The family's own form, which jobs written for Uptime Kuma expect. */
function refused(status: number, msg: string, headers: readonly string[] = []): ApiResponse {
  return json(status, { ok: false, msg }, [...JSON_HEADERS, ...headers]);
}

export const pushes: readonly Route[] = [
  {
    method: "*",
    path: "/api/push/{token}",
    operationId: "sendHeartbeat",
    audit: null,
    atRoot: true,
    group: "Heartbeats",
    summary: "A job's sign of life; any method",
    scope: "public",
    params: { token: z.string().regex(TOKEN) },
    query,
    responses: {
      200: shape("heartbeatTaken"),
      404: shape("heartbeatRefused"),
      429: shape("heartbeatRefused"),
      503: shape("heartbeatRefused"),
    },
    handle: push,
  },
];
