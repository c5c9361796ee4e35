/**
 * Writes outcomes as rows, statuses and incidents. The order is fixed, so that a crash between any two steps loses and doubles nothing:
 *
 *   judged in memory ─▶ spool (one sync per batch) ─▶ one SQL transaction, up to that spool sequence ─▶ acknowledged ─▶ ClickHouse
 *
 * A restart replays the spool from the sequence that SQL has applied; ClickHouse gets whole segments by a token (store/results/pump.ts).
 * Rows that the disk refuses wait in memory, and the batch goes on to SQL (late-rows.ts). When SQL is away the batch is tried again; meanwhile
 * outcomes wait here, up to a bound, and dispatch is held.
 * When another scheduler has taken a shard, SQL refuses the batch. It is tried again without that shard's rows, which leave the spool as
 * well: the shard's holder runs or counts their turns.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { LiveState } from "../../model/status.ts";
import { isAboutValues } from "../../store/errors.ts";
import type { Spool } from "../../store/results/spool.ts";
import { FrameLines } from "../../store/results/spool-frame.ts";
import type { SetAside } from "../../store/set-aside.ts";
import { type ShardLease, ShardsLost } from "../../store/sql/coordination/shards-port.ts";
import type { SinkStore } from "../../store/sql/sink/port.ts";
import { SYSTEM_CLOCKS } from "../clock.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import { BatchPace } from "./batch-pace.ts";
import { type JudgedOutcome, type JudgedRow, rowOf } from "./judged-outcome.ts";
import { LateRows } from "./late-rows.ts";
import { type Part, writeInParts } from "./parts.ts";
import { Trouble } from "./trouble.ts";
import { RETRY_FIRST_MS, RETRY_LONGEST_MS, type Steps, StorePartWriter } from "./writer.ts";

/** A batch is written sooner when it has this many; our choice: well below a second's worth at full speed. */
const BATCH_ROWS = 2_000;
/** Outcomes that may wait for a store that is away; about 15 s at full speed and 60 MB. */
const BACKLOG_ROWS = 100_000;

/** States of monitors in memory. */
export interface LiveStates {
  /** The live state as of the latest judged outcome. */
  live(monitorId: number): LiveState | undefined;
  /** A store refused a row of the monitor for its values: the values in memory may be as bad. */
  heal(monitorId: number): void;
}

/** What the sink reports. */
export interface SinkEvents {
  /** Rows are on disk, or wait for it in memory, and go to SQL next. */
  onSpooled(items: readonly JudgedRow[]): void;
  /** SQL refused a row of the monitor for its values, after onSpooled. */
  onRefused(monitorId: number): void;
  /** Rows are on disk and in SQL: the segment may go to ClickHouse. */
  onApplied(appliedSeq: number): void;
  /** SQL has them. @param moved states that moved without a check */
  onWritten(items: readonly JudgedRow[], moved: readonly LiveState[]): void;
  /** Tests have ended in SQL: callers that wait may look. */
  onTestsEnded(): void;
  /** A write was refused because another scheduler holds these. */
  onLost(leases: readonly ShardLease[]): void;
  /** The backlog is full (true) or has room again (false). */
  onHold(isHeld: boolean): void;
}

export interface SinkOptions {
  readonly spool: Pick<Spool, "name" | "append" | "pass" | "discard">;
  readonly store: Pick<SinkStore, "apply" | "touch">;
  readonly setAside: Pick<SetAside, "add" | "has">;
  readonly ownedShards: Pick<OwnedShards, "leaseOf" | "lease">;
  readonly states: LiveStates;
  readonly events: SinkEvents;
  readonly log: Logger;
}

/** Steps that are tried until they succeed, because an outcome must not be judged twice. */
class RetriedSteps implements Steps {
  readonly #trouble: Trouble;

  constructor(trouble: Trouble) {
    this.#trouble = trouble;
  }

  async run<T>(step: string, attempt: () => Promise<T>): Promise<T> {
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LONGEST_MS)) {
      try {
        const done = await attempt();
        this.#trouble.isOver();
        return done;
      } catch (error) {
        if (error instanceof ShardsLost || isAboutValues(error)) throw error;
        this.#trouble.is(step, error);
        await delay(waitMs);
      }
    }
  }

  async wait(ms: number): Promise<void> {
    await delay(ms);
  }

  nowMs(): number {
    return Date.now();
  }
}

