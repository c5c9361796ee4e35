/** Syncs: when they are due, and what the list that one brought means for the imported monitors (docs/api-contract.md#subscriptions). */
import type { PlanTable } from "../../../model/plan.ts";
import type { ListedServer } from "../../../model/sync.ts";
import type { OpenSyncJob } from "../jobs/port.ts";
import type { SubscriptionRecord } from "./port.ts";

/** The right to sync, which one process has at a time. */
export const SYNC_LEASE = "syncs";

/** What a list holds besides servers. */
export interface ListFacts {
  /** Entries that could not be read. */
  readonly badCount: number;
  readonly firstBad: { readonly at: number; readonly reason: string } | null;
  /** Entries of kinds without a core. */
  readonly unsupported: Readonly<Record<string, number>>;
}

export type SyncOutcome =
  | ({ readonly kind: "list"; readonly servers: readonly ListedServer[] } & ListFacts)
  /** The provider says that it is the list that was taken last. */
  | ({ readonly kind: "unchanged" } & ListFacts)
  | { readonly kind: "failed"; readonly message: string };

export interface EndedSync {
  readonly job: OpenSyncJob;
  /** The address that was asked, sealed as it was read: another one meanwhile makes the outcome worthless. */
  readonly urlSealed: string;
  readonly outcome: SyncOutcome;
  readonly plans: PlanTable;
  readonly atMs: number;
}

export interface SyncReport {
  /** As it is now; undefined when it is gone, or was switched off or moved meanwhile: nothing was changed then. */
  readonly subscription: SubscriptionRecord | undefined;
  readonly created: number;
  readonly changed: number;
  readonly paused: number;
  readonly resumed: number;
  /** New servers for which no slot was free. The next sync tries them again, also when the list has not changed. */
  readonly leftOut: number;
}

export interface Syncs {
  /** Whether there is a subscription, a schedule of maintenance or a window of one: what the thread of syncs looks after. */
  isNeeded(): Promise<boolean>;
  /** Queues the syncs that are due, the same as those that a user asked for. @throws LeaseLost */
  queueDue(epoch: number, nowMs: number, limit: number): Promise<number>;
  /** All of an outcome in one transaction: monitors, configs, history, events, the subscription and the end of the job. @throws LeaseLost */
  end(epoch: number, end: EndedSync): Promise<SyncReport>;
}
