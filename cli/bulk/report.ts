/** The last words of a run: the table, the counts, and what was not checked. */
import { seconds } from "../check/words.ts";
import { type Cell, type Column, fitted, plain, shorten } from "../table.ts";
import type { BulkList } from "./list.ts";
import { count, protocolWords, reasonWords } from "./progress.ts";
import { type BulkResult, byLatency, latencySpread, type Tally } from "./tally.ts";

const NAME_COLUMNS = 32;
const PLACE_COLUMNS = 48;
const REASON_COLUMNS = 100;
/** Lines without a config that are named; --json names all. */
const BAD_SHOWN = 5;
const MESSAGES_SHOWN = 3;

const CROWDED = "~ measured beside a hundred and more other checks: may be too high; --concurrency 50 measures truer\n";

interface BulkColumn extends Column {
  /** Numbers stand right. */
  readonly isNumber?: true;
  readonly cell: (result: BulkResult) => Cell;
}

/** Of a share link the address that traffic leaves from, of others the one inside the tunnel. */
const ADDRESS: BulkColumn = { head: "address", dropped: 3, cell: ({ view }) => view.assigned_ip };
const SERVER: BulkColumn = { head: "server", least: 15, cell: ({ item }) => shorten(item.place, PLACE_COLUMNS) };
/** The last: only in it a letter can be two columns wide. */
const NAME: BulkColumn = { head: "name", least: 8, cell: ({ item }) => shorten(item.name ?? "", NAME_COLUMNS) };
const PROTOCOL: BulkColumn = { head: "protocol", dropped: 4, cell: ({ item }) => item.kind };

const HEALTHY: readonly BulkColumn[] = [
  {
    head: "latency ms",
    isNumber: true,
    cell: ({ view }) => (view.latency_crowded ? `~${view.latency_ms}` : view.latency_ms),
  },
  { head: "connect ms", isNumber: true, dropped: 1, cell: ({ view }) => view.connect_ms },
  PROTOCOL,
  { head: "engine", dropped: 2, cell: ({ view }) => view.engine_used },
  ADDRESS,
  { head: "country", dropped: 5, cell: ({ view }) => view.exit_country },
  SERVER,
  NAME,
];
const FAILED: readonly BulkColumn[] = [
  { head: "failed", cell: ({ view }) => view.error_category ?? view.status },
  PROTOCOL,
  SERVER,
  { ...NAME, dropped: 1 },
  { head: "why", least: 20, cell: ({ view }) => shorten(view.error_message ?? "–", REASON_COLUMNS) },
];

/**
 * @param most rows; null for all
 * @param speeds by id of what was measured, Mbit/s
 */
export function healthyTable(
  results: readonly BulkResult[],
  most: number | null,
  columns: number | null = null,
  speeds: ReadonlyMap<string, number | null> = new Map(),
): string {
  const sorted = byLatency(results);
  const speed: BulkColumn = { head: "Mbit/s", isNumber: true, cell: ({ item }) => speeds.get(item.id) };
  const shown = speeds.size === 0 ? HEALTHY : [...HEALTHY.slice(0, 1), speed, ...HEALTHY.slice(1)];
  const crowded = results.some(({ view }) => view.latency_crowded) ? CROWDED : "";
  return sorted.length === 0 ? "" : `${tableOf(shown, sorted, most, columns)}${crowded}`;
}

/** What did not pass, by its reason, with the words of the check. */
export function failedTable(results: readonly BulkResult[], most: number | null, columns: number | null): string {
  const failed = results.filter(({ view }) => view.status !== "healthy");
  const reasonOf = ({ view }: BulkResult): string => view.error_category ?? view.status;
  const sorted = [...failed].sort((one, other) => reasonOf(one).localeCompare(reasonOf(other)));
  return sorted.length === 0 ? "" : `${tableOf(FAILED, sorted, most, columns)}\n`;
}

/** Columns without a frame: a hundred thousand rows are drawn as fast as they are read. */
function tableOf(
  all: readonly BulkColumn[],
  sorted: readonly BulkResult[],
  most: number | null,
  columns: number | null,
): string {
  const rows = (most === null ? sorted : sorted.slice(0, most)).map((result) =>
    all.map(({ cell }) => plain(String(cell(result) ?? "–"))),
  );
  const natural = all.map(({ head }, at) =>
    rows.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), head.length),
  );
  const shown = columns === null ? natural.map((width, at) => ({ at, width })) : fitted(all, natural, columns);
  const lines = [all.map(({ head }) => head), ...rows].map((row) =>
    shown
      .map(({ at, width }) => padded(shorten(row[at] ?? "", width), width, all[at]?.isNumber === true))
      .join("  ")
      .trimEnd(),
  );
  const left = sorted.length - rows.length;
  return `${lines.join("\n")}\n${left === 0 ? "" : `… and ${count(left)} more: --top all shows them\n`}`;
}

function padded(cell: string, width: number, isNumber: boolean): string {
  return isNumber ? cell.padStart(width) : cell.padEnd(width);
}

export interface Ending {
  readonly durationMs: number;
  readonly isInterrupted: boolean;
}

export function summary(list: BulkList, tally: Tally, { durationMs, isInterrupted }: Ending): string {
  const { checked, total, resumed, healthy, unmeasured, unmeasuredReason } = tally;
  const fresh = checked - resumed;
  const rate = durationMs > 0 ? ` (${count(Math.round((fresh * 1_000) / durationMs))}/s)` : "";
  const share = checked === 0 ? "" : ` (${((healthy / checked) * 100).toFixed(1)} %)`;
  const before = resumed === 0 ? "" : `, ${count(resumed)} of them before`;
  const done = isInterrupted ? `stopped: ${count(checked)} of ${count(total)}` : count(checked);
  const lines = [
    `${done} checked in ${seconds(durationMs)}${rate}${before}, ${count(healthy)} healthy${share}`,
    ...(checked === 0 ? [] : [`  ${protocolWords(tally)}`, `  ${reasonWords(tally)}`]),
    ...latencyWords(tally),
    ...(unmeasured === 0
      ? []
      : [`  ${count(unmeasured)} could not be measured, a fault of ours: ${plain(unmeasuredReason ?? "unknown")}`]),
    ...leftOut(list),
  ];
  return `${lines.join("\n")}\n`;
}

function latencyWords({ results }: Tally): readonly string[] {
  const spread = latencySpread(results);
  if (spread === null) return [];
  const { min, p50, p90, p99, max } = spread;
  return [
    `  latency ms: ${count(min)} to ${count(max)} · half ≤ ${count(p50)} · 90 % ≤ ${count(p90)} · 99 % ≤ ${count(p99)}`,
  ];
}

function leftOut({ bad, duplicates, messages }: BulkList): readonly string[] {
  const lines: string[] = [];
  if (duplicates.length > 0)
    lines.push(`  ${count(duplicates.length)} left out: the same configuration is in the list before`);
  if (bad.length > 0) lines.push(`  ${count(bad.length)} left out: no configuration that can be used`);
  for (const { at, reason } of bad.slice(0, BAD_SHOWN)) lines.push(`    ${where(at)}: ${plain(reason)}`);
  if (bad.length > BAD_SHOWN) lines.push(`    … and ${count(bad.length - BAD_SHOWN)} more: --json tells them all`);
  for (const message of messages.slice(0, MESSAGES_SHOWN)) lines.push(`  the provider says: ${plain(message)}`);
  return lines;
}

function where(at: number | string): string {
  return typeof at === "number" ? `line ${at}` : plain(at);
}
