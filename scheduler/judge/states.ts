/**
 * The state of every monitor between two checks, in the memory of its shard's holder. Judging an outcome updates the state and returns what
 * must be written; a check reads nothing from a store.
 */
import { alertsOf, type MonitorAlert, rememberSent, type SentExpiryAlert } from "../../model/alert.ts";
import { shareOf, shareStep } from "../../model/config-share.ts";
import { createResultIds } from "../../model/ids.ts";
import { type IncidentChange, type IncidentLevel, incidentStep, type OpenIncident } from "../../model/incident.ts";
import { applyCheck, newLiveState, withAvailability } from "../../model/live.ts";
import { ANY_LOCATION, isInMaintenance, type Monitor } from "../../model/monitor.ts";
import { sound } from "../../model/outcome-reader.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { delayAfterS } from "../../model/schedule.ts";
import type { LiveState, LiveStatus } from "../../model/status.ts";
import { CONFIG_ALERT_PERCENT } from "../../model/subscription.ts";
import type { ShardLease } from "../../store/sql/coordination/shards-port.ts";
import type { TargetStates } from "../run/dispatch.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import type { JudgedOutcome } from "../sink/judged-outcome.ts";
import type { CheckContext } from "./check-context.ts";
import { configResultsOf } from "./config-results.ts";
import { endOf, lineOf, outcomeOf, parseLine } from "./spool-line.ts";

/** Makes the ids of a shard's rows while it is held under an epoch. */
interface RowIds {
  readonly epoch: number;
  readonly next: (nowMs: number) => string;
}

/** Where heartbeats are judged. */
export const HEARTBEAT_LOCATION = ANY_LOCATION;

export interface MonitorStatesOptions {
  /** This process's name in the rows. */
  readonly checker: string;
  /** The lease under which a monitor is judged; undefined: another scheduler judges it. */
  readonly ownedShards: Pick<OwnedShards, "leaseOf">;
}

const NOTHING_SENT: readonly SentExpiryAlert[] = [];
const NO_ALERTS: readonly MonitorAlert[] = [];

