/** What people write of an incident afterwards: a title for readers, and why it happened. */
import type { Session } from "../db/database.ts";
import { storableOrNull } from "../schema/text.ts";
import type { IncidentReport } from "./port.ts";

export async function readReport({ kysely }: Session, incidentId: number): Promise<IncidentReport | null> {
  const row = await kysely
    .selectFrom("incidents")
    .select(["public_title", "postmortem", "postmortem_public"])
    .where("id", "=", incidentId)
    .executeTakeFirst();
  if (row === undefined || row.postmortem_public === null) return null;
  return { title: row.public_title, postmortem: row.postmortem, public: row.postmortem_public === 1 };
}

export async function setReport(
  { kysely }: Session,
  projectId: number,
  incidentId: number,
  { title, postmortem, public: isPublic }: IncidentReport,
): Promise<boolean> {
  const changed = await kysely
    .updateTable("incidents")
    .set({
      public_title: storableOrNull(title),
      postmortem: storableOrNull(postmortem),
      postmortem_public: isPublic ? 1 : 0,
    })
    .where("id", "=", incidentId)
    .where("project_id", "=", projectId)
    .returning("id")
    .executeTakeFirst();
  return changed !== undefined;
}
