/// <reference lib="es2024.string" />
/**
 * Pump: carries sealed segments of the spool into the result store, oldest first, each exactly once by its token.
 * It never runs ahead of the control plane: a segment goes only when its last row is applied there, or a restart could not replay it.
 */
import type { Logger } from "pino";
import type { SetAside } from "../set-aside.ts";
import { type ResultStore, ResultStoreError } from "./result-store.ts";
import type { Spool, SpoolSegment } from "./spool.ts";

/**
 * How long rows are gathered for one insert, ms. An insert costs ClickHouse about 20 ms of CPU whatever its size, and 8 ms per 1,000 rows
 * (bench/parts/results.ts): one every two seconds halves the fixed part, and readers notice no delay.
 */
const INSERT_EVERY_MS = 2_000;
const RETRY_FIRST_MS = 250;
const RETRY_LONGEST_MS = 10_000;

export interface PumpOptions {
  readonly spool: Spool;
  readonly results: Pick<ResultStore, "insert">;
  readonly log: Logger;
  /** Keeps single rows that the store refuses. */
  readonly setAside: Pick<SetAside, "add">;
  /** What the control plane has applied so far. */
  readonly appliedSeq: number;
  readonly clock?: PumpClock;
}

export interface PumpClock {
  /** Unix ms. */
  nowMs(): number;
  /** @returns what cancels it */
  after(delayMs: number, act: () => void): () => void;
}

export interface PumpState {
  readonly waitingRows: number;
  readonly waitingBytes: number;
  /** Why the latest insert failed; null when it did not. */
  readonly lastError: string | null;
  /** Unix ms; null before the first. */
  readonly lastInsertAtMs: number | null;
  readonly insertedRows: number;
  /** Rows that the store refused; they are set aside. */
  readonly rejectedRows: number;
}

export interface Pump {
  /** Rows up to this sequence number are applied to the control plane. */
  wake(appliedSeq: number): void;
  readonly state: PumpState;
  /** Inserts what it can within the time, then stops; the rest waits on disk for the next start. */
  stop(drainMs: number): Promise<void>;
}

