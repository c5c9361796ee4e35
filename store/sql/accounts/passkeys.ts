/** Passkeys of people. */
import type { Database, Session } from "../db/database.ts";
import { decoder, encoder } from "../schema/column.ts";
import { PASSKEYS } from "../schema/sign-in-tables.ts";
import type { Row } from "../schema/tables.ts";
import { holdPerson } from "./hold-person.ts";
import { MOST_PASSKEYS, type NewPasskey, type Passkey, type Passkeys } from "./passkeys-port.ts";
import { findUser } from "./people.ts";

const toPasskey: (row: Row<"passkeys">) => Passkey = decoder(PASSKEYS);
const fromPasskey = encoder<Omit<Passkey, "id">, typeof PASSKEYS.columns>(PASSKEYS);

export function createPasskeys({ read, write }: Database): Passkeys {
  return {
    add: (passkey, sessionId) => write((session) => add(session, passkey, sessionId)),
    ofUser: async (userId) => (await ofUser(read, userId).orderBy("id").execute()).map(toPasskey),
    async access(credentialId) {
      const row = await read.kysely
        .selectFrom("passkeys")
        .selectAll()
        .where("credential_id", "=", credentialId)
        .executeTakeFirst();
      const user = row && (await findUser(read, row.user_id));
      return row && user && { passkey: toPasskey(row), user };
    },
    use: (id, counter, nowMs) =>
      write(async ({ kysely }) => {
        const { numUpdatedRows } = await kysely
          .updateTable("passkeys")
          .set({ counter, used_at_ms: nowMs })
          .where("id", "=", id)
          // WebAuthn section 6.1.1: a device that does not count says 0 each time.
          .where((of) => of.or([of("counter", "<", counter), ...(counter === 0 ? [of("counter", "=", 0)] : [])]))
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    rename: (userId, id, name) =>
      write(async ({ kysely }) => {
        const row = await kysely
          .updateTable("passkeys")
          .set({ name })
          .where("user_id", "=", userId)
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        return row && toPasskey(row);
      }),
    remove: (userId, id) =>
      write(async ({ kysely }) => {
        const { numDeletedRows } = await kysely
          .deleteFrom("passkeys")
          .where("user_id", "=", userId)
          .where("id", "=", id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
  };
}

function ofUser({ kysely }: Session, userId: number) {
  return kysely.selectFrom("passkeys").selectAll().where("user_id", "=", userId);
}

async function add(
  session: Session,
  passkey: NewPasskey,
  sessionId: number,
): Promise<Passkey | "taken" | "full" | "ended"> {
  // Also, so that two that are added at once do not both find room.
  await holdPerson(session, passkey.userId);
  const by = session.kysely.selectFrom("sessions").select("id").where("id", "=", sessionId);
  if ((await by.where("user_id", "=", passkey.userId).executeTakeFirst()) === undefined) return "ended";
  if ((await ofUser(session, passkey.userId).execute()).length >= MOST_PASSKEYS) return "full";
  const row = await session.kysely
    .insertInto("passkeys")
    .values(fromPasskey({ ...passkey, usedAtMs: null }))
    .onConflict((of) => of.column("credential_id").doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? "taken" : toPasskey(row);
}
