/** PostgreSQL: a bounded pool; hot statements are prepared by name on each connection; nothing waits without an end. */

import {
  CompiledQuery,
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  replaceWithNoncontingentExpression,
  sql,
  type Transaction,
} from "kysely";
import pg from "pg";
import { StoreError } from "../../errors.ts";
import { isUpToDate, migrate, type SchemaMode } from "../schema/migrate.ts";
import type { Tables } from "../schema/tables.ts";
import type { BulkStatement, Database, Session, Statement, StoreRole, Value } from "./database.ts";
import { GuardedSocket } from "./guarded-socket.ts";
import { mayRunAgain, postgresFault } from "./postgres-faults.ts";

/** How connections are used: their number, and how long each thing is waited for, ms. */
interface PoolUse {
  /** Connections of one process and role; a server's default is 100 for all. */
  readonly size: number;
  readonly connectMs: number;
  /** The server gives up on a statement, a lock, an abandoned transaction. */
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleTransactionMs: number;
  /** Our own deadline; longer than those of the server, so that the server ends the statement first. */
  readonly queryMs: number;
}

const ORDINARY: PoolUse = {
  size: 10,
  connectMs: 5_000,
  statementMs: 15_000,
  lockMs: 10_000,
  idleTransactionMs: 10_000,
  queryMs: 20_000,
};
const USES: Readonly<Record<StoreRole, PoolUse>> = {
  api: ORDINARY,
  sink: ORDINARY,
  /**
   * A scheduler that is frozen or cut off in a transaction must not keep others from taking its shards: they try it after 6.4 s
   * (model/shards.ts). A pause of 3 s ends no transaction.
   */
  shards: { ...ORDINARY, idleTransactionMs: 4_000 },
  /** A beat that has not come through by then is given up, so that the next one goes over another connection. */
  beat: { size: 2, connectMs: 2_000, statementMs: 1_500, lockMs: 1_500, idleTransactionMs: 2_000, queryMs: 2_000 },
};
/**
 * The connection that brings the schema up to date: a statement may rewrite a table of millions of rows, and a second process waits until the first
 * has done it.
 */
const MIGRATING: PoolUse = {
  ...ORDINARY,
  size: 2,
  statementMs: 3_600_000,
  lockMs: 3_600_000,
  idleTransactionMs: 60_000,
  queryMs: 3_610_000,
};
const IDLE_TIMEOUT_MS = 30_000;
/** Contract of ping. */
const PING_TIMEOUT_MS = 2_000;
const CLOCK = sql<{ readonly ms: number | string }>`select extract(epoch from clock_timestamp()) * 1000 as ms`;
const IS_READ_ONLY = sql<{ readonly setting: string }>`select current_setting('transaction_read_only') as setting`;
/** read_only_sql_transaction: https://www.postgresql.org/docs/15/errcodes-appendix.html */
const READ_ONLY = "25006";
const TRANSACTION_ATTEMPTS = 4;
/** Type of `bigint` and `count(*)`: https://www.postgresql.org/docs/15/catalog-pg-type.html */
const INT8_OID = 20;

/** `in ()` is no SQL on PostgreSQL, and false on SQLite: it is false on both. */
const EMPTY_LISTS = new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression });

/** @param schema whether it may be made or brought up to date */
export async function openPostgres(
  url: string,
  schema: SchemaMode = "make",
  role: StoreRole = "api",
): Promise<Database> {
  const server = serverOf(url);
  const { pool, kysely, names } = connect(url, USES[role], server);
  try {
    await prepareSchema(kysely, url, server, schema);
  } catch (error) {
    await pool.end();
    throw postgresFault(error, server);
  }
  return {
    dialect: "postgres",
    read: createSession(kysely, names),
    write: (work) => transact(kysely, names, work),
    stamp: () => null,
    ping: () => ping(kysely, server),
    clock: () => clock(kysely, server),
    scrub: async () => {},
    close: () => pool.end(),
  };
}

async function prepareSchema(kysely: Kysely<Tables>, url: string, server: string, schema: SchemaMode): Promise<void> {
  const database = `the database at ${server}`;
  const reading = kysely as unknown as Kysely<unknown>;
  if (schema === "expect" || (await isUpToDate(reading))) return migrate(reading, "postgres", database, "expect");
  const migrating = connect(url, MIGRATING, server);
  try {
    await migrate(migrating.kysely as unknown as Kysely<unknown>, "postgres", database, schema);
  } finally {
    await migrating.pool.end();
  }
}