export class Sink {
  readonly #late: LateRows;
  readonly #ownedShards: SinkOptions["ownedShards"];
  readonly #states: LiveStates;
  readonly #events: SinkEvents;
  /** One for the disk, one for SQL. */
  readonly #troubles: readonly [disk: Trouble, sql: Trouble];
  readonly #steps: RetriedSteps;
  readonly #writer: StorePartWriter;
  #pending: JudgedRow[] = [];
  /** Of those that are pending, in their order. */
  #lines = new FrameLines();
  #beingWritten: readonly JudgedRow[] = [];
  /** Those of the batch before, emptied, for the next. */
  #emptyLines: FrameLines | undefined;
  #discardedInboxIds: number[] = [];
  /** Monitors whose live state moved without a check. */
  #touched = new Set<number>();
  /** Skipped turns that are not in SQL yet, by shard. */
  #skipped = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  /** When it fires, on the monotonic clock. */
  #timerAtMs = Number.POSITIVE_INFINITY;
  readonly #pace = new BatchPace();
  /** A caller waits for some of what is pending. */
  #isAwaited = false;
  #lateTimer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isHeld = false;
  #refusedRows = 0;

  constructor({ spool, store, setAside, ownedShards, states, events, log }: SinkOptions) {
    const { monotonicNowMs } = SYSTEM_CLOCKS;
    this.#troubles = [
      new Trouble(
        log,
        "results cannot be written to disk: their statuses and incidents are, they wait in memory",
        monotonicNowMs,
      ),
      new Trouble(log, "results wait: a step of the sink failed and is tried again", monotonicNowMs),
    ];
    this.#late = new LateRows(spool, this.#troubles[0]);
    this.#ownedShards = ownedShards;
    this.#states = states;
    this.#events = events;
    this.#steps = new RetriedSteps(this.#troubles[1]);
    this.#writer = new StorePartWriter({
      spool: this.#late,
      store,
      setAside,
      states: {
        heal(monitorId) {
          states.heal(monitorId);
          events.onRefused(monitorId);
        },
      },
      steps: this.#steps,
      events: {
        onTestsEnded: () => events.onTestsEnded(),
        onLost: (leases, rows) => {
          this.#refusedRows += rows;
          events.onLost(leases);
        },
      },
    });
  }

  /** Outcomes of shards that another took before they were written. */
  get refusedRows(): number {
    return this.#refusedRows;
  }

  /** Outcomes that SQL does not know of yet. */
  get backlogRows(): number {
    return this.#pending.length + this.#beingWritten.length;
  }

  /** Outcomes that SQL knows of and that are on no disk. */
  get lateRows(): number {
    return this.#late.waiting;
  }

  /** Late ones that were dropped because too many waited. */
  get lostRows(): number {
    return this.#late.lost;
  }

  /** Why a step fails now; null when none does. */
  get trouble(): string | null {
    return this.#troubles.map(({ reason }) => reason).find((reason) => reason !== null) ?? null;
  }

  add(outcome: JudgedOutcome): void {
    this.#lines.add(outcome.line);
    this.#pending.push(rowOf(outcome));
    this.#updateHold();
    this.#isAwaited ||= isAwaited(outcome);
    this.#arm();
  }

  /** An inbox row whose monitor is gone. */
  discard(inboxId: number): void {
    this.#discardedInboxIds.push(inboxId);
  }

  /** A live state moved without a check: written with the next batch, or by itself. */
  touch(monitorId: number): void {
    this.#touched.add(monitorId);
    this.#isAwaited = true;
    this.#arm();
  }

  /** Turns of a shard that were not run: counted in SQL with the next batch. */
  skip(shard: number, turns: number): void {
    this.#skipped.set(shard, (this.#skipped.get(shard) ?? 0) + turns);
    this.#arm();
  }

  /** Drops what is unwritten of shards that are no longer held; a write that has begun goes on. */
  drop(): void {
    this.#dropPending(({ lease }) => this.#ownedShards.lease(lease.shard)?.epoch === lease.epoch);
    for (const monitorId of this.#touched) {
      if (this.#ownedShards.leaseOf(monitorId) === undefined) this.#touched.delete(monitorId);
    }
    for (const shard of this.#skipped.keys()) {
      if (this.#ownedShards.lease(shard) === undefined) this.#skipped.delete(shard);
    }
  }

  #dropPending(isKept: (row: JudgedRow) => boolean): void {
    const before = this.#pending;
    this.#pending = before.filter(isKept);
    if (this.#pending.length === before.length) return;
    this.#refusedRows += before.length - this.#pending.length;
    const texts = this.#lines.texts();
    this.#lines = FrameLines.of(texts.filter((_text, index) => before[index] !== undefined && isKept(before[index])));
  }

  /** Resolves when nothing waits any more; with a shard, when nothing of it does. */
  async flush(shard?: number): Promise<void> {
    const isOf = ({ lease }: JudgedRow): boolean => lease.shard === shard;
    if (shard === undefined) {
      while (!this.#isEmpty() || this.#writing !== undefined) await this.#write();
      await this.#flushLate();
    } else while (this.#pending.some(isOf) || this.#beingWritten.some(isOf)) await this.#write();
  }

  /** Starts or schedules the write of what is pending. */
  #arm(): void {
    if (this.#writing !== undefined) return;
    if (this.#late.waiting > 0) this.#lateTimer ??= setTimeout(() => void this.#writeLate(), RETRY_LONGEST_MS);
    if (this.#isEmpty()) return;
    if (this.#pending.length >= BATCH_ROWS) void this.#write();
    else if (this.#timer === undefined || this.#isAwaited) this.#writeSoon();
  }

  #writeSoon(): void {
    const nowMs = SYSTEM_CLOCKS.monotonicNowMs();
    const waitMs = this.#pace.waitMs(this.#isAwaited, nowMs);
    if (nowMs + waitMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = nowMs + waitMs;
    this.#timer = setTimeout(() => void this.#write(), waitMs);
  }

  /** One writer at a time: the batches' order is the order of the spool's sequence. */
  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
      this.#updateHold();
      this.#arm();
    });
    return this.#writing;
  }

  /** Late rows go with the next batch. This method writes them when no batch comes. */
  async #writeLate(): Promise<void> {
    this.#lateTimer = undefined;
    this.#writing ??= this.#flushLate().finally(() => {
      this.#writing = undefined;
      this.#arm();
    });
    await this.#writing;
  }

  async #flushLate(): Promise<void> {
    try {
      const lastSeq = await this.#late.flush();
      if (lastSeq > 0) this.#events.onApplied(lastSeq);
    } catch (error) {
      this.#troubles[0].is("spool", error);
    }
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#takePending();
    const { items } = batch;
    this.#pace.begin(items.length, SYSTEM_CLOCKS.monotonicNowMs());
    const moved = batch.moved.map(({ live }) => live);
    this.#beingWritten = items;
    if (items.length === 0) {
      await writeInParts(batch, this.#writer);
      if (moved.length > 0) this.#events.onWritten([], moved);
      return;
    }
    const lines = this.#takeLines();
    const appliedSeq = await this.#steps.run("spool", () => this.#late.append(lines));
    this.#events.onSpooled(items);
    const firstSeq = appliedSeq - items.length + 1;
    const seqs = items.map((_item, index) => firstSeq + index);
    const lineOf = (seq: number): string => lines.texts()[seq - firstSeq] ?? "";
    const written = await writeInParts({ ...batch, seqs, appliedSeq, lineOf }, this.#writer);
    this.#beingWritten = [];
    lines.clear();
    this.#emptyLines = lines;
    this.#events.onApplied(appliedSeq);
    this.#events.onWritten(written, moved);
    if (written.some(({ endedTest }) => endedTest !== undefined)) this.#events.onTestsEnded();
  }

  #takePending(): Part {
    const moved = [...this.#touched].flatMap((monitorId) => {
      const [lease, live] = [this.#ownedShards.leaseOf(monitorId), this.#states.live(monitorId)];
      return lease === undefined || live === undefined ? [] : [{ live, lease }];
    });
    const skips = [...this.#skipped].flatMap(([shard, turns]) => {
      const lease = this.#ownedShards.lease(shard);
      return lease === undefined ? [] : [{ turns, lease }];
    });
    const discardedInboxIds = this.#discardedInboxIds;
    const batch = { items: this.#pending, seqs: [], appliedSeq: 0, moved, skips, discardedInboxIds, lineOf: () => "" };
    this.#pending = [];
    this.#isAwaited = false;
    this.#discardedInboxIds = [];
    this.#touched = new Set();
    this.#skipped = new Map();
    return batch;
  }

  #takeLines(): FrameLines {
    const lines = this.#lines;
    this.#lines = this.#emptyLines ?? new FrameLines();
    this.#emptyLines = undefined;
    return lines;
  }

  #isEmpty(): boolean {
    return this.#pending.length === 0 && this.#touched.size === 0 && this.#skipped.size === 0;
  }

  #updateHold(): void {
    const waiting = this.#pending.length;
    const shouldHold = this.#isHeld ? waiting > BACKLOG_ROWS / 2 : waiting >= BACKLOG_ROWS;
    if (shouldHold === this.#isHeld) return;
    this.#isHeld = shouldHold;
    this.#events.onHold(shouldHold);
  }
}

/** A caller asked for this test, or others are told of what it found. */
function isAwaited({ endedTest, incidents, alerts }: JudgedRow): boolean {
  return endedTest !== undefined || incidents.length > 0 || alerts.length > 0;
}
