/** Accounts of people at a provider of identities, and sign-ins that were begun and not ended. */
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { decoder } from "../schema/column.ts";
import { type Row, USERS } from "../schema/tables.ts";
import { storable } from "../schema/text.ts";
import { holdPerson } from "./hold-person.ts";
import {
  type Forgot,
  type Forgotten,
  type Identities,
  MOST_ATTEMPTS,
  type NewAttempt,
  type NewIdentity,
} from "./identities-port.ts";
import type { UserRecord } from "./port.ts";

const toUser: (row: Row<"users">) => UserRecord = decoder(USERS);

/** @param most attempts at the same time */
export function createIdentities({ read, write }: Database, most = MOST_ATTEMPTS): Identities {
  return {
    async user(provider, subject) {
      const row = await read.kysely
        .selectFrom("identities as i")
        .innerJoin("users as u", "u.id", "i.user_id")
        .selectAll("u")
        .where("i.provider", "=", provider)
        .where("i.subject", "=", storable(subject))
        .executeTakeFirst();
      return row && toUser(row);
    },
    link: (identity) => write((session) => link(session, identity)),
    async ofUser(userId) {
      const ofUser = read.kysely.selectFrom("identities").selectAll().where("user_id", "=", userId);
      const rows = await ofUser.orderBy("provider").execute();
      return rows.map(({ provider, email, linked_at_ms: linkedAtMs }) => ({ provider, email, linkedAtMs }));
    },
    forget: (userId, what) => write((session) => forget(session, userId, what)),
    addAttempt: (attempt) => write((session) => addAttempt(session, attempt, most)),
    takeAttempt: (attemptHash, purpose, nowMs) =>
      write(async ({ kysely }) => {
        // Deleted and read in one statement: of two that use it at the same moment one gets it.
        const row = await kysely
          .deleteFrom("sign_in_attempts")
          .where("attempt_hash", "=", attemptHash)
          .where("purpose", "=", purpose)
          .returning(["user_id", "expires_at_ms"])
          .executeTakeFirst();
        return row !== undefined && row.expires_at_ms > nowMs ? { userId: row.user_id } : undefined;
      }),
  };
}

async function link({ kysely }: Session, { provider, subject, userId, email, nowMs }: NewIdentity): Promise<boolean> {
  const account = { provider, subject: storable(subject) };
  await kysely
    .insertInto("identities")
    .values({ ...account, user_id: userId, email: storable(email), linked_at_ms: nowMs })
    // Either key may be taken: of the account, and of the person at this provider.
    .onConflict((of) => of.doNothing())
    .execute();
  const row = await kysely
    .selectFrom("identities")
    .select("user_id")
    .where("provider", "=", provider)
    .where("subject", "=", account.subject)
    .executeTakeFirst();
  return row?.user_id === userId;
}

async function forget(session: Session, userId: number, what: Forgotten): Promise<Forgot> {
  const { kysely } = session;
  const forgot = { accounts: 0, passkeys: 0, sessions: 0 };
  if (what.kind !== "passkey") {
    let accounts = kysely.deleteFrom("identities").where("user_id", "=", userId);
    if (what.kind === "provider") accounts = accounts.where("provider", "=", what.issuer);
    forgot.accounts = Number((await accounts.executeTakeFirst()).numDeletedRows);
  }
  if (what.kind !== "provider") {
    let passkeys = kysely.deleteFrom("passkeys").where("user_id", "=", userId);
    if (what.kind === "passkey") passkeys = passkeys.where("id", "=", what.id);
    forgot.passkeys = Number((await passkeys.executeTakeFirst()).numDeletedRows);
  }
  const ways = [
    ...(forgot.accounts > 0 ? (["oidc"] as const) : []),
    ...(forgot.passkeys > 0 ? (["passkey"] as const) : []),
  ];
  if (ways.length === 0) return forgot;
  const sessions = kysely.deleteFrom("sessions").where("user_id", "=", userId).where("via", "in", ways);
  forgot.sessions = Number((await sessions.executeTakeFirst()).numDeletedRows);
  // A passkey that is being added at this moment is not added.
  await kysely.deleteFrom("sign_in_attempts").where("user_id", "=", userId).execute();
  await raiseGeneration(session);
  return forgot;
}

async function addAttempt({ kysely }: Session, attempt: NewAttempt, most: number): Promise<void> {
  await kysely.deleteFrom("sign_in_attempts").where("expires_at_ms", "<=", attempt.nowMs).execute();
  await kysely
    .insertInto("sign_in_attempts")
    .values({
      attempt_hash: attempt.attemptHash,
      purpose: attempt.purpose,
      user_id: attempt.userId,
      expires_at_ms: attempt.expiresAtMs,
    })
    .execute();
  const kept = await kysely
    .selectFrom("sign_in_attempts")
    .select("expires_at_ms")
    .orderBy("expires_at_ms", "desc")
    .limit(1)
    .offset(most)
    .executeTakeFirst();
  if (kept === undefined) return;
  await kysely.deleteFrom("sign_in_attempts").where("expires_at_ms", "<=", kept.expires_at_ms).execute();
}

/**
 * With the last membership nothing is left that signs in, or has signed in. Accounts of providers stay until the next invitation: such an account is
 * known as the one of a person who was taken out, whatever address it has by then.
 */
export async function forgetOutsider(session: Session, userId: number): Promise<void> {
  if (await holdPerson(session, userId)) return;
  const { kysely } = session;
  for (const table of ["passkeys", "sessions", "sign_in_codes", "sign_in_attempts"] as const)
    await kysely.deleteFrom(table).where("user_id", "=", userId).execute();
}

/** Before the first membership: an invitation decides anew who the person is. */
export async function forgetAccounts(session: Session, userId: number): Promise<void> {
  if (await holdPerson(session, userId)) return;
  await session.kysely.deleteFrom("identities").where("user_id", "=", userId).execute();
}
