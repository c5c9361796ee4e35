/** Many monitors changed in one transaction, with history, incident events and events, in a few statements however many there are. */
import { pauseEvent } from "../../model/event.ts";
import { type MonitorChange, type MonitorWithLive, SYSTEM_ACTOR } from "./control-plane.ts";
import { bulkStatement, type Session } from "./database.ts";
import { raiseGeneration } from "./generation.ts";
import { insertHistory } from "./history.ts";
import { addEventsToOpenIncidents, type NewIncidentEvent } from "./incident-events.ts";
import { type ChangedMonitor, changeMonitor } from "./monitor-change.ts";
import { LIVE_COLUMNS, MONITOR_COLUMNS, toMonitorWithLive } from "./monitor-rows.ts";
import { historyOf, PAUSE_MESSAGES } from "./monitor-writes.ts";
import { appendEvents } from "./outbox.ts";
import { toJson } from "./text.ts";

const UPDATE = bulkStatement(
  "update_monitors",
  `update monitors set pause_reasons = ?, active = ?, paused_at_ms = ?, interval_s = ?, timeout_s = ?, updated_at_ms = ?, generation = ?
   where id = ?`,
  `update monitors m set pause_reasons = n.pause_reasons, active = n.active, paused_at_ms = n.paused_at_ms, interval_s = n.interval_s,
     timeout_s = n.timeout_s, updated_at_ms = n.updated_at_ms, generation = n.generation
   from unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::int[], $6::bigint[], $7::bigint[], $8::bigint[])
     as n (pause_reasons, active, paused_at_ms, interval_s, timeout_s, updated_at_ms, generation, id)
   where m.id = n.id`,
);

/** What a bulk change may be: nothing that a monitor's own configuration is made of. */
export type BulkChange = Pick<MonitorChange, "intervalS" | "timeoutS" | "addPauseReason" | "removePauseReasons">;

/** All that the subscription imported, held in the order of ids, so that two writers never wait for each other. */
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

/** Ids of one question; each is a parameter. */
const IDS_PER_QUESTION = 500;

/** Those that are there, held in the order of ids. */
export async function holdMonitors(session: Session, ids: readonly number[]): Promise<readonly MonitorWithLive[]> {
  const ordered = [...ids].sort((a, b) => a - b);
  const held: MonitorWithLive[] = [];
  for (let start = 0; start < ordered.length; start += IDS_PER_QUESTION) {
    const wanted = ordered.slice(start, start + IDS_PER_QUESTION);
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
    changes.map(({ monitor }) => [
      toJson(monitor.pauseReasons),
      monitor.pauseReasons.length === 0 ? 1 : 0,
      monitor.pausedAtMs,
      monitor.intervalS,
      monitor.timeoutS,
      monitor.updatedAtMs,
      generation,
      monitor.id,
    ]),
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
