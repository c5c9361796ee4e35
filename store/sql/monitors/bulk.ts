/** Many monitors changed in one transaction, with history, incident events and events, in a few statements however many there are. */

import { type Actor, SYSTEM_ACTOR } from "../../../model/actor.ts";
import { pauseEvent } from "../../../model/event.ts";
import type { Monitor } from "../../../model/monitor.ts";
import { bulkUpdate, chunksOf } from "../db/bulk.ts";
import type { Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { appendEvents } from "../events/outbox.ts";
import { addEventsToOpenIncidents } from "../incidents/events.ts";
import { insertColumns, valuesOf } from "../schema/column.ts";
import { MONITORS } from "../schema/tables.ts";
import { type ChangedMonitor, changeMonitor } from "./change.ts";
import { insertHistory, type NewHistoryEntry } from "./history.ts";
import type { MonitorChange, MonitorWithLive } from "./port.ts";
import { fromMonitor, LIVE_COLUMNS, MONITOR_COLUMNS, SEALED_COLUMN, toMonitorWithLive } from "./rows.ts";

/** The row's own and what never changes stay; so does maintenance, which is no one's wish of the monitor. */
const KEPT: ReadonlySet<string> = new Set([
  "maintenance_from_ms",
  "maintenance_until_ms",
  "deleted_at_ms",
  "created_at_ms",
  "project_id",
  "organization_id",
]);
const SET_COLUMNS = insertColumns(MONITORS).filter((name) => !KEPT.has(name));
const CHANGE_MONITORS = bulkUpdate("change_monitors", MONITORS, { set: SET_COLUMNS, key: "id" });

/** The history shows these words (docs/api-contract.md#monitors). */
const PAUSE_MESSAGES = { paused: "Monitoring paused", resumed: "Monitoring resumed" } as const;

/** What changeMonitors() writes of a monitor. */
const CHANGED = ["pause_reasons", "active", "paused_at_ms", "interval_s", "timeout_s", "updated_at_ms"] as const;
const UPDATE = bulkUpdate("update_monitors", MONITORS, { set: [...CHANGED, "generation"], key: "id" });
const changedValues = valuesOf<Monitor, typeof MONITORS.columns>(MONITORS, CHANGED);

/** Fields that a bulk change may change: none of a monitor's own configuration. */
export type BulkChange = Pick<MonitorChange, "intervalS" | "timeoutS" | "addPauseReason" | "removePauseReasons">;

/** All monitors that the subscription imported, locked in the order of ids, so that two writers never wait for each other. */
export async function holdImported(session: Session, subscriptionId: number): Promise<readonly MonitorWithLive[]> {
  let query = session.kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .select([...MONITOR_COLUMNS, ...LIVE_COLUMNS])
    .where("m.subscription_id", "=", subscriptionId)
    .where("m.deleted_at_ms", "is", null)
    .orderBy("m.id");
  if (session.dialect === "postgres") query = query.forNoKeyUpdate("m");
  return (await query.execute()).map(toMonitorWithLive);
}

/** The monitors that exist, locked in the order of ids. */
export async function holdMonitors(session: Session, ids: readonly number[]): Promise<readonly MonitorWithLive[]> {
  const ordered = [...ids].sort((a, b) => a - b);
  const held: MonitorWithLive[] = [];
  for (const wanted of chunksOf(ordered)) {
    let query = session.kysely
      .selectFrom("monitors as m")
      .innerJoin("live as l", "l.monitor_id", "m.id")
      .select([...MONITOR_COLUMNS, ...LIVE_COLUMNS])
      .where("m.id", "in", wanted)
      .where("m.deleted_at_ms", "is", null)
      .orderBy("m.id");
    if (session.dialect === "postgres") query = query.forNoKeyUpdate("m");
    for (const row of await query.execute()) held.push(toMonitorWithLive(row));
  }
  return held;
}

/** Changes monitors that this transaction has locked. The actor is always the service, also when a user asked (docs/api-contract.md#webhooks). */
export async function changeMonitors(
  session: Session,
  held: readonly MonitorWithLive[],
  wanted: BulkChange,
  nowMs: number,
): Promise<void> {
  const changes = held
    .map((now) => ({ ...changeMonitor(now.monitor, wanted, nowMs), status: now.live.status }))
    .filter(({ isChanged }) => isChanged);
  if (changes.length === 0) return;
  await tellChanges(session, changes, nowMs, SYSTEM_ACTOR);
  const generation = await raiseGeneration(session);
  await session.bulk(
    UPDATE,
    changes.map(({ monitor }) => [...changedValues(monitor), generation, monitor.id]),
  );
}

export interface HeldMonitor extends MonitorWithLive {
  readonly generation: number;
}

/** Those of a project with their secrets, locked in the order of ids. @param ids some hundred */
export async function holdWhole(
  session: Session,
  projectId: number,
  ids: readonly number[],
): Promise<readonly HeldMonitor[]> {
  let query = session.kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .select([...MONITOR_COLUMNS, SEALED_COLUMN, "m.generation", ...LIVE_COLUMNS])
    .where("m.id", "in", ids)
    .where("m.project_id", "=", projectId)
    .where("m.deleted_at_ms", "is", null)
    .orderBy("m.id");
  if (session.dialect === "postgres") query = query.forNoKeyUpdate("m");
  return (await query.execute()).map((row) => ({ ...toMonitorWithLive(row), generation: row.generation }));
}

/** What a monitor that this transaction has locked becomes. */
export interface HeldChange extends ChangedMonitor {
  /** The live one: pausing does not change it. */
  readonly status: MonitorWithLive["live"]["status"];
}

/** Whole monitors, secrets included. @returns the generation that they have now; 0: there was nothing to write */
export async function writeChanges(
  session: Session,
  changes: readonly HeldChange[],
  nowMs: number,
  actor: Actor,
): Promise<number> {
  if (changes.length === 0) return 0;
  await tellChanges(session, changes, nowMs, actor);
  const generation = await raiseGeneration(session);
  const values = changes.map(({ monitor }) => {
    const row = rowOf(monitor, generation);
    return [...SET_COLUMNS.map((name) => row[name] ?? null), monitor.id];
  });
  await session.bulk(CHANGE_MONITORS, values);
  return generation;
}

/** @param monitor with its secrets */
export function rowOf(
  monitor: Omit<Monitor, "id">,
  generation: number,
): Readonly<Record<string, string | number | null>> {
  return { ...fromMonitor(monitor), sealed: monitor.sealed ?? null, generation };
}

/** Their history, and of each that was paused or resumed an event for its open incident and one for webhooks. */
export async function tellChanges(
  session: Session,
  changes: readonly HeldChange[],
  nowMs: number,
  actor: Actor,
): Promise<void> {
  const history = changes.flatMap((one) =>
    historyOf(one, nowMs, actor).map((entry) => ({ monitorId: one.monitor.id, entry })),
  );
  await insertHistory(session, history);
  const events = changes.flatMap(({ monitor, turned }) => {
    if (turned === null) return [];
    const type = turned === "paused" ? ("monitor_paused" as const) : ("monitor_resumed" as const);
    const message = PAUSE_MESSAGES[turned];
    return [[monitor.id, { type, atMs: nowMs, message, actor, location: null, data: {} }] as const];
  });
  await addEventsToOpenIncidents(session, new Map(events));
  const turned = changes.filter((one) => one.turned !== null);
  await appendEvents(
    session,
    turned.map(({ monitor, status }) => pauseEvent(monitor, status, actor, nowMs)),
  );
}

function historyOf({ fields, turned }: ChangedMonitor, atMs: number, actor: Actor): NewHistoryEntry[] {
  const entries: NewHistoryEntry[] = [];
  if (fields.length > 0) entries.push({ type: "updated", atMs, message: `Updated ${fields.join(", ")}`, actor });
  if (turned !== null) entries.push({ type: turned, atMs, message: PAUSE_MESSAGES[turned], actor });
  return entries;
}
