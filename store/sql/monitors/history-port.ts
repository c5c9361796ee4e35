/** What users and the service did to a monitor (docs/api-contract.md#monitors). */
import type { Actor } from "../../../model/actor.ts";

export interface HistoryEntry {
  readonly id: number;
  readonly type: "created" | "updated" | "paused" | "resumed";
  readonly atMs: number;
  readonly message: string;
  readonly actor: Actor;
}
export interface History {
  /** Newest first. */
  list(
    monitorId: number,
    limit: number,
    offset: number,
  ): Promise<{ readonly rows: readonly HistoryEntry[]; readonly total: number }>;
}
