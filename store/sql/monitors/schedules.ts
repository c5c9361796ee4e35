/** Schedules of maintenance, and the windows that their turns become. */

import { isDeepStrictEqual } from "node:util";
import { type ExpressionBuilder, sql } from "kysely";
import type { Turn } from "../../../model/maintenance-schedule.ts";
import type { Database, Session } from "../db/database.ts";
import { holdProject } from "../db/hold-project.ts";
import { decoder, encoder } from "../schema/column.ts";
import { MAINTENANCES, type Row, type Tables } from "../schema/tables.ts";
import { holdIds, settle } from "./maintenance.ts";
import { type MaintenanceSchedule, MOST_SCHEDULES, type ScheduleDraft, type Schedules } from "./schedules-port.ts";
import { isSelected } from "./selecting.ts";
import { Turns } from "./turns.ts";

const toSchedule: (row: Row<"maintenances">) => MaintenanceSchedule = decoder(MAINTENANCES);
const fromSchedule = encoder<Omit<MaintenanceSchedule, "id">, typeof MAINTENANCES.columns>(MAINTENANCES);

export function createSchedules(database: Database): Schedules {
  const { read, write } = database;
  return {
    create: (projectId, draft, nowMs) => write((session) => create(session, projectId, draft, nowMs)),
    find: (projectId, id) => find(read, projectId, id),
    async list(projectId) {
      const ofProject = read.kysely.selectFrom("maintenances").selectAll().where("project_id", "=", projectId);
      return (await ofProject.orderBy("id").execute()).map(toSchedule);
    },
    async current(nowMs) {
      const rows = await read.kysely
        .selectFrom("maintenances as one")
        .innerJoin("projects as p", "p.id", "one.project_id")
        .selectAll("one")
        .where("p.active", "=", 1)
        .where((of) => of.or([of("one.over_at_ms", "is", null), of("one.over_at_ms", ">", nowMs)]))
        .orderBy("one.id")
        .execute();
      return rows.map(toSchedule);
    },
    update: (id, decide, nowMs) => write((session) => update(session, id, decide, nowMs)),
    remove: (id, nowMs) => write((session) => remove(session, id, nowMs)),
    endTurn: (id, turn, nowMs) =>
      write(async (session) => {
        await hold(session, id);
        await endWindows(session, await openOf(session, id, nowMs, turn), nowMs);
        return change(session, id, { ended_until_ms: turn.fromMs + 1 });
      }),
    make: (schedule, turn, limit, nowMs) => write((session) => make(session, schedule, turn, limit, nowMs)),
    settleNext: (limit, nowMs) => write((session) => settleNext(session, limit, nowMs)),
    forget: (beforeMs, limit) =>
      write(async ({ kysely }) => {
        const old = kysely
          .selectFrom("maintenance_windows")
          .select("id")
          .where("ends_at_ms", "<", beforeMs)
          .limit(limit);
        const { numDeletedRows } = await kysely
          .deleteFrom("maintenance_windows")
          .where("id", "in", old)
          .executeTakeFirst();
        return Number(numDeletedRows);
      }),
  };
}

function fromDraft(draft: ScheduleDraft) {
  const {
    project_id: _,
    created_at_ms: __,
    ended_until_ms: ___,
    ...columns
  } = fromSchedule({
    projectId: 0,
    endedUntilMs: null,
    createdAtMs: 0,
    ...draft,
  });
  return columns;
}

async function find({ kysely }: Session, projectId: number, id: number): Promise<MaintenanceSchedule | undefined> {
  const ofProject = kysely.selectFrom("maintenances").selectAll().where("project_id", "=", projectId);
  const row = await ofProject.where("id", "=", id).executeTakeFirst();
  return row && toSchedule(row);
}

