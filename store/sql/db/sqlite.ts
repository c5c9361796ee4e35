/**
 * SQLite: two connections of one file in WAL mode. The writer is only used inside a transaction, by one caller at a time; the
 * reader never sees that transaction, so a read between two awaits of a write is a read of what is committed.
 */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Kysely, SqliteDialect, type SqliteStatement } from "kysely";
import { BoundedMap } from "../../../model/bounded-map.ts";
import { StoreError } from "../../errors.ts";
import { sqliteFault, sqliteGuard } from "../../sqlite-faults.ts";
import { type PreparedStatement, Sqlite, type SqliteHandle } from "../../sqlite-library.ts";
import { migrate, type SchemaMode } from "../schema/migrate.ts";
import type { Tables } from "../schema/tables.ts";
import { type BulkStatement, type Database, type Session, type Statement, statement, type Value } from "./database.ts";
import { GroupedWrites } from "./grouped-writes.ts";

/** How long another thread's or process's transaction is waited for, ms; one of ours takes milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
/** Pause between two tries to begin a transaction, ms. */
const BUSY_RETRY_MS = 2;
/**
 * Pages of the write-ahead log, 4 KiB each, at which a writer checkpoints by itself; it then waits for the disk. Only a fallback:
 * the sink's thread does it every one to five seconds.
 */
const OWN_CHECKPOINT_PAGES = 25_000;
/**
 * What a writer whose commits wait for the disk keeps of its transaction in memory, KiB; the rest is written to the log at once. A commit writes what is left in one
 * stretch of the thread, and SQLite's own 16 MiB take 20 ms.
 */
const DURABLE_CACHE_KIB = 2_000;
/** The WAL file is cut back to this after a checkpoint, bytes. */
const WAL_LIMIT_BYTES = 64 * 2 ** 20;
/** Files up to this size are checked whole at the start, bytes: about 0.1 s; a larger one's damage shows when it is met. */
const CHECKED_SIZE_BYTES = 64 * 2 ** 20;
/** Prepared statements kept per connection; list filters make a few dozen. */
const STATEMENTS_KEPT = 500;

const PING = statement("ping", "select 1 from generation");

export interface SqliteOptions {
  readonly file: string;
  /** Whether a commit waits for the disk: an answer that was given must survive a power cut, a result is replayed from the spool. */
  readonly durable: boolean;
  /** Whether the schema may be made or brought up to date; it may when absent. */
  readonly schema?: SchemaMode;
}

export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const file = resolve(options.file);
  const writer = connect(file, options.durable);
  let reader: Connection;
  try {
    checkIntegrity(writer, file);
    await transact(writer, file, () =>
      migrate(
        writer.session.kysely as unknown as Kysely<unknown>,
        "sqlite",
        `the database ${file}`,
        options.schema ?? "make",
      ),
    );
    reader = connect(file, false);
    reader.handle.pragma("query_only = ON");
  } catch (error) {
    writer.handle.close();
    throw sqliteFault(error, file);
  }
  const writes = new GroupedWrites({
    connection: writer.handle,
    turn: (work) => queueOf(file).turn(work),
    begin: () => begin(writer),
    // The commit that follows says what is wrong with the disk.
    ...(options.durable && { putOnDisk: () => putLogOnDisk(file).catch(() => undefined) }),
    run: writer.run,
  });
  // Read on the connection that never writes, where each commit of another connection changes it (SQLite's "PRAGMA data_version").
  const stamp = reader.handle.prepare<[], unknown>("PRAGMA data_version").pluck();
  return {
    dialect: "sqlite",
    read: reader.session,
    write: (work) => writes.write(() => work(writer.session)),
    stamp: () => reader.run(() => stamp.get() as number),
    async ping() {
      await reader.session.query(PING);
    },
    clock: async () => Date.now(),
    async scrub() {
      await queueOf(file).turn(async () => {
        writer.run(() => {
          // The log still has whole pages from before, and the file has free pages from earlier deletions.
          writer.handle.pragma("wal_checkpoint(TRUNCATE)");
          writer.handle.exec("VACUUM");
          writer.handle.pragma("wal_checkpoint(TRUNCATE)");
        });
      });
    },
    async close() {
      await queueOf(file).turn(async () => {
        reader.handle.close();
        writer.handle.close();
      });
    },
  };
}

interface Connection {
  readonly handle: SqliteHandle;
  readonly session: Session;
  /** Turns what SQLite throws into a StoreError. */
  run<T>(work: () => T): T;
}

