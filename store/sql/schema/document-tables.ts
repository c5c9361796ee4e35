/** Tables of documents that were applied, and of the things that their keys stand for; tables.ts has THE LIST. */
import type { Actor } from "../../../model/actor.ts";
import type { ThingKind } from "../../../model/document/plan.ts";
import { bigint, id, json, nullable, prose, table, text } from "./column.ts";

/** What was applied last under a name. */
export const DOCUMENTS = table("documents", {
  id: id(),
  project_id: bigint(),
  name: prose(),
  applied_at_ms: bigint(),
  applied_by: json<Actor>(),
  hash: text(),
});

/** Which thing a key of a document stands for. */
export const DOCUMENT_THINGS = table("document_things", {
  project_id: bigint(),
  kind: text<ThingKind>(),
  key: prose(),
  thing_id: bigint(),
  /** null: no document has it any more. */
  document_id: nullable(bigint()),
  /** By field, a keyed hash of what was applied: what differs from it was changed elsewhere. */
  marks: json<Readonly<Record<string, string>>>(),
});
