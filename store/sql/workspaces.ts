/** Workspaces as rows, and the lock on one. */
import type { Selectable } from "kysely";
import type { PlanName } from "../../model/plan.ts";
import type { Session } from "./database.ts";
import type { WorkspaceRecord } from "./ports/accounts.ts";
import type { Tables } from "./tables.ts";

type WorkspaceRow = Selectable<Tables["workspaces"]>;

/** The workspace, held against others that count or change its slots until the transaction ends: taken before any of its monitors. */
export async function holdWorkspace(session: Session, id: number): Promise<WorkspaceRecord | undefined> {
  let query = session.kysely.selectFrom("workspaces").selectAll().where("id", "=", id);
  if (session.dialect === "postgres") query = query.forNoKeyUpdate();
  const row = await query.executeTakeFirst();
  return row && toWorkspace(row);
}

export function toWorkspace(row: WorkspaceRow): WorkspaceRecord {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as PlanName,
    suspended: row.suspended === 1,
    createdAtMs: row.created_at_ms,
  };
}
