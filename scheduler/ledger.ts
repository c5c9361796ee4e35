/**
 * The state of every monitor between two checks, in the memory of its shard's holder. Judging an outcome updates the state and returns what
 * must be written; a check reads nothing from a store.
 */
import { alertsOf, type MonitorAlert, rememberTold, type ToldExpiry } from "../model/alert.ts";
import { createResultIds } from "../model/ids.ts";
import { incidentStep, type OpenIncident } from "../model/incident.ts";
import { applyCheck, newLiveState, withAvailability } from "../model/live.ts";
import { ANY_LOCATION, isInMaintenance, type Monitor } from "../model/monitor.ts";
import { sound } from "../model/outcome-reader.ts";
import type { CheckOutcome, ResultRow } from "../model/result.ts";
import { delayAfterS } from "../model/schedule.ts";
import type { CertificateState, LiveState, LiveStatus } from "../model/status.ts";
import type { IncidentLevel } from "../store/sql/control-plane.ts";
import type { NewConfigResult } from "../store/sql/ports/imports.ts";
import type { JobEnd, TestEnd } from "../store/sql/ports/jobs.ts";
import type { Fence } from "../store/sql/ports/shards.ts";
import { configResultsOf } from "./config-results.ts";
import type { SinkItem } from "./sink-item.ts";

/** What an outcome belongs to. */
export interface Taken {
  readonly monitor: Monitor;
  readonly location: string;
  readonly attempt: number;
  /** The inbox row that this outcome came from; null for checks. */
  readonly inboxId: number | null;
  /** The test that it ends; absent for the monitor's own turns. */
  readonly jobId?: number | undefined;
}

/** A line of the spool: the row, and what a replay needs beside it. ClickHouse skips the member that it has no column for. */
interface SpoolLine extends ResultRow {
  readonly replay: {
    readonly peer_answered: boolean;
    readonly certificate: CertificateState | null;
    readonly inbox_id: number | null;
    /** The shard's epoch when the row was judged; absent in rows from before shards had epochs. */
    readonly epoch?: number | undefined;
    /** The setting when the row was judged; it may have changed since. */
    readonly max_retries: number;
    readonly domain_expires_at?: number | undefined;
    readonly job_id?: number | undefined;
    readonly configs?: readonly NewConfigResult[] | undefined;
  };
}

export interface JudgedItem extends SinkItem {
  /** The location's next check comes no later than this, ms from now. */
  readonly nextWithinMs: number;
}

export interface Ledger {
  /** Loads open incidents and sent expiry alerts of the monitors of some shards. */
  remember(openIncidents: ReadonlyMap<number, IncidentLevel>, told: ReadonlyMap<number, readonly ToldExpiry[]>): void;
  /** Adds a monitor or its new settings. A live state in memory is newer than the given one, and stays. */
  set(monitor: Monitor, live: LiveState): void;
  /** A store has refused a write about it: keeps statuses and counts, and clears every value that may be the reason. */
  heal(monitorId: number): void;
  /** The monitor is deleted. */
  forget(monitorId: number): void;
  /** Another scheduler judges them now. */
  forgetAll(isGone: (monitorId: number) => boolean): void;
  /** Updates a monitor's locations by which of them have checkers. @returns whether its live state has changed */
  setAvailability(monitor: Monitor, hasChecker: (location: string) => boolean): boolean;
  monitor(monitorId: number): Monitor | undefined;
  live(monitorId: number): LiveState | undefined;
  wasChecked(monitorId: number): boolean;
  wasHealthy(monitorId: number, location: string): boolean;
  judge(taken: Taken, outcome: CheckOutcome): JudgedItem;
  /** Judges a line of the spool again after a crash; the result is the same states and incidents. Undefined for a monitor that is gone. */
  rejudge(line: string): SinkItem | undefined;
  /** The monitor of a line of the spool, and the epoch of its shard when it was judged. */
  originOf(line: string): { readonly monitorId: number; readonly epoch: number | undefined };
}

export interface LedgerOptions {
  /** This process's name in the rows. */
  readonly checker: string;
  /** The epoch under which the monitor is judged; undefined: another scheduler judges it. */
  readonly fenceOf: (monitorId: number) => Fence | undefined;
}

const NOTHING_TOLD: readonly ToldExpiry[] = [];
const NO_ALERTS: readonly MonitorAlert[] = [];

