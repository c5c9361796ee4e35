/** Maintenance windows. Each has a row of its own; their union, one stretch, is stored beside the monitor, where the plan reads it. */
import type { MaintenanceSpan } from "../../../model/monitor.ts";
import { isIn } from "../db/conditions.ts";
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import {
  type Maintenance,
  type MaintenanceFilter,
  MaintenanceGapError,
  type MaintenanceWindow,
} from "./maintenance-port.ts";

export function createMaintenance({ write, read }: Database): Maintenance {
  return {
    create: (monitorIds, span, nowMs) =>
      write(async (session) => {
        const held = await holdIds(session, monitorIds);
        if (monitorIds.some((id) => !held.has(id))) return undefined;
        const windows: MaintenanceWindow[] = [];
        for (const monitorId of held) windows.push(await insert(session, monitorId, span, nowMs));
        return windows;
      }),
    end: (id, nowMs) =>
      write(async (session) => {
        const found = await find(session, id);
        if (found === undefined || (await holdIds(session, [found.monitorId])).size === 0) return undefined;
        const rows = session.kysely;
        if (found.startsAtMs > nowMs) {
          await rows.deleteFrom("maintenance_windows").where("id", "=", id).execute();
          await settle(session, found.monitorId, nowMs);
          return { ...found, endsAtMs: found.startsAtMs };
        }
        await rows
          .updateTable("maintenance_windows")
          .set({ ends_at_ms: nowMs })
          .where("id", "=", id)
          .where("ends_at_ms", ">", nowMs)
          .execute();
        await settle(session, found.monitorId, nowMs);
        return find(session, id);
      }),
    async find(projectId, id) {
      const row = await ofProject(read, projectId).where("window.id", "=", id).select(SHOWN).executeTakeFirst();
      return row && shown(row);
    },
    async list(projectId, filter, nowMs) {
      const chosen = filtered(ofProject(read, projectId), filter, nowMs);
      const { total } = await chosen.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      const rows = await chosen
        .select(SHOWN)
        .orderBy("window.starts_at_ms")
        .orderBy("window.id")
        .limit(filter.limit)
        .offset(filter.offset)
        .execute();
      return { rows: rows.map(shown), total };
    },
  };
}

const SHOWN = [
  "window.id as id",
  "window.monitor_id as monitor_id",
  "window.starts_at_ms as starts_at_ms",
  "window.ends_at_ms as ends_at_ms",
  "monitors.name as name",
] as const;

interface Row {
  readonly id: number;
  readonly monitor_id: number;
  readonly starts_at_ms: number;
  readonly ends_at_ms: number;
}

function windowOf(row: Row): MaintenanceWindow {
  return { id: row.id, monitorId: row.monitor_id, startsAtMs: row.starts_at_ms, endsAtMs: row.ends_at_ms };
}

function shown(row: Row & { readonly name: string }) {
  return { ...windowOf(row), monitorName: row.name };
}

function ofProject({ kysely }: Session, projectId: number) {
  return kysely
    .selectFrom("maintenance_windows as window")
    .innerJoin("monitors", "monitors.id", "window.monitor_id")
    .where("monitors.project_id", "=", projectId)
    .where("monitors.deleted_at_ms", "is", null);
}

function filtered(
  query: ReturnType<typeof ofProject>,
  { state, monitorId }: MaintenanceFilter,
  nowMs: number,
): ReturnType<typeof ofProject> {
  const one = monitorId === null ? query : query.where("window.monitor_id", "=", monitorId);
  if (state === "ended") return one.where("window.ends_at_ms", "<=", nowMs);
  const open = one.where("window.ends_at_ms", ">", nowMs);
  if (state === null) return open;
  return open.where("window.starts_at_ms", state === "active" ? "<=" : ">", nowMs);
}

async function find(session: Session, id: number): Promise<MaintenanceWindow | undefined> {
  const row = await session.kysely
    .selectFrom("maintenance_windows")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  return row && windowOf(row);
}

/**
 * Those of them that are there, held against other writers until the transaction ends: all before any is written, because a write locks the generation
 * too, for which those wait who hold a monitor. In the order of ids, so that two that hold the same do not wait for each other.
 */
export async function holdIds(session: Session, ids: readonly number[]): Promise<ReadonlySet<number>> {
  let query = session.kysely
    .selectFrom("monitors as m")
    .select("m.id")
    .where(isIn(session.dialect, "m.id", ids))
    .where("m.deleted_at_ms", "is", null)
    .orderBy("m.id");
  if (session.dialect === "postgres") query = query.forNoKeyUpdate("m");
  return new Set((await query.execute()).map(({ id }) => id));
}

/** @throws MaintenanceGapError */
async function insert(
  session: Session,
  monitorId: number,
  { fromMs, untilMs }: MaintenanceSpan,
  nowMs: number,
): Promise<MaintenanceWindow> {
  // What a schedule makes comes and goes by itself.
  const open = stretchesOf(await openWindows(session, monitorId, nowMs + 1, true));
  const isApart = open.some((one) => fromMs > one.untilMs || untilMs < one.fromMs);
  if (isApart) throw new MaintenanceGapError(monitorId);
  const { id } = await session.kysely
    .insertInto("maintenance_windows")
    .values({ monitor_id: monitorId, starts_at_ms: fromMs, ends_at_ms: untilMs })
    .returning("id")
    .executeTakeFirstOrThrow();
  await settle(session, monitorId, nowMs);
  return { id, monitorId, startsAtMs: fromMs, endsAtMs: untilMs };
}

/** Those that end then or later, the first that begins first. @param byRequest none that a schedule made */
async function openWindows(
  { kysely }: Session,
  monitorId: number,
  atMs: number,
  byRequest = false,
): Promise<readonly MaintenanceSpan[]> {
  let query = kysely
    .selectFrom("maintenance_windows")
    .select(["starts_at_ms as fromMs", "ends_at_ms as untilMs"])
    .where("monitor_id", "=", monitorId)
    .where("ends_at_ms", ">=", atMs);
  if (byRequest) query = query.where("maintenance_id", "is", null);
  return query.orderBy("starts_at_ms").execute();
}

/** Windows that meet are one stretch. @param windows in the order of their starts */
function stretchesOf(windows: readonly MaintenanceSpan[]): readonly MaintenanceSpan[] {
  const stretches: MaintenanceSpan[] = [];
  for (const window of windows) {
    const last = stretches.at(-1);
    if (last === undefined || window.fromMs > last.untilMs) stretches.push(window);
    else stretches[stretches.length - 1] = { ...last, untilMs: Math.max(last.untilMs, window.untilMs) };
  }
  return stretches;
}

/**
 * The first stretch that has not ended is what the plan reads; the next one has its turn once this has ended (schedules.ts). A window that
 * ends now still covers the checks that began in it: the stretch ends, and is not forgotten.
 */
export async function settle(session: Session, monitorId: number, nowMs: number): Promise<void> {
  const [span] = stretchesOf(await openWindows(session, monitorId, nowMs));
  await session.kysely
    .updateTable("monitors")
    .set({
      maintenance_from_ms: span?.fromMs ?? null,
      maintenance_until_ms: span?.untilMs ?? null,
      generation: await raiseGeneration(session),
    })
    .where("id", "=", monitorId)
    .execute();
}
