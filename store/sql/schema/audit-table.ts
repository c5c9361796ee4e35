/** The table of the audit log; tables.ts has THE LIST. */
import type { Actor } from "../../../model/actor.ts";
import type { AuditSubject, AuditWord } from "../../../model/audit.ts";
import { bigint, derived, id, json, nullable, table, text } from "./column.ts";

/** What requests changed. */
export const AUDIT = table("audit", {
  id: id(),
  organization_id: bigint(),
  project_id: nullable(bigint()),
  at_ms: bigint(),
  actor: json<Actor>(),
  /** Of the actor. */
  user_id: derived(nullable(bigint()), (entry: { readonly actor: Actor }): number | null => entry.actor.id),
  what: text<AuditWord>(),
  subject: json<AuditSubject>(),
  detail: json<Readonly<Record<string, unknown>>>(),
  address: nullable(text()),
});
