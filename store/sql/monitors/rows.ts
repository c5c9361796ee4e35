/** Monitors and live states between their rows and the words of the model. */
import type { Monitor } from "../../../model/monitor.ts";
import type { LiveState } from "../../../model/status.ts";
import type { Engines } from "../../../model/subscription.ts";
import { bulkUpdate } from "../db/bulk.ts";
import { decoder, encoder, insertColumns, recordColumns, valuesOf } from "../schema/column.ts";
import { LIVE, MONITORS, type Row } from "../schema/tables.ts";
import { fromJson } from "../schema/text.ts";
import type { CheckedMonitor, MonitorWithLive, ShownLive } from "./port.ts";

/** Read of a monitor; what the store keeps besides is not. */
export const MONITOR_COLUMNS = [
  ...recordColumns(MONITORS),
  "url_sealed" as const,
  "maintenance_from_ms" as const,
  "maintenance_until_ms" as const,
].map((name) => `m.${name}` as const);

/** Read only where the secrets are needed: a list of tunnels would carry a megabyte of them. */
export const SEALED_COLUMN = "m.sealed";

const LIVE_VALUES = insertColumns(LIVE).filter((name) => name !== "monitor_id");
/** No name occurs in both lists. */
export const LIVE_COLUMNS = LIVE_VALUES.map((name) => `l.${name}` as const);

type BareName<Qualified extends string> = Qualified extends `${string}.${infer Name}` ? Name : never;
type MonitorRow = Pick<Row<"monitors">, BareName<(typeof MONITOR_COLUMNS)[number]>>;
type LiveRow = Pick<Row<"live">, BareName<(typeof LIVE_COLUMNS)[number]>>;
type WholeMonitorRow = MonitorRow & {
  readonly sealed?: string | null;
  readonly subscription_workers?: number | null;
  readonly subscription_alert_percent?: number | null;
  readonly subscription_engine?: Engines | null;
};
export type MonitorWithLiveRow = WholeMonitorRow & LiveRow;
export type LiveOfMonitorRow = LiveRow & Pick<MonitorRow, "id">;

/** What lists of results need of a monitor: an eighth of its row. */
export const CHECKED_COLUMNS = [
  ...(["m.id", "m.project_id", "m.name", "m.kind", "m.created_at_ms", "l.seq", "l.last_row_id"] as const),
  ...(["l.last_row_status", "l.last_checked_at_ms", "l.latency_ms", "l.connect_ms", "l.error_message"] as const),
] as const;
export type CheckedRow = Pick<MonitorRow & LiveRow, BareName<(typeof CHECKED_COLUMNS)[number]>>;

const decodeMonitor = decoder(MONITORS, { maintenance: null as Monitor["maintenance"] });
const decodeLive = decoder(LIVE, { certificate: null as LiveState["certificate"] });
const encodeMonitor = encoder<Omit<Monitor, "id">, typeof MONITORS.columns>(MONITORS);

export function toMonitorWithLive(row: MonitorWithLiveRow): MonitorWithLive {
  return { monitor: toMonitor(row), live: toLive(row) };
}

export function toChecked(row: CheckedRow): CheckedMonitor {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    createdAtMs: row.created_at_ms,
    seq: row.seq,
    latest: {
      monitorId: row.id,
      kind: row.kind,
      lastRowId: row.last_row_id,
      lastRowStatus: row.last_row_status,
      lastCheckedAtMs: row.last_checked_at_ms,
      latencyMs: row.latency_ms,
      connectMs: row.connect_ms,
      errorMessage: row.error_message,
    },
  };
}

type Writable<Of> = { -readonly [Name in keyof Of]: Of[Name] };

export function toMonitor(row: WholeMonitorRow): Monitor {
  const monitor: Writable<Monitor> = decodeMonitor(row);
  monitor.maintenance = spanOf(row.maintenance_from_ms, row.maintenance_until_ms);
  if (typeof row.sealed === "string") monitor.sealed = row.sealed;
  if (typeof row.url_sealed === "string") monitor.urlSealed = row.url_sealed;
  if (typeof row.subscription_workers === "number") monitor.subscriptionWorkers = row.subscription_workers;
  if (typeof row.subscription_alert_percent === "number") monitor.configAlertPercent = row.subscription_alert_percent;
  if (typeof row.subscription_engine === "string") monitor.subscriptionEngines = row.subscription_engine;
  return monitor;
}

function spanOf(fromMs: number | null, untilMs: number | null): Monitor["maintenance"] {
  return fromMs === null || untilMs === null ? null : { fromMs, untilMs };
}

/** The columns of a monitor's row that follow from the monitor; id, generation, tombstone and maintenance are the store's. */
export function fromMonitor(monitor: Omit<Monitor, "id">) {
  // One that was read without its secrets keeps them.
  const row = encodeMonitor(monitor);
  return monitor.sealed === undefined ? row : { ...row, sealed: monitor.sealed };
}

/** What lists show of a live state: half of its row. */
export const SHOWN_COLUMNS = [
  ...(["m.id", "l.seq", "l.status", "l.last_checked_at_ms", "l.latency_ms", "l.region"] as const),
  ...(["l.location_states", "l.certificate_valid", "l.certificate_expires_at_ms"] as const),
] as const;
export type ShownRow = Pick<LiveOfMonitorRow, BareName<(typeof SHOWN_COLUMNS)[number]>>;

export function toShown(row: ShownRow): ShownLive {
  return {
    monitorId: row.id,
    seq: row.seq,
    status: row.status,
    lastCheckedAtMs: row.last_checked_at_ms,
    latencyMs: row.latency_ms,
    region: row.region,
    locations: fromJson<ShownLive["locations"]>(row.location_states),
    certificate: certificateOf(row),
  };
}

type CertificateRow = Pick<LiveRow, "certificate_valid" | "certificate_expires_at_ms">;

function certificateOf(row: CertificateRow): LiveState["certificate"] {
  const { certificate_valid: valid, certificate_expires_at_ms: expiresAtMs } = row;
  return valid === null || expiresAtMs === null ? null : { valid: valid === 1, expiresAtMs };
}

function toLive(row: LiveOfMonitorRow): LiveState {
  const live: Writable<LiveState> = decodeLive(row as LiveOfMonitorRow & Pick<Row<"live">, "monitor_id">);
  // The row has the monitor's number under the monitor's own name.
  live.monitorId = row.id;
  live.certificate = certificateOf(row);
  return live;
}

/** The row of a live state. */
export const fromLive = encoder<LiveState, typeof LIVE.columns>(LIVE);

/** Writes whole live states; a monitor without a live row, a deleted one, is passed over. */
export const WRITE_LIVE = bulkUpdate("write_live", LIVE, { set: LIVE_VALUES, key: "monitor_id" });

/** The values of WRITE_LIVE, in its order. */
export const liveValues = valuesOf<LiveState, typeof LIVE.columns>(LIVE, [...LIVE_VALUES, "monitor_id"]);
