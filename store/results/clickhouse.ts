/**
 * The result store on ClickHouse: the official client over HTTP, the same for a server by URL and for our embedded child.
 * The embedded engine runs statements with bound parameters one at a time, so the SQL contains checked whole numbers and words of closed lists.
 */
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type ClickHouseClient, type ClickHouseSettings, createClient } from "@clickhouse/client";
import type { Logger } from "pino";
import { readError, writeError } from "./clickhouse-errors.ts";
import { type Attempts, countMonitorSql, type MonitorQuery, monitorRowsSql, projectRowsSql } from "./queries.ts";
import { type MonitorResults, type ResultStore, ResultStoreError, type StoredResult } from "./result-store.ts";
import { type RawRow, storedResultOf } from "./row.ts";
import { COLUMN_NAMES, capSystemLogs, dropExpiredDays, migrate, type SchemaRunner } from "./schema.ts";

export interface ResultStoreOptions {
  /** `http://user:password@host:8123/database`; the database is `sonde` when none is named. */
  readonly url: string;
  readonly log: Logger;
  /** How long an insert may take, ms; one that takes longer is sent again with the same token. */
  readonly insertTimeoutMs?: number;
}

/** A read that takes longer is not worth waiting for; seconds on the server, and ms for its answer. */
const READ_LIMIT_S = 10;
const READ_TIMEOUT_MS = 12_000;
const INSERT_TIMEOUT_MS = 30_000;
/** A nightly OPTIMIZE of ten million rows takes seconds; of a very large table minutes. */
const UPKEEP_TIMEOUT_MS = 15 * 60_000;
/** Contract of `ping`. */
const PING_TIMEOUT_MS = 2_000;
/** Read connections at once; the embedded engine answers about 150 reads a second, whatever their number. */
const READ_CONNECTIONS = 8;
/** A list of hidden monitors may be long. */
const MAX_QUERY_BYTES = 4 * 1024 * 1024;

const DATABASE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Applied once per token, in the table and in the view's table behind it. */
const INSERT_SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  input_format_skip_unknown_fields: 1,
  // Pieces parsed side by side could be cut into blocks differently when the insert is repeated.
  input_format_parallel_parsing: 0,
  // The answer comes when all is done: an error is then an error, not text behind a 200.
  wait_end_of_query: 1,
};

export function openResultStore({ url, log, insertTimeoutMs = INSERT_TIMEOUT_MS }: ResultStoreOptions): ResultStore {
  const { base, database, isLocal } = parseUrl(url);
  const clientFor = (
    request_timeout: number,
    max_open_connections: number,
    clickhouse_settings: ClickHouseSettings = {},
  ) =>
    createClient({
      url: base,
      request_timeout,
      max_open_connections,
      clickhouse_settings,
      application: "sonde",
      // Not on loopback: nothing is saved there by sending less (reasoned, not measured).
      compression: { request: isLocal ? false : { codec: "gzip", level: 1 }, response: !isLocal },
      keep_alive: { enabled: true, idle_socket_ttl: 1_500 },
      log: { level: 127 },
    });
  const reader = clientFor(READ_TIMEOUT_MS, READ_CONNECTIONS, {
    max_execution_time: READ_LIMIT_S,
    max_query_size: String(MAX_QUERY_BYTES),
  });
  const writer = clientFor(insertTimeoutMs, 2);
  const upkeep = clientFor(UPKEEP_TIMEOUT_MS, 1);
  const schema = keepSchema(database, upkeep, log);

  async function rows<Row>(sql: string): Promise<Row[]> {
    try {
      return await readJson<Row>(reader, sql);
    } catch (error) {
      throw readError(error, schema.forget);
    }
  }

  async function firstFull(attempts: Attempts, limit: number): Promise<StoredResult[]> {
    let found: RawRow[] = [];
    for (const sql of attempts) {
      found = await rows<RawRow>(sql);
      if (found.length >= limit) break;
    }
    return found.map(storedResultOf);
  }

  async function countsOf(query: MonitorQuery): Promise<Omit<MonitorResults, "rows">> {
    const [counts] = await rows<Record<"total" | "in_period" | "healthy", string | number>>(
      countMonitorSql(database, query),
    );
    return { total: Number(counts?.total), inPeriod: Number(counts?.in_period), healthy: Number(counts?.healthy) };
  }

  return {
    async insert({ token, lines }) {
      try {
        await schema.ensure();
        await insertOnce(writer, `INSERT INTO ${database}.results (${COLUMN_NAMES}) FORMAT JSONEachRow`, lines, token);
      } catch (error) {
        throw writeError(error, schema.forget);
      }
    },
    async ofMonitor(query) {
      await schema.ensureForRead();
      const found = await firstFull(monitorRowsSql(database, query), query.limit);
      const isAll = query.offset === 0 && query.status === null && found.length < query.limit;
      if (isAll)
        return {
          rows: found,
          total: found.length,
          inPeriod: found.length,
          healthy: found.filter(({ status }) => status === "healthy").length,
        };
      const counts = await countsOf(query);
      // Rows may arrive between the two reads.
      const seen = found.length === 0 ? 0 : query.offset + found.length;
      return { ...counts, rows: found, total: Math.max(counts.total, seen) };
    },
    async ofProject(query) {
      await schema.ensureForRead();
      return firstFull(projectRowsSql(database, query), query.limit);
    },
    async ping() {
      const answer = await Promise.race([
        reader.ping({ select: true, abort_signal: AbortSignal.timeout(PING_TIMEOUT_MS) }),
        delay(PING_TIMEOUT_MS, undefined, { ref: false }),
      ]);
      if (answer === undefined) throw new ResultStoreError("ClickHouse did not answer within 2 s", { retry: true });
      if (!answer.success) throw readError(answer.error, schema.forget);
    },
    async thin() {
      try {
        await schema.ensure();
        await dropExpiredDays(database, schema.runner);
        for (const table of ["results", "recent"])
          await upkeep.command({ query: `OPTIMIZE TABLE ${database}.${table} FINAL` });
      } catch (error) {
        throw readError(error, schema.forget);
      }
    },
    async close() {
      await Promise.all([reader.close(), writer.close(), upkeep.close()]);
    },
  };
}

