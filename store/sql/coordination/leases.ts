/** Leases in SQL: one row a right; taking it is a comparison and a change in one statement. */
import { type Database, type Session, statement } from "../db/database.ts";
import { type Lease, LeaseLost, type Leases } from "./leases-port.ts";

const READ = statement("lease", "select holder, epoch, beat from leases where name = ?");
const TAKE_FIRST = statement(
  "lease_take_first",
  "insert into leases (name, holder, epoch, beat) values (?, ?, 1, 0) on conflict (name) do nothing returning epoch",
);
const TAKE = statement(
  "lease_take",
  "update leases set holder = ?, epoch = epoch + 1, beat = beat + 1 where name = ? and epoch = ? and beat = ? returning epoch",
);
const BEAT = statement("lease_beat", "update leases set beat = beat + 1 where name = ? and epoch = ? returning epoch");
const RELEASE = statement("lease_release", "update leases set holder = null where name = ? and epoch = ?");
/** On PostgreSQL the row is locked: a process that takes the lease meanwhile waits for the end of the holder's transaction. */
const ASSERT = {
  sqlite: statement("lease_assert", "select epoch from leases where name = ? and epoch = ?"),
  postgres: statement("lease_assert", "select epoch from leases where name = ? and epoch = ? for share"),
};

export function createLeases({ read, write }: Database): Leases {
  return {
    async read(name) {
      return (await read.query<Lease>(READ, name))[0];
    },
    take: (name, holder, seen) =>
      write(async (session) => {
        const taken =
          seen === undefined
            ? await session.query<{ epoch: number }>(TAKE_FIRST, name, holder)
            : await session.query<{ epoch: number }>(TAKE, holder, name, seen.epoch, seen.beat);
        return taken[0]?.epoch;
      }),
    beat: (name, epoch) => write(async (session) => (await session.query(BEAT, name, epoch)).length > 0),
    release: (name, epoch) =>
      write(async (session) => {
        await session.query(RELEASE, name, epoch);
      }),
  };
}

/** First in a transaction that only the holder may make. @throws LeaseLost */
export async function assertLease(session: Session, name: string, epoch: number): Promise<void> {
  const held = await session.query(ASSERT[session.dialect], name, epoch);
  if (held.length === 0) throw new LeaseLost(`another process has taken the ${name}'s lease`);
}
