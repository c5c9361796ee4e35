/** A monitor as the API shows it (docs/api-contract.md#monitors). */

import { formatId } from "../../model/ids.ts";
import { newLocationState } from "../../model/judge.ts";
import { isPassive, type UptimeKind } from "../../model/kind.ts";
import { isActive, type Monitor } from "../../model/monitor.ts";
import type { LocationState, MonitorStatus } from "../../model/status.ts";
import { daysUntil, formatIso, formatUtc } from "../../model/time.ts";
import { displayAddress } from "../../model/web-address.ts";
import type { ImportedServer } from "../../store/sql/monitors/imports-port.ts";
import type { MonitorWithLive, ShownLive } from "../../store/sql/monitors/port.ts";
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
  const moving = movingOf(monitor, live, nowMs);
  const view: MonitorView = {
    id: formatId("server", monitor.id),
    name: monitor.name,
    type: isTunnel ? "vpn" : monitor.kind,
    protocol: monitor.kind,
    status: moving.status,
    aggregate_status: moving.aggregate_status,
    active: isActive(monitor),
    interval: monitor.intervalS,
    latency_ms: moving.latency_ms,
    region: moving.region,
    locations: monitor.locations,
    disabled_locations: monitor.disabledLocations,
    regional_status: moving.regional_status,
    notify_on_partial: monitor.notifyOnPartial,
    tags: monitor.tags,
    last_checked: moving.last_checked,
  };
  if (isTunnel) view.connect_ms = live.connectMs;
  else addUptimeFields(view, kind, monitor, moving.certificate, url);
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

/** What checks and time change of the view of an uptime check while the monitor stays the same, but for maintenance. */
interface Moving {
  readonly status: MonitorStatus;
  readonly aggregate_status: MonitorStatus;
  readonly latency_ms: number | null;
  readonly region: string | null;
  readonly regional_status: Record<string, unknown>;
  readonly last_checked: string | null;
  readonly certificate: { readonly valid: boolean; readonly days_remaining: number } | null;
}

const MOVING: readonly (keyof Moving)[] = [
  "status",
  "aggregate_status",
  "latency_ms",
  "region",
  "regional_status",
  "last_checked",
  "certificate",
];

function movingOf(monitor: Monitor, live: ShownLive, nowMs: number): Moving {
  const status = isActive(monitor) ? live.status : "paused";
  const { certificate, lastCheckedAtMs } = live;
  return {
    status,
    aggregate_status: status,
    latency_ms: live.latencyMs,
    region: live.region,
    regional_status: regionalStatus(monitor, live),
    last_checked: lastCheckedAtMs === null ? null : formatUtc(lastCheckedAtMs),
    certificate:
      certificate === null
        ? null
        : { valid: certificate.valid, days_remaining: daysUntil(certificate.expiresAtMs, nowMs) },
  };
}

/**
 * JSON of a monitor's view under a later live state, as bytes.
 * @param before of the same monitor, which is not needed any more: it is written over where the new ones are as many
 */
export type Rewriter = (live: ShownLive, nowMs: number, before?: Buffer) => Buffer;

/** Characters of what stays the same from which on it is kept as bytes: shorter ones cost less beside what moves. */
const LONG = 64;

/** Of a view: what stays the same, and what moves behind it. */
interface Piece {
  readonly text: string;
  /** null: the text is short. */
  readonly bytes: Buffer | null;
  /** null: nothing. */
  readonly name: keyof Moving | null;
}

/**
 * What stays the same of a view is put into words once, and into bytes: most of what a row of a list costs.
 * @param view of the monitor, made by viewMonitor() @returns null where more of it moves: of tunnels, and during maintenance
 */
export function rewriterOf(monitor: Monitor, view: MonitorView): Rewriter | null {
  if (!isUptimeKind(monitor.kind) || monitor.maintenance !== null) return null;
  const pieces = piecesOf(view);
  const fixedBytes = pieces.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  return (live, nowMs, before) => {
    const moving = movingOf(monitor, live, nowMs);
    // What stands between long pieces.
    const texts = [""];
    for (const { text, bytes, name } of pieces) {
      if (bytes === null) texts[texts.length - 1] += text;
      else texts.push("");
      if (name !== null) texts[texts.length - 1] += jsonOf(moving[name]);
    }
    let length = fixedBytes;
    for (const one of texts) if (one !== "") length += Buffer.byteLength(one);
    const made = before?.length === length ? before : Buffer.allocUnsafe(length);
    const [first = ""] = texts;
    let at = first === "" ? 0 : made.write(first);
    let next = 1;
    for (const { bytes } of pieces) {
      if (bytes === null) continue;
      made.set(bytes, at);
      at += bytes.length;
      const behind = texts[next++] ?? "";
      if (behind !== "") at += made.write(behind, at);
    }
    return made;
  };
}

function piecesOf(view: MonitorView): readonly Piece[] {
  const pieces: Piece[] = [];
  const add = (text: string, name: Piece["name"]): void =>
    void pieces.push({ text, bytes: text.length < LONG ? null : Buffer.from(text), name });
  let text = "{";
  for (const [member, value] of Object.entries(view)) {
    const written = `${text === "{" ? "" : ","}${JSON.stringify(member)}:`;
    const name = MOVING.find((one) => one === member);
    if (name === undefined && value !== undefined) text += written + JSON.stringify(value);
    if (name === undefined) continue;
    add(text + written, name);
    text = "";
  }
  add(`${text}}`, null);
  return pieces;
}

function jsonOf(value: Moving[keyof Moving]): string {
  if (value === null) return "null";
  // Several times as fast where nothing has to be escaped: words and times, and names of locations.
  return typeof value === "string" && PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}

const PLAIN = /^[\w :-]{0,40}$/;

/** Every uptime check shows all of them; what its kind has no use for is null (docs/api-contract.md#monitors). */
function addUptimeFields(
  view: MonitorView,
  kind: UptimeKind,
  monitor: Monitor,
  certificate: Moving["certificate"],
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
  view.certificate = certificate;
  view.ssl_expiration = seesCertificate(kind, settings) ? monitor.sslExpirationDays : null;
  view.domain_expiration = hasField(kind, "domain_expiration") ? monitor.domainExpirationDays : null;
  view.ip_version = settings.ip_version ?? null;
  for (const [field, standard] of moreFieldsOf(kind)) view[field] = settings[field] ?? standard;
}

/** Of the locations that are chosen; empty before the first check, but for what has no checker and will get none. */
function regionalStatus(
  { locations, disabledLocations }: Monitor,
  live: Pick<ShownLive, "locations" | "lastCheckedAtMs">,
): Record<string, unknown> {
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
