/** Members of a workspace. Its row is held while they change, so that of two Owners who leave at the same moment one stays. */
import type { Role } from "../../../model/plan.ts";
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { decoder } from "../schema/column.ts";
import { type Row, USERS } from "../schema/tables.ts";
import { forgetAccounts, forgetOutsider } from "./identities.ts";
import { type Invited, type Member, type Members, MOST_MEMBERS } from "./members-port.ts";
import { findOrInsertUser, signOut, switchOffKeys } from "./people.ts";
import type { Person, UserRecord } from "./port.ts";
import { forgetViews } from "./saved-views.ts";
import { holdWorkspace } from "./workspaces.ts";

const toUser: (row: Row<"users">) => UserRecord = decoder(USERS);

export function createMembers({ read, write }: Database): Members {
  return {
    list: async (organizationId) => (await ofWorkspace(read, organizationId).execute()).map(toMember),
    find: (organizationId, userId) => find(read, organizationId, userId),
    invite: (organizationId, person, role, nowMs) =>
      write((session) => invite(session, organizationId, person, role, nowMs)),
    changeRole: (organizationId, userId, role, refuse) =>
      write(async (session) => {
        const before = await held(session, organizationId, userId, refuse);
        if (before === undefined) return undefined;
        if (before.role === "owner" && role !== "owner" && (await isLastOwner(session, organizationId)))
          return "lastOwner";
        await ofMember(session.kysely.updateTable("memberships").set({ role }), organizationId, userId).execute();
        await raiseGeneration(session);
        return { ...before, role };
      }),
    remove: (organizationId, userId, refuse) =>
      write(async (session) => {
        const before = await held(session, organizationId, userId, refuse);
        if (before === undefined) return undefined;
        if (before.role === "owner" && (await isLastOwner(session, organizationId))) return "lastOwner";
        await session.kysely
          .deleteFrom("memberships")
          .where("organization_id", "=", organizationId)
          .where("user_id", "=", userId)
          .execute();
        await forgetViews(session, organizationId, userId);
        await forgetOutsider(session, userId);
        await raiseGeneration(session);
        return before;
      }),
  };
}

function ofMember<Q extends { where(column: "organization_id" | "user_id", is: "=", id: number): Q }>(
  query: Q,
  organizationId: number,
  userId: number,
): Q {
  return query.where("organization_id", "=", organizationId).where("user_id", "=", userId);
}

function ofWorkspace({ kysely }: Session, organizationId: number) {
  return kysely
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .selectAll("u")
    .select(["m.role", "m.created_at_ms as member_since_ms"])
    .where("m.organization_id", "=", organizationId)
    .orderBy("m.created_at_ms")
    .orderBy("u.id");
}

function toMember(row: Row<"users"> & { readonly role: Role; readonly member_since_ms: number }): Member {
  return { user: toUser(row), role: row.role, memberSinceMs: row.member_since_ms };
}

async function find(session: Session, organizationId: number, userId: number): Promise<Member | undefined> {
  const row = await ofWorkspace(session, organizationId).where("u.id", "=", userId).executeTakeFirst();
  return row && toMember(row);
}

async function held(
  session: Session,
  organizationId: number,
  userId: number,
  refuse: (before: Role) => void,
): Promise<Member | undefined> {
  await holdWorkspace(session, organizationId);
  const member = await find(session, organizationId, userId);
  if (member !== undefined) refuse(member.role);
  return member;
}

async function isLastOwner({ kysely }: Session, organizationId: number): Promise<boolean> {
  const { count } = await kysely
    .selectFrom("memberships")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("organization_id", "=", organizationId)
    .where("role", "=", "owner")
    .executeTakeFirstOrThrow();
  return count < 2;
}

async function invite(
  session: Session,
  organizationId: number,
  person: Person,
  role: Role,
  nowMs: number,
): Promise<Invited | "member" | "full"> {
  const { kysely } = session;
  await holdWorkspace(session, organizationId);
  const { count } = await kysely
    .selectFrom("memberships")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("organization_id", "=", organizationId)
    .executeTakeFirstOrThrow();
  const userId = await findOrInsertUser(session, person, nowMs);
  if ((await find(session, organizationId, userId)) !== undefined) return "member";
  if (count >= MOST_MEMBERS) return "full";
  const elsewhere = await kysely
    .selectFrom("memberships")
    .select("user_id")
    .where("user_id", "=", userId)
    .limit(1)
    .execute();
  if (elsewhere.length > 0) await signOut(session, userId);
  else await forgetAccounts(session, userId);
  await switchOffKeys(session, userId, organizationId);
  const accountKey = await kysely
    .selectFrom("api_keys")
    .select("id")
    .where("user_id", "=", userId)
    .where("organization_id", "is", null)
    .where("active", "=", 1)
    .limit(1)
    .execute();
  await kysely
    .insertInto("memberships")
    .values({ organization_id: organizationId, user_id: userId, role, created_at_ms: nowMs })
    .execute();
  await raiseGeneration(session);
  const member = await find(session, organizationId, userId);
  if (member === undefined) throw new Error("a member was not made");
  return { ...member, isOnlyHere: elsewhere.length === 0 && accountKey.length === 0 };
}