export function createLedger(options: LedgerOptions): Ledger {
  const monitors = new Map<number, Monitor>();
  const lives = new Map<number, LiveState>();
  const open = new Map<number, OpenIncident>();
  const told = new Map<number, readonly ToldExpiry[]>();
  /** The status at the latest check, of monitors whose status has changed since, because a checker came or went. */
  const shownBefore = new Map<number, LiveStatus>();
  /** By epoch of a shard: its holder before has given ids up to its monitors' latest checks. */
  const ids = new Map<string, (nowMs: number) => string>();

  function fenceOf(monitorId: number): Fence {
    const fence = options.fenceOf(monitorId);
    if (fence === undefined) throw new Error(`monitor ${monitorId} is judged by another scheduler`);
    return fence;
  }

  function nextId({ shard, epoch }: Fence, nowMs: number): string {
    const name = `${shard} ${epoch}`;
    const isOf = (id: number): boolean => options.fenceOf(id)?.shard === shard;
    const next = ids.get(name) ?? createResultIds(shard, latestOf(lives.values(), isOf));
    ids.set(name, next);
    return next(nowMs);
  }

  /** Applies one outcome to the monitor's state. */
  function advance(monitor: Monitor, location: string, outcome: CheckOutcome, inMaintenance: boolean) {
    const before = lives.get(monitor.id) ?? newLiveState(monitor.id);
    const applied = applyCheck(before, monitor, location, outcome, inMaintenance);
    lives.set(monitor.id, applied.live);
    const step = incidentStep(open.get(monitor.id) ?? null, monitor, before, applied.live, {
      location,
      outcome,
      errorCategory: applied.row.error_category,
      inMaintenance,
    });
    if (step.open === null) open.delete(monitor.id);
    else open.set(monitor.id, step.open);
    const alerts = inMaintenance ? NO_ALERTS : alert(monitor, before, applied.live, outcome);
    return { applied, incidents: step.changes, alerts };
  }

  function alert(
    monitor: Monitor,
    before: LiveState,
    after: LiveState,
    outcome: CheckOutcome,
  ): readonly MonitorAlert[] {
    const previousStatus = shownBefore.get(monitor.id) ?? before.status;
    if (shownBefore.size > 0) shownBefore.delete(monitor.id);
    const alerts = alertsOf(monitor, previousStatus, after, outcome, told.get(monitor.id) ?? NOTHING_TOLD);
    for (const one of alerts) {
      if (one.type === "expiring") told.set(monitor.id, rememberTold(told.get(monitor.id) ?? NOTHING_TOLD, one));
    }
    return alerts;
  }

  function lineOf(
    taken: Taken,
    outcome: CheckOutcome,
    columns: ReturnType<typeof advance>["applied"]["row"],
    configs: readonly NewConfigResult[] | undefined,
  ): SpoolLine {
    const fence = fenceOf(taken.monitor.id);
    return {
      id: nextId(fence, outcome.startedAtMs),
      project_id: taken.monitor.projectId,
      monitor_id: taken.monitor.id,
      location: taken.location,
      checker: outcome.checker ?? options.checker,
      check_id: outcome.checkId,
      kind: taken.monitor.kind,
      tested_at: outcome.startedAtMs,
      verdict: outcome.verdict,
      ...columns,
      lateness_ms: Math.round(outcome.latenessMs),
      duration_ms: outcome.durationMs,
      attempt: taken.attempt,
      phases: JSON.stringify(outcome.phases),
      explanation: outcome.explanation === null ? "" : JSON.stringify(outcome.explanation),
      replay: {
        peer_answered: outcome.peerAnswered,
        certificate: outcome.certificate,
        inbox_id: taken.inboxId,
        epoch: fence.epoch,
        max_retries: taken.monitor.maxRetries,
        domain_expires_at: outcome.domainExpiresAtMs ?? undefined,
        job_id: taken.jobId,
        configs,
      },
    };
  }

  const memories: readonly Map<number, unknown>[] = [monitors, lives, open, told, shownBefore];

  return {
    remember(openIncidents, toldExpiries) {
      for (const [monitorId, level] of openIncidents) open.set(monitorId, { level, failure: null });
      for (const [monitorId, expiries] of toldExpiries) told.set(monitorId, expiries);
    },
    set(monitor, live) {
      monitors.set(monitor.id, monitor);
      if (!lives.has(monitor.id)) lives.set(monitor.id, live);
    },
    heal: (monitorId) => healIn(lives, monitorId),
    forget(monitorId) {
      for (const memory of memories) memory.delete(monitorId);
    },
    forgetAll(isGone) {
      for (const memory of memories) {
        for (const monitorId of memory.keys()) if (isGone(monitorId)) memory.delete(monitorId);
      }
      // Generators that are still needed start again after the latest known checks.
      ids.clear();
    },
    setAvailability(monitor, hasChecker) {
      const before = lives.get(monitor.id);
      if (before === undefined) return false;
      const after = withAvailability(before, monitor, hasChecker);
      if (after !== before) lives.set(monitor.id, after);
      // No check caused this change of status: the next check sends its alert.
      if (after.status !== before.status && !shownBefore.has(monitor.id)) shownBefore.set(monitor.id, before.status);
      return after !== before;
    },
    monitor: (monitorId) => monitors.get(monitorId),
    live: (monitorId) => lives.get(monitorId),
    wasChecked: (monitorId) => (lives.get(monitorId)?.lastCheckedAtMs ?? null) !== null,
    wasHealthy: (monitorId, location) => lives.get(monitorId)?.locations[location]?.confirmed === "up",
    judge(taken, given) {
      const outcome = sound(given);
      const inMaintenance = isInMaintenance(taken.monitor, outcome.startedAtMs);
      const { applied, incidents, alerts } = advance(taken.monitor, taken.location, outcome, inMaintenance);
      const state = applied.live.locations[taken.location] ?? { status: "unknown" as const };
      const configs = configResultsOf(outcome, taken.location);
      return {
        monitorId: taken.monitor.id,
        fence: fenceOf(taken.monitor.id),
        line: JSON.stringify(lineOf(taken, outcome, applied.row, configs)),
        live: applied.live,
        incidents,
        alerts,
        inboxId: taken.inboxId,
        jobEnd: endOf(taken.jobId, outcome, applied.row),
        configResults: configs,
        nextWithinMs: delayAfterS(state, outcome.verdict, taken.monitor.intervalS) * 1_000,
      };
    },
    rejudge(line) {
      const row = parseLine(line);
      const monitor = monitors.get(row.monitor_id);
      if (monitor === undefined) return undefined;
      const outcome = outcomeOf(row);
      // Only maintenance makes a row unknown.
      const inMaintenance = row.status === "unknown";
      const asItWas = { ...monitor, maxRetries: row.replay.max_retries };
      const { applied, ...changes } = advance(asItWas, row.location, outcome, inMaintenance);
      const { inbox_id: inboxId, job_id: jobId, configs: configResults } = row.replay;
      const jobEnd = endOf(jobId, outcome, row);
      const fence = fenceOf(monitor.id);
      return { monitorId: monitor.id, fence, line, live: applied.live, ...changes, inboxId, jobEnd, configResults };
    },
    originOf(line) {
      const { monitor_id: monitorId, replay } = parseLine(line);
      return { monitorId, epoch: replay.epoch };
    },
  };
}

