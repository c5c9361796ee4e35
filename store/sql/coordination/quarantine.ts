/** Quarantined configurations in SQL: few rows, read by every process that runs or hands out checks. */
import { areForgotten, strike } from "../../../model/quarantine.ts";
import { type Database, type Session, statement } from "../db/database.ts";
import type { QuarantineRecord, Quarantines } from "./quarantine-port.ts";

const COLUMNS = `id, fingerprint, kind, reason, strikes, monitor_id as "monitorId", location,
  first_at_ms as "firstAtMs", last_at_ms as "lastAtMs", until_ms as "untilMs"`;
const ALL = statement("quarantine", `select ${COLUMNS} from quarantine order by last_at_ms desc, id desc`);
const HELD = statement("quarantine_held", `select ${COLUMNS} from quarantine where until_ms > ? order by id`);
const FIND = statement("quarantine_find", `select ${COLUMNS} from quarantine where fingerprint = ? and until_ms > ?`);
/** Of two that make the row at once the second waits, and finds it. */
const MAKE = statement(
  "quarantine_make",
  `insert into quarantine (fingerprint, kind, reason, strikes, monitor_id, location, first_at_ms, last_at_ms, until_ms)
  values (?, ?, ?, 0, ?, ?, ?, 0, 0) on conflict (fingerprint) do nothing`,
);
const HOLD = {
  sqlite: statement("quarantine_hold", `select ${COLUMNS} from quarantine where fingerprint = ?`),
  postgres: statement("quarantine_hold", `select ${COLUMNS} from quarantine where fingerprint = ? for update`),
};
const STRIKE = statement(
  "quarantine_strike",
  `update quarantine set reason = ?, strikes = ?, monitor_id = ?, location = ?, last_at_ms = ?, until_ms = ? where fingerprint = ?`,
);
const LIFT = statement("quarantine_lift", `delete from quarantine where id = ? returning ${COLUMNS}`);

export function createQuarantines({ read, write }: Database): Quarantines {
  return {
    all: () => read.query<QuarantineRecord>(ALL),
    held: (nowMs) => read.query<QuarantineRecord>(HELD, nowMs),
    find: async (fingerprint, nowMs) => (await read.query<QuarantineRecord>(FIND, fingerprint, nowMs))[0],
    strike: (harm, nowMs) =>
      write(async (session) => {
        const { fingerprint, kind, reason, monitorId, location } = harm;
        await forgetOld(session, nowMs);
        await session.query(MAKE, fingerprint, kind, reason, monitorId, location, nowMs);
        const [known] = await session.query<QuarantineRecord>(HOLD[session.dialect], fingerprint);
        if (known === undefined) throw new Error("a quarantined configuration is gone within its transaction");
        const next = strike(known.strikes === 0 ? undefined : known, nowMs);
        if (next === known) return known;
        const { strikes, lastAtMs, untilMs } = next;
        await session.query(STRIKE, reason, strikes, monitorId, location, lastAtMs, untilMs, fingerprint);
        return { ...known, reason, monitorId, location, strikes, lastAtMs, untilMs };
      }),
    lift: (id) => write(async (session) => (await session.query<QuarantineRecord>(LIFT, id))[0]),
  };
}

async function forgetOld(session: Session, nowMs: number): Promise<void> {
  const forgotten = (await session.query<QuarantineRecord>(ALL)).filter((known) => areForgotten(known, nowMs));
  for (const { id } of forgotten) await session.query(LIFT, id);
}
