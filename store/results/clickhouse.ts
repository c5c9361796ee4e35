/**
 * The result store on ClickHouse: the official client over HTTP, the same for a server by URL and for our embedded child.
 * The embedded engine runs statements with bound parameters one at a time, so the SQL contains checked whole numbers and words of closed lists.
 */

import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type ClickHouseClient, type ClickHouseSettings, createClient } from "@clickhouse/client";
import type { Logger } from "pino";
import { isFields } from "../../model/plain-values.ts";
import { NEWEST_KEPT } from "../../model/retention.ts";
import { ROW_STATUSES, type RowStatus } from "../../model/status.ts";
import { StoreError } from "../errors.ts";
import { readError, writeError } from "./clickhouse-errors.ts";
import {
  type Attempts,
  type CountQuery,
  countMonitorSql,
  LEAVING_ROWS,
  latencySql,
  leavingSql,
  type MonitorQuery,
  monitorRowsSql,
  newestSql,
  type ProjectQuery,
  projectRowsSql,
  statusCountsSql,
} from "./queries.ts";
import type {
  CountedRows,
  LatencyPoint,
  LatencyQuery,
  MonitorResults,
  NewestRow,
  ResultStore,
  RowsToInsert,
  StoredResult,
} from "./result-store.ts";
import { latencyPointOf, type RawPoint, type RawRow, storedResultOf } from "./row.ts";
import { COLUMN_NAMES, capSystemLogs, dropExpiredDays, migrate, type SchemaRunner, syncInserts } from "./schema.ts";
import { wholeText } from "./whole-text.ts";

export interface ResultStoreOptions {
  /** `http://user:password@host:8123/database`; the database is `sonde` when none is named. */
  readonly url: string;
  readonly log: Logger;
  /** How long an insert may take, ms; one that takes longer is sent again with the same token. */
  readonly insertTimeoutMs?: number;
}

/** A read that takes longer is given up: seconds on the server, and ms until its answer. */
const READ_LIMIT_S = 10;
const READ_TIMEOUT_MS = 12_000;
const INSERT_TIMEOUT_MS = 30_000;
/** A nightly OPTIMIZE of ten million rows takes seconds; of a very large table minutes. */
const UPKEEP_TIMEOUT_MS = 15 * 60_000;
/** Promised by ResultStore.ping(). */
const PING_TIMEOUT_MS = 2_000;
/** Read connections at once; the embedded engine answers about 150 reads a second, whatever their number. */
const READ_CONNECTIONS = 8;
const WRITE_CONNECTIONS = 2;
const UPKEEP_CONNECTIONS = 1;
/** Of the largest answer: 1,000 rows with texts of 2,000 characters are 10 MiB. */
const MOST_ANSWER_BYTES = 64 * 2 ** 20;
/** An insert and a change of the schema have an empty one; text is an exception that came after status 200. */
const MOST_EMPTY_BYTES = 2 ** 20;
/** A list of hidden monitors may be long. */
const MAX_QUERY_BYTES = 4 * 1024 * 1024;

/** Most characters of the server's own message in a message for the operator. */
const LONGEST_REASON = 300;

const DATABASE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Applied once per token, in the table and in the view's table behind it. */
const INSERT_SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  input_format_skip_unknown_fields: 1,
  // Pieces parsed side by side could be cut into blocks differently when the insert is repeated.
  input_format_parallel_parsing: 0,
  // The answer comes when all is done: an error then has its status and is not text after status 200.
  wait_end_of_query: 1,
};

export class ClickHouseResults implements ResultStore {
  readonly #database: string;
  readonly #reader: ClickHouseClient;
  readonly #writer: ClickHouseClient;
  readonly #upkeep: ClickHouseClient;
  readonly #schema: Schema;

