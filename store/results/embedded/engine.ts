/**
 * The embedded engine (chDB) and its connections. A connection is serial, so each kind of work has its own: one writes, one does upkeep,
 * some read. Settings are fixed when a connection opens. Main thread of the child only: the engine does not survive the end of a worker.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Session } from "chdb";
import koffi from "koffi";
import { makeFolder } from "../../../native/make-folder.ts";
import { InsertStream } from "./insert-stream.ts";
import type { Statement, StatementKind } from "./statement.ts";

export interface EngineOptions {
  /** Absolute. The engine's own files go into `engine/` in it. */
  readonly dir: string;
  readonly database: string;
  readonly readConnections: number;
  /** The engine's cap on all its memory; its own default is most of the machine's. */
  readonly maxMemoryBytes: number;
}

export interface EngineAnswer {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly elapsedNs: number;
}

export interface Engine {
  run(statement: Statement, body: Buffer, signal: AbortSignal): Promise<EngineAnswer>;
  /** Resolves when the engine itself still answers. */
  pulse(): Promise<void>;
}

/** Signals for which the engine installs handlers that hang for five minutes: ILL, TRAP, ABRT, BUS, FPE, SEGV, TSTP, SYS. */
const HANDLED_SIGNALS = [4, 5, 6, 7, 8, 11, 20, 31];
const SIG_DFL = 0;

/** Limits per statement, seconds. */
const READ_LIMIT_S = 10;
const WRITE_LIMIT_S = 25;
const UPKEEP_LIMIT_S = 900;
/** Statements that wait for a connection of one kind; more are refused at once. */
const MAX_WAITING = 256;
/** An insert of some seconds' rows takes 60 ms; one that takes longer waits for the disk, which a read may not need, ms. */
const READ_WAITS_MS = 200;
const MAX_QUERY_BYTES = 4 * 1024 * 1024;

interface Connection {
  readonly session: Session;
  isBusy: boolean;
}

export function openEngine(options: EngineOptions): Engine {
  const { dir, database, readConnections } = options;
  const path = join(dir, "engine");
  makeFolder(path);
  const configFile = join(dir, "engine.xml");
  writeFileSync(configFile, configXml(options.maxMemoryBytes), { mode: 0o600 });
  const all = [`--config-file=${configFile}`, `--max_query_size=${MAX_QUERY_BYTES}`];
  const connect = (args: readonly string[]): Connection => {
    const session = new Session(path, { connectionArgs: [...all, ...args] });
    return { session, isBusy: false };
  };
  const forWrites = [`--max_execution_time=${WRITE_LIMIT_S}`, "--max_threads=1", "--max_insert_threads=1"];
  const write = connect(forWrites);
  const inserts = new InsertStream({ path, args: [...all, ...forWrites] });
  restoreSignals();
  write.session.query(`CREATE DATABASE IF NOT EXISTS ${database}`);
  const upkeep = connect([`--max_execution_time=${UPKEEP_LIMIT_S}`, "--max_threads=1"]);
  // One thread each: for the contract's small reads a second costs more CPU to start than it saves.
  const read = Array.from({ length: readConnections }, () =>
    connect([`--max_execution_time=${READ_LIMIT_S}`, "--max_threads=2"]),
  );
  const forPulse = connect(["--max_execution_time=5"]);
  for (const { session } of [write, upkeep, ...read]) session.query(`USE ${database}`);
  restoreSignals();

  const queues: Readonly<Record<StatementKind, StatementQueue>> = {
    write: createQueue([write]),
    upkeep: createQueue([upkeep]),
    read: createQueue(read),
  };
  const writes = createTurn();
  return {
    async run(statement, body, signal) {
      const execution = () =>
        queues[statement.kind].run(signal, (session) => execute({ session, inserts }, statement, body));
      if (statement.kind === "write") return writes.hold(execution);
      // Rows that wait are on the way of every check, a reader is not.
      if (statement.kind === "read") await writes.over(READ_WAITS_MS);
      return execution();
    },
    async pulse() {
      await forPulse.session.queryAsync("SELECT 1");
    },
  };
}