/** When the latest of some monitors was checked, Unix ms; 0: never. */
function latestOf(lives: Iterable<LiveState>, isOf: (monitorId: number) => boolean): number {
  let latestMs = 0;
  for (const { monitorId, lastCheckedAtMs } of lives) {
    if (isOf(monitorId)) latestMs = Math.max(latestMs, lastCheckedAtMs ?? 0);
  }
  return latestMs;
}

function healIn(lives: Map<number, LiveState>, monitorId: number): void {
  const live = lives.get(monitorId);
  if (live === undefined) return;
  const nothing = { latencyMs: null, connectMs: null, latenessMs: null, certificate: null, errorMessage: null };
  const locations = Object.entries(live.locations).map(([location, state]) => [location, { ...state, pingMs: null }]);
  lives.set(monitorId, { ...live, ...nothing, locations: Object.fromEntries(locations) });
}

/** How a test ended: as its row says. */
function endOf(
  jobId: number | undefined,
  outcome: CheckOutcome,
  row: Pick<ResultRow, "status" | "latency_ms" | "connect_ms" | "error_message">,
): JobEnd | undefined {
  if (jobId === undefined) return undefined;
  const { startedAtMs, durationMs } = outcome;
  const end: TestEnd = {
    reason: "ran",
    status: row.status,
    latencyMs: row.latency_ms,
    connectMs: row.connect_ms,
    message: row.error_message,
    testedAtMs: startedAtMs,
  };
  return { jobId, end, atMs: startedAtMs + durationMs };
}

/** No validation: this process wrote the lines, and the spool returns only whole ones. */
function parseLine(line: string): SpoolLine {
  return JSON.parse(line) as SpoolLine;
}

function outcomeOf(row: SpoolLine): CheckOutcome {
  return {
    checkId: row.check_id,
    verdict: row.verdict,
    startedAtMs: row.tested_at,
    latenessMs: row.lateness_ms,
    durationMs: row.duration_ms,
    latencyMs: row.latency_ms,
    connectMs: row.connect_ms,
    peerAnswered: row.replay.peer_answered,
    message: row.error_message,
    phases: {},
    explanation: null,
    certificate: row.replay.certificate,
    domainExpiresAtMs: row.replay.domain_expires_at ?? null,
  };
}

/** Where heartbeats are judged. */
export const HEARTBEAT_LOCATION = ANY_LOCATION;
