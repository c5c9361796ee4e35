/**
 * Plan: turns monitors into entries and changes of monitors into changes of entries. Pure: time comes in as an argument.
 */
import type { CheckSpec } from "../engine/check.ts";
import type { Monitor } from "../model/monitor.ts";
import { enabledLocations } from "../model/monitor.ts";
import { type CheckInput, type ReadInput, readSettings } from "./check-inputs.ts";
import type { Entry, Errand, Gate } from "./entry.ts";
import type { GateBook } from "./gates.ts";
import { phaseOf } from "./spread.ts";

/** Checks in flight at one target host; our choice: polite to a host that serves hundreds of monitors, and more than 5,000/s need at 10 ms. */
export const HOST_LIMIT = 128;

export interface PlanLimits {
  readonly perHost: number;
  /** Places one workspace can hold, so that its hanging targets leave room for others. */
  readonly perWorkspace: number;
}

export interface PlanOptions {
  readonly read: ReadInput;
  /** Whether a checker runs there: the other locations have no entry. */
  readonly hasChecker: (location: string) => boolean;
}

const ALL_HERE: PlanOptions = { read: readSettings, hasChecker: () => true };

/** What a check is made of, of a monitor that is kept nowhere. */
export type GivenCheck = CheckInput & Pick<CheckSpec, "isPublic">;

/** Id of entries that run besides the plan. */
const NOT_IN_WHEEL = -1;

/** What a change of one monitor means for the rest of the scheduler. */
export interface EntryChange {
  readonly entry: Entry;
  /**
   * added: new or resumed · respecified: measures something else now · rescheduled: another interval · kept: neither ·
   * removed: paused, deleted, or not checked from that location any more
   */
  readonly type: "added" | "respecified" | "rescheduled" | "kept" | "removed";
  /** Key of the spec that nothing needs any more. */
  readonly obsoleteSpecKey: number | null;
}

export interface Plan {
  /** Brings a monitor's entries in line with it. */
  set(monitor: Monitor, nowMs: number): readonly EntryChange[];
  remove(monitorId: number): readonly EntryChange[];
  /** An entry besides the plan, which the wheel does not know. */
  errand(monitor: Monitor, location: string, errand: Errand, given?: GivenCheck): Entry;
  /** By wheel id. */
  entry(id: number): Entry | undefined;
  entriesOf(monitorId: number): readonly Entry[];
  entries(): Iterable<Entry>;
  readonly monitorCount: number;
  /** Of every monitor in the plan, those without an entry too; a copy. */
  monitorIds(): readonly number[];
}

function specOf(
  key: number,
  kind: CheckSpec["kind"],
  { timeoutS, organizationId: workspace }: Monitor,
  { settings, configs, fault, isPublic }: GivenCheck,
): CheckSpec {
  return {
    key,
    kind,
    settings,
    timeoutMs: timeoutS * 1_000,
    workspace,
    ...(configs !== undefined && { configs }),
    ...(fault !== undefined && { fault }),
    ...(isPublic === true && { isPublic }),
  };
}

