/** Accounts: workspaces and how they begin; people and projects are in files of their own. */
import { type Database, type Session, statement } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import type { Row } from "../schema/tables.ts";
import { storable } from "../schema/text.ts";
import { insertKey } from "./keys.ts";
import { createMemberships, createPeople, findOrInsertUser, findUser, insertUser } from "./people.ts";
import type { Accounts, CreatedWorkspace, NewWorkspace } from "./port.ts";
import { createProjects, insertProject } from "./projects.ts";
import { toWorkspace } from "./workspaces.ts";

const WORKSPACE = statement("workspace", "select * from workspaces where id = ?");

export function createAccounts(database: Database): Accounts {
  const { read, write } = database;
  return {
    ...createPeople(database),
    ...createMemberships(database),
    ...createProjects(database),
    createFirst: ({ email, userName, workspaceName, key, ...rest }) =>
      write(async (session) => {
        const { nowMs } = rest;
        const userId = await insertUser(session, { email, name: userName }, nowMs);
        const made = await insertWorkspace(session, { ...rest, name: workspaceName }, userId);
        if (key === undefined) return made;
        const { organizationId } = made;
        const { name, secretHash, keep } = key;
        const order = {
          name,
          secretHash,
          kind: "workspace",
          userId,
          organizationId,
          expiresAtMs: null,
          nowMs,
        } as const;
        keep((await insertKey(session, order)).id);
        return made;
      }),
    createWorkspace: (input) => write((session) => createWorkspace(session, input)),
    async workspace(id) {
      const row = (await read.query<Row<"workspaces">>(WORKSPACE, id))[0];
      return row && toWorkspace(row);
    },
    async workspaces() {
      return (await read.kysely.selectFrom("workspaces").selectAll().orderBy("id").execute()).map(toWorkspace);
    },
  };
}

async function createWorkspace(session: Session, input: NewWorkspace): Promise<CreatedWorkspace | undefined> {
  const { owner, ...workspace } = input;
  if (typeof owner !== "number") {
    return insertWorkspace(session, workspace, await findOrInsertUser(session, owner, input.nowMs));
  }
  const user = await findUser(session, owner);
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
