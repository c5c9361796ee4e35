/**
 * THE LIST of ClickHouse's tables as a move takes them. A test compares it with the schema. `results` feeds the two others, which remember
 * longer: each is copied by itself, while nothing feeds them.
 */
import { FULL_RETENTION_MS, MAX_RETENTION_MS } from "../../model/retention.ts";
import { StoreError } from "../errors.ts";
import { COLUMNS, HOURS_TTL_DAYS } from "./schema.ts";

export interface CopiedResults {
  readonly name: "results" | "recent" | "hours";
  /** In the order of a line. */
  readonly columns: readonly string[];
  /** What rows are sorted by. */
  readonly key: readonly ResultKey[];
  /** Rows of one key are one row, also before the engine has merged them. */
  readonly isMerged: boolean;
  /** SQL: which rows are still wanted. */
  readonly kept: (nowMs: number) => string;
  /** SQL: a number that is the same for the same rows, in any order. */
  readonly sum: string;
}

export interface ResultKey {
  readonly name: string;
  /** The literal of a value as it stands in a line. */
  readonly literal: (text: string) => string;
}

const whole = (name: string): ResultKey => ({ name, literal: (text) => text });
const time = (name: string): ResultKey => ({ name, literal: (text) => `toDateTime64('${text}', 3, 'UTC')` });
const hour = (name: string): ResultKey => ({ name, literal: (text) => `toDateTime('${text}', 'UTC')` });
const word = (name: string): ResultKey => ({
  name,
  literal(text) {
    if (!/^[A-Za-z0-9_.:-]*$/.test(text)) throw new StoreError(`no location is called ${JSON.stringify(text)}`);
    return `'${text}'`;
  },
});

const since = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${Math.floor(ms)}), 'UTC')`;
const DAY_MS = 86_400_000;
const ROW = Object.keys(COLUMNS);
const sumOf = (columns: readonly string[]): string => `sum(sipHash64(formatRow('TSV', ${columns.join(", ")})))`;
const HOUR_KEY = ["project_id", "monitor_id", "location", "hour"];
const HOUR_COUNTS = ["checks", "failed", "ours", "latency_count"];
const HOUR_REST = ["latency_sum", "latency_min", "latency_max", "latency_q"];

export const COPIED_RESULTS: readonly CopiedResults[] = [
  {
    name: "results",
    columns: ROW,
    key: [whole("project_id"), whole("monitor_id"), time("tested_at"), whole("id")],
    isMerged: false,
    kept: (nowMs) =>
      `(tested_at >= ${since(nowMs - FULL_RETENTION_MS)} OR (changed = 1 AND tested_at >= ${since(nowMs - MAX_RETENTION_MS)}))`,
    sum: sumOf(ROW),
  },
  {
    name: "recent",
    columns: [...ROW, "slot"],
    key: [whole("project_id"), whole("monitor_id"), whole("slot")],
    isMerged: true,
    kept: (nowMs) => `tested_at >= ${since(nowMs - MAX_RETENTION_MS)}`,
    sum: sumOf([...ROW, "slot"]),
  },
  {
    name: "hours",
    columns: [...HOUR_KEY, ...HOUR_COUNTS, ...HOUR_REST],
    key: [whole("project_id"), whole("monitor_id"), word("location"), hour("hour")],
    isMerged: true,
    kept: (nowMs) => `hour >= toDateTime(${Math.floor((nowMs - HOURS_TTL_DAYS * DAY_MS) / 1_000)}, 'UTC')`,
    // Quantiles are sketches, which two engines may write in two ways.
    sum: sumOf([...HOUR_KEY, ...HOUR_COUNTS, "latency_min", "latency_max"]),
  },
];
