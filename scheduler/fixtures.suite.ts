/** Monitors, planned checks and outcomes for the tests of this folder. */
import type { ConcurrencyLimit } from "../engine/limits/concurrency.ts";
import { newLiveState } from "../model/live.ts";
import { MONITOR_DEFAULTS, type Monitor } from "../model/monitor.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { LiveState } from "../model/status.ts";
import type { PlannedCheck, Run } from "./plan/planned-check.ts";
import type { JudgedOutcome } from "./sink/judged-outcome.ts";

export function monitorOf(over: Partial<Monitor> = {}): Monitor {
  return {
    ...MONITOR_DEFAULTS,
    id: 1,
    projectId: 1,
    organizationId: 1,
    name: "Site",
    kind: "http",
    settings: { url: "http://site.test/" },
    intervalS: 60,
    timeoutS: 10,
    maxRetries: 2,
    host: "site.test",
    maintenance: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...over,
  };
}

export function liveOf(over: Partial<LiveState> = {}): LiveState {
  return { ...newLiveState(over.monitorId ?? 1), ...over };
}

/** As of a check without an incident, an alert or a test. */
export function judgedOf(live: LiveState, over: Partial<JudgedOutcome> = {}): JudgedOutcome {
  return {
    lease: { shard: 0, epoch: 1 },
    line: "{}",
    live,
    incidents: [],
    alerts: [],
    inboxId: null,
    endedTest: undefined,
    configResults: undefined,
    nextWithinMs: 60_000,
    ...over,
  };
}

export function plannedOf(
  id: number,
  limits: readonly ConcurrencyLimit<Run>[] = [],
  monitor: Monitor = monitorOf({ id }),
): PlannedCheck {
  return {
    id,
    location: "any",
    monitor,
    spec: { key: id, kind: monitor.kind, settings: monitor.settings, timeoutMs: monitor.timeoutS * 1_000 },
    intervalMs: monitor.intervalS * 1_000,
    phaseMs: 0,
    identity: null,
    limits,
    nextDueAtMs: Number.POSITIVE_INFINITY,
    lastSignAtMs: 0,
    run: null,
    isRemoved: false,
  };
}

export function outcomeOf(checkId: number, over: Partial<CheckOutcome> = {}): CheckOutcome {
  return {
    checkId,
    verdict: "ok",
    startedAtMs: 1_000,
    latenessMs: 0,
    durationMs: 5,
    latencyMs: 5,
    connectMs: null,
    peerAnswered: true,
    message: null,
    phases: {},
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
    ...over,
  };
}
