/**
 * Pump: carries sealed segments of the spool into the result store, oldest first, each exactly once by its token.
 * It never runs ahead of the control plane: a segment goes only when its last row is applied there, or a restart could not replay it.
 */
import type { Logger } from "pino";
import { type InsertTarget, SegmentInsert } from "./segment-insert.ts";
import type { Spool, SpoolSegment } from "./spool.ts";

/**
 * How long rows are gathered for one insert, ms. An insert costs ClickHouse about 20 ms of CPU whatever its size, with the merges of its parts more, and
 * 8 ms per 1,000 rows (docs/develop/cost.md). Memory has the newest rows; explained rows and charts are that late, so it is not longer. A segment
 * of the spool that is full is an insert too, which bounds what a process holds for one.
 */
const INSERT_EVERY_MS = 2_000;
/**
 * The same while few rows come and none is wanted (PumpOptions.mayWait). 100 monitors that are checked once a minute make three rows in two seconds, and an
 * insert of three costs what one of a hundred does.
 */
const FEW_INSERT_EVERY_MS = 60_000;
/** So many do not wait longer. Our choice: 50 rows a second are inserted as often as more of them. */
const FEW_ROWS = 100;
/** So long after rows were wanted, the next ones do not wait longer: who reads once reads again. ms. */
export const WANTED_FOR_MS = 60_000;
const RETRY_FIRST_MS = 250;
const RETRY_LONGEST_MS = 10_000;

export interface PumpOptions extends InsertTarget {
  readonly spool: Spool;
  readonly log: Logger;
  /** The sequence number up to which the control plane has applied rows. */
  readonly appliedSeq: number;
  /** Resolves when what the control plane has applied would survive a power cut: after one it is replayed from the spool. */
  readonly settle: () => Promise<void>;
  /** Whether few rows may wait for more of them: who reads the store says so first (Pump.want). Absent: no. */
  readonly mayWait?: boolean;
  readonly clock?: PumpClock;
}

export interface PumpClock {
  /** Unix ms. */
  nowMs(): number;
  /** @returns a function that cancels it */
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

const SYSTEM_PUMP_CLOCK: PumpClock = {
  nowMs: () => Date.now(),
  after(delayMs, act) {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
};

export class Pump {
  readonly #spool: Spool;
  readonly #target: InsertTarget;
  readonly #log: Logger;
  readonly #clock: PumpClock;
  readonly #settle: () => Promise<void>;
  readonly #mayWait: boolean;
  #appliedSeq: number;
  /** The insert of the segment that is being carried; it stays while the store is away. */
  #inHand: SegmentInsert | undefined;
  #running: Promise<void> | undefined;
  /** The next turn, Unix ms. */
  #planned: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #wantedAtMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #retryMs = RETRY_FIRST_MS;
  #lastError: string | null = null;
  #lastInsertAtMs: number | null = null;
  #insertedRows = 0;
  #rejectedRows = 0;

  constructor(options: PumpOptions) {
    const { spool, results, setAside, log, appliedSeq, settle, mayWait = false, clock = SYSTEM_PUMP_CLOCK } = options;
    this.#spool = spool;
    this.#settle = settle;
    this.#mayWait = mayWait;
    this.#target = { results, setAside };
    this.#log = log;
    this.#clock = clock;
    this.#appliedSeq = appliedSeq;
  }

  get state(): PumpState {
    return {
      waitingRows: this.#spool.rows,
      waitingBytes: this.#spool.sizeBytes,
      lastError: this.#lastError,
      lastInsertAtMs: this.#lastInsertAtMs,
      insertedRows: this.#insertedRows,
      rejectedRows: this.#rejectedRows + (this.#inHand?.rejectedRows ?? 0),
    };
  }

  /** Rows up to this sequence number are applied to the control plane. */
  wake(appliedSeq: number): void {
    this.#appliedSeq = Math.max(this.#appliedSeq, appliedSeq);
    this.#planNext();
  }

  /**
   * Rows are about to be read. Those that wait are inserted now, and the next ones sooner for a while (WANTED_FOR_MS). Resolves when that is done, at once
   * where none waits longer than usual.
   */
  async want(): Promise<void> {
    const wasWanted = this.#isWanted();
    this.#wantedAtMs = this.#clock.nowMs();
    if (wasWanted || !this.#mayWait) return;
    // It may have begun before the newest rows came.
    await this.#running;
    if (this.#isStopped || this.#lastError !== null) return;
    this.#cancelPlanned();
    this.#run();
    await this.#running;
  }

  #isWanted(): boolean {
    return this.#clock.nowMs() - this.#wantedAtMs < WANTED_FOR_MS;
  }

  #everyMs(): number {
    return !this.#mayWait || this.#spool.rows >= FEW_ROWS || this.#isWanted() ? INSERT_EVERY_MS : FEW_INSERT_EVERY_MS;
  }

  /** The next turn for rows that wait: so long after the last insert, at once before the first. */
  #planNext(): void {
    if (this.#lastError !== null) {
      this.#plan(this.#retryMs);
      return;
    }
    const everyMs = this.#everyMs();
    const sinceMs = this.#lastInsertAtMs === null ? everyMs : this.#clock.nowMs() - this.#lastInsertAtMs;
    this.#plan(Math.min(everyMs, Math.max(0, everyMs - sinceMs)));
  }

  /** Keeps one turn planned while rows wait: the sooner one. */
  #plan(delayMs: number): void {
    if (this.#isStopped || this.#running !== undefined) return;
    const atMs = this.#clock.nowMs() + delayMs;
    if (this.#planned !== undefined && this.#planned.atMs <= atMs) return;
    this.#cancelPlanned();
    const cancel = this.#clock.after(delayMs, () => {
      this.#planned = undefined;
      this.#run();
    });
    this.#planned = { atMs, cancel };
  }