function connect(url: string, use: PoolUse, server: string) {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: "sonde",
    max: use.size,
    connectionTimeoutMillis: use.connectMs,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: use.statementMs,
    lock_timeout: use.lockMs,
    idle_in_transaction_session_timeout: use.idleTransactionMs,
    query_timeout: use.queryMs,
    keepAlive: true,
    stream: () => new GuardedSocket(),
    // Our ids, times and counts stay below 2^53.
    types: { getTypeParser: (oid: number, format?: "text" | "binary") => parserOf(oid, format) },
  });
  // A connection that dies while idle leaves the pool by itself; the next query opens another.
  pool.on("error", () => {});
  // A connection in use may fail between two statements, when no call waits for it. Ignored here: the next statement fails too.
  pool.on("connect", (client) => client.on("error", () => {}));
  const names = new Map<string, string>();
  const source = createSource(pool, names, server);
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: source }), plugins: [EMPTY_LISTS] });
  return { pool, kysely, names };
}

/** The driver's own parsers, but for int8, which they leave as text. */
function parserOf(oid: number, format: "text" | "binary" = "text"): (text: string) => unknown {
  return oid === INT8_OID ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown);
}

/** The pool as kysely uses it: errors become StoreErrors, and our own statements get their names. */
function createSource(pool: pg.Pool, names: ReadonlyMap<string, string>, server: string): PostgresPool {
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect().catch((error: unknown) => {
      throw postgresFault(error, server);
    });
    let broken: StoreError | null = null;
    const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
      // Such as the rollback, which would wait once more.
      if (broken !== null) throw broken;
      const name = names.get(text);
      try {
        return await client.query({ text, values: [...values], ...(name === undefined ? {} : { name }) });
      } catch (error) {
        // Our own time-out leaves the statement running; an answer that comes later must not meet another query. A server that takes no
        // writes was a primary: a new connection finds the one that is it now.
        const fault = postgresFault(error, server);
        if (!(error instanceof pg.DatabaseError) || error.code === READ_ONLY) broken = fault;
        throw fault;
      }
    };
    return { query: query as PostgresPoolClient["query"], release: () => client.release(broken !== null) };
  };
  return { connect, end: () => pool.end() };
}

function createSession(kysely: Kysely<Tables> | Transaction<Tables>, names: Map<string, string>): Session {
  const run = async (name: string, text: string, values: readonly unknown[]): Promise<readonly unknown[]> => {
    if (!names.has(text)) names.set(text, name);
    const { rows } = await kysely.executeQuery(CompiledQuery.raw(text, [...values]));
    return rows;
  };
  return {
    dialect: "postgres",
    kysely,
    async query<Row>(wanted: Statement, ...values: Value[]) {
      return (await run(wanted.name, wanted.postgres, values)) as readonly Row[];
    },
    async bulk(wanted: BulkStatement, rows) {
      const first = rows[0];
      if (first === undefined) return;
      const columns = first.map((_value, index) => rows.map((row) => row[index] ?? null));
      await run(wanted.name, wanted.postgres, columns);
    },
  };
}

async function transact<T>(
  kysely: Kysely<Tables>,
  names: Map<string, string>,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await kysely.transaction().execute((transaction) => work(createSession(transaction, names)));
    } catch (error) {
      if (attempt === TRANSACTION_ATTEMPTS || !mayRunAgain(error)) throw error;
    }
  }
}

/** A standby, or a server whose disk was full, answers and takes no write. */
async function ping(kysely: Kysely<Tables>, server: string): Promise<void> {
  const { rows } = await within(PING_TIMEOUT_MS, server, IS_READ_ONLY.execute(kysely));
  if (rows[0]?.setting === "on") throw postgresFault({ code: READ_ONLY, message: "" }, server);
}

async function clock(kysely: Kysely<Tables>, server: string): Promise<number> {
  const { rows } = await within(PING_TIMEOUT_MS, server, CLOCK.execute(kysely));
  return Number(rows[0]?.ms);
}

async function within<T>(timeoutMs: number, server: string, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new StoreError(`PostgreSQL at ${server} does not answer within ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  // Ignores an answer that comes after the deadline.
  answer.catch(() => {});
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Host, port and database: never the user or the password. */
function serverOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? hostname;
  return `${host === "" ? "localhost" : host}${port === "" ? "" : `:${port}`}${pathname}`;
}