function parseUrl(url: string) {
  const parsed = new URL(url);
  const database = decodeURIComponent(parsed.pathname.slice(1)) || "sonde";
  if (!DATABASE.test(database))
    throw new TypeError(`SONDE_CLICKHOUSE_URL: the database must be a plain name, not ${JSON.stringify(database)}`);
  parsed.pathname = "";
  return { base: parsed, database, isLocal: LOOPBACK.has(parsed.hostname) };
}

/** Creates what is missing before the first use, and again when the server has lost it. ClickHouse may be away while we start. */
function keepSchema(database: string, client: ClickHouseClient, log: Logger) {
  let ready: Promise<void> | undefined;
  const runner: SchemaRunner = {
    run: async (query) => {
      await client.command({ query });
    },
    column: async (query) =>
      (await readJson<Record<string, unknown>>(client, query)).map((row) => String(Object.values(row)[0])),
  };

  async function build(): Promise<void> {
    try {
      await runner.run(`CREATE DATABASE IF NOT EXISTS ${database}`);
    } catch (error) {
      // A user with the right to may have made it already: the next statement shows it.
      log.warn({ err: error, database }, "results: ClickHouse does not let us create the database");
    }
    await migrate(database, runner);
    const refused = await capSystemLogs(runner);
    if (refused.length > 0) log.warn({ refused }, "results: ClickHouse's own logs could not be capped, watch its disk");
  }

  function ensure(): Promise<void> {
    ready ??= build().catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    return ready;
  }

  return {
    runner,
    ensure,
    async ensureForRead() {
      try {
        await ensure();
      } catch (error) {
        throw readError(error, () => undefined);
      }
    },
    forget: () => {
      ready = undefined;
    },
  };
}

/** One document, so that an answer that was cut, or ends in an exception, cannot be taken for a shorter one. */
async function readJson<Row>(client: ClickHouseClient, query: string): Promise<Row[]> {
  const answer = await (await client.query({ query, format: "JSON" })).json<Row>();
  if ("exception" in answer) throw new Error(String(answer.exception));
  if (answer.rows !== answer.data.length) throw new Error("ClickHouse's answer lacks rows");
  return answer.data;
}

async function insertOnce(client: ClickHouseClient, query: string, lines: Uint8Array, token: string): Promise<void> {
  const { stream } = await client.exec({
    query,
    values: Readable.from([lines], { objectMode: false }),
    clickhouse_settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
  });
  // An insert answers nothing; text is an exception that came behind a 200.
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8").trim();
  if (text !== "") throw new Error(text.slice(0, 1_000));
}
