/** Monitors that one apply makes, changes and removes: in a few statements however many there are, some hundred rows at a time. */
import type { Actor } from "../../../model/actor.ts";
import { familyOf } from "../../../model/kind.ts";
import { newLiveState } from "../../../model/live.ts";
import { Slices } from "../../slices.ts";
import { holdWorkspace } from "../accounts/workspaces.ts";
import { bulkInsert, chunksOf, insertInChunks, insertRows, unnested } from "../db/bulk.ts";
import { bulkStatement, type Session, type Statement } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { type HeldChange, type HeldMonitor, holdWhole, rowOf, writeChanges } from "../monitors/bulk.ts";
import { changeMonitor } from "../monitors/change.ts";
import { insertHistory } from "../monitors/history.ts";
import { type MonitorChange, type NewMonitor, SlotsFullError } from "../monitors/port.ts";
import { fromLive } from "../monitors/rows.ts";
import { slotsUsed } from "../monitors/slots.ts";
import { monitorOf, remove, takesSlot } from "../monitors/writes.ts";
import { insertColumns } from "../schema/column.ts";
import { sealedFor } from "../schema/seal-new.ts";
import { LIVE, MONITORS } from "../schema/tables.ts";
import {
  type ApplyOrder,
  type Assigned,
  type Changed,
  GENERATION_MARK,
  type Made,
  type Managed,
  type Removed,
  StaleOrderError,
} from "./port.ts";

const NEW_COLUMNS = ["id", ...insertColumns(MONITORS)] as const;
/** Their ids are known before, because their secrets are sealed to them. */
const ADD_MONITORS = bulkStatement(
  "add_monitors_with_ids",
  `insert into monitors (${NEW_COLUMNS.join(", ")}) values (${NEW_COLUMNS.map(() => "?").join(", ")})`,
  `insert into monitors (${NEW_COLUMNS.join(", ")}) select * from ${unnested(MONITORS, NEW_COLUMNS)}`,
);
const ADD_LIVE = bulkInsert(LIVE);

const LAST_ID: Statement = {
  name: "sonde_reserve_monitor_ids",
  sqlite:
    "select coalesce((select seq from sqlite_sequence where name = 'monitors'), 0) + value as id from json_each(?)",
  postgres:
    "select nextval(pg_get_serial_sequence('monitors', 'id'))::bigint as id from json_array_elements_text($1::json)",
};

/** Rows of one statement, which nothing interrupts: one row at a time on SQLite, and a new monitor is written into three tables. */
const AT_ONCE = 100;

export async function applyMonitors(session: Session, order: ApplyOrder): Promise<readonly Assigned[]> {
  const { create, change, remove: removed } = order.monitors;
  const slices = new Slices();
  const held = await holdAll(session, order.projectId, [...change, ...removed], slices);
  for (const { id } of removed) {
    await remove(session, order.projectId, id, order.nowMs);
    await slices.rest();
  }
  await requireSlots(session, order, held);
  const changed = await changeAll(session, order, held, slices);
  const made = await createAll(session, create, order.actor, slices);
  return [...changed, ...made];
}

/** All of them. @throws StaleOrderError */
async function holdAll(
  session: Session,
  projectId: number,
  wanted: readonly (Removed | Changed<MonitorChange>)[],
  slices: Slices,
): Promise<ReadonlyMap<number, HeldMonitor>> {
  const held = new Map<number, HeldMonitor>();
  const ordered = wanted.map(({ id }) => id).sort((one, other) => one - other);
  for (const ids of chunksOf(ordered, AT_ONCE)) {
    for (const one of await holdWhole(session, projectId, ids)) held.set(one.monitor.id, one);
    await slices.rest();
  }
  for (const { id, version } of wanted) if (held.get(id)?.generation !== version) throw new StaleOrderError();
  return held;
}

