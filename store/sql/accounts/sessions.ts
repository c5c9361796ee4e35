/** Sessions of the page and codes of sign-in links, as hashes. */
import { bulkStatement, type Database, statement } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { decoder, encoder } from "../schema/column.ts";
import { SESSIONS } from "../schema/sign-in-tables.ts";
import type { Row } from "../schema/tables.ts";
import { holdPerson } from "./hold-person.ts";
import type { NewSession, SessionAccess, SessionRecord, Sessions } from "./sessions-port.ts";

const toSession: (row: Row<"sessions">) => SessionRecord = decoder(SESSIONS);
const fromSession = encoder<Omit<SessionRecord, "id">, typeof SESSIONS.columns>(SESSIONS);

interface AccessRow extends Row<"sessions"> {
  readonly user_email: string;
  readonly user_name: string | null;
  readonly user_active: 0 | 1;
}

const ACCESS = statement(
  "session_access",
  `select s.*, u.email as user_email, u.name as user_name, u.active as user_active
   from sessions s join users u on u.id = s.user_id where s.id = ?`,
);

const TOUCH = bulkStatement(
  "touch_sessions",
  "update sessions set seen_at_ms = max(seen_at_ms, ?) where id = ?",
  `update sessions s set seen_at_ms = greatest(s.seen_at_ms, seen.at_ms)
   from unnest($1::bigint[], $2::bigint[]) as seen (at_ms, id) where s.id = seen.id`,
);

export function createSessions({ read, write }: Database): Sessions {
  return {
    create: (input: NewSession) =>
      write(async (session) => {
        if (!(await holdPerson(session, input.userId))) return undefined;
        const { kysely } = session;
        await kysely.deleteFrom("sessions").where("ends_at_ms", "<=", input.createdAtMs).execute();
        // No cache knows the new one, so the generation stays.
        const row = await kysely
          .insertInto("sessions")
          .values(fromSession({ ...input, seenAtMs: input.createdAtMs }))
          .returningAll()
          .executeTakeFirstOrThrow();
        return toSession(row);
      }),
    async access(id) {
      const row = (await read.query<AccessRow>(ACCESS, id))[0];
      return row && toAccess(row);
    },
    async ofUser(userId, nowMs) {
      const rows = await read.kysely
        .selectFrom("sessions")
        .selectAll()
        .where("user_id", "=", userId)
        .where("ends_at_ms", ">", nowMs)
        .orderBy("id", "desc")
        .execute();
      return rows.map(toSession);
    },
    end: (userId, id) =>
      write(async (session) => {
        const { numDeletedRows } = await session.kysely
          .deleteFrom("sessions")
          .where("user_id", "=", userId)
          .where("id", "=", id)
          .executeTakeFirst();
        await raiseGeneration(session);
        return numDeletedRows > 0n;
      }),
    endOthers: (userId, exceptId) =>
      write(async (session) => {
        const { numDeletedRows } = await session.kysely
          .deleteFrom("sessions")
          .where("user_id", "=", userId)
          .where("id", "<>", exceptId)
          .executeTakeFirst();
        await raiseGeneration(session);
        return Number(numDeletedRows);
      }),
    async touch(seen) {
      if (seen.size === 0) return;
      // In the order of ids, so that two writers never wait for each other's rows.
      const rows = [...seen].sort(([a], [b]) => a - b).map(([id, atMs]) => [atMs, id]);
      await write((session) => session.bulk(TOUCH, rows));
    },
    ...createCodes({ write }),
  };
}

function createCodes({ write }: Pick<Database, "write">): Pick<Sessions, "addCode" | "takeCode"> {
  return {
    addCode: ({ codeHash, userId, nowMs, expiresAtMs }) =>
      write(async ({ kysely }) => {
        await kysely.deleteFrom("sign_in_codes").where("expires_at_ms", "<=", nowMs).execute();
        const code = { code_hash: codeHash, user_id: userId, expires_at_ms: expiresAtMs };
        await kysely.insertInto("sign_in_codes").values(code).execute();
      }),
    takeCode: (codeHash, nowMs) =>
      write(async ({ kysely }) => {
        // Deleted and read in one statement: of two that use it at the same moment one gets it.
        const row = await kysely
          .deleteFrom("sign_in_codes")
          .where("code_hash", "=", codeHash)
          .returning(["user_id", "expires_at_ms"])
          .executeTakeFirst();
        return row !== undefined && row.expires_at_ms > nowMs ? row.user_id : undefined;
      }),
  };
}

function toAccess(row: AccessRow): SessionAccess {
  return {
    session: toSession(row),
    user: { id: row.user_id, email: row.user_email, name: row.user_name, active: row.user_active === 1 },
  };
}
