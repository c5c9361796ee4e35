/** What people and the service did to a monitor (open-points 18.6.1). */
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

/** In the transaction of what it tells. */
export async function addHistory(session: Session, monitorId: number, ...entries: NewHistoryEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await session.kysely
    .insertInto("history")
    .values(
      entries.map((entry) => ({
        monitor_id: monitorId,
        type: entry.type,
        at_ms: entry.atMs,
        message: storable(entry.message),
        actor: toJson(entry.actor),
      })),
    )
    .execute();
}
