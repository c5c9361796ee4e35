/**
 * ClickHouse's schema in numbered steps. A step is safe to repeat, because two processes may start at once and ClickHouse has no
 * transaction around DDL; the table `schema_steps` remembers which were done.
 */

import type { ResultRow } from "../../model/result.ts";
import { FULL_RETENTION_MS, MAX_RETENTION_MS, NEWEST_KEPT } from "../../model/retention.ts";

/** Columns of `results` and `recent`, named as the members of a line. What a row lacks is '' here: cheaper than Nullable. */
export const COLUMNS: Readonly<Record<keyof ResultRow, string>> = {
  id: "UInt64",
  project_id: "UInt64",
  monitor_id: "UInt64",
  location: "LowCardinality(String)",
  checker: "LowCardinality(String)",
  seq: "UInt64",
  check_id: "UInt64",
  kind: "LowCardinality(String)",
  tested_at: "DateTime64(3, 'UTC')",
  status: "LowCardinality(String)",
  verdict: "LowCardinality(String)",
  changed: "UInt8",
  latency_ms: "Nullable(Float32)",
  connect_ms: "Nullable(Float32)",
  error_category: "LowCardinality(String)",
  error_message: "String",
  lateness_ms: "Float32",
  duration_ms: "Float32",
  attempt: "UInt8",
  phases: "String",
  explanation: "String",
};
export const COLUMN_NAMES = Object.keys(COLUMNS).join(", ");
const DEFINITIONS = Object.entries(COLUMNS)
  .map(([name, type]) => `${name} ${type}`)
  .join(", ");

/**
 * Rows stay this much longer in the tables than the rule says, seconds: TTLs count whole seconds on the server's clock, and readers apply
 * the rule itself on ours.
 */
const TTL_MARGIN_S = 3_600;
const FULL_TTL_S = FULL_RETENTION_MS / 1_000 + TTL_MARGIN_S;
const LONGEST_TTL_S = MAX_RETENTION_MS / 1_000 + TTL_MARGIN_S;
/** Pause between two merges that drop expired rows of a part, seconds. Only valid at CREATE: a later change does not pull a merge forward. */
const TTL_MERGE_EVERY_S = 3 * 3_600;
/** Inserts whose tokens are remembered: hours at one a second. A repeat comes within minutes, and before any other insert of its spool. */
const DEDUPLICATION_WINDOW = 10_000;

/** Hours are kept for so long, days. */
export const HOURS_TTL_DAYS = 400;
/** Checks that failed by a fault of ours, and by the target's. */
export const OURS = "countIf(error_category = 'checker_error')";
export const FAILED = "countIf(verdict != 'ok' AND error_category != 'checker_error')";

export interface SchemaStep {
  readonly version: number;
  readonly statements: (database: string) => readonly string[];
}

const expires = (seconds: number) => `toDateTime(tested_at) + INTERVAL ${seconds} SECOND`;

export const SCHEMA_STEPS: readonly SchemaStep[] = [
  {
    version: 1,
    statements: (database) => [
      `CREATE TABLE IF NOT EXISTS ${database}.results (${DEFINITIONS})
       ENGINE = MergeTree PARTITION BY toYYYYMMDD(tested_at) ORDER BY (project_id, monitor_id, tested_at)
       TTL ${expires(FULL_TTL_S)} DELETE WHERE changed = 0, ${expires(LONGEST_TTL_S)} DELETE
       SETTINGS merge_with_ttl_timeout = ${TTL_MERGE_EVERY_S}, non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}`,
      // The newest rows of each monitor: seq has no gaps, so a ring of as many slots holds exactly those.
      `CREATE TABLE IF NOT EXISTS ${database}.recent (${DEFINITIONS}, slot UInt8)
       ENGINE = ReplacingMergeTree(seq) ORDER BY (project_id, monitor_id, slot)
       TTL ${expires(LONGEST_TTL_S)} DELETE
       SETTINGS merge_with_ttl_timeout = ${TTL_MERGE_EVERY_S}, non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}`,
      `CREATE MATERIALIZED VIEW IF NOT EXISTS ${database}.recent_feed TO ${database}.recent
       AS SELECT ${COLUMN_NAMES}, toUInt8(seq % ${NEWEST_KEPT}) AS slot FROM ${database}.results`,
    ],
  },
  {
    version: 2,
    statements: (database) => [
      // What rows took, by hour: rows are thinned after a day, and charts reach further back.
      `CREATE TABLE IF NOT EXISTS ${database}.hours (project_id UInt64, monitor_id UInt64, location LowCardinality(String), hour DateTime('UTC'),
         checks SimpleAggregateFunction(sum, UInt64), failed SimpleAggregateFunction(sum, UInt64), ours SimpleAggregateFunction(sum, UInt64),
         latency_sum SimpleAggregateFunction(sum, Float64), latency_count SimpleAggregateFunction(sum, UInt64),
         latency_min SimpleAggregateFunction(min, Nullable(Float32)), latency_max SimpleAggregateFunction(max, Nullable(Float32)),
         latency_q AggregateFunction(quantilesTDigest(0.5, 0.95), Nullable(Float32)))
       ENGINE = AggregatingMergeTree PARTITION BY toYYYYMM(hour) ORDER BY (project_id, monitor_id, location, hour)
       TTL hour + INTERVAL ${HOURS_TTL_DAYS} DAY DELETE
       SETTINGS merge_with_ttl_timeout = ${TTL_MERGE_EVERY_S}, non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}`,
      `CREATE MATERIALIZED VIEW IF NOT EXISTS ${database}.hours_feed TO ${database}.hours
       AS SELECT project_id, monitor_id, location, toDateTime(toStartOfHour(tested_at), 'UTC') AS hour, count() AS checks, ${FAILED} AS failed,
         ${OURS} AS ours, sum(ifNull(latency_ms, 0)) AS latency_sum, count(latency_ms) AS latency_count, min(latency_ms) AS latency_min,
         max(latency_ms) AS latency_max, quantilesTDigestState(0.5, 0.95)(latency_ms) AS latency_q
       FROM ${database}.results GROUP BY project_id, monitor_id, location, hour`,
    ],
  },
];