export const SYSTEM_PUMP_CLOCK: PumpClock = {
  nowMs: () => Date.now(),
  after(delayMs, act) {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
};

export function startPump(options: PumpOptions): Pump {
  const { spool, results, log, clock = SYSTEM_PUMP_CLOCK } = options;
  let appliedSeq = options.appliedSeq;
  let lastError: string | null = null;
  let lastInsertAtMs: number | null = null;
  let insertedRows = 0;
  let rejectedRows = 0;
  let retryMs = RETRY_FIRST_MS;
  let cancelTimer: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  /** Read once: if the spool thins the segment meanwhile, its halves must still hold the rows that their tokens stand for. */
  let inHand: { readonly token: string; readonly lines: Uint8Array; readonly rows: number } | undefined;
  /** Pieces of it that need not be asked again. */
  const settled = new Map<string, "done" | ResultStoreError>();

  /** Keeps one turn planned while there is anything to carry. */
  function plan(delayMs: number): void {
    if (isStopped || cancelTimer !== undefined || running !== undefined) return;
    cancelTimer = clock.after(delayMs, () => {
      cancelTimer = undefined;
      run();
    });
  }

  function run(): void {
    running ??= drain().then(() => {
      running = undefined;
      if (spool.rows > 0) plan(lastError === null ? INSERT_EVERY_MS : retryMs);
    });
  }

  /** Carries everything that may go; ends at the first failure. */
  async function drain(): Promise<void> {
    try {
      // While segments wait, the open one goes on growing: otherwise an outage would leave thousands of small files.
      if ((await spool.next()) === undefined) await spool.seal();
      for (let segment = await spool.next(); segment !== undefined; segment = await spool.next()) {
        if (segment.lastSeq > appliedSeq) return;
        await carry(segment);
        if (lastError !== null) log.info({ waitingRows: spool.rows }, "results: ClickHouse takes rows again");
        lastError = null;
        retryMs = RETRY_FIRST_MS;
      }
    } catch (error) {
      const isNew = lastError === null;
      lastError = error instanceof Error ? error.message : String(error);
      retryMs = isNew ? RETRY_FIRST_MS : Math.min(retryMs * 2, RETRY_LONGEST_MS);
      log[isNew ? "error" : "debug"](
        { err: error, retryMs, waitingRows: spool.rows },
        "results: an insert failed, rows wait in the spool",
      );
    }
  }

  async function carry(segment: SpoolSegment): Promise<void> {
    if (inHand?.token !== segment.token) {
      inHand = { token: segment.token, lines: await segment.read(), rows: segment.rows };
      settled.clear();
    }
    if (inHand.rows > 0) await insert(inHand.token, inHand.lines, inHand.rows);
    await spool.release(segment);
    insertedRows += inHand.rows;
    inHand = undefined;
    lastInsertAtMs = clock.nowMs();
  }

  /**
   * Inserts a piece; when rows are refused, splits it until each bad row is alone. The tokens of halves follow from the whole's, so a repeat
   * is safe; pieces that were settled before an outage are not sent again.
   */
  async function insert(token: string, lines: Uint8Array, rows: number): Promise<void> {
    const before = settled.get(token);
    if (before === "done") return;
    const refusal = before ?? (await tryInsert(token, lines, rows));
    settled.set(token, refusal ?? "done");
    if (refusal === undefined) return;
    if (rows <= 1) {
      await insertRepaired(token, lines, refusal);
      settled.set(token, "done");
      return;
    }
    const split = splitLines(lines, rows);
    await insert(`${token}.0`, split.first, split.firstRows);
    await insert(`${token}.1`, split.second, rows - split.firstRows);
  }

  /** @returns why the rows were refused; throws errors that a later try may not meet */
  async function tryInsert(token: string, lines: Uint8Array, rows: number): Promise<ResultStoreError | undefined> {
    try {
      await results.insert({ token, lines, rows });
      return undefined;
    } catch (error) {
      if (error instanceof ResultStoreError && !error.retry) return error;
      throw error;
    }
  }

  /** A lone surrogate can be repaired; a row with any other fault is set aside. */
  async function insertRepaired(token: string, line: Uint8Array, refusal: ResultStoreError): Promise<void> {
    const repaired = wellFormed(line);
    if (repaired !== undefined && (await tryInsert(`${token}.w`, repaired, 1)) === undefined) return;
    const text = Buffer.from(line).toString("utf8").trimEnd();
    await options.setAside.add({ store: "results", monitorId: null, error: refusal, line: text });
    rejectedRows += 1;
  }

  return {
    wake(upToSeq) {
      appliedSeq = Math.max(appliedSeq, upToSeq);
      const sinceMs = lastInsertAtMs === null ? INSERT_EVERY_MS : clock.nowMs() - lastInsertAtMs;
      plan(lastError === null ? Math.min(INSERT_EVERY_MS, Math.max(0, INSERT_EVERY_MS - sinceMs)) : retryMs);
    },
    get state() {
      return {
        waitingRows: spool.rows,
        waitingBytes: spool.sizeBytes,
        lastError,
        lastInsertAtMs,
        insertedRows,
        rejectedRows,
      };
    },
    async stop(drainMs) {
      isStopped = true;
      cancelTimer?.();
      let cancel: () => void = () => undefined;
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(drainMs, resolve);
      });
      const drained = (async () => {
        await running;
        await drain();
        // The first pass may have carried a backlog and left the open segment.
        if (lastError === null) await drain();
      })();
      await Promise.race([drained, late]);
      cancel();
    },
  };
}

const NEWLINE = 0x0a;

function splitLines(lines: Uint8Array, rows: number): { first: Uint8Array; firstRows: number; second: Uint8Array } {
  const firstRows = Math.floor(rows / 2);
  let end = 0;
  for (let row = 0; row < firstRows; row += 1) end = lines.indexOf(NEWLINE, end) + 1;
  return { first: lines.subarray(0, end), firstRows, second: lines.subarray(end) };
}

/** @returns the line with every string made well-formed Unicode; undefined when that changes nothing, or it is no JSON */
export function wellFormed(line: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(line).toString("utf8");
  let isChanged = false;
  try {
    const row: unknown = JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== "string" || value.isWellFormed()) return value;
      isChanged = true;
      return value.toWellFormed();
    });
    return isChanged ? Buffer.from(`${JSON.stringify(row)}\n`) : undefined;
  } catch {
    return undefined;
  }
}