/** Counted once for all that take one, after those that are given back. @throws SlotsFullError */
async function requireSlots(
  session: Session,
  order: ApplyOrder,
  held: ReadonlyMap<number, HeldMonitor>,
): Promise<void> {
  const { slots, organizationId, monitors } = order;
  if (slots === null) return;
  const made = monitors.create.filter(({ input }) => familyOf(input.kind) === "tunnel").length;
  const resumed = monitors.change.filter(({ id, change }) => {
    const now = held.get(id);
    return now !== undefined && change !== null && takesSlot(now, change);
  }).length;
  if (made + resumed === 0) return;
  await holdWorkspace(session, organizationId);
  const used = await slotsUsed(session, organizationId);
  if (used + made + resumed > slots) throw new SlotsFullError(used, slots);
}

async function changeAll(
  session: Session,
  { monitors, nowMs, actor }: ApplyOrder,
  held: ReadonlyMap<number, HeldMonitor>,
  slices: Slices,
): Promise<readonly Assigned[]> {
  const assigned: Assigned[] = [];
  for (const some of chunksOf(monitors.change, AT_ONCE)) {
    const changes: HeldChange[] = [];
    for (const { id, change } of some) {
      const now = held.get(id);
      if (now === undefined) throw new StaleOrderError();
      const changed = changeMonitor(now.monitor, change ?? {}, nowMs);
      if (changed.isChanged) changes.push({ ...changed, status: now.live.status });
    }
    const generation = await writeChanges(session, changes, nowMs, actor);
    const written = new Set(changes.map(({ monitor }) => monitor.id));
    for (const { id, version, managed } of some)
      if (managed !== null) assigned.push(assignedTo(id, managed, written.has(id) ? generation : version));
    await slices.rest();
  }
  return assigned;
}

function assignedTo(thingId: number, { key, marks }: Managed, generation: number): Assigned {
  return { kind: "monitor", key, thingId, marks: { ...marks, [GENERATION_MARK]: String(generation) } };
}

async function createAll(
  session: Session,
  made: readonly Made<NewMonitor>[],
  actor: Actor,
  slices: Slices,
): Promise<readonly Assigned[]> {
  if (made.length === 0) return [];
  const ids = await reserveIds(session, made.length);
  const generation = await raiseGeneration(session);
  const assigned: Assigned[] = [];
  let next = 0;
  for (const some of chunksOf(made, AT_ONCE)) {
    const wanted = some.map((one) => ({ ...one, id: ids[next++] ?? 0 }));
    await addSome(session, wanted, generation, actor);
    for (const { key, id, marks } of wanted) assigned.push(assignedTo(id, { key, marks }, generation));
    await slices.rest();
  }
  return assigned;
}

async function reserveIds(session: Session, count: number): Promise<readonly number[]> {
  const places = JSON.stringify(Array.from({ length: count }, (_, index) => index + 1));
  return (await session.query<{ id: number }>(LAST_ID, places)).map(({ id }) => id);
}

async function addSome(
  session: Session,
  made: readonly (Made<NewMonitor> & { readonly id: number })[],
  generation: number,
  actor: Actor,
): Promise<void> {
  const rows = made.map(({ id, input }) => {
    const { sealed, urlSealed } = input;
    const monitor = {
      ...monitorOf(input),
      ...(sealed !== undefined && { sealed: sealedFor(id, sealed) }),
      ...(urlSealed !== undefined && { urlSealed: sealedFor(id, urlSealed) }),
    };
    return { id, ...rowOf(monitor, generation) } as Readonly<Record<string, string | number | null>>;
  });
  await insertRows(session, { statement: ADD_MONITORS, columns: NEW_COLUMNS }, rows);
  await insertRows(
    session,
    ADD_LIVE,
    made.map(({ id }) => fromLive(newLiveState(id))),
  );
  const beats = made.flatMap(({ id, input: { heartbeatToken: token } }) =>
    token === null
      ? []
      : [{ monitor_id: id, token_hash: token.hash, token_sealed: sealedFor(id, token.sealed), last_call_at_ms: null }],
  );
  await insertInChunks(session, "heartbeats", beats);
  await insertHistory(
    session,
    made.map(({ id, input: { nowMs } }) => ({
      monitorId: id,
      entry: { type: "created" as const, atMs: nowMs, message: "Monitor created", actor },
    })),
  );
}