export function createPlan(gates: GateBook, limits: PlanLimits, { read, hasChecker }: PlanOptions = ALL_HERE): Plan {
  const byMonitor = new Map<number, Entry[]>();
  const byId: (Entry | undefined)[] = [];
  const freeIds: number[] = [];
  let lastSpecKey = 0;

  function specFor(monitor: Monitor, given: GivenCheck): CheckSpec | null {
    if (monitor.kind === "push") return null;
    lastSpecKey += 1;
    return specOf(lastSpecKey, monitor.kind, monitor, given);
  }

  function gatesFor(monitor: Monitor, { identity }: CheckInput): readonly Gate[] {
    const wanted = [gates.gate(`workspace ${monitor.organizationId}`, limits.perWorkspace)];
    if (monitor.host !== null) wanted.unshift(gates.gate(`host ${monitor.host}`, limits.perHost));
    const { subscriptionId, subscriptionWorkers } = monitor;
    if (subscriptionId !== null && subscriptionWorkers !== undefined) {
      wanted.unshift(gates.gate(`subscription ${subscriptionId}`, subscriptionWorkers));
    }
    if (identity !== null) wanted.unshift(gates.gate(`identity ${identity}`, 1));
    return wanted;
  }

  function add(monitor: Monitor, location: string, nowMs: number): EntryChange {
    const intervalMs = monitor.intervalS * 1_000;
    const input = read(monitor);
    const entry: Entry = {
      id: freeIds.pop() ?? byId.length,
      location,
      monitor,
      spec: specFor(monitor, input),
      intervalMs,
      phaseMs: phaseOf(monitor.id, location, intervalMs),
      identity: input.identity,
      gates: gatesFor(monitor, input),
      held: [],
      state: "idle",
      nextTurnAtMs: Number.POSITIVE_INFINITY,
      turnAtMs: 0,
      checkId: 0,
      attempt: 0,
      lastSignAtMs: nowMs,
      errand: null,
    };
    byId[entry.id] = entry;
    return { entry, type: "added", obsoleteSpecKey: null };
  }

  function update(entry: Entry, monitor: Monitor): EntryChange {
    const before = entry.monitor;
    entry.monitor = monitor;
    const intervalMs = monitor.intervalS * 1_000;
    const hasNewInterval = intervalMs !== entry.intervalMs || before.graceS !== monitor.graceS;
    if (hasNewInterval) {
      entry.intervalMs = intervalMs;
      entry.phaseMs = phaseOf(monitor.id, entry.location, intervalMs);
    }
    if (measuresTheSame(before, monitor)) {
      return { entry, type: hasNewInterval ? "rescheduled" : "kept", obsoleteSpecKey: null };
    }
    const obsoleteSpecKey = entry.spec?.key ?? null;
    const input = read(monitor);
    entry.spec = specFor(monitor, input);
    entry.identity = input.identity;
    entry.gates = gatesFor(monitor, input);
    return { entry, type: "respecified", obsoleteSpecKey };
  }

  function drop(entry: Entry): EntryChange {
    byId[entry.id] = undefined;
    freeIds.push(entry.id);
    return { entry, type: "removed", obsoleteSpecKey: entry.spec?.key ?? null };
  }

  return {
    set(monitor, nowMs) {
      // Heartbeats come to us: no checker is needed.
      const wanted = enabledLocations(monitor).filter((one) => monitor.kind === "push" || hasChecker(one));
      const present = byMonitor.get(monitor.id) ?? [];
      const changes = present.filter((entry) => !wanted.includes(entry.location)).map(drop);
      const entries = wanted.map((location) => {
        const old = present.find((entry) => entry.location === location);
        const change = old === undefined ? add(monitor, location, nowMs) : update(old, monitor);
        changes.push(change);
        return change.entry;
      });
      byMonitor.set(monitor.id, entries);
      return changes;
    },
    remove(monitorId) {
      const entries = byMonitor.get(monitorId) ?? [];
      byMonitor.delete(monitorId);
      return entries.map(drop);
    },
    errand(monitor, location, errand, given) {
      const input = given ?? read(monitor);
      return {
        id: NOT_IN_WHEEL,
        location,
        monitor,
        spec: specFor(monitor, input),
        intervalMs: monitor.intervalS * 1_000,
        phaseMs: 0,
        identity: input.identity,
        gates: gatesFor(monitor, input),
        held: [],
        state: "idle",
        nextTurnAtMs: Number.POSITIVE_INFINITY,
        turnAtMs: 0,
        checkId: 0,
        attempt: 0,
        lastSignAtMs: 0,
        errand,
      };
    },
    entry: (id) => byId[id],
    entriesOf: (monitorId) => byMonitor.get(monitorId) ?? [],
    *entries() {
      for (const entries of byMonitor.values()) yield* entries;
    },
    get monitorCount() {
      return byMonitor.size;
    },
    monitorIds: () => [...byMonitor.keys()],
  };
}

function measuresTheSame(before: Monitor, after: Monitor): boolean {
  return (
    before.kind === after.kind &&
    before.timeoutS === after.timeoutS &&
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
