/**
 * The shards that this process holds, each with the epoch that it writes under. One table for all parts of the scheduler, so that
 * a shard is gone for all of them in the same moment.
 */
import { shardOf } from "../../model/shards.ts";
import type { ShardFilter, ShardLease } from "../../store/sql/coordination/shards-port.ts";

/** Its holder does what one process must do for all: thinning results, pruning jobs. */
const FIRST_SHARD = 0;

export class OwnedShards {
  /** Of all shards there are. */
  readonly count: number;
  readonly #held = new Map<number, ShardLease>();
  readonly #retired = new Set<number>();

  constructor(count: number) {
    this.count = count;
  }

  shardOf(monitorId: number): number {
    return shardOf(monitorId, this.count);
  }

  /** The lease under which this process writes about the monitor; undefined: another scheduler writes about it. */
  leaseOf(monitorId: number): ShardLease | undefined {
    return this.#held.get(this.shardOf(monitorId));
  }

  lease(shard: number): ShardLease | undefined {
    return this.#held.get(shard);
  }

  /** Of all shards that are held. */
  leases(): readonly ShardLease[] {
    return [...this.#held.values()];
  }

  /** Held, and not about to be given back: its turns are taken. */
  isActive(monitorId: number): boolean {
    const shard = this.shardOf(monitorId);
    return this.#held.has(shard) && !this.#retired.has(shard);
  }

  /** Active shards, to read the control plane by. */
  filter(): ShardFilter {
    return { count: this.count, shards: [...this.#held.keys()].filter((shard) => !this.#retired.has(shard)) };
  }

  /** Whether this process does the work that one process must do for all. */
  get hasFirst(): boolean {
    return this.#held.has(FIRST_SHARD);
  }

  hold(lease: ShardLease): void {
    this.#held.set(lease.shard, lease);
    this.#retired.delete(lease.shard);
  }

  /** Starts no more turns of the shard. Runs under way are still written. */
  retire(shard: number): void {
    this.#retired.add(shard);
  }

  drop(shard: number): void {
    this.#held.delete(shard);
    this.#retired.delete(shard);
  }
}
