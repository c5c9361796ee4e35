/** Projects of workspaces. */
import { type Database, type Session, statement } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { decoder } from "../schema/column.ts";
import { PROJECTS, type Row } from "../schema/tables.ts";
import { storable } from "../schema/text.ts";
import type { Accounts, ProjectRecord } from "./port.ts";
import { holdWorkspace } from "./workspaces.ts";

const PROJECT = statement("project", "select * from projects where id = ?");

export const toProject: (row: Row<"projects">) => ProjectRecord = decoder(PROJECTS);
type Projects = Pick<
  Accounts,
  "project" | "projectsOf" | "everyProjectOf" | "createProject" | "setProjectActive" | "monitorCounts"
>;

export function createProjects({ read, write }: Database): Projects {
  return {
    async project(id) {
      const row = (await read.query<Row<"projects">>(PROJECT, id))[0];
      return row && toProject(row);
    },
    async projectsOf(organizationId) {
      return (await projectsIn(read, organizationId).where("active", "=", 1).execute()).map(toProject);
    },
    async everyProjectOf(organizationId) {
      return (await projectsIn(read, organizationId).execute()).map(toProject);
    },
    createProject: (organizationId, name, nowMs) =>
      write(async (session) => {
        if ((await holdWorkspace(session, organizationId)) === undefined) return undefined;
        const row = await insertProject(session, organizationId, name, nowMs);
        await raiseGeneration(session);
        return toProject(row);
      }),
    setProjectActive: (id, active) => write((session) => setProjectActive(session, id, active)),
    async monitorCounts(projectIds) {
      if (projectIds.length === 0) return new Map();
      const rows = await read.kysely
        .selectFrom("monitors")
        .select((of) => ["project_id as id", of.fn.countAll<number>().as("count")])
        .where("project_id", "in", projectIds)
        .where("deleted_at_ms", "is", null)
        .groupBy("project_id")
        .execute();
      return new Map(rows.map(({ id, count }) => [id, count]));
    },
  };
}

function projectsIn({ kysely }: Session, organizationId: number) {
  const all = kysely.selectFrom("projects").selectAll().where("organization_id", "=", organizationId);
  return all.orderBy("created_at_ms").orderBy("id");
}

export function insertProject(
  session: Session,
  organizationId: number,
  name: string,
  nowMs: number,
): Promise<Row<"projects">> {
  return session.kysely
    .insertInto("projects")
    .values({ organization_id: organizationId, name: storable(name), active: 1, created_at_ms: nowMs })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Its monitors get the new generation too, so that the plan removes them or adds them again. */
async function setProjectActive(session: Session, id: number, active: boolean): Promise<boolean> {
  const { numUpdatedRows } = await session.kysely
    .updateTable("projects")
    .set({ active: active ? 1 : 0 })
    .where("id", "=", id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  // The rows are locked before the generation is raised, as in every transaction, so that two writers never wait for each other.
  if (session.dialect === "postgres") {
    const monitors = session.kysely.selectFrom("monitors").select("id").where("project_id", "=", id);
    await monitors.orderBy("id").forNoKeyUpdate().execute();
  }
  const generation = await raiseGeneration(session);
  await session.kysely
    .updateTable("monitors")
    .set({ generation })
    .where("project_id", "=", id)
    .where("deleted_at_ms", "is", null)
    .execute();
  return true;
}
