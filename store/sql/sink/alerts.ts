/** Alerts of a batch, in the sink's transaction: the event goes to the outbox, and the sent alert of an expiry is remembered. */
import type { MonitorAlert, SentExpiryAlert } from "../../../model/alert.ts";
import {
  configShareEvent,
  type EventMonitor,
  type ExpirySubject,
  expiryEvent,
  type NewEvent,
  partialEvent,
} from "../../../model/event.ts";
import { IN_SHARDS, shardFilterValues } from "../coordination/shard-filter.ts";
import type { ShardFilter } from "../coordination/shards-port.ts";
import { type Session, statement } from "../db/database.ts";
import { eventMonitors } from "../events/event-monitors.ts";
import { appendEvents } from "../events/outbox.ts";

const TOLD = statement(
  "told_expiries",
  `select monitor_id, subject, expires_at_ms, threshold_days from expiry_alerts where ${IN_SHARDS} order by monitor_id`,
);
const TELL = statement(
  "tell_expiry",
  `insert into expiry_alerts (monitor_id, subject, expires_at_ms, threshold_days) values (?, ?, ?, ?)
   on conflict (monitor_id, subject, expires_at_ms) do update set threshold_days = excluded.threshold_days`,
);
/** Expiries that are a month past are forgotten, because no check reports them any more. */
const FORGET = statement("forget_expiries", "delete from expiry_alerts where monitor_id = ? and expires_at_ms < ?");
const KEPT_MS = 30 * 24 * 3_600_000;

export async function applyAlerts(session: Session, alerts: readonly MonitorAlert[]): Promise<void> {
  const monitors = await eventMonitors(session, [...new Set(alerts.map((alert) => alert.monitorId))]);
  const events: NewEvent[] = [];
  for (const alert of alerts) {
    const monitor = monitors.get(alert.monitorId);
    if (monitor === undefined) continue;
    events.push(eventOf(alert, monitor));
    if (alert.type !== "expiring") continue;
    await session.query(TELL, alert.monitorId, alert.subject, Math.round(alert.expiresAtMs), alert.thresholdDays);
    await session.query(FORGET, alert.monitorId, Math.round(alert.atMs) - KEPT_MS);
  }
  await appendEvents(session, events);
}

function eventOf(alert: MonitorAlert, monitor: EventMonitor): NewEvent {
  switch (alert.type) {
    case "partial":
      return partialEvent(monitor, alert.previousStatus, alert.locationsDown, alert.atMs);
    case "configs":
      return configShareEvent(monitor, alert);
    case "expiring":
      return expiryEvent(alert.subject, monitor, alert.status, alert.expiresAtMs, alert.atMs);
  }
}

interface SentExpiryColumns {
  readonly monitor_id: number;
  readonly subject: string;
  readonly expires_at_ms: number;
  readonly threshold_days: number;
}

/** By monitor. */
export async function sentExpiries(
  session: Session,
  filter: ShardFilter | undefined,
): Promise<ReadonlyMap<number, readonly SentExpiryAlert[]>> {
  const sent = new Map<number, SentExpiryAlert[]>();
  for (const row of await session.query<SentExpiryColumns>(TOLD, ...shardFilterValues(filter))) {
    const expiry = {
      subject: row.subject as ExpirySubject,
      expiresAtMs: row.expires_at_ms,
      thresholdDays: row.threshold_days,
    };
    sent.set(row.monitor_id, [...(sent.get(row.monitor_id) ?? []), expiry]);
  }
  return sent;
}
