/**
 * Plan: turns monitors into planned checks, and changes of monitors into changes of planned checks. Pure: time comes in as an argument.
 */
import { isPassive } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { enabledLocations } from "../../model/monitor.ts";
import { timeoutMsOf } from "../../model/schedule.ts";
import type { CheckSpecs, Specified } from "./check-specs.ts";
import { phaseOf } from "./phase.ts";
import type { PlannedCheck } from "./planned-check.ts";

/** What a change of one monitor means for the rest of the scheduler. */
export interface PlanChange {
  readonly planned: PlannedCheck;
  /**
   * added: new or resumed · respecified: measures something else now · rescheduled: another interval · kept: neither ·
   * removed: paused, deleted, or not checked from that location any more
   */
  readonly type: "added" | "respecified" | "rescheduled" | "kept" | "removed";
  /** Key of the spec that nothing needs any more. */
  readonly obsoleteSpecKey: number | null;
}

/** A heartbeat comes to us: nothing is run, and no limit delays its deadline. */
const NOTHING_TO_RUN = { spec: null, identity: null, limits: [] } as const;

export class Plan {
  readonly #specs: CheckSpecs;
  readonly #hasChecker: (location: string) => boolean;
  readonly #byMonitor = new Map<number, PlannedCheck[]>();
  readonly #byId: (PlannedCheck | undefined)[] = [];
  readonly #freeIds: number[] = [];

  /** @param hasChecker whether a checker runs there: the other locations have no planned check */
  constructor(specs: CheckSpecs, hasChecker: (location: string) => boolean = () => true) {
    this.#specs = specs;
    this.#hasChecker = hasChecker;
  }

  get monitorCount(): number {
    return this.#byMonitor.size;
  }

  /** Brings a monitor's planned checks in line with it. */
  set(monitor: Monitor, nowMs: number): readonly PlanChange[] {
    // Heartbeats come to us: no checker is needed.
    const wanted = enabledLocations(monitor).filter((one) => isPassive(monitor.kind) || this.#hasChecker(one));
    const present = this.#byMonitor.get(monitor.id) ?? [];
    const changes: PlanChange[] = [];
    for (const planned of present) if (!wanted.includes(planned.location)) changes.push(this.#drop(planned));
    const all: PlannedCheck[] = [];
    for (const location of wanted) {
      const known = present.find((planned) => planned.location === location);
      const change = known === undefined ? this.#add(monitor, location, nowMs) : this.#update(known, monitor);
      changes.push(change);
      all.push(change.planned);
    }
    this.#byMonitor.set(monitor.id, all);
    return changes;
  }

  remove(monitorId: number): readonly PlanChange[] {
    const all = this.#byMonitor.get(monitorId) ?? [];
    this.#byMonitor.delete(monitorId);
    return all.map((planned) => this.#drop(planned));
  }

  /** By its id in the wheel. */
  byId(id: number): PlannedCheck | undefined {
    return this.#byId[id];
  }

  plannedOf(monitorId: number): readonly PlannedCheck[] {
    return this.#byMonitor.get(monitorId) ?? [];
  }

  *all(): Iterable<PlannedCheck> {
    for (const all of this.#byMonitor.values()) yield* all;
  }

  /** Ids of all monitors in the plan, also of those that no location checks; a copy. */
  monitorIds(): readonly number[] {
    return [...this.#byMonitor.keys()];
  }

  #add(monitor: Monitor, location: string, nowMs: number): PlanChange {
    const intervalMs = monitor.intervalS * 1_000;
    const { spec, identity, limits } = this.#specify(monitor);
    const planned: PlannedCheck = {
      id: this.#freeIds.pop() ?? this.#byId.length,
      location,
      monitor,
      spec,
      intervalMs,
      phaseMs: phaseOf(monitor.id, location, intervalMs),
      identity,
      limits,
      nextDueAtMs: Number.POSITIVE_INFINITY,
      lastSignAtMs: nowMs,
      run: null,
      isRemoved: false,
    };
    this.#byId[planned.id] = planned;
    return { planned, type: "added", obsoleteSpecKey: null };
  }

  #update(planned: PlannedCheck, monitor: Monitor): PlanChange {
    const before = planned.monitor;
    planned.monitor = monitor;
    const intervalMs = monitor.intervalS * 1_000;
    const hasNewInterval = intervalMs !== planned.intervalMs || before.graceS !== monitor.graceS;
    if (hasNewInterval) {
      planned.intervalMs = intervalMs;
      planned.phaseMs = phaseOf(monitor.id, planned.location, intervalMs);
    }
    if (measuresTheSame(before, monitor)) {
      return { planned, type: hasNewInterval ? "rescheduled" : "kept", obsoleteSpecKey: null };
    }
    const obsoleteSpecKey = planned.spec?.key ?? null;
    const { spec, identity, limits } = this.#specify(monitor);
    planned.spec = spec;
    planned.identity = identity;
    planned.limits = limits;
    return { planned, type: "respecified", obsoleteSpecKey };
  }

  #drop(planned: PlannedCheck): PlanChange {
    this.#byId[planned.id] = undefined;
    this.#freeIds.push(planned.id);
    planned.isRemoved = true;
    return { planned, type: "removed", obsoleteSpecKey: planned.spec?.key ?? null };
  }

  #specify(monitor: Monitor): Specified | typeof NOTHING_TO_RUN {
    return isPassive(monitor.kind) ? NOTHING_TO_RUN : this.#specs.ofMonitor(monitor);
  }
}

function measuresTheSame(before: Monitor, after: Monitor): boolean {
  return (
    before.kind === after.kind &&
    timeoutMsOf(before) === timeoutMsOf(after) &&
    before.host === after.host &&
    before.sealed === after.sealed &&
    before.urlSealed === after.urlSealed &&
    before.subscriptionId === after.subscriptionId &&
    before.subscriptionWorkers === after.subscriptionWorkers &&
    before.subscriptionEngines === after.subscriptionEngines &&
    runsTheSame(before.configs, after.configs) &&
    before.domainExpirationDays === after.domainExpirationDays &&
    JSON.stringify(before.settings) === JSON.stringify(after.settings)
  );
}

function runsTheSame(before: Monitor["configs"], after: Monitor["configs"]): boolean {
  if (before === undefined || after === undefined) return before === after;
  return (
    before.length === after.length &&
    before.every(({ id, sealed }, index) => id === after[index]?.id && sealed === after[index]?.sealed)
  );
}
