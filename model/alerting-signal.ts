/** Signals: what an event of the outbox means for alerts. Pure. */
import type { AlertEvent, AlertSeverity } from "./alerting-rule.ts";
import type { EventType, IncidentEventType, incidentData, monitorData, subscriptionData } from "./event.ts";
import { formatId, parseId } from "./ids.ts";
import { parseTime } from "./time.ts";

/**
 * begins: it holds from now on · worsens: it holds, and is worse · ends · acknowledged: a person works on it · notice: reported once, and has
 * no end
 */
type SignalTransition = "begins" | "worsens" | "ends" | "acknowledged" | "notice";

export interface AlertSignal {
  readonly transition: SignalTransition;
  readonly event: AlertEvent;
  readonly severity: AlertSeverity;
  readonly subject: string;
  readonly monitorId: number | null;
  readonly incidentId: number | null;
  readonly subscriptionId: number | null;
  /** This channel is not notified: the alert is about itself. */
  readonly channelId: number | null;
  /** What it is about, by name, where that is no monitor. */
  readonly name: string | null;
  readonly why: string;
  readonly sinceMs: number;
}

type Data = Readonly<Record<string, unknown>>;
type MonitorOf = ReturnType<typeof monitorData>;

/** Data of our own events. @returns null for an event without an alert */
export function signalOf(type: EventType, data: Data, atMs: number): AlertSignal | null {
  switch (type) {
    case "incident.opened":
    case "incident.level_changed":
    case "incident.recovered":
      return incidentSignal(type, data, atMs);
    case "incident.acknowledged":
      return { ...incidentSignal("incident.opened", data, atMs), transition: "acknowledged" };
    case "monitor.partial":
      return ofMonitor(
        "partial",
        "notice",
        data,
        atMs,
        `Does not work from ${(data.locations_down as string[]).join(", ")}`,
      );
    case "monitor.certificate_expiring":
      return ofMonitor("certificate", "notice", data, atMs, endsIn("The certificate", data));
    case "monitor.domain_expiring":
      return ofMonitor("domain", "notice", data, atMs, endsIn("The domain's registration", data));
    case "monitor.configs_failing":
    case "monitor.configs_recovered": {
      const transition = type === "monitor.configs_failing" ? "begins" : "ends";
      const why = `${data.configs_working} of ${data.configs_total} configurations work from ${data.location}`;
      return ofMonitor("configs", transition, data, atMs, why);
    }
    case "subscription.sync_failed":
    case "subscription.auto_disabled":
      return syncSignal(type, data, atMs);
    case "channel.failing":
      return channelSignal(data, atMs);
    case "monitor.paused":
    case "monitor.resumed":
    case "webhook.test":
      return null;
  }
}

const NO_SUBJECT = { monitorId: null, incidentId: null, subscriptionId: null, channelId: null, name: null };

function incidentSignal(type: IncidentEventType, data: Data, atMs: number): AlertSignal {
  const incident = data.incident as ReturnType<typeof incidentData>;
  const isDown = incident.error_type === "down";
  return {
    ...NO_SUBJECT,
    transition: type === "incident.opened" ? "begins" : type === "incident.recovered" ? "ends" : "worsens",
    event: isDown ? "down" : "login_refused",
    severity: isDown ? "critical" : "warning",
    subject: incident.id,
    monitorId: parseId("server", incident.server_id) ?? null,
    incidentId: parseId("incident", incident.id) ?? null,
    why: incident.error_message,
    sinceMs: type === "incident.recovered" ? atMs : (parseTime(incident.started_at) ?? atMs),
  };
}

/** An incident that goes on, of a monitor that is watched again. */
export function lastingSignal(incident: {
  readonly id: number;
  readonly monitorId: number;
  readonly isDown: boolean;
  readonly why: string;
  readonly startedAtMs: number;
}): AlertSignal {
  const { id, monitorId, isDown, why, startedAtMs } = incident;
  return {
    ...NO_SUBJECT,
    transition: "begins",
    event: isDown ? "down" : "login_refused",
    severity: isDown ? "critical" : "warning",
    subject: formatId("incident", id),
    monitorId,
    incidentId: id,
    why,
    sinceMs: startedAtMs,
  };
}

function ofMonitor(
  event: AlertEvent,
  transition: SignalTransition,
  data: Data,
  atMs: number,
  why: string,
): AlertSignal {
  const { id } = data.monitor as MonitorOf;
  const monitorId = parseId("server", id) ?? null;
  return {
    ...NO_SUBJECT,
    transition,
    event,
    severity: "warning",
    subject: `${id}:${event}`,
    monitorId,
    why,
    sinceMs: atMs,
  };
}

function endsIn(what: string, data: Data): string {
  const days = Number(data.days_remaining);
  if (days < 0) return `${what} has ended`;
  return days === 0 ? `${what} ends within a day` : `${what} ends in ${days} ${days === 1 ? "day" : "days"}`;
}

function syncSignal(type: EventType, data: Data, atMs: number): AlertSignal {
  const { id, name, syncErrorMessage } = data.subscription as ReturnType<typeof subscriptionData>;
  const isOff = type === "subscription.auto_disabled";
  const why = syncErrorMessage ?? "The list could not be read";
  return {
    ...NO_SUBJECT,
    transition: "notice",
    event: "sync",
    severity: "warning",
    subject: isOff ? `sub_${id}:off` : `sub_${id}`,
    subscriptionId: id,
    name: name ?? `Subscription ${id}`,
    why: isOff ? `Switched off after failing again and again: ${why}` : why,
    sinceMs: atMs,
  };
}

function channelSignal(data: Data, atMs: number): AlertSignal {
  const { id, name } = data.channel as { readonly id: number; readonly name: string };
  return {
    ...NO_SUBJECT,
    transition: "notice",
    event: "channel",
    severity: "warning",
    subject: `channel:${id}`,
    channelId: id,
    name,
    why: String(data.error),
    sinceMs: atMs,
  };
}
