/** A monitor as the API shows it (docs/api-contract.md#monitors). */

import { formatId } from "../../model/ids.ts";
import { newLocationState } from "../../model/judge.ts";
import { isPassive, type UptimeKind } from "../../model/kind.ts";
import { isActive, type Monitor } from "../../model/monitor.ts";
import type { LiveState, LocationState } from "../../model/status.ts";
import { daysUntil, formatIso, formatUtc } from "../../model/time.ts";
import { displayAddress } from "../../model/web-address.ts";
import type { ImportedServer } from "../../store/sql/monitors/imports-port.ts";
import type { MonitorWithLive } from "../../store/sql/monitors/port.ts";
import { hasField, seesCertificate } from "./draft.ts";
import { isUptimeKind, moreFieldsOf } from "./fields.ts";
import { viewImported } from "./imported.ts";

export type MonitorView = Record<string, unknown>;

export interface MonitorExtras {
  /** What the caller may see of the address (address.ts); what every user may see when absent. */
  readonly url?: string | null;
  /** For editors, from the endpoints of one monitor only. */
  readonly heartbeatUrl?: string | null;
  readonly imported?: ImportedServer | undefined;
}

export function viewMonitor(
  { monitor, live }: MonitorWithLive,
  nowMs: number,
  { url, heartbeatUrl = null, imported }: MonitorExtras = {},
): MonitorView {
  const { kind } = monitor;
  const isTunnel = !isUptimeKind(kind);
  const active = isActive(monitor);
  const status = active ? live.status : "paused";
  const view: MonitorView = {
    id: formatId("server", monitor.id),
    name: monitor.name,
    type: isTunnel ? "vpn" : monitor.kind,
    protocol: monitor.kind,
    status,
    aggregate_status: status,
    active,
    interval: monitor.intervalS,
    latency_ms: live.latencyMs,
    region: live.region,
    locations: monitor.locations,
    disabled_locations: monitor.disabledLocations,
    regional_status: regionalStatus(monitor, live),
    notify_on_partial: monitor.notifyOnPartial,
    tags: monitor.tags,
    last_checked: live.lastCheckedAtMs === null ? null : formatUtc(live.lastCheckedAtMs),
  };
  if (isTunnel) view.connect_ms = live.connectMs;
  else addUptimeFields(view, kind, { monitor, live }, nowMs, url);
  const { maintenance } = monitor;
  if (maintenance !== null && maintenance.untilMs > nowMs) {
    view.maintenance = { starts_at: formatIso(maintenance.fromMs), ends_at: formatIso(maintenance.untilMs) };
  }
  if (imported !== undefined) view.subscription = viewImported(monitor, imported);
  if (isPassive(kind)) {
    view.period = monitor.intervalS;
    view.grace = monitor.graceS;
    if (heartbeatUrl !== null) view.heartbeat_url = heartbeatUrl;
  } else {
    view.timeout_follows_interval = monitor.timeoutFollowsInterval;
  }
  return view;
}

/** Every uptime check shows all of them; what its kind has no use for is null (docs/api-contract.md#monitors). */
function addUptimeFields(
  view: MonitorView,
  kind: UptimeKind,
  { monitor, live }: MonitorWithLive,
  nowMs: number,
  url: string | null | undefined,
): void {
  const { settings } = monitor;
  view.url = url ?? (typeof settings.url === "string" ? displayAddress(settings.url) : null);
  view.host = settings.host ?? null;
  view.domain = settings.domain ?? null;
  view.port = settings.port ?? null;
  view.keyword = settings.keyword ?? null;
  view.invert_keyword = settings.invert_keyword ?? false;
  view.accepted_statuscodes = settings.accepted_statuscodes ?? [];
  view.certificate =
    live.certificate === null
      ? null
      : { valid: live.certificate.valid, days_remaining: daysUntil(live.certificate.expiresAtMs, nowMs) };
  view.ssl_expiration = seesCertificate(kind, settings) ? monitor.sslExpirationDays : null;
  view.domain_expiration = hasField(kind, "domain_expiration") ? monitor.domainExpirationDays : null;
  view.ip_version = settings.ip_version ?? null;
  for (const [field, standard] of moreFieldsOf(kind)) view[field] = settings[field] ?? standard;
}

/** Of the locations that are chosen; empty before the first check, but for what has no checker and will get none. */
function regionalStatus({ locations, disabledLocations }: Monitor, live: LiveState): Record<string, unknown> {
  const view: Record<string, unknown> = {};
  for (const location of locations) {
    const state = live.locations[location];
    if (live.lastCheckedAtMs === null && state?.status !== "unavailable") continue;
    if (state === undefined && disabledLocations.includes(location)) continue;
    view[location] = regionalEntry(state ?? NEVER_JUDGED);
  }
  return view;
}

/** Chosen, and its first check has not come in yet. */
const NEVER_JUDGED: LocationState = { ...newLocationState(), status: "pending" };

function regionalEntry(state: LocationState): Record<string, unknown> {
  const entry: Record<string, unknown> = {
    status: state.status,
    last_check: state.lastCheckAtMs === null ? "" : formatIso(state.lastCheckAtMs),
    ping_ms: state.pingMs,
  };
  if (state.errorCategory !== null) entry.error_category = state.errorCategory;
  return entry;
}