async function execute(
  { session, inserts }: { readonly session: Session; readonly inserts: InsertStream },
  { insert, params, sql, format }: Statement,
  body: Buffer,
): Promise<EngineAnswer> {
  if (insert !== undefined) {
    const beganMs = performance.now();
    const rowsWritten = await inserts.insert(insert, body);
    const elapsedNs = Math.round((performance.now() - beganMs) * 1e6);
    return { bytes: new Uint8Array(0), rowsRead: 0, rowsWritten, elapsedNs };
  }
  const isBound = Object.keys(params).length > 0;
  const answer = isBound
    ? await session.queryBindAsync(sql, params, { format })
    : await session.queryAsync(sql, { format });
  return {
    bytes: answer.bytes(),
    rowsRead: answer.rowsRead,
    rowsWritten: 0,
    elapsedNs: Math.round(answer.elapsed * 1e9),
  };
}

interface Turn {
  hold<T>(act: () => Promise<T>): Promise<T>;
  /** Resolves when none is held, and after so many ms in any case. */
  over(longestMs: number): Promise<void>;
}

function createTurn(): Turn {
  const held = new Set<Promise<unknown>>();
  return {
    async hold(act) {
      const acting = act();
      const settled = acting.then(
        () => undefined,
        () => undefined,
      );
      held.add(settled);
      void settled.then(() => held.delete(settled));
      return acting;
    },
    async over(longestMs) {
      if (held.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, longestMs);
      });
      await Promise.race([Promise.all(held), late]);
      clearTimeout(timer);
    },
  };
}

interface StatementQueue {
  run<T>(signal: AbortSignal, act: (session: Session) => Promise<T>): Promise<T>;
}

/** Statements wait here for a free connection, not in the engine, where each would hold a thread of libuv's pool. */
function createQueue(connections: readonly Connection[]): StatementQueue {
  const queue: (() => void)[] = [];

  async function acquire(): Promise<Connection> {
    for (;;) {
      const free = connections.find(({ isBusy }) => !isBusy);
      if (free !== undefined) {
        free.isBusy = true;
        return free;
      }
      if (queue.length >= MAX_WAITING) {
        throw new Error(
          `Code: 202. DB::Exception: Too many simultaneous queries: ${MAX_WAITING} wait already. (TOO_MANY_SIMULTANEOUS_QUERIES)`,
        );
      }
      await new Promise<void>((resolve) => queue.push(resolve));
    }
  }

  return {
    async run(signal, act) {
      const connection = await acquire();
      try {
        signal.throwIfAborted();
        return await act(connection.session).catch(async (error: unknown) => {
          await drain(connection.session);
          throw error;
        });
      } finally {
        connection.isBusy = false;
        queue.shift()?.();
      }
    },
  };
}

/**
 * A statement that fails after it wrote a part of its answer leaves that part behind, and the engine (chDB 3.4.0) puts it in front of the connection's
 * next answer. An answer that is thrown away takes it.
 */
async function drain(session: Session): Promise<void> {
  await session.queryAsync("SELECT 1").catch(() => undefined);
}

/** A crash must end the process within a second and with its own code; each first open installs the handlers again. */
function restoreSignals(): void {
  const signal = koffi.load(null).func("signal", "void *", ["int", "intptr_t"]);
  for (const number of HANDLED_SIGNALS) signal(number, SIG_DFL);
}

/**
 * Caps fit for a part of a small service; merges stay small enough for them. The engine reads its memory from the kernel
 * once a second, not 20 times. It deletes merged parts by two threads: with its default it starts up to 128 as soon as 100
 * such parts wait, which is some minutes after a start, and keeps them all. It looks for merged parts each minute, not each five: a part takes 25 KB of
 * memory until it is deleted, and each insert makes three. Columns have files of their own
 * from 32 MiB on, not from 10: a merge into one file costs less.
 */
function configXml(maxMemoryBytes: number): string {
  return `<clickhouse>
  <max_server_memory_usage>${maxMemoryBytes}</max_server_memory_usage>
  <mark_cache_size>16777216</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <index_mark_cache_size>1048576</index_mark_cache_size>
  <mmap_cache_size>64</mmap_cache_size>
  <memory_worker_period_ms>1000</memory_worker_period_ms>
  <max_parts_cleaning_thread_pool_size>2</max_parts_cleaning_thread_pool_size>
  <merge_tree>
    <max_cleanup_delay_period>60</max_cleanup_delay_period>
    <min_bytes_for_wide_part>33554432</min_bytes_for_wide_part>
    <max_bytes_to_merge_at_max_space_in_pool>10737418240</max_bytes_to_merge_at_max_space_in_pool>
  </merge_tree>
</clickhouse>
`;
}
