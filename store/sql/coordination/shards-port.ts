/**
 * Shards: each is held by one scheduler at a time, under an epoch that counts takings. Every write of what belongs to a shard asserts the
 * epoch in the same transaction, so a scheduler that was frozen and wakes writes nothing. A scheduler's sign of life is a number that it
 * raises; the others look whether it changes, each by its own clock (model/shards.ts).
 */
import { LeaseLost } from "./leases-port.ts";

/** A shard and the epoch that its holder writes under. */
export interface ShardLease {
  readonly shard: number;
  readonly epoch: number;
}

/** Monitors of some shards only. */
export interface ShardFilter {
  /** Of all shards there are. */
  readonly count: number;
  readonly shards: readonly number[];
}

export interface ShardRow extends ShardLease {
  /** A scheduler's id; null: free. */
  readonly holder: string | null;
  /** Turns that no prober ran, since the database was made. */
  readonly skipped: number;
}

/**
 * What the operator should look at although nothing is late. location_troubled: what a location's checkers send is refused again and again ·
 * rows_set_aside: a store has refused rows for what is in them, and they are in a file · checkers_idle: a checker runs where another process
 * checks already, and gets no runs · results_unwritten: what checks bring cannot be written now, by the disk or the database ·
 * reads_refused: checks began late, and reads were answered 503 · clock_off: the clocks of a process, PostgreSQL and
 * Redis differ · results_waiting: ClickHouse takes no results, they wait on disk
 */
export const WARNINGS = [
  "location_troubled",
  "rows_set_aside",
  "checkers_idle",
  "results_unwritten",
  "reads_refused",
  "clock_off",
  "results_waiting",
] as const;
export type Warning = (typeof WARNINGS)[number];

/** What a scheduler says of itself; for people and for the API's answers. */
export interface SchedulerReport {
  readonly monitors: number;
  readonly running: number;
  readonly waiting: number;
  readonly silentMonitors: number;
  /** Since it started. */
  readonly skippedTurns: number;
  readonly spoolRows: number;
  /** Why results are late or not readable; null when all is well. */
  readonly trouble: string | null;
  /** How often it beats, ms; absent: every 3 s. */
  readonly beatMs?: number;
  /** Its version opens secrets that are bound to their rows; absent: it does not. */
  readonly readsBoundRows?: boolean;
  /** Its version knows what a website's check may ask for beside a plain GET; absent: it does not. */
  readonly makesRequests?: boolean;
  /** Absent from one that is older. */
  readonly warnings?: readonly Warning[];
}

export interface SchedulerRow {
  /** Of its spool: a process that starts again on the same folder is the same scheduler. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly beat: number;
  readonly report: SchedulerReport;
}

export interface ShardsView {
  /** In order, from 0. */
  readonly shards: readonly ShardRow[];
  readonly schedulers: readonly SchedulerRow[];
}

/** Turns of a shard that no prober ran. */
export interface Skips {
  readonly shard: number;
  readonly turns: number;
}

export interface Shards {
  view(): Promise<ShardsView>;
  /** Raises the scheduler's beat; makes its row where there is none. */
  beat(id: string, name: string, report: SchedulerReport): Promise<void>;
  /** Takes it if it still has the epoch that was seen. @returns the new epoch */
  take(shard: number, id: string, seenEpoch: number): Promise<number | undefined>;
  /** The next scheduler need not wait for them. A shard that another has taken meanwhile stays with it. */
  release(leases: readonly ShardLease[]): Promise<void>;
  /** Removes the row of a scheduler that left, or whose beat has not moved since it was found dead. */
  forget(id: string, beat?: number): Promise<void>;
}

/** Others have taken these meanwhile: nothing was written. */
export class ShardsLost extends LeaseLost {
  override readonly name = "ShardsLost";
  readonly shards: readonly number[];

  constructor(shards: readonly number[]) {
    super(`another scheduler has taken ${shards.length === 1 ? "shard" : "shards"} ${shards.join(", ")}`);
    this.shards = shards;
  }
}
