/** What the sink writes: results of checks, in transactions that may safely be repeated. */
import type { MonitorAlert, SentExpiryAlert } from "../../../model/alert.ts";
import type { IncidentChange, IncidentLevel } from "../../../model/incident.ts";
import type { LiveState } from "../../../model/status.ts";
import type { ShardFilter, ShardLease, Skips } from "../coordination/shards-port.ts";
import type { EndedTest } from "../jobs/port.ts";
import type { NewConfigResult } from "../monitors/imports-port.ts";

/** What the sink writes in one transaction. */
export interface SinkBatch {
  /** Name of the spool that its results are in. */
  readonly spool: string;
  /** Of every shard that it writes about: all must still be held, or nothing is written. Absent: no other process writes. */
  readonly leases?: readonly ShardLease[];
  /** Results up to and with this sequence of the spool are applied by this batch. */
  readonly appliedSeq: number;
  /** Whole live states; of monitors that were deleted meanwhile they are ignored. */
  readonly live: readonly LiveState[];
  readonly incidents: readonly IncidentChange[];
  /** Absent: none. */
  readonly alerts?: readonly MonitorAlert[];
  readonly drainedInboxIds: readonly number[];
  /** Tests that these results end. */
  readonly endedTests?: readonly EndedTest[];
  /** How configs of imported servers did. Absent: none. */
  readonly configResults?: readonly NewConfigResult[];
  /** Turns that no prober ran. */
  readonly skips?: readonly Skips[];
}

/** Live states that changed without a check. */
export interface SinkTouch {
  /** Whole live states. */
  readonly live: readonly LiveState[];
  readonly skips: readonly Skips[];
  readonly leases: readonly ShardLease[];
}

export interface SinkStore {
  /**
   * All of it, or nothing when `appliedSeq` is not above what was applied before: a batch may safely come again.
   * @throws ShardsLost
   */
  apply(batch: SinkBatch): Promise<void>;
  /** Resolves when all that apply() has committed would survive a power cut: only then its results may leave the spool. */
  settle(): Promise<void>;
  /** Between batches only. @throws ShardsLost */
  touch(touch: SinkTouch): Promise<void>;
  /** 0 before the spool's first batch. */
  appliedSeq(spool: string): Promise<number>;
  /** Level of the open incident of each monitor that has one. @param filter absent: of all shards */
  openIncidents(filter?: ShardFilter): Promise<ReadonlyMap<number, IncidentLevel>>;
  /** What each monitor was alerted of already. @param filter absent: of all shards */
  sentExpiries(filter?: ShardFilter): Promise<ReadonlyMap<number, readonly SentExpiryAlert[]>>;
}
