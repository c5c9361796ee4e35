/** People, and which workspaces they belong to in which role. */
import type { Role } from "../../../model/plan.ts";
import { type Database, type Session, statement } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { decoder, encoder } from "../schema/column.ts";
import { type Row, USERS } from "../schema/tables.ts";
import { caseKey } from "../schema/text.ts";
import { holdPerson } from "./hold-person.ts";
import { forgetAccounts, forgetOutsider } from "./identities.ts";
import type { Accounts, Person, UserRecord } from "./port.ts";
import { forgetViews } from "./saved-views.ts";
import { holdWorkspace, toWorkspace } from "./workspaces.ts";

const USER = statement("user", "select * from users where id = ?");
const ROLE = statement("role", "select role from memberships where user_id = ? and organization_id = ?");

const toUser: (row: Row<"users">) => UserRecord = decoder(USERS);
const fromUser = encoder<Person, typeof USERS.columns>(USERS);
type People = Pick<Accounts, "isEmpty" | "user" | "userByEmail" | "setUserActive">;
type Memberships = Pick<Accounts, "role" | "memberships" | "membersOf" | "addMember" | "removeMember">;

export function createPeople({ read, write }: Database): People {
  return {
    async isEmpty() {
      return (await read.kysely.selectFrom("users").select("id").limit(1).execute()).length === 0;
    },

    user: (id) => findUser(read, id),
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
  };
}

export function createMemberships({ read, write }: Database): Memberships {
  return {
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
      return rows.map((row) => ({ workspace: toWorkspace(row), role: row.role }));
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
      return rows.map((row) => ({ user: toUser(row), role: row.role }));
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
        await forgetViews(session, organizationId, userId);
        await forgetOutsider(session, userId);
        await raiseGeneration(session);
        return numDeletedRows > 0n;
      }),
  };
}

export async function findUser(session: Session, id: number): Promise<UserRecord | undefined> {
  const [row] = await session.query<Row<"users">>(USER, id);
  return row && toUser(row);
}

export async function insertUser(session: Session, person: Person, nowMs: number): Promise<number> {
  return (await userInsert(session, person, nowMs).returning("id").executeTakeFirstOrThrow()).id;
}

function userInsert({ kysely }: Session, { email, name }: Person, nowMs: number) {
  return kysely.insertInto("users").values({ ...fromUser({ email, name, active: true }), created_at_ms: nowMs });
}

async function findByEmail(session: Session, email: string): Promise<UserRecord | undefined> {
  const row = await session.kysely
    .selectFrom("users")
    .selectAll()
    .where("email_key", "=", caseKey(email))
    .executeTakeFirst();
  return row && toUser(row);
}

export async function findOrInsertUser(session: Session, person: Person, nowMs: number): Promise<number> {
  const { id } =
    (await userInsert(session, person, nowMs)
      .onConflict((of) => of.column("email_key").doNothing())
      .returning("id")
      .executeTakeFirst()) ?? {};
  // The address exists already. If another writer was inserting it, the insert above has waited for that writer's commit.
  const found = id ?? (await findByEmail(session, person.email))?.id;
  if (found === undefined) throw new Error("a person was neither made nor found");
  return found;
}

/**
 * Ends links, the sessions that links began, and the passkeys that such sessions added, with their sessions. Who is invited can be anyone whose address is known,
 * so sessions of a provider and of other passkeys go on. The first workspace that a person belongs to may have signed in as the person, by the link that it
 * was given for the invitation; such a session must not reach the workspace that the person joins next.
 */
export async function signOut(session: Session, userId: number): Promise<void> {
  await holdPerson(session, userId);
  const { kysely } = session;
  await kysely.deleteFrom("sign_in_codes").where("user_id", "=", userId).execute();
  const passkeys = kysely.deleteFrom("passkeys").where("user_id", "=", userId).where("added_via", "=", "link");
  const { numDeletedRows } = await passkeys.executeTakeFirst();
  const ways = [...(["link"] as const), ...(numDeletedRows > 0n ? (["passkey"] as const) : [])];
  await kysely.deleteFrom("sessions").where("user_id", "=", userId).where("via", "in", ways).execute();
}

/**
 * Before a membership: keys from an earlier one of the workspace stay lost, and those of the whole account where the person was in no workspace any
 * more. Who was taken out may have left them anywhere, and an invitation must not bring them back.
 */
export async function switchOffKeys(session: Session, userId: number, organizationId: number): Promise<void> {
  const isMember = await holdPerson(session, userId);
  await session.kysely
    .updateTable("api_keys")
    .set({ active: 0 })
    .where("user_id", "=", userId)
    .where((of) =>
      of.or([of("organization_id", "=", organizationId), ...(isMember ? [] : [of("organization_id", "is", null)])]),
    )
    .execute();
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
  if (before === undefined) {
    await signOut(session, userId);
    await forgetAccounts(session, userId);
    await switchOffKeys(session, userId, organizationId);
  }
  await session.kysely
    .insertInto("memberships")
    .values({ organization_id: organizationId, user_id: userId, role, created_at_ms: nowMs })
    .onConflict((of) => of.columns(["user_id", "organization_id"]).doUpdateSet({ role }))
    .execute();
  await raiseGeneration(session);
  return { userId, roleBefore: before?.role ?? null };
}
