/** Updates the plan from the control plane, when shards are taken and after every change. */
import { isActive, type Monitor } from "../../model/monitor.ts";
import { SerialQueue } from "../../model/serial-queue.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ShardLease } from "../../store/sql/coordination/shards-port.ts";
import type { Arrival } from "../judge/plan-changes.ts";
import type { MonitorStates } from "../judge/states.ts";
import type { Plan, PlanChange } from "../plan/plan.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import type { Sink } from "../sink/sink.ts";

/** Changes that are applied before other work gets the thread: some milliseconds. */
const SLICE = 50;

export interface FollowOptions {
  readonly controlPlane: Pick<ControlPlane, "generation" | "heartbeats" | "monitors" | "sink">;
  readonly ownedShards: OwnedShards;
  readonly states: MonitorStates;
  readonly plan: Plan;
  readonly sink: Pick<Sink, "touch">;
  readonly nowMs: () => number;
  /** Lets other work on the thread run. */
  readonly breathe: () => Promise<void>;
  /** Whether a checker runs there. */
  readonly hasChecker: (location: string) => boolean;
  /** The control plane is older than it was: it lacks changes that were taken in. */
  readonly onSetBack: () => void;
  /** @param lastCallAtMs of a heartbeat that was loaded; null: none */
  readonly apply: (change: PlanChange, arrival: Arrival, lastCallAtMs: number | null) => void;
}

export class Follower {
  readonly #options: FollowOptions;
  /** A load and a follow wait for each other, because changes during a load could not be told from it. */
  readonly #queue = new SerialQueue();
  #generation = -1;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  /**
   * Takes in everything of shards that were taken; they are held from the moment it is known.
   * @param beforePlan runs when it is known and nothing is planned yet
   */
  load(leases: readonly ShardLease[], beforePlan = async (): Promise<void> => undefined): Promise<void> {
    return this.#queue.run(() => this.#load(leases, beforePlan));
  }

  async #load(leases: readonly ShardLease[], beforePlan: () => Promise<void>): Promise<void> {
    const { controlPlane, ownedShards, states } = this.#options;
    const filter = { count: ownedShards.count, shards: leases.map(({ shard }) => shard) };
    // What commits in between is read once more by the next follow.
    const changes = await controlPlane.monitors.changedSince(Number.POSITIVE_INFINITY, filter);
    const [openIncidents, sentExpiries, lastCalls] = await Promise.all([
      controlPlane.sink.openIncidents(filter),
      controlPlane.sink.sentExpiries(filter),
      controlPlane.heartbeats.lastCalls(filter),
    ]);
    for (const lease of leases) ownedShards.hold(lease);
    states.remember(openIncidents, sentExpiries);
    for (const { monitor, live } of changes.changed) states.set(monitor, live);
    await beforePlan();
    for (const { monitor } of changes.changed) this.#set(monitor, "loaded", lastCalls.get(monitor.id) ?? null);
    if (this.#generation < 0) this.#generation = changes.generation;
  }

  /** Takes in what changed since. */
  follow(): Promise<void> {
    return this.#queue.run(() => this.#follow());
  }

  async #follow(): Promise<void> {
    const { controlPlane, onSetBack, ownedShards, states } = this.#options;
    const generation = await controlPlane.generation();
    if (generation === this.#generation) return;
    if (generation < this.#generation) {
      this.#generation = generation;
      return onSetBack();
    }
    const changes = await controlPlane.monitors.changedSince(this.#generation, ownedShards.filter());
    const pause = pauseEvery(SLICE, this.#options.breathe);
    for (const { monitor, live } of changes.changed) {
      await pause();
      // Lost, or about to be given back, since it was asked.
      if (!ownedShards.isActive(monitor.id)) continue;
      states.set(monitor, live);
      this.#set(monitor, "changed", null);
    }
    this.#generation = changes.generation;
    for (const id of changes.removedIds) {
      await pause();
      this.#remove(id);
      // Paused ones keep their memory: outcomes not yet written are newer than the store.
      if ((await controlPlane.monitors.recall(id)) === undefined) states.forget(id);
    }
  }

  /** Checkers came or went: every monitor is looked at anew. */
  reconsider(): void {
    const { plan, states } = this.#options;
    for (const id of plan.monitorIds()) {
      const monitor = states.monitor(id);
      // Into their phases: a location that is back has no burst to make up for.
      if (monitor !== undefined) this.#set(monitor, "returned", null);
    }
  }

  /** Removes monitors from the plan whose shards are no longer held. */
  drop(): void {
    const { ownedShards, plan } = this.#options;
    for (const id of plan.monitorIds()) if (ownedShards.leaseOf(id) === undefined) this.#remove(id);
  }

  #set(monitor: Monitor, arrival: Arrival, lastCallAtMs: number | null): void {
    const { apply, hasChecker, nowMs, plan, sink, states } = this.#options;
    // Its live state may be another, though nothing was checked.
    if (states.setAvailability(monitor, hasChecker, nowMs())) sink.touch(monitor.id);
    const changes = isActive(monitor) ? plan.set(monitor, nowMs()) : plan.remove(monitor.id);
    for (const change of changes) apply(change, arrival, lastCallAtMs);
  }

  #remove(monitorId: number): void {
    const { apply, plan } = this.#options;
    for (const change of plan.remove(monitorId)) apply(change, "changed", null);
  }
}

/** A subscription brings thousands at once: no other monitor's turn waits for all of them. */
function pauseEvery(slice: number, breathe: () => Promise<void>): () => Promise<void> | undefined {
  let taken = 0;
  return () => (++taken % slice === 0 ? breathe() : undefined);
}
