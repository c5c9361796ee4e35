/** Shards and schedulers in SQL. A taking is a comparison and a change in one statement. */
import { type Database, type Session, statement } from "../db/database.ts";
import { fromJson, toJson } from "../schema/text.ts";
import {
  type SchedulerRow,
  type ShardLease,
  type ShardRow,
  type Shards,
  ShardsLost,
  type Skips,
} from "./shards-port.ts";

const SHARDS = statement("shards", "select shard, holder, epoch, skipped from shards order by shard");
const SCHEDULERS = statement("schedulers", "select id, name, beat, report from schedulers order by id");
const BEAT = statement(
  "scheduler_beat",
  `insert into schedulers (id, name, beat, report) values (?, ?, 1, ?)
   on conflict (id) do update set name = excluded.name, report = excluded.report, beat = schedulers.beat + 1`,
);
const TAKE = statement(
  "take_shard",
  "update shards set holder = ?, epoch = epoch + 1 where shard = ? and epoch = ? returning epoch",
);
const RELEASE = statement("release_shard", "update shards set holder = null where shard = ? and epoch = ?");
const FORGET = statement("forget_scheduler", "delete from schedulers where id = ? and (beat = ? or ? = -1)");
const SKIPPED = statement("skipped_turns", "update shards set skipped = skipped + ? where shard = ?");
/** Matches any beat, because no real beat has this value. */
const ANY_BEAT = -1;

export function createShards({ read, write }: Database): Shards {
  return {
    async view() {
      const shards = await read.query<ShardRow>(SHARDS);
      const rows = await read.query<Omit<SchedulerRow, "report"> & { readonly report: string }>(SCHEDULERS);
      return { shards, schedulers: rows.map((row) => ({ ...row, report: fromJson(row.report) })) };
    },
    beat: (id, name, report) => write(async (session) => void (await session.query(BEAT, id, name, toJson(report)))),
    take: (shard, id, seenEpoch) =>
      write(async (session) => (await session.query<{ epoch: number }>(TAKE, id, shard, seenEpoch))[0]?.epoch),
    release: (leases) =>
      write(async (session) => {
        for (const { shard, epoch } of inOrder(leases)) await session.query(RELEASE, shard, epoch);
      }),
    forget: (id, beat = ANY_BEAT) => write(async (session) => void (await session.query(FORGET, id, beat, beat))),
  };
}

/**
 * Begins a transaction that only the holder of the shards may make. On PostgreSQL a process that takes one meanwhile waits for its end.
 * @throws ShardsLost
 */
export async function assertShards(session: Session, leases: readonly ShardLease[]): Promise<void> {
  if (leases.length === 0) return;
  const wanted = leases.map(({ shard }) => shard);
  const query = session.kysely
    .selectFrom("shards")
    .select(["shard", "epoch"])
    .where("shard", "in", wanted)
    .orderBy("shard");
  const rows = await (session.dialect === "postgres" ? query.forShare() : query).execute();
  const epochs = new Map(rows.map(({ shard, epoch }) => [shard, epoch]));
  const lost = leases.filter(({ shard, epoch }) => epochs.get(shard) !== epoch);
  if (lost.length > 0) throw new ShardsLost(lost.map(({ shard }) => shard));
}

/** In the transaction of the shards' holder. */
export async function addSkips(session: Session, skips: readonly Skips[]): Promise<void> {
  for (const { shard, turns } of inOrder(skips)) await session.query(SKIPPED, turns, shard);
}

/** Rows are held in one order, so that two transactions never wait for each other. */
function inOrder<Row extends { readonly shard: number }>(rows: readonly Row[]): readonly Row[] {
  return [...rows].sort((a, b) => a.shard - b.shard);
}
