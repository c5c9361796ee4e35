/** Has a configuration checked by a checker, and makes the answer (docs/api-contract.md#checks-without-a-monitor). */
import { accountName, createFingerprint, tunnelOf } from "../../engine/contract/registry.ts";
import { familyOf } from "../../model/kind.ts";
import { quarantineMessage } from "../../model/quarantine.ts";
import { formatIso } from "../../model/time.ts";
import { errorCategoryOf } from "../../model/verdict.ts";
import { openHashKey } from "../../store/sealing/hash-key.ts";
import type { Harm } from "../../store/sql/coordination/quarantine-port.ts";
import type { CheckClass, OneOffResult } from "../../store/state/checks.ts";
import type { Api } from "../api.ts";
import { RETRY_SOON, refusal } from "../errors.ts";
import { newTestId } from "../on-demand/order.ts";
import { hasChecker } from "../on-demand/region.ts";
import { anonymousMessage } from "./anonymous.ts";
import type { CheckOrder } from "./order.ts";

export interface CheckTerms {
  readonly checkClass: CheckClass;
  readonly location: string;
  readonly organizationId: number;
}

/** @throws 503 when no checker is there or has room, 502 when the one that took it went silent */
export async function runCheck(api: Api, order: CheckOrder, terms: CheckTerms) {
  return viewResult(order, await measure(api, order, terms), terms.checkClass);
}

/** @throws 503 when no checker is there or has room, 502 when the one that took it went silent */
export async function measure(
  api: Api,
  order: CheckOrder,
  { checkClass, location, organizationId }: CheckTerms,
): Promise<OneOffResult> {
  const { tunnel, timeoutMs, engine } = order;
  if (!(await hasChecker(api, location))) throw refusal("noChecker", { headers: RETRY_SOON });
  const settings = { ...tunnel.fields, ...(engine !== null && { engine }) };
  // Under the key that the schedulers' are made with: what a monitor's check did is known here, and the other way round.
  const fingerprintOf = createFingerprint(await openHashKey(api.controlPlane, api.sealing));
  const fingerprint = fingerprintOf({ kind: tunnel.protocol, settings });
  const held = await api.controlPlane.quarantine.find(fingerprint, api.clock.now());
  if (held !== undefined) {
    return unrun(quarantineMessage(held.reason, held.untilMs), api.clock.now());
  }
  const answer = await api.checks.ask(checkClass, location, {
    kind: tunnel.protocol,
    settings,
    host: tunnel.endpoints[0]?.host ?? "",
    identity: tunnel.identity === null ? null : accountName(fingerprintOf, tunnel.protocol, tunnel.identity),
    timeoutMs,
    organizationId,
  });
  switch (answer.type) {
    case "measured":
      if (answer.harm !== undefined) {
        const harm = { fingerprint, kind: tunnel.protocol, reason: answer.harm, monitorId: null, location };
        await keep(api, harm);
      }
      return answer.result;
    case "lost":
      throw refusal("checkerUnreachable");
    case "busy":
    case "untaken":
      throw refusal("noChecker", { headers: RETRY_SOON });
  }
}

/** The caller gets the answer whether or not the store takes the finding. The checker that was harmed does not run the configuration again for minutes. */
async function keep(api: Api, harm: Harm): Promise<void> {
  try {
    await api.controlPlane.quarantine.strike(harm, api.clock.now());
    api.state.notices.publish("quarantine");
    api.log.warn({ kind: harm.kind, location: harm.location, reason: harm.reason }, "a configuration is quarantined");
  } catch (error) {
    api.log.error({ err: error }, "a configuration that brought a prober down could not be quarantined");
  }
}

/** No checker was asked. */
function unrun(message: string, nowMs: number): OneOffResult {
  return {
    verdict: "internal-error",
    startedAtMs: nowMs,
    latencyMs: null,
    connectMs: null,
    peerAnswered: false,
    message,
  };
}

export function viewResult({ tunnel, isDetected }: CheckOrder, result: OneOffResult, checkClass: CheckClass) {
  const { protocol } = tunnel;
  const { verdict, latencyMs, connectMs, peerAnswered, tunnel: facts } = result;
  // The connect time of a share link is not the whole attempt (docs/api-contract.md#checks-without-a-monitor).
  const wholeMs = tunnelOf(protocol).form.by === "link" ? null : connectMs;
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
    error_message: checkClass === "public" ? anonymousMessage(result) : result.message,
    error_category: errorCategoryOf(verdict, familyOf(protocol), peerAnswered),
    engine_used: facts?.engineUsed ?? null,
  };
}
