/** Which turns of monitors went by while nothing ran, and the count of those before. */
import { type Database, type Session, statement } from "../db/database.ts";

export interface MissedTurns {
  /** Unix ms of the last check of all; null when there was none. */
  readonly sinceMs: number | null;
  readonly turns: number;
  readonly monitors: number;
  /** By interval in seconds. */
  readonly byInterval: Readonly<Record<string, { readonly monitors: number; readonly turns: number }>>;
}

const LAST = statement("last_check_of_all", "select max(last_checked_at_ms) as at_ms from live");
const MISSED = statement(
  "turns_missed",
  `select m.interval_s as interval_s, count(*) as monitors, sum((cast(? as bigint) - l.last_checked_at_ms) / (m.interval_s * 1000)) as turns
   from monitors m join live l on l.monitor_id = m.id
   where m.active = 1 and m.deleted_at_ms is null and m.kind <> 'push' and l.last_checked_at_ms is not null
   and cast(? as bigint) - l.last_checked_at_ms >= m.interval_s * 1000 group by m.interval_s order by m.interval_s`,
);

/** Whole intervals since the last check of each monitor that is checked on schedule. */
export async function missedTurns({ read }: Database, nowMs: number): Promise<MissedTurns> {
  const [last] = await read.query<{ readonly at_ms: number | null }>(LAST);
  type Row = { readonly interval_s: number; readonly monitors: number; readonly turns: number | string };
  const rows = await read.query<Row>(MISSED, nowMs, nowMs);
  const counts = rows.map(
    (row) => [String(row.interval_s), { monitors: Number(row.monitors), turns: Number(row.turns) }] as const,
  );
  return {
    sinceMs: last?.at_ms ?? null,
    turns: counts.reduce((sum, [, { turns }]) => sum + turns, 0),
    monitors: counts.reduce((sum, [, { monitors }]) => sum + monitors, 0),
    byInterval: Object.fromEntries(counts),
  };
}

const SKIPPED = statement("turns_skipped", "select sum(skipped) as skipped from shards");
const SET_SKIPPED = statement("set_turns_skipped", "update shards set skipped = ? where shard = 0");

/** Of all shards together. */
export async function skippedTurns({ read }: Database): Promise<number> {
  return Number((await read.query<{ readonly skipped: number | string }>(SKIPPED))[0]?.skipped ?? 0);
}

export async function setSkippedTurns({ query }: Session, turns: number): Promise<void> {
  await query(SET_SKIPPED, turns);
}

const IDENTITY = statement(
  "identity_of_source",
  `select (select value from meta where name = 'sealing_check') as sealing_check, (select value from generation where id = 1) as generation,
   (select coalesce(sum(seq), 0) from live) as checks, (select coalesce(max(id), 0) from incidents) as incidents`,
);

/** Another text when anything was changed or checked: a move that goes on must find what it began with. */
export async function identityOf({ read }: Database): Promise<string> {
  const [row] = await read.query<Readonly<Record<string, string | number | null>>>(IDENTITY);
  return JSON.stringify([
    row?.sealing_check ?? null,
    ...["generation", "checks", "incidents"].map((name) => Number(row?.[name] ?? 0)),
  ]);
}

const BEATS = statement("beats", "select id, beat from schedulers order by id");

/** Changes while a scheduler runs. */
export async function beatsOf({ read }: Database): Promise<string> {
  return JSON.stringify(await read.query(BEATS));
}