function connect(file: string, durable: boolean): Connection {
  const run = sqliteGuard(file);
  const handle = run(() => new Sqlite(file, { timeout: BUSY_TIMEOUT_MS }));
  try {
    const mode = run(() => handle.pragma("journal_mode = WAL", { simple: true }));
    if (mode !== "wal") {
      throw new StoreError(`the database ${file} cannot use a write-ahead log: SONDE_DATA_DIR must be on a local disk`);
    }
    handle.pragma(`synchronous = ${durable ? "FULL" : "NORMAL"}`);
    if (durable) handle.pragma(`cache_size = -${DURABLE_CACHE_KIB}`);
    handle.pragma("foreign_keys = ON");
    // What is deleted or replaced is overwritten in the file: it would stay in free pages, and in every backup.
    handle.pragma("secure_delete = ON");
    handle.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
    handle.pragma(`wal_autocheckpoint = ${OWN_CHECKPOINT_PAGES}`);
  } catch (error) {
    handle.close();
    throw sqliteFault(error, file);
  }
  return { handle, run, session: createSession(handle, run) };
}

function createSession(handle: SqliteHandle, run: <T>(work: () => T) => T): Session {
  const kept = new BoundedMap<string, PreparedStatement>(STATEMENTS_KEPT);
  const prepare = (text: string): PreparedStatement => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const made = handle.prepare<unknown[]>(text);
    kept.set(text, made);
    return made;
  };
  const prepareForKysely = (text: string): SqliteStatement => {
    const made = run(() => prepare(text));
    return {
      reader: made.reader,
      all: (values) => run(() => made.all(values)),
      run: (values) => run(() => made.run(values)),
      iterate: (values) => run(() => made.iterate(values)),
    };
  };
  const kysely = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare: prepareForKysely, close: () => handle.close() } }),
  });
  return {
    dialect: "sqlite",
    kysely,
    async query<Row>(wanted: Statement, ...values: Value[]) {
      return run(() => {
        const prepared = prepare(wanted.sqlite);
        if (prepared.reader) return prepared.all(values) as Row[];
        prepared.run(values);
        return [];
      });
    },
    async bulk(wanted: BulkStatement, rows) {
      run(() => {
        const prepared = prepare(wanted.sqlite);
        for (const row of rows) prepared.run(row as Value[]);
      });
    },
  };
}

async function transact<T>(writer: Connection, file: string, work: () => Promise<T>): Promise<T> {
  return queueOf(file).turn(async () => {
    const { handle } = writer;
    await begin(writer);
    try {
      const result = await work();
      writer.run(() => handle.exec("COMMIT"));
      return result;
    } catch (error) {
      // SQLite has undone the transaction by itself, for example because the disk is full.
      if (handle.open && handle.inTransaction) handle.exec("ROLLBACK");
      throw error;
    }
  });
}

/** Puts on the disk what the log has, of commits that do not wait for it, too. SQLite locks other files, so that closing the log here gives no lock away. */
export async function putLogOnDisk(file: string): Promise<void> {
  const log = await open(`${file}-wal`);
  try {
    await log.datasync();
  } finally {
    await log.close();
  }
}

/** Waits for other threads' transactions without blocking this one: SQLite's own wait would sleep in it. */
async function begin({ handle, run }: Connection): Promise<void> {
  const endAtMs = performance.now() + BUSY_TIMEOUT_MS;
  run(() => handle.pragma("busy_timeout = 0"));
  try {
    for (;;) {
      try {
        // IMMEDIATE: a transaction that reads first and writes later would fail when another connection wrote in between.
        handle.exec("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        const isBusy = (error as { code?: string }).code?.startsWith("SQLITE_BUSY") === true;
        if (!isBusy || performance.now() > endAtMs) run(() => rethrow(error));
      }
      await delay(BUSY_RETRY_MS);
    }
  } finally {
    if (handle.open) handle.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

function rethrow(error: unknown): never {
  throw error;
}

/**
 * Writers of one file within this thread take turns: SQLite's own wait would block the thread that has to finish the other
 * transaction. Threads and processes wait for each other in SQLite.
 */
const queues = new Map<string, TurnQueue>();

interface TurnQueue {
  turn<T>(work: () => Promise<T>): Promise<T>;
}

function queueOf(file: string): TurnQueue {
  const known = queues.get(file);
  if (known !== undefined) return known;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const queue: TurnQueue = {
    turn(work) {
      waiting++;
      const mine = last.then(work).finally(() => {
        if (--waiting === 0) queues.delete(file);
      });
      last = mine.catch(() => {});
      return mine;
    },
  };
  queues.set(file, queue);
  return queue;
}

function checkIntegrity({ handle, run }: Connection, file: string): void {
  if (run(() => statSync(file)).size > CHECKED_SIZE_BYTES) return;
  const found = run(() => handle.pragma("quick_check(1)", { simple: true }));
  if (found === "ok") return;
  throw new StoreError(`the database ${file} is damaged (${String(found).replaceAll("\n", " ")}): restore a backup`);
}
