/**
 * Events: what webhooks send (docs/api-contract.md#webhooks). A closed list, and the payload's `data` of each type as the contract names its
 * members. No credentials, share links or heartbeat addresses: of a monitor only id, name, kind, status and tags.
 */
import type { Actor } from "./actor.ts";
import type { ConfigShare, ShareChange } from "./config-share.ts";
import { formatId, parseId } from "./ids.ts";
import { type IncidentLevel, severityOf } from "./incident.ts";
import { familyOf, type Kind } from "./kind.ts";
import { isActive, type PauseReason } from "./monitor.ts";
import type { LiveStatus, MonitorStatus } from "./status.ts";
import { daysUntil, formatIso, formatUtc, isoOrNull } from "./time.ts";

export const EVENT_TYPES = [
  "monitor.paused",
  "monitor.resumed",
  "monitor.partial",
  "monitor.certificate_expiring",
  "monitor.domain_expiring",
  "monitor.configs_failing",
  "monitor.configs_recovered",
  "incident.opened",
  "incident.level_changed",
  "incident.recovered",
  "incident.acknowledged",
  "subscription.sync_failed",
  "subscription.auto_disabled",
  "channel.failing",
  "webhook.test",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What is written in the transaction of a change. The sender adds organization_id and project_id to the data. */
export interface NewEvent {
  readonly type: EventType;
  readonly projectId: number;
  readonly atMs: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The shared actor object of docs/api-contract.md#order-of-checks. */
export function actorData(actor: Actor) {
  return { type: actor.type, id: actor.id, name: actor.name, via: actor.via, key_id: actor.keyId };
}

/** What an event says of a monitor. */
export interface EventMonitor {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly kind: Kind;
  readonly pauseReasons: readonly PauseReason[];
  readonly tags: readonly string[];
}

/** @param status the live one; of a paused monitor the event says `paused` */
export function monitorData(monitor: EventMonitor, status: LiveStatus) {
  const active = isActive(monitor);
  return {
    id: formatId("server", monitor.id),
    name: monitor.name,
    type: familyOf(monitor.kind) === "tunnel" ? "vpn" : monitor.kind,
    protocol: monitor.kind,
    status: active ? status : ("paused" satisfies MonitorStatus),
    active,
    tags: monitor.tags,
  };
}

/**
 * Once per real change, whatever made it.
 * @param monitor as it is after the change
 * @param status the live one, before and after: pausing does not change it
 */
export function pauseEvent(monitor: EventMonitor, status: LiveStatus, actor: Actor, atMs: number): NewEvent {
  const isPaused = !isActive(monitor);
  return {
    type: isPaused ? "monitor.paused" : "monitor.resumed",
    projectId: monitor.projectId,
    atMs,
    data: {
      monitor: monitorData(monitor, status),
      previous_status: isPaused ? status : ("paused" satisfies MonitorStatus),
      actor: actorData(actor),
    },
  };
}

export function partialEvent(
  monitor: EventMonitor,
  previousStatus: LiveStatus,
  locationsDown: readonly string[],
  atMs: number,
): NewEvent {
  return {
    type: "monitor.partial",
    projectId: monitor.projectId,
    atMs,
    data: {
      monitor: monitorData(monitor, "partial"),
      previous_status: previousStatus,
      locations_down: locationsDown,
    },
  };
}

export type ExpirySubject = "certificate" | "domain";

export function expiryEvent(
  subject: ExpirySubject,
  monitor: EventMonitor,
  status: LiveStatus,
  expiresAtMs: number,
  atMs: number,
): NewEvent {
  return {
    type: subject === "certificate" ? "monitor.certificate_expiring" : "monitor.domain_expiring",
    projectId: monitor.projectId,
    atMs,
    data: { monitor: monitorData(monitor, status), days_remaining: daysUntil(expiresAtMs, atMs) },
  };
}

export interface ConfigShareTurn {
  readonly change: ShareChange;
  readonly status: LiveStatus;
  readonly share: ConfigShare;
  readonly location: string;
  readonly atMs: number;
}

export function configShareEvent(
  monitor: EventMonitor,
  { change, status, share: { working, total }, location, atMs }: ConfigShareTurn,
): NewEvent {
  return {
    type: `monitor.configs_${change}`,
    projectId: monitor.projectId,
    atMs,
    data: { monitor: monitorData(monitor, status), configs_working: working, configs_total: total, location },
  };
}

/** What a list row says of an incident. */
export interface EventIncident {
  readonly id: number;
  readonly monitorId: number;
  readonly monitorName: string;
  readonly level: IncidentLevel;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly acknowledgedAtMs: number | null;
  readonly errorMessage: string;
}

/** The contract's list row of an incident: the API shows the same. */
export function incidentData(incident: EventIncident) {
  return {
    id: formatId("incident", incident.id),
    server_id: formatId("server", incident.monitorId),
    server_name: incident.monitorName,
    status: incident.endedAtMs === null ? "active" : "recovered",
    severity: severityOf(incident.level),
    started_at: formatIso(incident.startedAtMs),
    ended_at: isoOrNull(incident.endedAtMs),
    acknowledged: incident.acknowledgedAtMs !== null,
    acknowledged_at: isoOrNull(incident.acknowledgedAtMs),
    error_type: incident.level,
    error_message: incident.errorMessage,
  };
}

/** Alerts: what checks make of an incident. */
const ALERTS = ["incident.opened", "incident.level_changed", "incident.recovered"] as const;
export type IncidentEventType = (typeof ALERTS)[number];

export function incidentEvent(
  type: IncidentEventType,
  monitor: EventMonitor,
  status: LiveStatus,
  incident: EventIncident,
  atMs: number,
): NewEvent {
  return {
    type,
    projectId: monitor.projectId,
    atMs,
    data: { monitor: monitorData(monitor, status), incident: incidentData(incident) },
  };
}

/** The incident that an alert is about, whose events say whether the alert arrived (docs/api-contract.md#incidents); null for all other events. */
export function incidentOfData(type: EventType, data: Readonly<Record<string, unknown>>): number | null {
  if (!(ALERTS as readonly string[]).includes(type)) return null;
  const incident = data.incident as ReturnType<typeof incidentData> | undefined;
  return incident === undefined ? null : (parseId("incident", incident.id) ?? null);
}

export function acknowledgedEvent(
  monitor: EventMonitor,
  status: LiveStatus,
  incident: EventIncident,
  actor: Actor,
  atMs: number,
): NewEvent {
  return {
    type: "incident.acknowledged",
    projectId: monitor.projectId,
    atMs,
    data: { monitor: monitorData(monitor, status), incident: incidentData(incident), actor: actorData(actor) },
  };
}

/** What a subscription's record shows (docs/api-contract.md#subscriptions); its URL is in none of it. */
export interface EventSubscription {
  readonly id: number;
  readonly projectId: number;
  readonly name: string | null;
  readonly syncIntervalS: number;
  readonly timeoutS: number;
  readonly maxWorkers: number;
  readonly configAlertPercent: number;
  readonly engine: string;
  readonly enabled: boolean;
  readonly lastSyncedAtMs: number | null;
  readonly lastServerCount: number | null;
  readonly lastSyncStatus: string | null;
  readonly syncErrorMessage: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export function subscriptionData(subscription: EventSubscription) {
  const { lastSyncedAtMs } = subscription;
  return {
    id: subscription.id,
    projectId: subscription.projectId,
    name: subscription.name,
    syncIntervalSec: subscription.syncIntervalS,
    timeoutSeconds: subscription.timeoutS,
    maxWorkers: subscription.maxWorkers,
    configAlertPercent: subscription.configAlertPercent,
    engine: subscription.engine,
    enabled: subscription.enabled,
    lastSyncedAt: lastSyncedAtMs === null ? null : formatUtc(lastSyncedAtMs),
    lastServerCount: subscription.lastServerCount,
    lastSyncStatus: subscription.lastSyncStatus,
    syncErrorMessage: subscription.syncErrorMessage,
    createdAt: formatUtc(subscription.createdAtMs),
    updatedAt: formatUtc(subscription.updatedAtMs),
  };
}

export function subscriptionEvent(
  type: "subscription.sync_failed" | "subscription.auto_disabled",
  subscription: EventSubscription,
  atMs: number,
): NewEvent {
  return { type, projectId: subscription.projectId, atMs, data: { subscription: subscriptionData(subscription) } };
}

/** A channel's service does not take its messages any more. Its settings are left out: they may hold secrets. */
export function channelFailingEvent(
  channel: { readonly id: number; readonly projectId: number; readonly kind: string; readonly name: string },
  error: string,
  atMs: number,
): NewEvent {
  const { id, kind, name, projectId } = channel;
  return { type: "channel.failing", projectId, atMs, data: { channel: { id, kind, name }, error } };
}
