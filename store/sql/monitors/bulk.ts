/** Many monitors changed in one transaction, with history, incident events and events, in a few statements however many there are. */

import { SYSTEM_ACTOR } from "../../../model/actor.ts";
import { pauseEvent } from "../../../model/event.ts";
import type { Monitor } from "../../../model/monitor.ts";
import { bulkUpdate, chunksOf } from "../db/bulk.ts";
import type { Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { appendEvents } from "../events/outbox.ts";
import { addEventsToOpenIncidents, type NewIncidentEvent } from "../incidents/events.ts";
import { valuesOf } from "../schema/column.ts";
import { MONITORS } from "../schema/tables.ts";
import { type ChangedMonitor, changeMonitor } from "./change.ts";
import { insertHistory } from "./history.ts";
import type { MonitorChange, MonitorWithLive } from "./port.ts";
import { LIVE_COLUMNS, MONITOR_COLUMNS, toMonitorWithLive } from "./rows.ts";
import { historyOf, PAUSE_MESSAGES } from "./writes.ts";

/** What a bulk change writes of a monitor. */
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
  await insertHistory(
    session,
    changes.flatMap((one) =>
      historyOf(one, nowMs, SYSTEM_ACTOR).map((entry) => ({ monitorId: one.monitor.id, entry })),
    ),
  );
  const turned = changes.filter((one) => one.turned !== null);
  await addEventsToOpenIncidents(session, new Map(turned.map((one) => [one.monitor.id, turnOf(one, nowMs)])));
  await appendEvents(
    session,
    turned.map(({ monitor, status }) => pauseEvent(monitor, status, SYSTEM_ACTOR, nowMs)),
  );
  const generation = await raiseGeneration(session);
  await session.bulk(
    UPDATE,
    changes.map(({ monitor }) => [...changedValues(monitor), generation, monitor.id]),
  );
}

function turnOf({ turned }: ChangedMonitor, atMs: number): NewIncidentEvent {
  return {
    type: turned === "paused" ? "monitor_paused" : "monitor_resumed",
    atMs,
    message: PAUSE_MESSAGES[turned ?? "paused"],
    actor: SYSTEM_ACTOR,
    location: null,
    data: {},
  };
}