export async function create(
  session: Session,
  projectId: number,
  draft: ScheduleDraft,
  nowMs: number,
): Promise<MaintenanceSchedule | undefined> {
  const { kysely } = session;
  await holdProject(session, projectId);
  const { count } = await kysely
    .selectFrom("maintenances")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("project_id", "=", projectId)
    .executeTakeFirstOrThrow();
  if (count >= MOST_SCHEDULES) return undefined;
  const row = await kysely
    .insertInto("maintenances")
    .values({
      ...fromSchedule({ ...draft, projectId, endedUntilMs: null, createdAtMs: nowMs }),
      updated_at_ms: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toSchedule(row);
}

/** The schedule, held against other writers until the transaction ends: taken before any of its monitors. */
async function hold({ kysely, dialect }: Session, id: number): Promise<MaintenanceSchedule | undefined> {
  const query = kysely.selectFrom("maintenances").selectAll().where("id", "=", id);
  const row = await (dialect === "postgres" ? query.forUpdate() : query).executeTakeFirst();
  return row && toSchedule(row);
}

export async function update(
  session: Session,
  id: number,
  decide: (before: MaintenanceSchedule) => ScheduleDraft,
  nowMs: number,
): Promise<MaintenanceSchedule | undefined> {
  const before = await hold(session, id);
  if (before === undefined) return undefined;
  const draft = decide(before);
  const isMoved = !isDeepStrictEqual(covered(before), covered(draft));
  if (isMoved) await moveWindows(session, before, draft, nowMs);
  return change(session, id, { ...fromDraft(draft), updated_at_ms: nowMs });
}

/** What decides which monitors have windows, and when. */
function covered({ schedule, timezone, startsOn, endsOn, selector }: ScheduleDraft) {
  return { schedule, timezone, startsOn, endsOn, selector };
}

/** @returns false when it was not there */
export async function remove(session: Session, id: number, nowMs: number): Promise<boolean> {
  await hold(session, id);
  await endWindows(session, await openOf(session, id, nowMs), nowMs);
  const { numDeletedRows } = await session.kysely.deleteFrom("maintenances").where("id", "=", id).executeTakeFirst();
  return numDeletedRows > 0n;
}

async function change(
  { kysely }: Session,
  id: number,
  columns: Partial<Omit<Row<"maintenances">, "id">>,
): Promise<MaintenanceSchedule | undefined> {
  const row = await kysely
    .updateTable("maintenances")
    .set(columns)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return row && toSchedule(row);
}

/**
 * Windows of the turn that is on by the changed schedule go on until its end, for monitors that are still selected. All others end and leave the
 * schedule, so that what it selects later gets a window anew; so do those whose turn was over, where it lasts longer now. Only a window that a
 * person ended stays, and keeps its monitor from another one in the turn.
 */
async function moveWindows(
  session: Session,
  before: MaintenanceSchedule,
  draft: ScheduleDraft,
  nowMs: number,
): Promise<void> {
  const { id, projectId, endedUntilMs } = before;
  const turn = new Turns(draft).at(nowMs);
  const open = await openOf(session, id, nowMs);
  if (turn === null || turn.fromMs < (endedUntilMs ?? 0)) return endWindows(session, open, nowMs, { leave: true });
  const going = selected(session, projectId, draft).where((of) => of.exists(windowsOf(of, id, turn)));
  const monitorIds = new Set((await going.execute()).map((row) => row.id));
  const isGoing = ({ monitor_id: monitorId, starts_at_ms: fromMs }: Window): boolean =>
    monitorIds.has(monitorId) && fromMs >= turn.fromMs && fromMs <= nowMs;
  const { kysely } = session;
  const over = kysely.selectFrom("maintenance_windows").select(WINDOW).where("maintenance_id", "=", id);
  const ofTurn = over.where("starts_at_ms", ">=", turn.fromMs).where("ends_at_ms", "<=", nowMs);
  const turns = new Turns(before);
  for (const window of await ofTurn.execute())
    if (turns.at(window.starts_at_ms)?.untilMs === window.ends_at_ms)
      await kysely
        .updateTable("maintenance_windows")
        .set({ maintenance_id: null })
        .where("id", "=", window.id)
        .execute();
  await endWindows(session, open, nowMs, { leave: true, isGoing, untilMs: turn.untilMs });
}

const WINDOW = ["id", "monitor_id", "starts_at_ms", "ends_at_ms"] as const;
type Window = Pick<Row<"maintenance_windows">, (typeof WINDOW)[number]>;

/** Those that have not ended. @param turn only those of it */
function openOf({ kysely }: Session, id: number, nowMs: number, turn?: Turn): Promise<readonly Window[]> {
  let open = kysely
    .selectFrom("maintenance_windows")
    .select(WINDOW)
    .where("maintenance_id", "=", id)
    .where("ends_at_ms", ">", nowMs);
  if (turn !== undefined) open = open.where("starts_at_ms", ">=", turn.fromMs).where("starts_at_ms", "<", turn.untilMs);
  return open.orderBy("monitor_id").execute();
}

interface Ending {
  /** They are the schedule's no more. */
  readonly leave?: boolean;
  /** Those that go on, until then. */
  readonly isGoing?: (window: Window) => boolean;
  readonly untilMs?: number;
}

/** What has begun ends now, what has not is taken away. */
async function endWindows(
  session: Session,
  windows: readonly Window[],
  nowMs: number,
  { leave = false, isGoing, untilMs = nowMs }: Ending = {},
): Promise<void> {
  const { kysely } = session;
  const held = await holdIds(session, [...new Set(windows.map((window) => window.monitor_id))]);
  for (const window of windows) {
    const goesOn = isGoing?.(window) === true;
    const ended = { ends_at_ms: goesOn ? untilMs : nowMs, ...(leave && !goesOn && { maintenance_id: null }) };
    await (window.starts_at_ms <= nowMs
      ? kysely.updateTable("maintenance_windows").set(ended).where("id", "=", window.id).execute()
      : kysely.deleteFrom("maintenance_windows").where("id", "=", window.id).execute());
    if (held.has(window.monitor_id)) await settle(session, window.monitor_id, nowMs);
  }
}

function selected({ kysely, dialect }: Session, projectId: number, { selector }: ScheduleDraft) {
  return kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .select("m.id")
    .where("m.project_id", "=", projectId)
    .where("m.deleted_at_ms", "is", null)
    .where((of) => isSelected(of, dialect, selector));
}

/** Of the monitor `m`, in the turn: a window begins no earlier than it is made. */
function windowsOf(of: ExpressionBuilder<Tables & { m: Tables["monitors"] }, "m">, id: number, turn: Turn) {
  return of
    .selectFrom("maintenance_windows as w")
    .select(sql<number>`1`.as("one"))
    .whereRef("w.monitor_id", "=", "m.id")
    .where("w.maintenance_id", "=", id)
    .where("w.starts_at_ms", ">=", turn.fromMs)
    .where("w.starts_at_ms", "<", turn.untilMs);
}

async function make(
  session: Session,
  schedule: MaintenanceSchedule,
  turn: Turn,
  limit: number,
  nowMs: number,
): Promise<number> {
  const { kysely } = session;
  const { id, projectId } = schedule;
  const { fromMs, untilMs } = turn;
  const now = await hold(session, id);
  // Changed or ended since it was read: the next reader makes its windows.
  if (now === undefined || !isDeepStrictEqual(covered(now), covered(schedule)) || fromMs < (now.endedUntilMs ?? 0))
    return 0;
  const missing = await selected(session, projectId, schedule)
    .where((of) => of.not(of.exists(windowsOf(of, id, turn))))
    .orderBy("m.id")
    .limit(limit)
    .execute();
  const held = await holdIds(
    session,
    missing.map((row) => row.id),
  );
  for (const monitorId of held) {
    await kysely
      .insertInto("maintenance_windows")
      // What was down before the window was made stays so in the past.
      .values({
        monitor_id: monitorId,
        starts_at_ms: Math.max(fromMs, Math.round(nowMs)),
        ends_at_ms: untilMs,
        maintenance_id: id,
      })
      .execute();
    await settle(session, monitorId, nowMs);
  }
  return missing.length;
}

async function settleNext(session: Session, limit: number, nowMs: number): Promise<number> {
  const due = await session.kysely
    .selectFrom("maintenance_windows as w")
    .innerJoin("monitors as m", "m.id", "w.monitor_id")
    .select("m.id")
    .distinct()
    .where("w.ends_at_ms", ">", nowMs)
    .where("m.deleted_at_ms", "is", null)
    .where((of) => of.or([of("m.maintenance_until_ms", "is", null), of("m.maintenance_until_ms", "<=", nowMs)]))
    .orderBy("m.id")
    .limit(limit)
    .execute();
  for (const id of await holdIds(
    session,
    due.map((row) => row.id),
  ))
    await settle(session, id, nowMs + 1);
  return due.length;
}