export interface SchemaRunner {
  /** Runs a statement that returns nothing. */
  run(sql: string): Promise<void>;
  /** First column of the answer. */
  column(sql: string): Promise<readonly string[]>;
}

/**
 * Brings the database up to date.
 * @throws Error when it was made by a newer version of ours
 */
export async function migrate(database: string, { run, column }: SchemaRunner): Promise<void> {
  await run(
    `CREATE TABLE IF NOT EXISTS ${database}.schema_steps (version UInt32, done_at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY version`,
  );
  const [latest] = await column(`SELECT max(version) FROM ${database}.schema_steps`);
  const done = Number(latest ?? 0);
  const known = SCHEMA_STEPS.at(-1)?.version ?? 0;
  if (done > known)
    throw new Error(
      `ClickHouse database ${database} was made by a newer version (step ${done}, known ${known}): update this one`,
    );
  for (const { version, statements } of SCHEMA_STEPS.filter((step) => step.version > done)) {
    for (const statement of statements(database)) await run(statement);
    await run(`INSERT INTO ${database}.schema_steps (version) VALUES (${version})`);
  }
}

/**
 * Rows leave the spool when their insert is answered, so what it wrote must survive a power cut from then on, and so must the parts that merges make of it:
 * ClickHouse by itself leaves that to the kernel, for half a minute.
 */
const SYNCED = "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1";
const unsynced = (database: string) => `SELECT name FROM system.tables WHERE database = '${database}'
  AND name IN ('results', 'recent', 'hours') AND position(create_table_query, 'min_rows_to_fsync_after_merge') = 0 ORDER BY name`;

/**
 * Lets inserts and merges wait for the disk, in tables of earlier versions too.
 * @returns the tables where the server refused that, with the reason
 */
export function syncInserts(database: string, runner: SchemaRunner): Promise<readonly string[]> {
  const change = (table: string) => `ALTER TABLE ${database}.${table} MODIFY SETTING ${SYNCED}`;
  return changeTables(runner, unsynced(database), change);
}

/** Days that a ClickHouse server keeps its own logs; unbounded by default, they outgrow the results. */
const SYSTEM_LOG_DAYS = 3;

const UNCAPPED_LOGS = `SELECT name FROM system.tables WHERE database = 'system' AND engine LIKE '%MergeTree' AND match(name, '_log(_\\\\d+)?$')
  AND position(create_table_query, 'TTL event_date + toIntervalDay') = 0 ORDER BY name`;

/**
 * Caps the server's own log tables. The embedded engine has none.
 * @returns the tables that could not be capped, with the reason
 */
export function capSystemLogs(runner: SchemaRunner): Promise<readonly string[]> {
  const change = (table: string) =>
    `ALTER TABLE system.\`${table}\` MODIFY TTL event_date + INTERVAL ${SYSTEM_LOG_DAYS} DAY`;
  return changeTables(runner, UNCAPPED_LOGS, change);
}

/** @returns what was refused, with the reason */
async function changeTables(
  { run, column }: SchemaRunner,
  query: string,
  change: (table: string) => string,
): Promise<readonly string[]> {
  const refused: string[] = [];
  const attempt = async <T>(what: string, act: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await act();
    } catch (error) {
      refused.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
  const tables = await attempt("system.tables", () => column(query));
  for (const table of tables ?? []) await attempt(table, () => run(change(table)));
  return refused;
}

/** Drops whole days that are older than every period: unlike a merge, that needs no free space. */
export async function dropExpiredDays(database: string, { run, column }: SchemaRunner): Promise<void> {
  const days = await column(
    `SELECT DISTINCT partition_id FROM system.parts WHERE database = '${database}' AND table = 'results' AND active
     AND toUInt32OrZero(partition_id) < toYYYYMMDD(now('UTC') - INTERVAL ${LONGEST_TTL_S} SECOND)`,
  );
  for (const day of days) await run(`ALTER TABLE ${database}.results DROP PARTITION ID '${day}'`);
}
