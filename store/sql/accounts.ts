/** People, workspaces, projects and who belongs where. */
import type { Selectable } from "kysely";
import type { PlanName, Role } from "../../model/plan.ts";
import type { Accounts, ProjectRecord, WorkspaceRecord } from "./control-plane.ts";
import { type Database, statement } from "./database.ts";
import { raiseGeneration } from "./generation.ts";
import type { Tables } from "./tables.ts";
import { caseKey, storable } from "./text.ts";

const WORKSPACE = statement("workspace", "select * from workspaces where id = ?");
const PROJECT = statement("project", "select * from projects where id = ?");
const ROLE = statement("role", "select role from memberships where user_id = ? and organization_id = ?");

type WorkspaceRow = Selectable<Tables["workspaces"]>;
type ProjectRow = Selectable<Tables["projects"]>;

export function createAccounts({ read, write }: Database): Accounts {
  return {
    createFirst: (input) =>
      write(async (session) => {
        const { kysely } = session;
        const created = { created_at_ms: input.nowMs };
        const user = await kysely
          .insertInto("users")
          .values({
            email: storable(input.email),
            email_key: caseKey(input.email),
            name: storable(input.userName),
            active: 1,
            ...created,
          })
          .returning("id")
          .executeTakeFirstOrThrow();
        const workspace = await kysely
          .insertInto("workspaces")
          .values({ name: storable(input.workspaceName), plan: input.plan, suspended: 0, ...created })
          .returning("id")
          .executeTakeFirstOrThrow();
        await kysely
          .insertInto("memberships")
          .values({ organization_id: workspace.id, user_id: user.id, role: "owner", ...created })
          .execute();
        const project = await kysely
          .insertInto("projects")
          .values({ organization_id: workspace.id, name: storable(input.projectName), active: 1, ...created })
          .returning("id")
          .executeTakeFirstOrThrow();
        await raiseGeneration(session);
        return { userId: user.id, organizationId: workspace.id, projectId: project.id };
      }),
    async isEmpty() {
      return (await read.kysely.selectFrom("users").select("id").limit(1).execute()).length === 0;
    },
    async workspace(id) {
      const row = (await read.query<WorkspaceRow>(WORKSPACE, id))[0];
      return row && toWorkspace(row);
    },
    async project(id) {
      const row = (await read.query<ProjectRow>(PROJECT, id))[0];
      return row && toProject(row);
    },
    async projectsOf(organizationId) {
      const rows = await read.kysely
        .selectFrom("projects")
        .selectAll()
        .where("organization_id", "=", organizationId)
        .where("active", "=", 1)
        .orderBy("created_at_ms")
        .orderBy("id")
        .execute();
      return rows.map(toProject);
    },
    async role(userId, organizationId) {
      return (await read.query<{ role: Role }>(ROLE, userId, organizationId))[0]?.role;
    },
    async memberships(userId) {
      const rows = await read.kysely
        .selectFrom("memberships as m")
        .innerJoin("workspaces as w", "w.id", "m.organization_id")
        .selectAll("w")
        .select("m.role")
        .where("m.user_id", "=", userId)
        .orderBy("m.created_at_ms")
        .orderBy("w.id")
        .execute();
      return rows.map((row) => ({ workspace: toWorkspace(row), role: row.role as Role }));
    },
  };
}

function toWorkspace(row: WorkspaceRow): WorkspaceRecord {
  return {
    id: row.id,
    name: row.name,
    plan: row.plan as PlanName,
    suspended: row.suspended === 1,
    createdAtMs: row.created_at_ms,
  };
}

export function toProject(row: ProjectRow): ProjectRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    active: row.active === 1,
    createdAtMs: row.created_at_ms,
  };
}
