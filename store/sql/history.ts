/** What people and the service did to a monitor (docs/api-contract.md#monitors). */
import type { Actor, History, HistoryEntry } from "./control-plane.ts";
import type { Database, Session } from "./database.ts";
import { fromJson, storable, toJson } from "./text.ts";

export type NewHistoryEntry = Omit<HistoryEntry, "id">;

export function createHistory({ read }: Database): History {
  return {
    async list(monitorId, limit, offset) {
      const ofMonitor = read.kysely.selectFrom("history").where("monitor_id", "=", monitorId);
      const rows = await ofMonitor
        .selectAll()
        .orderBy("at_ms", "desc")
        .orderBy("id", "desc")
        .limit(limit)
        .offset(offset)
        .execute();
      const { total } = await ofMonitor.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      return {
        rows: rows.map((row) => ({
          id: row.id,
          type: row.type as HistoryEntry["type"],
          atMs: row.at_ms,
          message: row.message,
          actor: fromJson<Actor>(row.actor),
        })),
        total,
      };
    },
  };
}

/** Rows of one insert; five values each stay far below SQLite's 32,766 parameters. */
const ROWS_PER_INSERT = 500;

/** In the transaction of what it tells. */
export function addHistory(session: Session, monitorId: number, ...entries: NewHistoryEntry[]): Promise<void> {
  return insertHistory(
    session,
    entries.map((entry) => ({ monitorId, entry })),
  );
}

/** Of many monitors at once. */
export async function insertHistory(
  session: Session,
  entries: readonly { readonly monitorId: number; readonly entry: NewHistoryEntry }[],
): Promise<void> {
  for (let start = 0; start < entries.length; start += ROWS_PER_INSERT) {
    const rows = entries.slice(start, start + ROWS_PER_INSERT).map(({ monitorId, entry }) => ({
      monitor_id: monitorId,
      type: entry.type,
      at_ms: entry.atMs,
      message: storable(entry.message),
      actor: toJson(entry.actor),
    }));
    await session.kysely.insertInto("history").values(rows).execute();
  }
}
