/** One monitor in words for people: how it stands, why, its incident, its configs. Pure. */
import type { IncidentRow, MonitorRow, ResultRowShown } from "./client.ts";
import { sparkline } from "./sparkline.ts";
import { type Column, plain, renderTable, shorten, type TableOptions } from "./table.ts";

/** A monitor's state as the API shows it, as far as the answer has it. */
export interface MonitorShown extends MonitorRow {
  readonly url?: string | null;
  readonly host?: string | null;
  readonly port?: number | null;
  readonly domain?: string | null;
  readonly keyword?: string | null;
  readonly method?: string | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly body?: string | null;
  readonly verify_certificate?: boolean | null;
  readonly max_response_time?: number | null;
  readonly invert?: boolean | null;
  readonly tags: readonly string[];
  readonly regional_status: Readonly<
    Record<string, { readonly status: string; readonly ping_ms: number | null; readonly error_category?: string }>
  >;
  readonly certificate?: { readonly valid: boolean; readonly days_remaining: number } | null;
  readonly period?: number;
  readonly grace?: number;
  readonly heartbeat_url?: string;
  readonly maintenance?: { readonly starts_at: string; readonly ends_at: string };
  readonly subscription?: {
    readonly server_address: string | null;
    readonly server_name: string | null;
    readonly config_count: number;
    readonly healthy_count: number;
    readonly configs: readonly ConfigShown[];
  };
}

interface ConfigShown {
  readonly tag: string;
  readonly type: string;
  readonly success: boolean;
  readonly total_ms: number;
  readonly error: string;
  readonly error_category: string;
  readonly public_ip: string;
  readonly engine_used: string;
}

export interface ResultsShown {
  readonly results: readonly ResultRowShown[];
  readonly period: string;
  readonly uptime_percent?: number | null;
}

const LABEL_COLUMNS = 12;
const CHECKS_SHOWN = 40;
const WHY_COLUMNS = 40;

const CONFIG_COLUMNS: readonly Column[] = [
  { head: "name", least: 10 },
  { head: "protocol", dropped: 3 },
  { head: "result" },
  { head: "ms", dropped: 4 },
  { head: "exit", dropped: 2 },
  { head: "engine", dropped: 1 },
  { head: "why", least: 10 },
];

export function monitorWords(
  monitor: MonitorShown,
  shown: ResultsShown,
  incident: IncidentRow | undefined,
  options: TableOptions,
): string {
  const { id, name, protocol, status } = monitor;
  const head = `${id}  ${plain(name)}  ${protocol}  ${status === "down" ? options.paint("red", status) : status}`;
  const facts = [...settingsOf(monitor), ...standingOf(monitor, shown, incident)];
  const lines = facts.flatMap(([label, value]) =>
    value === null ? [] : [`  ${label.padEnd(LABEL_COLUMNS)} ${plain(value)}`],
  );
  return `${[head, ...lines].join("\n")}\n${configsOf(monitor, options)}`;
}

type Fact = readonly [label: string, value: string | null];

function settingsOf(monitor: MonitorShown): readonly Fact[] {
  const { url, host, port, domain, keyword, tags, interval, period, grace } = monitor;
  const place = host == null ? null : port == null ? host : `${host}:${port}`;
  const often = period !== undefined ? `called every ${period} s, ${grace ?? 0} s late at most` : `every ${interval} s`;
  return [
    ["target", url ?? domain ?? place],
    ["asked with", requestWords(monitor)],
    ["keyword", keyword ?? null],
    ["judged", judgementWords(monitor)],
    ["checked", often],
    ["called at", monitor.heartbeat_url ?? null],
    ["tags", tags.length === 0 ? null : tags.join(", ")],
  ];
}

/** Of a website that is asked for more than a plain GET. Values of headers and the body are never shown. */
function requestWords({ method, headers, body }: MonitorShown): string | null {
  const names = Object.keys(headers ?? {});
  const words = [
    ...(method == null || method === "GET" ? [] : [method]),
    ...(names.length === 0 ? [] : [`headers ${names.join(", ")}`]),
    ...(body == null ? [] : ["a body"]),
  ];
  return words.length === 0 ? null : words.join(", ");
}

function judgementWords({
  invert,
  verify_certificate: verifies,
  max_response_time: most,
}: MonitorShown): string | null {
  const words = [
    ...(invert === true ? ["inverted: it must fail"] : []),
    ...(verifies === false ? ["certificate not verified"] : []),
    ...(most == null ? [] : [`degraded above ${most} ms`]),
  ];
  return words.length === 0 ? null : words.join(", ");
}

function standingOf(monitor: MonitorShown, shown: ResultsShown, incident: IncidentRow | undefined): readonly Fact[] {
  const { certificate, maintenance, latency_ms: latency } = monitor;
  const [last] = shown.results;
  const line = sparkline(shown.results.map(latencyOf).reverse(), CHECKS_SHOWN);
  const uptime = shown.uptime_percent ?? null;
  const seen = incident?.acknowledged === true ? "seen" : `not seen yet: sonde ack ${incident?.id}`;
  return [
    ["latency", line === "" ? null : `${line}${latency === null ? "" : `  ${latency} ms`}`],
    ["last check", monitor.last_checked],
    ["why", last?.error_message ?? null],
    ["uptime", uptime === null ? null : `${uptime} % of ${shown.period}`],
    [
      "incident",
      incident === undefined ? null : `${incident.id} ${incident.severity} since ${incident.started_at}, ${seen}`,
    ],
    ["maintenance", maintenance === undefined ? null : `${maintenance.starts_at} to ${maintenance.ends_at}`],
    ["certificate", certificate == null ? null : certificateWords(certificate)],
    ["locations", locationWords(monitor)],
  ];
}

export function latencyOf({ status, latency_ms: latency }: ResultRowShown): number | null {
  return status === "down" ? null : latency;
}

function certificateWords({ valid, days_remaining: days }: { valid: boolean; days_remaining: number }): string {
  return `${valid ? "valid" : "not valid"}, ${days} days left`;
}

/** Only of several: one says the same as the status. */
function locationWords({ regional_status: regional }: MonitorShown): string | null {
  const entries = Object.entries(regional);
  if (entries.length < 2) return null;
  const word = ([code, { status, ping_ms: ping, error_category: category }]: (typeof entries)[number]): string =>
    `${code} ${status}${ping === null ? "" : ` ${ping} ms`}${category === undefined ? "" : ` ${category}`}`;
  return entries.map(word).join(" · ");
}

function configsOf({ subscription }: MonitorShown, options: TableOptions): string {
  if (subscription === undefined) return "";
  const {
    config_count: count,
    healthy_count: healthy,
    configs,
    server_name: name,
    server_address: address,
  } = subscription;
  const server = [name, address].filter((word) => word !== null && word !== "").join(", ");
  const rows = configs.map((config) => [
    config.tag,
    config.type,
    config.success ? "works" : config.error_category || "not tested",
    config.success ? config.total_ms : null,
    config.public_ip || null,
    config.engine_used || null,
    shorten(plain(config.error), WHY_COLUMNS),
  ]);
  const head = `\n${healthy} of ${count} configurations work${server === "" ? "" : ` (${plain(server)})`}`;
  return `${head}\n${renderTable(CONFIG_COLUMNS, rows, options)}\n`;
}
