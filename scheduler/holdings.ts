/**
 * Holdings: the shards that this process holds, each with the epoch that it writes under. One table for all parts of the scheduler, so that
 * a shard is gone for every one of them in the same moment.
 */
import { shardOf } from "../model/shards.ts";
import type { Fence, Part } from "../store/sql/ports/shards.ts";

/** Its holder does what one process must do for all: thinning, pruning, synchronising subscriptions. */
export const FIRST_SHARD = 0;

export interface Holdings {
  /** Of all shards there are. */
  readonly count: number;
  shardOf(monitorId: number): number;
  /** What is written about the monitor is written under it; undefined: another's. */
  fenceOf(monitorId: number): Fence | undefined;
  fence(shard: number): Fence | undefined;
  /** Held, and not about to be given back: its turns are taken. */
  isActive(monitorId: number): boolean;
  /** Active shards, to read the control plane by. */
  part(): Part;
  fences(): readonly Fence[];
  hold(fence: Fence): void;
  /** Its turns end; what runs is still written. */
  retire(shard: number): void;
  drop(shard: number): void;
}

export function createHoldings(count: number): Holdings {
  const held = new Map<number, Fence>();
  const retired = new Set<number>();
  const of = (monitorId: number): number => shardOf(monitorId, count);
  return {
    count,
    shardOf: of,
    fenceOf: (monitorId) => held.get(of(monitorId)),
    fence: (shard) => held.get(shard),
    isActive(monitorId) {
      const shard = of(monitorId);
      return held.has(shard) && !retired.has(shard);
    },
    part: () => ({ count, shards: [...held.keys()].filter((shard) => !retired.has(shard)) }),
    fences: () => [...held.values()],
    hold(fence) {
      held.set(fence.shard, fence);
      retired.delete(fence.shard);
    },
    retire: (shard) => void retired.add(shard),
    drop(shard) {
      held.delete(shard);
      retired.delete(shard);
    },
  };
}
