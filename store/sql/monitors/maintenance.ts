/**
 * Maintenance windows. Each has a row of its own; their union is stored beside the monitor, where the plan reads it. All begin when
 * they are made, so those that have not ended overlap: together they are one stretch.
 */
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import type { Maintenance, MaintenanceWindow } from "./maintenance-port.ts";

export function createMaintenance({ write }: Database): Maintenance {
  return {
    create: (monitorId, nowMs, endsAtMs) =>
      write(async (session) => {
        if (!(await hold(session, monitorId))) return undefined;
        const { id } = await session.kysely
          .insertInto("maintenance_windows")
          .values({ monitor_id: monitorId, starts_at_ms: nowMs, ends_at_ms: endsAtMs })
          .returning("id")
          .executeTakeFirstOrThrow();
        await settle(session, monitorId, nowMs);
        return { id, monitorId, startsAtMs: nowMs, endsAtMs };
      }),
    end: (id, nowMs) =>
      write(async (session) => {
        const found = await find(session, id);
        if (found === undefined || !(await hold(session, found.monitorId))) return undefined;
        await session.kysely
          .updateTable("maintenance_windows")
          .set({ ends_at_ms: nowMs })
          .where("id", "=", id)
          .where("ends_at_ms", ">", nowMs)
          .execute();
        await settle(session, found.monitorId, nowMs);
        return find(session, id);
      }),
  };
}

async function find(session: Session, id: number): Promise<MaintenanceWindow | undefined> {
  const row = await session.kysely
    .selectFrom("maintenance_windows")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  return row && { id, monitorId: row.monitor_id, startsAtMs: row.starts_at_ms, endsAtMs: row.ends_at_ms };
}

/** The monitor, held against other writers until the transaction ends. */
async function hold(session: Session, monitorId: number): Promise<boolean> {
  let query = session.kysely
    .selectFrom("monitors")
    .select("id")
    .where("id", "=", monitorId)
    .where("deleted_at_ms", "is", null);
  if (session.dialect === "postgres") query = query.forNoKeyUpdate();
  return (await query.executeTakeFirst()) !== undefined;
}

/** A window that ends now still covers the checks that began in it: the stretch ends, and is not forgotten. */
async function settle(session: Session, monitorId: number, nowMs: number): Promise<void> {
  const { from, until } = await session.kysely
    .selectFrom("maintenance_windows")
    .select((of) => [of.fn.min("starts_at_ms").as("from"), of.fn.max("ends_at_ms").as("until")])
    .where("monitor_id", "=", monitorId)
    .where("ends_at_ms", ">=", nowMs)
    .executeTakeFirstOrThrow();
  await session.kysely
    .updateTable("monitors")
    .set({
      maintenance_from_ms: from,
      maintenance_until_ms: until,
      generation: await raiseGeneration(session),
    })
    .where("id", "=", monitorId)
    .execute();
}
