/** The audit log: one entry for each request that changed something in a workspace (docs/api-contract.md#audit). */
import type { Actor } from "../../../model/actor.ts";
import type { AuditSubject, AuditWord } from "../../../model/audit.ts";

export interface AuditEntry {
  readonly id: number;
  readonly organizationId: number;
  readonly projectId: number | null;
  readonly atMs: number;
  readonly actor: Actor;
  readonly what: AuditWord;
  readonly subject: AuditSubject;
  /** Counts, names of fields and words of closed lists; never a value that was sent. */
  readonly detail: Readonly<Record<string, unknown>>;
  readonly address: string | null;
}
export type NewAuditEntry = Omit<AuditEntry, "id">;

export interface AuditFilter {
  readonly fromMs: number | null;
  /** Its user; null: any user's. */
  readonly userId: number | null;
  /** A whole word, or the thing before its dot; null: every one. */
  readonly what: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** Entries are kept for so long. */
export const AUDIT_KEPT_MS = 400 * 86_400_000;
/** Of one workspace; the oldest go first. At 400 bytes an entry that is 40 MB. */
export const AUDIT_KEPT_ENTRIES = 100_000;

export interface Audit {
  /** Also forgets what is too old or too much in that workspace. */
  add(entry: NewAuditEntry): Promise<void>;
  /** Newest first; `total` counts before paging. */
  list(
    organizationId: number,
    filter: AuditFilter,
    nowMs: number,
  ): Promise<{ readonly rows: readonly AuditEntry[]; readonly total: number }>;
}
