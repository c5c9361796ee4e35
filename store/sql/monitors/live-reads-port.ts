/** What the processes that show pages read when something changed, for the projects whose pages are open. */
import type { SyncStatus } from "../../../model/subscription.ts";

export interface ChangedMonitor {
  readonly id: number;
  readonly projectId: number;
  readonly isGone: boolean;
}

export interface SubscriptionState {
  readonly id: number;
  readonly projectId: number;
  readonly lastSyncStatus: SyncStatus;
  readonly lastSyncedAtMs: number | null;
  readonly lastServerCount: number | null;
  /** A sync waits or runs. */
  readonly isSyncing: boolean;
}

export interface LiveReads {
  /**
   * Monitors of any project that were changed, made or deleted after a generation, with the generation that is read now.
   * @param limit of the changes that are answered
   */
  changedSince(
    generation: number,
    limit: number,
  ): Promise<{ readonly generation: number; readonly changes: readonly ChangedMonitor[] }>;
  subscriptions(projectIds: readonly number[]): Promise<readonly SubscriptionState[]>;
}
