/** Follow: brings the plan in line with the control plane, at the start and after every change. */
import { isActive } from "../model/monitor.ts";
import type { ControlPlane } from "../store/sql/control-plane.ts";
import type { Ledger } from "./ledger.ts";
import type { EntryChange, Plan } from "./plan.ts";

export interface FollowOptions {
  readonly controlPlane: Pick<ControlPlane, "generation" | "heartbeats" | "monitors">;
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly nowMs: () => number;
  /** Whether anybody checks from there. */
  readonly hasChecker: (location: string) => boolean;
  /** A live state is another, though nothing was checked. */
  readonly onMoved: (monitorId: number) => void;
  /** @param lastCallAtMs of a heartbeat, at the start; null: none, or not the start */
  readonly apply: (change: EntryChange, isStart: boolean, lastCallAtMs: number | null) => void;
}

export interface Follower {
  /** The whole plan, from nothing. */
  start(): Promise<void>;
  /** What changed since. */
  follow(): Promise<void>;
}

export function createFollower(options: FollowOptions): Follower {
  const { controlPlane, ledger, plan, nowMs, apply } = options;
  let generation = -1;

  async function take(isStart: boolean, lastCalls: ReadonlyMap<number, number>): Promise<void> {
    const changes = await controlPlane.monitors.changedSince(generation);
    for (const { monitor, live } of changes.changed) {
      ledger.set(monitor, live);
      if (ledger.setAvailability(monitor, options.hasChecker)) options.onMoved(monitor.id);
      const applied = isActive(monitor) ? plan.set(monitor, nowMs()) : plan.remove(monitor.id);
      for (const change of applied) apply(change, isStart, lastCalls.get(monitor.id) ?? null);
    }
    for (const id of changes.removedIds) {
      for (const change of plan.remove(id)) apply(change, isStart, null);
      // Paused ones keep their memory: outcomes not yet written are newer than the store.
      if (!isStart && (await controlPlane.monitors.recall(id)) === undefined) ledger.forget(id);
    }
    generation = changes.generation;
  }

  return {
    start: async () => take(true, await controlPlane.heartbeats.lastCalls()),
    async follow() {
      if ((await controlPlane.generation()) !== generation) await take(false, new Map());
    },
  };
}