export class MonitorStates implements TargetStates {
  readonly #options: MonitorStatesOptions;
  readonly #monitors = new Map<number, Monitor>();
  readonly #lives = new Map<number, LiveState>();
  readonly #open = new Map<number, OpenIncident>();
  readonly #sentExpiries = new Map<number, readonly SentExpiryAlert[]>();
  /** The status at the latest check, of monitors whose status has changed since, because a checker came or went. */
  readonly #shownBefore = new Map<number, LiveStatus>();
  /** By shard. Its previous holder has used ids up to the latest checks of its monitors. */
  readonly #ids = new Map<number, RowIds>();
  readonly #memories: readonly Map<number, unknown>[] = [
    this.#monitors,
    this.#lives,
    this.#open,
    this.#sentExpiries,
    this.#shownBefore,
  ];

  constructor(options: MonitorStatesOptions) {
    this.#options = options;
  }

  /** Loads open incidents and sent expiry alerts of the monitors of some shards. */
  remember(
    openIncidents: ReadonlyMap<number, IncidentLevel>,
    sentExpiries: ReadonlyMap<number, readonly SentExpiryAlert[]>,
  ): void {
    for (const [monitorId, level] of openIncidents) this.#open.set(monitorId, { level, failure: null });
    for (const [monitorId, expiries] of sentExpiries) this.#sentExpiries.set(monitorId, expiries);
  }

  /** Adds a monitor or its new settings. A live state in memory is newer than one from the store, and stays. */
  set(monitor: Monitor, live: LiveState): void {
    this.#monitors.set(monitor.id, monitor);
    if (!this.#lives.has(monitor.id)) this.#lives.set(monitor.id, live);
  }

  /** A store has refused a write about it: keeps statuses and counts, and clears every value that may be the reason. */
  heal(monitorId: number): void {
    const live = this.#lives.get(monitorId);
    if (live !== undefined) this.#lives.set(monitorId, healed(live));
  }

  /** The monitor is deleted. */
  forget(monitorId: number): void {
    for (const memory of this.#memories) memory.delete(monitorId);
  }

  /** Forgets monitors that another scheduler judges now. */
  forgetAll(isGone: (monitorId: number) => boolean): void {
    for (const memory of this.#memories) {
      for (const monitorId of memory.keys()) if (isGone(monitorId)) memory.delete(monitorId);
    }
    // Generators that are still needed start again after the latest known checks.
    this.#ids.clear();
  }

  /** Updates a monitor's locations by which of them have checkers. @param nowMs Unix ms @returns whether its live state has changed */
  setAvailability(monitor: Monitor, hasChecker: (location: string) => boolean, nowMs: number): boolean {
    const before = this.#lives.get(monitor.id);
    if (before === undefined) return false;
    const after = withAvailability(before, monitor, hasChecker, nowMs);
    if (after === before) return false;
    this.#lives.set(monitor.id, after);
    // No check caused this change of status, so its alert goes out with the next check.
    if (after.status !== before.status && !this.#shownBefore.has(monitor.id)) {
      this.#shownBefore.set(monitor.id, before.status);
    }
    return true;
  }

  monitor(monitorId: number): Monitor | undefined {
    return this.#monitors.get(monitorId);
  }

  live(monitorId: number): LiveState | undefined {
    return this.#lives.get(monitorId);
  }

  wasChecked(monitorId: number): boolean {
    return (this.#lives.get(monitorId)?.lastCheckedAtMs ?? null) !== null;
  }

  wasHealthy(monitorId: number, location: string): boolean {
    return this.#lives.get(monitorId)?.locations[location]?.confirmed === "up";
  }

  isConfirming(monitorId: number, location: string): boolean {
    const state = this.#lives.get(monitorId)?.locations[location];
    return state !== undefined && state.notPassed > 0 && state.confirmed !== "down";
  }

  /** Applies an outcome. @returns what must be written */
  judge(context: CheckContext, unbounded: CheckOutcome): JudgedOutcome {
    const outcome = sound(unbounded);
    const { monitor, location, inboxId, jobId } = context;
    const inMaintenance = isInMaintenance(monitor, outcome.startedAtMs);
    const configResults = configResultsOf(outcome, location);
    const lease = this.#leaseOf(monitor.id);
    const id = this.#nextId(lease, outcome.startedAtMs);
    const advanced = this.#advance(monitor, location, outcome, inMaintenance, configResults, id);
    const { row } = advanced;
    const { checker } = this.#options;
    const line = lineOf(context, outcome, { id, checker, epoch: lease.epoch, columns: row, configs: configResults });
    return judgedOf(advanced, line, inboxId, endOf(jobId, outcome, row), configResults);
  }

  /** Judges a line of the spool again after a crash; the result is the same states and incidents. Undefined for a deleted monitor. */
  rejudge(line: string): JudgedOutcome | undefined {
    const row = parseLine(line);
    const monitor = this.#monitors.get(row.monitor_id);
    if (monitor === undefined) return undefined;
    const outcome = outcomeOf(row);
    // Only maintenance makes a row unknown.
    const inMaintenance = row.status === "unknown";
    const asItWas = { ...monitor, maxRetries: row.replay.max_retries };
    const { inbox_id: inboxId, job_id: jobId, configs: configResults } = row.replay;
    const advanced = this.#advance(asItWas, row.location, outcome, inMaintenance, configResults, row.id);
    return judgedOf(advanced, line, inboxId, endOf(jobId, outcome, row), configResults);
  }

  /** The monitor of a line of the spool, and the epoch of its shard when it was judged. */
  originOf(line: string): { readonly monitorId: number; readonly epoch: number | undefined } {
    const { monitor_id: monitorId, replay } = parseLine(line);
    return { monitorId, epoch: replay.epoch };
  }

  /** Applies one outcome to the monitor's state. */
  #advance(
    monitor: Monitor,
    location: string,
    outcome: CheckOutcome,
    inMaintenance: boolean,
    configs: JudgedOutcome["configResults"],
    rowId: string,
  ): Advanced {
    const lease = this.#leaseOf(monitor.id);
    const before = this.#lives.get(monitor.id) ?? newLiveState(monitor.id);
    const { live: judged, row } = applyCheck(before, monitor, location, outcome, inMaintenance, rowId);
    const { live, alert } = withShare(before, judged, monitor, location, outcome, inMaintenance ? undefined : configs);
    this.#lives.set(monitor.id, live);
    const step = incidentStep(this.#open.get(monitor.id) ?? null, monitor, before, live, {
      location,
      outcome,
      errorCategory: row.error_category,
      inMaintenance,
    });
    if (step.open === null) this.#open.delete(monitor.id);
    else this.#open.set(monitor.id, step.open);
    const others = inMaintenance ? NO_ALERTS : this.#alert(monitor, before, live, outcome);
    const alerts = alert === null ? others : [...others, alert];
    const state = live.locations[location] ?? { status: "unknown" as const };
    const nextWithinMs = delayAfterS(state, outcome.verdict, monitor.intervalS) * 1_000;
    return { lease, live, row, incidents: step.changes, alerts, nextWithinMs };
  }

  #alert(monitor: Monitor, before: LiveState, after: LiveState, outcome: CheckOutcome): readonly MonitorAlert[] {
    const previousStatus = this.#shownBefore.get(monitor.id) ?? before.status;
    if (this.#shownBefore.size > 0) this.#shownBefore.delete(monitor.id);
    const sent = this.#sentExpiries.get(monitor.id) ?? NOTHING_SENT;
    const alerts = alertsOf(monitor, previousStatus, after, outcome, sent);
    for (const one of alerts) {
      if (one.type !== "expiring") continue;
      this.#sentExpiries.set(monitor.id, rememberSent(this.#sentExpiries.get(monitor.id) ?? NOTHING_SENT, one));
    }
    return alerts;
  }

  #leaseOf(monitorId: number): ShardLease {
    const lease = this.#options.ownedShards.leaseOf(monitorId);
    if (lease === undefined) throw new Error(`monitor ${monitorId} is judged by another scheduler`);
    return lease;
  }

  #nextId({ shard, epoch }: ShardLease, nowMs: number): string {
    const known = this.#ids.get(shard);
    if (known !== undefined && known.epoch === epoch) return known.next(nowMs);
    const isOf = (id: number): boolean => this.#options.ownedShards.leaseOf(id)?.shard === shard;
    const next = createResultIds(shard, latestOf(this.#lives.values(), isOf));
    this.#ids.set(shard, { epoch, next });
    return next(nowMs);
  }
}

