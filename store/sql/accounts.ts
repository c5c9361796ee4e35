/** People, workspaces, projects and who belongs where. */
import type { Selectable } from "kysely";
import type { PlanName, Role } from "../../model/plan.ts";
import { type Database, type Session, statement } from "./database.ts";
import { raiseGeneration } from "./generation.ts";
import type {
  Accounts,
  CreatedWorkspace,
  NewWorkspace,
  Person,
  ProjectRecord,
  UserRecord,
  WorkspaceRecord,
} from "./ports/accounts.ts";
import type { Tables } from "./tables.ts";
import { caseKey, storable, storableOrNull } from "./text.ts";

const USER = statement("user", "select * from users where id = ?");
const WORKSPACE = statement("workspace", "select * from workspaces where id = ?");
const PROJECT = statement("project", "select * from projects where id = ?");
const ROLE = statement("role", "select role from memberships where user_id = ? and organization_id = ?");

type UserRow = Selectable<Tables["users"]>;
type WorkspaceRow = Selectable<Tables["workspaces"]>;
type ProjectRow = Selectable<Tables["projects"]>;

export function createAccounts({ read, write }: Database): Accounts {
  return {
    createFirst: ({ email, userName, workspaceName, ...rest }) =>
      write(async (session) => {
        const userId = await insertUser(session, { email, name: userName }, rest.nowMs);
        return insertWorkspace(session, { ...rest, name: workspaceName }, userId);
      }),
    createWorkspace: (input) => write((session) => createWorkspace(session, input)),
    async isEmpty() {
      return (await read.kysely.selectFrom("users").select("id").limit(1).execute()).length === 0;
    },

    async user(id) {
      const row = (await read.query<UserRow>(USER, id))[0];
      return row && toUser(row);
    },
    userByEmail: (email) => findByEmail(read, email),
    setUserActive: (id, active) =>
      write(async (session) => {
        const { numUpdatedRows } = await session.kysely
          .updateTable("users")
          .set({ active: active ? 1 : 0 })
          .where("id", "=", id)
          .executeTakeFirst();
        await raiseGeneration(session);
        return numUpdatedRows > 0n;
      }),

    async workspace(id) {
      const row = (await read.query<WorkspaceRow>(WORKSPACE, id))[0];
      return row && toWorkspace(row);
    },
    async workspaces() {
      return (await read.kysely.selectFrom("workspaces").selectAll().orderBy("id").execute()).map(toWorkspace);
    },

    async project(id) {
      const row = (await read.query<ProjectRow>(PROJECT, id))[0];
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
    async membersOf(organizationId) {
      const rows = await read.kysely
        .selectFrom("memberships as m")
        .innerJoin("users as u", "u.id", "m.user_id")
        .selectAll("u")
        .select("m.role")
        .where("m.organization_id", "=", organizationId)
        .orderBy("m.created_at_ms")
        .orderBy("u.id")
        .execute();
      return rows.map((row) => ({ user: toUser(row), role: row.role as Role }));
    },
    addMember: (organizationId, person, role, nowMs) =>
      write((session) => addMember(session, organizationId, person, role, nowMs)),
    removeMember: (organizationId, userId) =>
      write(async (session) => {
        const { numDeletedRows } = await session.kysely
          .deleteFrom("memberships")
          .where("organization_id", "=", organizationId)
          .where("user_id", "=", userId)
          .executeTakeFirst();
        await raiseGeneration(session);
        return numDeletedRows > 0n;
      }),
  };
}

function projectsIn({ kysely }: Session, organizationId: number) {
  const all = kysely.selectFrom("projects").selectAll().where("organization_id", "=", organizationId);
  return all.orderBy("created_at_ms").orderBy("id");
}

/** The workspace, held against others that count or change its slots until the transaction ends: taken before any of its monitors. */
export async function holdWorkspace(session: Session, id: number): Promise<WorkspaceRecord | undefined> {
  let query = session.kysely.selectFrom("workspaces").selectAll().where("id", "=", id);
  if (session.dialect === "postgres") query = query.forNoKeyUpdate();
  const row = await query.executeTakeFirst();
  return row && toWorkspace(row);
}

async function createWorkspace(session: Session, input: NewWorkspace): Promise<CreatedWorkspace | undefined> {
  const { owner, ...workspace } = input;
  if (typeof owner !== "number") {
    return insertWorkspace(session, workspace, await findOrInsertUser(session, owner, input.nowMs));
  }
  const [user] = await session.query<UserRow>(USER, owner);
  return user && insertWorkspace(session, workspace, user.id);
}

async function insertWorkspace(
  session: Session,
  { name, plan, projectName, nowMs }: Omit<NewWorkspace, "owner">,
  userId: number,
): Promise<CreatedWorkspace> {
  const created = { created_at_ms: nowMs };
  const { id: organizationId } = await session.kysely
    .insertInto("workspaces")
    .values({ name: storable(name), plan, suspended: 0, ...created })
    .returning("id")
    .executeTakeFirstOrThrow();
  await session.kysely
    .insertInto("memberships")
    .values({ organization_id: organizationId, user_id: userId, role: "owner", ...created })
    .execute();
  const { id: projectId } = await insertProject(session, organizationId, projectName, nowMs);
  await raiseGeneration(session);
  return { userId, organizationId, projectId };
}

function insertProject(session: Session, organizationId: number, name: string, nowMs: number): Promise<ProjectRow> {
  return session.kysely
    .insertInto("projects")
    .values({ organization_id: organizationId, name: storable(name), active: 1, created_at_ms: nowMs })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function insertUser(session: Session, { email, name }: Person, nowMs: number): Promise<number> {
  const values = { email: storable(email), email_key: caseKey(email), name: storableOrNull(name), active: 1 as const };
  const { id } = await session.kysely
    .insertInto("users")
    .values({ ...values, created_at_ms: nowMs })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

async function findByEmail(session: Session, email: string): Promise<UserRecord | undefined> {
  const row = await session.kysely
    .selectFrom("users")
    .selectAll()
    .where("email_key", "=", caseKey(email))
    .executeTakeFirst();
  return row && toUser(row);
}

async function findOrInsertUser(session: Session, person: Person, nowMs: number): Promise<number> {
  return (await findByEmail(session, person.email))?.id ?? insertUser(session, person, nowMs);
}

async function addMember(
  session: Session,
  organizationId: number,
  person: Person,
  role: Role,
  nowMs: number,
): Promise<{ readonly userId: number; readonly roleBefore: Role | null } | undefined> {
  if ((await holdWorkspace(session, organizationId)) === undefined) return undefined;
  const userId = await findOrInsertUser(session, person, nowMs);
  const [before] = await session.query<{ role: Role }>(ROLE, userId, organizationId);
  await session.kysely
    .insertInto("memberships")
    .values({ organization_id: organizationId, user_id: userId, role, created_at_ms: nowMs })
    .onConflict((of) => of.columns(["user_id", "organization_id"]).doUpdateSet({ role }))
    .execute();
  await raiseGeneration(session);
  return { userId, roleBefore: before?.role ?? null };
}

/** Its monitors get the new generation too: the plan lets go of them, or takes them back. */
async function setProjectActive(session: Session, id: number, active: boolean): Promise<boolean> {
  const { numUpdatedRows } = await session.kysely
    .updateTable("projects")
    .set({ active: active ? 1 : 0 })
    .where("id", "=", id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  // Held before the generation is raised, as everywhere, so that two writers never wait for each other.
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

function toUser(row: UserRow): UserRecord {
  return { id: row.id, email: row.email, name: row.name, active: row.active === 1 };
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
