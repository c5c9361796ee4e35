/** What people and the service did to a monitor (docs/api-contract.md#monitors). */
import { bulkInsert, insertRows } from "../db/bulk.ts";
import type { Database, Session } from "../db/database.ts";
import { decoder, encoder } from "../schema/column.ts";
import { HISTORY, type Row } from "../schema/tables.ts";
import type { History, HistoryEntry } from "./history-port.ts";

export type NewHistoryEntry = Omit<HistoryEntry, "id">;

const toEntry: (row: Row<"history">) => HistoryEntry = decoder(HISTORY);
const ADD_HISTORY = bulkInsert(HISTORY);
const fromEntry = encoder<NewHistoryEntry, typeof HISTORY.columns>(HISTORY);

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
        rows: rows.map(toEntry),
        total,
      };
    },
  };
}

/** Runs in the transaction of the change that it describes. */
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
  if (entries.length === 0) return;
  await insertRows(
    session,
    ADD_HISTORY,
    entries.map(({ monitorId, entry }) => ({ ...fromEntry(entry), monitor_id: monitorId })),
  );
}
