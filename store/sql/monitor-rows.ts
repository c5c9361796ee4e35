/** Monitors and live states between their rows and the words of the model. */
import type { Selectable } from "kysely";
import { familyOf, type Kind } from "../../model/kind.ts";
import { isActive, type Monitor, type PauseReason } from "../../model/monitor.ts";
import type { LiveState, LiveStatus, LocationState, RowStatus } from "../../model/status.ts";
import type { Engines } from "../../model/subscription.ts";
import type { MonitorWithLive } from "./control-plane.ts";
import { bulkStatement, type Value } from "./database.ts";
import type { LiveTable, MonitorTable } from "./tables.ts";
import { caseKey, fromJson, searchKey, storable, storableOrNull, toJson } from "./text.ts";

/** Kinds that ask a website, and share expiry settings with the others of their host (docs/api-contract.md#uptime-fields). */
export const WEBSITE_KINDS: readonly Kind[] = ["http", "keyword"];

export const MONITOR_COLUMNS = [
  "m.id",
  "m.project_id",
  "m.organization_id",
  "m.name",
  "m.kind",
  "m.settings",
  "m.url_sealed",
  "m.interval_s",
  "m.timeout_s",
  "m.max_retries",
  "m.tags",
  "m.pause_reasons",
  "m.paused_at_ms",
  "m.locations",
  "m.disabled_locations",
  "m.notify_on_partial",
  "m.host",
  "m.ssl_expiration_days",
  "m.domain_expiration_days",
  "m.grace_s",
  "m.maintenance_from_ms",
  "m.maintenance_until_ms",
  "m.subscription_id",
  "m.created_at_ms",
  "m.updated_at_ms",
] as const;

/** Read only where the secrets are needed: a list of tunnels would carry a megabyte of them. */
export const SEALED_COLUMN = "m.sealed";

/** No name occurs in both lists. */
export const LIVE_COLUMNS = [
  "l.status",
  "l.last_checked_at_ms",
  "l.latency_ms",
  "l.connect_ms",
  "l.region",
  "l.lateness_ms",
  "l.seq",
  "l.last_row_status",
  "l.certificate_valid",
  "l.certificate_expires_at_ms",
  "l.location_states",
  "l.error_message",
] as const;

type BareName<Qualified extends string> = Qualified extends `${string}.${infer Name}` ? Name : never;
type MonitorRow = Pick<Selectable<MonitorTable>, BareName<(typeof MONITOR_COLUMNS)[number]>>;
type LiveRow = Pick<Selectable<LiveTable>, BareName<(typeof LIVE_COLUMNS)[number]>>;
export type MonitorWithLiveRow = MonitorRow &
  LiveRow & {
    readonly sealed?: string | null;
    readonly subscription_workers?: number | null;
    readonly subscription_engine?: string | null;
  };

export function toMonitorWithLive(row: MonitorWithLiveRow): MonitorWithLive {
  return { monitor: toMonitor(row), live: toLive(row.id, row) };
}