  /** Connects at the first use. @throws StoreError when the address names no plain database */
  constructor({ url, log, insertTimeoutMs = INSERT_TIMEOUT_MS }: ResultStoreOptions) {
    const server = serverOf(url);
    this.#database = server.database;
    this.#reader = clientOf(server, READ_TIMEOUT_MS, READ_CONNECTIONS, {
      max_execution_time: READ_LIMIT_S,
      max_query_size: String(MAX_QUERY_BYTES),
    });
    this.#writer = clientOf(server, insertTimeoutMs, WRITE_CONNECTIONS);
    this.#upkeep = clientOf(server, UPKEEP_TIMEOUT_MS, UPKEEP_CONNECTIONS);
    this.#schema = new Schema(server.database, this.#writer, log, INSERT_TIMEOUT_MS);
  }

  async insert({ token, lines }: RowsToInsert): Promise<void> {
    const query = `INSERT INTO ${this.#database}.results (${COLUMN_NAMES}) FORMAT JSONEachRow`;
    try {
      await this.#schema.ensure();
      await insertOnce(this.#writer, query, lines, token);
    } catch (error) {
      throw writeError(error, this.#schema.forget);
    }
  }

  async ofMonitor(query: MonitorQuery): Promise<MonitorResults> {
    await this.#ensureForRead();
    const rows = await this.#firstFull(monitorRowsSql(this.#database, query), query.limit);
    const isAll = query.offset === 0 && query.status === null && rows.length < query.limit;
    if (isAll) {
      const healthy = rows.filter(({ status }) => status === "healthy").length;
      return { rows, total: rows.length, inPeriod: rows.length, healthy };
    }
    const counts = await this.#countsOf(query);
    // Rows may arrive between the two reads.
    const seen = rows.length === 0 ? 0 : query.offset + rows.length;
    return { ...counts, rows, total: Math.max(counts.total, seen) };
  }

  async ofProject(query: ProjectQuery): Promise<readonly StoredResult[]> {
    await this.#ensureForRead();
    return this.#firstFull(projectRowsSql(this.#database, query), query.limit);
  }

  async newestOf(projectId: number, monitorIds: readonly number[], nowMs: number): Promise<readonly NewestRow[]> {
    if (monitorIds.length === 0) return [];
    await this.#ensureForRead();
    type Raw = RawRow & { readonly seq: string | number };
    const found = await this.#read<Raw>(newestSql(this.#database, { projectId, monitorIds, nowMs }));
    const rows = found.map((raw) => ({ row: storedResultOf(raw), seq: Number(raw.seq), durationMs: raw.duration_ms }));
    const newest = new Map(rows.map(({ row, seq }) => [row.monitorId, seq]));
    // A slot keeps its row until another comes, however late.
    return rows.filter(({ row, seq }) => seq + NEWEST_KEPT > (newest.get(row.monitorId) ?? 0));
  }

  async countsOf(query: CountQuery): Promise<CountedRows> {
    await this.#ensureForRead();
    const [counted] = await this.#read<Record<string, string | number>>(statusCountsSql(this.#database, query));
    type Leaving = { readonly tested_at_ms: string | number; readonly status: RowStatus };
    const leaving = await this.#read<Leaving>(leavingSql(this.#database, query));
    return {
      counts: ROW_STATUSES.map((status) => Number(counted?.[status] ?? 0)),
      newestSeq: Number(counted?.newest_seq ?? 0),
      leaving: leaving.map((row) => ({ testedAtMs: Number(row.tested_at_ms), status: row.status })),
      hasMore: leaving.length === LEAVING_ROWS,
    };
  }

  async latencyOf(query: LatencyQuery): Promise<readonly LatencyPoint[]> {
    await this.#ensureForRead();
    return (await this.#read<RawPoint>(latencySql(this.#database, query))).map(latencyPointOf);
  }

  async #firstFull(attempts: Attempts, limit: number): Promise<StoredResult[]> {
    let found: RawRow[] = [];
    for (const sql of attempts) {
      found = await this.#read<RawRow>(sql);
      if (found.length >= limit) break;
    }
    return found.map(storedResultOf);
  }

  async #countsOf(query: MonitorQuery): Promise<Omit<MonitorResults, "rows">> {
    const [counts] = await this.#read<Record<"total" | "in_period" | "healthy", string | number>>(
      countMonitorSql(this.#database, query),
    );
    return { total: Number(counts?.total), inPeriod: Number(counts?.in_period), healthy: Number(counts?.healthy) };
  }

  async #read<Row>(sql: string): Promise<Row[]> {
    try {
      return await readJson<Row>(this.#reader, sql, READ_TIMEOUT_MS);
    } catch (error) {
      throw readError(error, this.#schema.forget);
    }
  }

  /** A schema that could not be created is created again by the next call. */
  async #ensureForRead(): Promise<void> {
    try {
      await this.#schema.ensure();
    } catch (error) {
      throw readError(error, () => undefined);
    }
  }

  async ping(): Promise<void> {
    const answer = await Promise.race([
      this.#reader.ping({ select: true, abort_signal: AbortSignal.timeout(PING_TIMEOUT_MS) }),
      delay(PING_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    if (answer === undefined) throw new StoreError("ClickHouse did not answer within 2 s", { store: "results" });
    if (!answer.success) throw readError(answer.error, this.#schema.forget);
  }

  /** @returns its version where it has no tokens of inserts, so that a repeated one would double its rows; null: it has them, or does not say */
  async outdatedVersion(): Promise<string | null> {
    const query = `SELECT if(count() = 0, version(), '') AS version FROM system.settings WHERE name = 'insert_deduplication_token'`;
    const [version = ""] = await this.#schema.runner.column(query).catch(() => []);
    return version === "" ? null : version;
  }

  async thin(): Promise<void> {
    try {
      await this.#schema.ensure();
      await dropExpiredDays(this.#database, this.#schema.runner);
      for (const table of ["results", "recent"])
        await this.#upkeep.command({ query: `OPTIMIZE TABLE ${this.#database}.${table} FINAL` });
    } catch (error) {
      throw readError(error, this.#schema.forget);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#reader.close(), this.#writer.close(), this.#upkeep.close()]);
  }
}

/**
 * Opens the store and asks it once. Without that a wrong address would show only by results that never come.
 * @throws StoreError of one line that says what to do
 */
export async function openClickHouse(options: ResultStoreOptions): Promise<ClickHouseResults> {
  const results = new ClickHouseResults(options);
  const { host } = new URL(options.url);
  try {
    await results.ping();
  } catch (error) {
    await results.close();
    const [reason = ""] = String(error instanceof Error ? error.message : error).split("\n", 1);
    throw new StoreError(
      `no ClickHouse answers at ${host} (${reason.slice(0, LONGEST_REASON)}): start it, or correct SONDE_CLICKHOUSE_URL`,
      { cause: error, store: "results" },
    );
  }
  const version = await results.outdatedVersion();
  if (version === null) return results;
  await results.close();
  throw new StoreError(
    `the ClickHouse at ${host} is version ${version}, too old for Sonde: install a current one (Debian's own package is of 2018)`,
    { store: "results" },
  );
}

export interface Server {
  readonly base: URL;
  readonly database: string;
  /** The store is on this machine. */
  readonly isLocal: boolean;
}

export function serverOf(url: string): Server {
  const parsed = new URL(url);
  const database = parsed.pathname.slice(1) || "sonde";
  if (!DATABASE.test(database))
    throw new StoreError(`SONDE_CLICKHOUSE_URL: the database must be a plain name, not ${JSON.stringify(database)}`);
  parsed.pathname = "";
  return { base: parsed, database, isLocal: LOOPBACK.has(parsed.hostname) };
}

export function clientOf(
  { base, isLocal }: Server,
  timeoutMs: number,
  connections: number,
  settings: ClickHouseSettings = {},
): ClickHouseClient {
  return createClient({
    url: base,
    request_timeout: timeoutMs,
    max_open_connections: connections,
    clickhouse_settings: settings,
    application: "sonde",
    // Not on loopback: nothing is saved there by sending less (reasoned, not measured).
    compression: { request: isLocal ? false : { codec: "gzip", level: 1 }, response: !isLocal },
    keep_alive: { enabled: true, idle_socket_ttl: 1_500 },
    log: { level: 127 },
  });
}

/** Creates what is missing before the first use, and again when the server has lost it. ClickHouse may be away while this process starts. */
export class Schema {
  readonly runner: SchemaRunner;
  readonly #database: string;
  readonly #log: Logger;
  #ready: Promise<void> | undefined;

  /** @param withinMs for one statement: an installation's own may take less time than a copy's of all of its data */
  constructor(database: string, client: ClickHouseClient, log: Logger, withinMs: number) {
    this.#database = database;
    this.#log = log;
    this.runner = {
      run: async (query) => {
        const { stream } = await client.exec({ query, abort_signal: AbortSignal.timeout(withinMs) });
        refuseText(await wholeText(stream, MOST_EMPTY_BYTES, withinMs));
      },
      column: async (query) =>
        (await readJson<Record<string, unknown>>(client, query, withinMs)).map((row) => String(Object.values(row)[0])),
    };
  }

  ensure(): Promise<void> {
    this.#ready ??= this.#build().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** The server has lost the schema: the next use creates it again. */
  readonly forget = (): void => {
    this.#ready = undefined;
  };

  async #build(): Promise<void> {
    try {
      await this.runner.run(`CREATE DATABASE IF NOT EXISTS ${this.#database}`);
    } catch (error) {
      // We have no right to create it, but another user may have created it: the next statement shows whether it is there.
      this.#log.warn(
        { err: error, database: this.#database },
        "results: ClickHouse does not let us create the database",
      );
    }
    await migrate(this.#database, this.runner);
    const unsynced = await syncInserts(this.#database, this.runner);
    if (unsynced.length > 0)
      this.#log.warn(
        { refused: unsynced },
        "results: ClickHouse does not sync inserts, its power cut may lose results",
      );
    const refused = await capSystemLogs(this.runner);
    if (refused.length > 0)
      this.#log.warn({ refused }, "results: ClickHouse's own logs could not be capped, watch its disk");
  }
}

/** Reads the answer as one document: one that was cut, or ends in an exception, is then an error and not a shorter answer. */
export async function readJson<Row>(client: ClickHouseClient, query: string, withinMs: number): Promise<Row[]> {
  const abort_signal = AbortSignal.timeout(withinMs);
  const { stream } = await client.exec({ query: `${query} FORMAT JSON`, abort_signal });
  const answer: unknown = JSON.parse(await wholeText(stream, MOST_ANSWER_BYTES, withinMs));
  if (!isFields(answer)) throw new Error("ClickHouse's answer is no object");
  if ("exception" in answer) throw new Error(String(answer.exception));
  const { rows, data } = answer;
  if (!Array.isArray(data) || rows !== data.length) throw new Error("ClickHouse's answer lacks rows");
  return data as Row[];
}

export async function insertOnce(
  client: ClickHouseClient,
  query: string,
  lines: Uint8Array,
  token: string,
): Promise<void> {
  const { stream } = await client.exec({
    query,
    values: Readable.from([lines], { objectMode: false }),
    clickhouse_settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
  });
  refuseText(await wholeText(stream, MOST_EMPTY_BYTES, INSERT_TIMEOUT_MS));
}

function refuseText(answer: string): void {
  const text = answer.trim();
  if (text !== "") throw new Error(text.slice(0, 1_000));
}