/** What applying an outcome brings. */
interface Advanced {
  readonly lease: ShardLease;
  readonly live: LiveState;
  readonly row: ReturnType<typeof applyCheck>["row"];
  readonly incidents: readonly IncidentChange[];
  readonly alerts: readonly MonitorAlert[];
  readonly nextWithinMs: number;
}

/** Field by field: a copy by rest and spread costs 4 µs, as much as two thirds of the rest of the way of a check. */
function judgedOf(
  { lease, live, incidents, alerts, nextWithinMs }: Advanced,
  line: string,
  inboxId: number | null,
  endedTest: JudgedOutcome["endedTest"],
  configResults: JudgedOutcome["configResults"],
): JudgedOutcome {
  return { lease, line, live, incidents, alerts, inboxId, endedTest, configResults, nextWithinMs };
}

/** Counts a location's checks in a row in which too few configs worked, and adds the alert that the latest check requires. */
function withShare(
  before: LiveState,
  live: LiveState,
  { maxRetries, configAlertPercent = CONFIG_ALERT_PERCENT.standard }: Monitor,
  location: string,
  outcome: CheckOutcome,
  configs: JudgedOutcome["configResults"],
): { readonly live: LiveState; readonly alert: MonitorAlert | null } {
  const lowBefore = before.locations[location]?.lowShareChecks ?? 0;
  const share = configs === undefined ? null : shareOf(outcome.verdict, configs);
  const state = live.locations[location];
  if (state === undefined || (share === null && lowBefore === 0)) return { live, alert: null };
  const { lowChecks, change } =
    share === null
      ? { lowChecks: lowBefore, change: null }
      : shareStep(lowBefore, share, configAlertPercent, maxRetries);
  if (lowChecks === 0 && lowBefore === 0) return { live, alert: null };
  const { lowShareChecks: _gone, ...rest } = state;
  const counted = lowChecks === 0 ? rest : { ...rest, lowShareChecks: lowChecks };
  const alert: MonitorAlert | null =
    change === null || share === null
      ? null
      : {
          ...{ type: "configs", monitorId: live.monitorId, atMs: outcome.startedAtMs, status: live.status },
          ...{ change, share, location },
        };
  return { live: { ...live, locations: { ...live.locations, [location]: counted } }, alert };
}

/** When the latest of some monitors was checked, Unix ms; 0: never. */
function latestOf(lives: Iterable<LiveState>, isOf: (monitorId: number) => boolean): number {
  let latestMs = 0;
  for (const { monitorId, lastCheckedAtMs } of lives) {
    if (isOf(monitorId)) latestMs = Math.max(latestMs, lastCheckedAtMs ?? 0);
  }
  return latestMs;
}

function healed(live: LiveState): LiveState {
  const nothing = { latencyMs: null, connectMs: null, latenessMs: null, certificate: null, errorMessage: null };
  const locations = Object.entries(live.locations).map(([location, state]) => [location, { ...state, pingMs: null }]);
  return { ...live, ...nothing, locations: Object.fromEntries(locations) };
}