function toMonitor(row: MonitorWithLiveRow): Monitor {
  return {
    id: row.id,
    projectId: row.project_id,
    organizationId: row.organization_id,
    name: row.name,
    kind: row.kind as Kind,
    settings: fromJson(row.settings),
    ...(typeof row.sealed === "string" && { sealed: row.sealed }),
    ...(typeof row.url_sealed === "string" && { urlSealed: row.url_sealed }),
    intervalS: row.interval_s,
    timeoutS: row.timeout_s,
    maxRetries: row.max_retries,
    tags: fromJson(row.tags),
    pauseReasons: fromJson<PauseReason[]>(row.pause_reasons),
    pausedAtMs: row.paused_at_ms,
    locations: fromJson(row.locations),
    disabledLocations: fromJson(row.disabled_locations),
    notifyOnPartial: row.notify_on_partial === 1,
    host: row.host,
    sslExpirationDays: row.ssl_expiration_days,
    domainExpirationDays: row.domain_expiration_days,
    graceS: row.grace_s,
    maintenance: spanOf(row.maintenance_from_ms, row.maintenance_until_ms),
    subscriptionId: row.subscription_id,
    ...(typeof row.subscription_workers === "number" && { subscriptionWorkers: row.subscription_workers }),
    ...(typeof row.subscription_engine === "string" && { subscriptionEngines: row.subscription_engine as Engines }),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}

function spanOf(fromMs: number | null, untilMs: number | null): Monitor["maintenance"] {
  return fromMs === null || untilMs === null ? null : { fromMs, untilMs };
}

/** The columns of a monitor's row that follow from the monitor; id, generation, tombstone and maintenance are the store's. */
export function fromMonitor(monitor: Omit<Monitor, "id">) {
  return {
    project_id: monitor.projectId,
    organization_id: monitor.organizationId,
    name: storable(monitor.name),
    name_key: caseKey(monitor.name),
    search_key: searchKey(monitor),
    kind: monitor.kind,
    family: familyOf(monitor.kind),
    settings: toJson(monitor.settings),
    // One that was read without its secrets keeps them.
    ...(monitor.sealed !== undefined && { sealed: monitor.sealed }),
    url_sealed: monitor.urlSealed ?? null,
    interval_s: monitor.intervalS,
    timeout_s: monitor.timeoutS,
    max_retries: monitor.maxRetries,
    tags: toJson(monitor.tags),
    pause_reasons: toJson(monitor.pauseReasons),
    active: isActive(monitor) ? (1 as const) : (0 as const),
    paused_at_ms: monitor.pausedAtMs,
    locations: toJson(monitor.locations),
    disabled_locations: toJson(monitor.disabledLocations),
    notify_on_partial: monitor.notifyOnPartial ? (1 as const) : (0 as const),
    host: storableOrNull(monitor.host),
    ssl_expiration_days: monitor.sslExpirationDays,
    domain_expiration_days: monitor.domainExpirationDays,
    grace_s: monitor.graceS,
    subscription_id: monitor.subscriptionId,
    created_at_ms: monitor.createdAtMs,
    updated_at_ms: monitor.updatedAtMs,
  };
}

function toLive(monitorId: number, row: LiveRow): LiveState {
  const { certificate_valid: valid, certificate_expires_at_ms: expiresAtMs } = row;
  return {
    monitorId,
    status: row.status as LiveStatus,
    lastCheckedAtMs: row.last_checked_at_ms,
    latencyMs: row.latency_ms,
    connectMs: row.connect_ms,
    region: row.region,
    latenessMs: row.lateness_ms,
    seq: row.seq,
    lastRowStatus: row.last_row_status as RowStatus | null,
    certificate: valid === null || expiresAtMs === null ? null : { valid: valid === 1, expiresAtMs },
    locations: fromJson<Record<string, LocationState>>(row.location_states),
    errorMessage: row.error_message,
  };
}

export function fromLive(live: LiveState): LiveTable {
  return {
    monitor_id: live.monitorId,
    status: live.status,
    last_checked_at_ms: wholeMs(live.lastCheckedAtMs),
    latency_ms: live.latencyMs,
    connect_ms: live.connectMs,
    region: live.region,
    lateness_ms: live.latenessMs,
    seq: live.seq,
    last_row_status: live.lastRowStatus,
    certificate_valid: live.certificate === null ? null : live.certificate.valid ? 1 : 0,
    certificate_expires_at_ms: wholeMs(live.certificate?.expiresAtMs ?? null),
    location_states: toJson(live.locations),
    error_message: storableOrNull(live.errorMessage),
  };
}

/** Points in time are whole numbers in PostgreSQL, and it refuses others. */
function wholeMs(atMs: number | null): number | null {
  return atMs === null ? null : Math.round(atMs);
}

/** Writes whole live states; a monitor without a live row, a deleted one, is passed over. */
export const WRITE_LIVE = bulkStatement(
  "write_live",
  `update live set status = ?, last_checked_at_ms = ?, latency_ms = ?, connect_ms = ?, region = ?, lateness_ms = ?, seq = ?,
     last_row_status = ?, certificate_valid = ?, certificate_expires_at_ms = ?, location_states = ?, error_message = ?
   where monitor_id = ?`,
  `update live l set status = n.status, last_checked_at_ms = n.last_checked_at_ms, latency_ms = n.latency_ms,
     connect_ms = n.connect_ms, region = n.region, lateness_ms = n.lateness_ms, seq = n.seq, last_row_status = n.last_row_status,
     certificate_valid = n.certificate_valid, certificate_expires_at_ms = n.certificate_expires_at_ms,
     location_states = n.location_states, error_message = n.error_message
   from unnest($1::text[], $2::bigint[], $3::float8[], $4::float8[], $5::text[], $6::float8[], $7::bigint[], $8::text[],
     $9::int[], $10::bigint[], $11::text[], $12::text[], $13::bigint[])
     as n (status, last_checked_at_ms, latency_ms, connect_ms, region, lateness_ms, seq, last_row_status, certificate_valid,
       certificate_expires_at_ms, location_states, error_message, monitor_id)
   where l.monitor_id = n.monitor_id`,
);

/** The values of WRITE_LIVE, in its order. */
export function liveValues(live: LiveState): readonly Value[] {
  const { monitor_id: id, ...row } = fromLive(live);
  return [
    row.status,
    row.last_checked_at_ms,
    row.latency_ms,
    row.connect_ms,
    row.region,
    row.lateness_ms,
    row.seq,
    row.last_row_status,
    row.certificate_valid,
    row.certificate_expires_at_ms,
    row.location_states,
    row.error_message,
    id,
  ];
}
