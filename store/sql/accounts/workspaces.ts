/** Workspaces as rows, and the lock on one. */
import type { Session } from "../db/database.ts";
import { decoder } from "../schema/column.ts";
import { type Row, WORKSPACES } from "../schema/tables.ts";
import type { WorkspaceRecord } from "./port.ts";

export const toWorkspace: (row: Row<"workspaces">) => WorkspaceRecord = decoder(WORKSPACES);

/** The workspace, held against others that count or change its slots until the transaction ends: taken before any of its monitors. */
export async function holdWorkspace(session: Session, id: number): Promise<WorkspaceRecord | undefined> {
  let query = session.kysely.selectFrom("workspaces").selectAll().where("id", "=", id);
  if (session.dialect === "postgres") query = query.forNoKeyUpdate();
  const row = await query.executeTakeFirst();
  return row && toWorkspace(row);
}
