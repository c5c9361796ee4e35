/** Subscriptions: addresses that servers are imported from (docs/api-contract.md#subscriptions). */
import type { Engines, SyncStatus } from "../../../model/subscription.ts";
import type { ToSeal } from "../schema/seal-new.ts";

export interface SubscriptionRecord {
  readonly id: number;
  readonly projectId: number;
  readonly organizationId: number;
  readonly name: string | null;
  /** The address, which often holds a secret. */
  readonly urlSealed: string;
  readonly syncIntervalS: number;
  readonly timeoutS: number;
  readonly maxWorkers: number;
  /** A monitor of several configs alerts when a smaller share of them works, percent; 0 is never. */
  readonly configAlertPercent: number;
  readonly engine: Engines;
  readonly enabled: boolean;
  readonly lastSyncedAtMs: number | null;
  readonly lastServerCount: number | null;
  readonly lastSyncStatus: SyncStatus;
  readonly syncErrorMessage: string | null;
  /** In a row. */
  readonly failures: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface NewSubscription
  extends Pick<
    SubscriptionRecord,
    | "projectId"
    | "organizationId"
    | "name"
    | "syncIntervalS"
    | "timeoutS"
    | "maxWorkers"
    | "configAlertPercent"
    | "enabled"
  > {
  readonly urlSealed: ToSeal;
  /** Equal for equal addresses; says nothing without the key that it was made with. */
  readonly urlHash: string;
  readonly nowMs: number;
}

export type SubscriptionChange = Partial<
  Pick<
    SubscriptionRecord,
    "name" | "syncIntervalS" | "timeoutS" | "maxWorkers" | "configAlertPercent" | "engine" | "enabled"
  >
> & { readonly url?: { readonly sealed: string; readonly hash: string } };

export interface SyncRequest {
  readonly subscription: SubscriptionRecord;
  /** false: one waits or runs already. */
  readonly isNew: boolean;
}

/** Another subscription of the project has the address. */
export class UrlTakenError extends Error {
  override readonly name = "UrlTakenError";
}

export interface Subscriptions {
  /** An enabled one has its first sync queued. @throws UrlTakenError */
  create(input: NewSubscription): Promise<SubscriptionRecord>;
  find(projectId: number, id: number): Promise<SubscriptionRecord | undefined>;
  /** Of any project: for the operator's command and for syncs. */
  recall(id: number): Promise<SubscriptionRecord | undefined>;
  /** By id; `total` counts before paging. */
  list(
    projectId: number,
    limit: number,
    offset: number,
  ): Promise<{ readonly rows: readonly SubscriptionRecord[]; readonly total: number }>;
  /**
   * With everything it means for the monitors, in one transaction: switched off pauses them, switched on resumes those that neither
   * the provider nor the plan paused and queues a sync, intervals and timeouts follow.
   * @throws UrlTakenError @returns undefined when it is not there
   */
  update(
    projectId: number,
    id: number,
    change: SubscriptionChange,
    nowMs: number,
  ): Promise<SubscriptionRecord | undefined>;
  /** Its monitors stay, paused, and follow nothing any more. @returns how many; undefined when it is not there */
  remove(projectId: number, id: number, nowMs: number): Promise<number | undefined>;
  /** Queues a sync unless one is open; one that is off is switched on first. */
  requestSync(projectId: number, id: number, nowMs: number): Promise<SyncRequest | undefined>;
  /** Which of the project's subscriptions has an address, by its hash. */
  holder(projectId: number, urlHash: string): Promise<number | undefined>;
  /** The sealed key of address hashes: a fresh one when there is none yet, else the one that was first. */
  hashKey(fresh: () => string): Promise<string>;
  /** Servers whose monitors were deleted: syncs do not bring them back. */
  excluded(id: number): Promise<readonly string[]>;
}
