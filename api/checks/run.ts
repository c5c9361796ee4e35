/** Having a configuration checked, and its answer as the contract's Config check result. */
import { familyOf } from "../../model/kind.ts";
import { formatIso } from "../../model/time.ts";
import { errorCategoryOf } from "../../model/verdict.ts";
import type { Lane, PassingResult } from "../../store/state/checks.ts";
import type { Api } from "../api.ts";
import { RETRY_SOON, refusal } from "../errors.ts";
import { newTestId } from "../tests/order.ts";
import { hasChecker } from "../tests/region.ts";
import { anonymousMessage } from "./anonymous.ts";
import type { CheckOrder } from "./order.ts";

/** Protocols of share links: their connect time is not the whole attempt (contract, Config check result). */
const LINKED: ReadonlySet<string> = new Set(["vless", "vmess", "trojan", "shadowsocks", "hysteria2", "tuic"]);

/** @throws 503 when no checker is there or has room, 502 when the one that took it went silent */
export async function runCheck(
  api: Api,
  order: CheckOrder,
  {
    lane,
    location,
    organizationId,
  }: { readonly lane: Lane; readonly location: string; readonly organizationId: number },
) {
  const { tunnel, timeoutMs, engine } = order;
  if (!(await hasChecker(api, location))) throw refusal("noChecker", { headers: RETRY_SOON });
  const answer = await api.checks.ask(lane, location, {
    kind: tunnel.protocol,
    settings: { ...tunnel.fields, ...(engine !== null && { engine }) },
    host: tunnel.endpoints[0]?.host ?? "",
    identity: tunnel.identity,
    timeoutMs,
    organizationId,
  });
  switch (answer.type) {
    case "measured":
      return viewResult(order, answer.result, lane);
    case "lost":
      throw refusal("checkerUnreachable");
    case "busy":
    case "untaken":
      throw refusal("noChecker", { headers: RETRY_SOON });
  }
}

function viewResult({ tunnel, isDetected }: CheckOrder, result: PassingResult, lane: Lane) {
  const { protocol } = tunnel;
  const { verdict, latencyMs, connectMs, peerAnswered, tunnel: facts } = result;
  const wholeMs = LINKED.has(protocol) ? null : connectMs;
  return {
    test_id: newTestId(),
    status: verdict === "ok" ? "healthy" : "down",
    protocol,
    config_detected: isDetected,
    tested_at: formatIso(result.startedAtMs),
    latency_ms: latencyMs,
    connect_ms: connectMs,
    connection_time_ms: facts?.connectionTimeMs ?? wholeMs,
    handshake_time_ms: facts?.handshakeTimeMs ?? null,
    assigned_ip: facts?.assignedIp ?? null,
    error_message: lane === "public" ? anonymousMessage(result) : result.message,
    error_category: errorCategoryOf(verdict, familyOf(protocol), peerAnswered),
    engine_used: facts?.engineUsed ?? null,
  };
}
