/** The last words of a run: the table, the counts, and what was not checked. */
import { seconds } from "../check/words.ts";
import { plain, shorten } from "../table.ts";
import type { BulkList } from "./list.ts";
import { count, protocolWords, reasonWords } from "./progress.ts";
import { type BulkResult, byLatency, type Tally } from "./tally.ts";

const NAME_COLUMNS = 32;
const PLACE_COLUMNS = 48;
/** Lines without a config that are named; --json names all. */
const BAD_SHOWN = 5;
const MESSAGES_SHOWN = 3;

const HEAD = ["latency ms", "connect ms", "protocol", "engine", "address inside", "server", "name"] as const;
/** Numbers stand right. */
const NUMBERS = 2;

const CROWDED = "~ measured beside a hundred and more other checks: may be too high; --concurrency 50 measures truer\n";

/**
 * Columns without a frame: a hundred thousand rows are drawn as fast as they are read. The name is the last, because only in it a letter can
 * be two columns wide.
 * @param most rows; null for all
 */
export function healthyTable(results: readonly BulkResult[], most: number | null): string {
  const sorted = byLatency(results);
  if (sorted.length === 0) return "";
  const rows = [HEAD, ...(most === null ? sorted : sorted.slice(0, most)).map(cellsOf)];
  const widths = HEAD.map((_, column) => rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => padded(cell, column, widths))
      .join("  ")
      .trimEnd(),
  );
  const left = sorted.length - rows.length + 1;
  const more = left === 0 ? "" : `… and ${count(left)} more: --top all shows them\n`;
  const crowded = results.some(({ view }) => view.latency_crowded) ? CROWDED : "";
  return `${lines.join("\n")}\n${more}${crowded}`;
}

function cellsOf({ item, view }: BulkResult): readonly string[] {
  const latency = view.latency_crowded ? `~${view.latency_ms}` : view.latency_ms;
  const cells = [latency, view.connect_ms, item.kind, view.engine_used, view.assigned_ip, item.place];
  const known = cells.map((cell) => shorten(plain(String(cell ?? "–")), PLACE_COLUMNS));
  return [...known, shorten(plain(item.name ?? ""), NAME_COLUMNS)];
}

function padded(cell: string, column: number, widths: readonly number[]): string {
  const width = widths[column] ?? 0;
  return column < NUMBERS ? cell.padStart(width) : cell.padEnd(width);
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
    ...(unmeasured === 0
      ? []
      : [`  ${count(unmeasured)} could not be measured, a fault of ours: ${plain(unmeasuredReason ?? "unknown")}`]),
    ...leftOut(list),
  ];
  return `${lines.join("\n")}\n`;
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
