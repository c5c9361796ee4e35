/** Updates the plan from the control plane, when shards are taken and after every change. */
import { isActive, type Monitor } from "../model/monitor.ts";
import type { ControlPlane } from "../store/sql/control-plane.ts";
import type { Fence } from "../store/sql/ports/shards.ts";
import type { Arrival } from "./course.ts";
import type { Holdings } from "./holdings.ts";
import type { Ledger } from "./ledger.ts";
import type { EntryChange, Plan } from "./plan.ts";

/** Changes that are applied before other work gets the thread: some milliseconds. */
const SLICE = 50;

export interface FollowOptions {
  readonly controlPlane: Pick<ControlPlane, "generation" | "heartbeats" | "monitors" | "sink">;
  readonly holdings: Holdings;
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly nowMs: () => number;
  /** Lets other work on the thread run. */
  readonly breathe: () => Promise<void>;
  /** Whether a checker runs there. */
  readonly hasChecker: (location: string) => boolean;
  /** A live state is another, though nothing was checked. */
  readonly onMoved: (monitorId: number) => void;
  /** @param lastCallAtMs of a heartbeat that was loaded; null: none */
  readonly apply: (change: EntryChange, arrival: Arrival, lastCallAtMs: number | null) => void;
}

export interface Follower {
  /**
   * Takes in everything of shards that were taken; they are held from the moment it is known.
   * @param beforePlan runs when it is known and nothing is planned yet
   */
  load(fences: readonly Fence[], beforePlan?: () => Promise<void>): Promise<void>;
  /** What changed since. */
  follow(): Promise<void>;
  /** Checkers came or went: every monitor is looked at anew. */
  reconsider(): void;
  /** Lets go of monitors whose shards are no longer held. */
  drop(): void;
}

export function createFollower(options: FollowOptions): Follower {
  const { controlPlane, holdings, ledger, plan, nowMs, apply } = options;
  let generation = -1;
  let tail: Promise<unknown> = Promise.resolve();

  /** A load and a follow wait for each other, because changes during a load could not be told from it. */
  function exclusive<T>(act: () => Promise<T>): Promise<T> {
    const result = tail.then(act);
    tail = result.catch(() => undefined);
    return result;
  }

  function set(monitor: Monitor, arrival: Arrival, lastCallAtMs: number | null): void {
    if (ledger.setAvailability(monitor, options.hasChecker)) options.onMoved(monitor.id);
    const applied = isActive(monitor) ? plan.set(monitor, nowMs()) : plan.remove(monitor.id);
    for (const change of applied) apply(change, arrival, lastCallAtMs);
  }

  function remove(monitorId: number): void {
    for (const change of plan.remove(monitorId)) apply(change, "changed", null);
  }

  async function load(fences: readonly Fence[], beforePlan: () => Promise<void>): Promise<void> {
    const part = { count: holdings.count, shards: fences.map(({ shard }) => shard) };
    // What commits in between is told once more by the next follow.
    const changes = await controlPlane.monitors.changedSince(Number.POSITIVE_INFINITY, part);
    const [openIncidents, told, lastCalls] = await Promise.all([
      controlPlane.sink.openIncidents(part),
      controlPlane.sink.toldExpiries(part),
      controlPlane.heartbeats.lastCalls(part),
    ]);
    for (const fence of fences) holdings.hold(fence);
    ledger.remember(openIncidents, told);
    for (const { monitor, live } of changes.changed) ledger.set(monitor, live);
    await beforePlan();
    for (const { monitor } of changes.changed) set(monitor, "loaded", lastCalls.get(monitor.id) ?? null);
    if (generation < 0) generation = changes.generation;
  }

  async function follow(): Promise<void> {
    if ((await controlPlane.generation()) === generation) return;
    const changes = await controlPlane.monitors.changedSince(generation, holdings.part());
    const pause = pauseEvery(SLICE, options.breathe);
    for (const { monitor, live } of changes.changed) {
      await pause();
      // Lost, or about to be given back, since it was asked.
      if (!holdings.isActive(monitor.id)) continue;
      ledger.set(monitor, live);
      set(monitor, "changed", null);
    }
    generation = changes.generation;
    for (const id of changes.removedIds) {
      await pause();
      remove(id);
      // Paused ones keep their memory: outcomes not yet written are newer than the store.
      if ((await controlPlane.monitors.recall(id)) === undefined) ledger.forget(id);
    }
  }

  return {
    load: (fences, beforePlan = async () => undefined) => exclusive(() => load(fences, beforePlan)),
    follow: () => exclusive(follow),
    reconsider() {
      for (const id of plan.monitorIds()) {
        const monitor = ledger.monitor(id);
        // Into their phases: a location that is back has no burst to make up for.
        if (monitor !== undefined) set(monitor, "returned", null);
      }
    },
    drop() {
      for (const id of plan.monitorIds()) if (holdings.fenceOf(id) === undefined) remove(id);
    },
  };
}

/** A subscription brings thousands at once: no other monitor's turn waits for all of them. */
function pauseEvery(slice: number, breathe: () => Promise<void>): () => Promise<void> | undefined {
  let taken = 0;
  return () => (++taken % slice === 0 ? breathe() : undefined);
}
