/** Jobs: work that was asked for and must survive a restart. Rows of SQL until done (docs/decisions/0006-stores.md). */
import type { Actor } from "../../../model/actor.ts";
import type { RowStatus } from "../../../model/status.ts";
import type { ShardFilter, ShardLease } from "../coordination/shards-port.ts";

/** A run of a monitor besides its own turns. */
export interface NewTestJob {
  readonly kind: "test" | "retest";
  readonly projectId: number;
  readonly monitorId: number;
  /** What the caller knows it by: `tst_…`. */
  readonly testId: string;
  /** Where it runs. */
  readonly location: string;
  /** The incident of a retest: its log gets the result. */
  readonly incidentId: number | null;
  readonly atMs: number;
  /** A job that has not started by then ends as a fault of ours, so that no stale work runs. */
  readonly expiresAtMs: number;
}

/** A subscription is to be synchronised; at most one is open for each. */
export interface NewSyncJob {
  readonly kind: "sync";
  readonly projectId: number;
  readonly subscriptionId: number;
  readonly atMs: number;
}
export type NewJob = NewTestJob | NewSyncJob;

export type OpenTestJob = NewTestJob & { readonly id: number };
export type OpenSyncJob = NewSyncJob & { readonly id: number; readonly organizationId: number };

/** How a test ended. */
export interface TestResult {
  /** ran: measured · paused, gone: the monitor was, before it could start · expired: a fault of ours; only `ran` says anything of the target */
  readonly reason: "ran" | "paused" | "gone" | "expired";
  /** The id of the result's row. */
  readonly status: RowStatus;
  readonly latencyMs: number | null;
  readonly connectMs: number | null;
  readonly message: string | null;
  /** Start of the check; when nothing ran, the time it ended. */
  readonly testedAtMs: number;
}

/** A test that ended, as the sink writes it. */
export interface EndedTest {
  readonly jobId: number;
  readonly end: TestResult;
  /** Unix ms. */
  readonly atMs: number;
}

/** Tests asked for at once: all of them are queued, or none. */
export interface TestOrder {
  readonly organizationId: number;
  /** Calendar month, UTC, `YYYY-MM`. */
  readonly month: string;
  /** Tests of a month; null is unlimited. */
  readonly quota: number | null;
  readonly actor: Actor;
  /** At least one. */
  readonly jobs: readonly NewTestJob[];
}
/** `jobIds` come in the order of the order's monitors. */
export type TestOrderAnswer =
  | { readonly type: "queued"; readonly jobIds: readonly number[] }
  | { readonly type: "refused"; readonly used: number };

/** A test that ended, for those who look at its project. */
export interface EndedTestJob {
  readonly id: number;
  readonly projectId: number;
  readonly monitorId: number;
  readonly testId: string;
  readonly result: TestResult;
}

export interface Jobs {
  /**
   * Takes from the quota and queues, in one transaction. Refused only when nothing is left: an order may pass the quota, the next is
   * refused then (docs/api-contract.md#tests); an order of one never does. A retest also writes `retest_queued` into its incident.
   */
  order(order: TestOrder): Promise<TestOrderAnswer>;
  /** On-demand tests that a workspace used in a month (`YYYY-MM`). */
  onDemandUsed(organizationId: number, month: string): Promise<number>;
  /** Projects take turns, each with its oldest first. @param filter absent: of monitors of all shards */
  openTests(limit: number, filter?: ShardFilter): Promise<readonly OpenTestJob[]>;
  /** As tests do: workspaces take turns, and within each its projects, each with its oldest first. */
  openSyncs(limit: number): Promise<readonly OpenSyncJob[]>;
  /** null while it is open; undefined when there is none: deleted with its monitor, or long done. */
  testResult(jobId: number): Promise<TestResult | null | undefined>;
  /** Ends tests that never ran; those that ended before keep their end. @param leases of their monitors' shards @throws ShardsLost */
  endTests(ends: readonly EndedTest[], leases?: readonly ShardLease[]): Promise<void>;
  /** Tests of the projects that ended then or later, the newest first. */
  endedTests(projectIds: readonly number[], sinceMs: number, limit: number): Promise<readonly EndedTestJob[]>;
  /** Ends a sync; the process that ran it writes what it found. */
  endSync(jobId: number, atMs: number): Promise<void>;
  /** Forgets what ended before a time. */
  prune(beforeMs: number): Promise<void>;
}