  #cancelPlanned(): void {
    this.#planned?.cancel();
    this.#planned = undefined;
  }

  #run(): void {
    this.#running ??= this.#drain().then(() => {
      this.#running = undefined;
      if (this.#spool.rows > 0) this.#plan(this.#lastError === null ? this.#everyMs() : this.#retryMs);
    });
  }

  /** Inserts every segment that may be inserted; stops at the first failure. */
  async #drain(): Promise<void> {
    try {
      // While segments wait, the open one goes on growing: otherwise an outage would leave thousands of small files.
      if ((await this.#spool.next()) === undefined) await this.#spool.seal();
      for (let segment = await this.#spool.next(); segment !== undefined; segment = await this.#spool.next()) {
        if (segment.lastSeq > this.#appliedSeq) return;
        await this.#settle();
        await this.#carry(segment);
        this.#succeeded();
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  async #carry(segment: SpoolSegment): Promise<void> {
    const insert = await this.#insertOf(segment);
    await insert.run();
    await this.#spool.release(segment);
    this.#insertedRows += insert.rows;
    this.#forgetInsert();
    this.#lastInsertAtMs = this.#clock.nowMs();
  }

  /** Continues the insert that an earlier try began, or begins a new one. */
  async #insertOf(segment: SpoolSegment): Promise<SegmentInsert> {
    if (this.#inHand?.token === segment.token) return this.#inHand;
    const insert = await SegmentInsert.of(segment, this.#target);
    this.#forgetInsert();
    this.#inHand = insert;
    return insert;
  }

  #forgetInsert(): void {
    this.#rejectedRows += this.#inHand?.rejectedRows ?? 0;
    this.#inHand = undefined;
  }

  #succeeded(): void {
    if (this.#lastError !== null)
      this.#log.info({ waitingRows: this.#spool.rows }, "results: ClickHouse takes rows again");
    this.#lastError = null;
    this.#retryMs = RETRY_FIRST_MS;
  }

  #failed(error: unknown): void {
    const isNew = this.#lastError === null;
    this.#lastError = error instanceof Error ? error.message : String(error);
    this.#retryMs = isNew ? RETRY_FIRST_MS : Math.min(this.#retryMs * 2, RETRY_LONGEST_MS);
    this.#log[isNew ? "error" : "debug"](
      { err: error, retryMs: this.#retryMs, waitingRows: this.#spool.rows },
      "results: an insert failed, rows wait in the spool",
    );
  }

  /** Inserts what it can within the time, then stops; the rest waits on disk for the next start. */
  async stop(drainMs: number): Promise<void> {
    this.#isStopped = true;
    this.#cancelPlanned();
    let cancel: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.after(drainMs, resolve);
    });
    await Promise.race([this.#drainAll(), late]);
    cancel();
  }

  async #drainAll(): Promise<void> {
    await this.#running;
    await this.#drain();
    // The first pass may have carried a backlog and left the open segment.
    if (this.#lastError === null) await this.#drain();
  }
}
