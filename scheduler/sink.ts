/**
 * Writes outcomes as rows, statuses and incidents. The order is fixed, so that a crash between any two steps loses and doubles nothing:
 *
 *   judged in memory ─▶ spool (one sync per batch) ─▶ one SQL transaction, up to that spool sequence ─▶ acknowledged ─▶ ClickHouse
 *
 * A restart replays the spool from the sequence that SQL has applied; ClickHouse gets whole segments by a token (store/results/pump.ts).
 * A step that fails is tried again with the same batch; meanwhile outcomes wait here, up to a bound, and dispatch is held.
 * When another scheduler has taken a shard, SQL refuses the batch. It is tried again without that shard's rows, which leave the spool as
 * well: the shard's holder runs or counts their turns.
 */
import type { Logger } from "pino";
import type { LiveState } from "../model/status.ts";
import type { Spool } from "../store/results/spool.ts";
import type { SetAside } from "../store/set-aside.ts";
import type { SinkStore } from "../store/sql/control-plane.ts";
import { isAboutValues } from "../store/sql/control-plane.ts";
import { type Fence, ShardsLost } from "../store/sql/ports/shards.ts";
import type { SinkItem } from "./sink-item.ts";
import { type Part, writeInParts } from "./sink-parts.ts";
import { createPartWriter, RETRY_FIRST_MS, RETRY_LONGEST_MS } from "./sink-writer.ts";

/** How long results wait for more of them, ms; docs/decisions/0002-one-check-one-way.md allows 1 s. */
const BATCH_WAIT_MS = 250;
/** A batch is written sooner when it has this many; our choice: well below a second's worth at full speed. */
const BATCH_ROWS = 2_000;
/** Outcomes that may wait for a store that is away; about 15 s at full speed and 60 MB. */
const BACKLOG_ROWS = 100_000;

export interface SinkOptions {
  readonly spool: Spool;
  readonly store: SinkStore;
  readonly log: Logger;
  readonly setAside: Pick<SetAside, "add">;
  /** A store refused a row of the monitor for its values: the values in memory may be as bad. */
  readonly onSetAside: (monitorId: number) => void;
  /** The live state as of the latest judged outcome. */
  readonly live: (monitorId: number) => LiveState | undefined;
  /** undefined: another scheduler writes about the monitor. */
  readonly fenceOf: (monitorId: number) => Fence | undefined;
  /** The epoch under which a shard is held. */
  readonly fence: (shard: number) => Fence | undefined;
  /** A write was refused because another scheduler holds these. */
  readonly onLost: (fences: readonly Fence[]) => void;
  /** Rows are on disk and in SQL: the segment may go to ClickHouse. */
  readonly onApplied: (appliedSeq: number) => void;
  /** Tests have ended in SQL: callers that wait may look. */
  readonly onJobsEnded: () => void;
  /** The backlog is full (true) or has room again (false). */
  readonly onHold: (isHeld: boolean) => void;
}

export interface Sink {
  add(item: SinkItem): void;
  /** An inbox row whose monitor is gone. */
  discard(inboxId: number): void;
  /** A live state moved without a check: written with the next batch, or by itself. */
  touch(monitorId: number): void;
  /** Turns of a shard that were not run: counted in SQL with the next batch. */
  skip(shard: number, turns: number): void;
  /** Drops unwritten items of shards that are no longer held; a write that has begun goes on. */
  drop(): void;
  /** Resolves when nothing waits any more; of one shard, when it is given. */
  flush(shard?: number): Promise<void>;
  /** Outcomes of shards that another took before they were written. */
  readonly refusedRows: number;
  readonly backlogRows: number;
  /** Why the latest step failed; null when none does. */
  readonly trouble: string | null;
}

export function createSink(options: SinkOptions): Sink {
  const { spool, log } = options;
  let pending: SinkItem[] = [];
  let discarded: number[] = [];
  let touched = new Set<number>();
  /** Turns, by shard. */
  let skipped = new Map<number, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let beingWritten: readonly SinkItem[] = [];
  let isHeld = false;
  let trouble: string | null = null;
  let refusedRows = 0;

  /** Tries a step until it succeeds, because an outcome must not be judged twice. @throws ShardsLost, or what isAboutValues() knows, at once */
  async function persist<T>(step: string, attempt: () => Promise<T>): Promise<T> {
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LONGEST_MS)) {
      try {
        const done = await attempt();
        trouble = null;
        return done;
      } catch (error) {
        if (error instanceof ShardsLost || isAboutValues(error)) throw error;
        trouble = `${step}: ${error instanceof Error ? error.message : String(error)}`;
        log.error({ err: error, step, waitMs }, "results wait: a step of the sink failed and is tried again");
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  function takePending(): Part {
    const moved = [...touched].flatMap((monitorId) => {
      const [fence, live] = [options.fenceOf(monitorId), options.live(monitorId)];
      return fence === undefined || live === undefined ? [] : [{ live, fence }];
    });
    const skips = [...skipped].flatMap(([shard, turns]) => {
      const fence = options.fence(shard);
      return fence === undefined ? [] : [{ turns, fence }];
    });
    const batch = { items: pending, seqs: [], appliedSeq: 0, moved, skips, discardedInboxIds: discarded };
    pending = [];
    discarded = [];
    touched = new Set();
    skipped = new Map();
    return batch;
  }

  async function writeBatch(): Promise<void> {
    const batch = takePending();
    const { items } = batch;
    beingWritten = items;
    if (items.length === 0) {
      await writeInParts(batch, writer);
      return;
    }
    const appliedSeq = await persist("spool", () => spool.append(items.map((item) => item.line)));
    const firstSeq = appliedSeq - items.length + 1;
    const written = await writeInParts(
      { ...batch, seqs: items.map((_item, index) => firstSeq + index), appliedSeq },
      writer,
    );
    beingWritten = [];
    options.onApplied(appliedSeq);
    if (written.some(({ jobEnd }) => jobEnd !== undefined)) options.onJobsEnded();
  }

  const writer = createPartWriter({
    ...options,
    persist,
    nowMs: Date.now,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onLost(fences, rows) {
      refusedRows += rows;
      options.onLost(fences);
    },
  });

  function isEmpty(): boolean {
    return pending.length === 0 && touched.size === 0 && skipped.size === 0;
  }

  function updateHold(): void {
    const shouldHold = isHeld ? pending.length > BACKLOG_ROWS / 2 : pending.length >= BACKLOG_ROWS;
    if (shouldHold === isHeld) return;
    isHeld = shouldHold;
    options.onHold(isHeld);
  }

  /** One writer at a time: the batches' order is the order of the spool's sequence. */
  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeBatch().finally(() => {
      writing = undefined;
      updateHold();
      arm();
    });
    return writing;
  }

  /** Starts or schedules the write of what is pending. */
  function arm(): void {
    if (writing !== undefined || isEmpty()) return;
    if (pending.length >= BATCH_ROWS) void write();
    else timer ??= setTimeout(() => void write(), BATCH_WAIT_MS);
  }

  return {
    add(item) {
      pending.push(item);
      updateHold();
      arm();
    },
    discard(inboxId) {
      discarded.push(inboxId);
    },
    touch(monitorId) {
      touched.add(monitorId);
      arm();
    },
    skip(shard, turns) {
      skipped.set(shard, (skipped.get(shard) ?? 0) + turns);
      arm();
    },
    drop() {
      const isOurs = ({ fence }: SinkItem): boolean => options.fence(fence.shard)?.epoch === fence.epoch;
      const kept = pending.filter(isOurs);
      refusedRows += pending.length - kept.length;
      pending = kept;
      for (const monitorId of touched) if (options.fenceOf(monitorId) === undefined) touched.delete(monitorId);
      for (const shard of skipped.keys()) if (options.fence(shard) === undefined) skipped.delete(shard);
    },
    async flush(shard) {
      const isOf = ({ fence }: SinkItem): boolean => fence.shard === shard;
      if (shard === undefined) while (!isEmpty() || writing !== undefined) await write();
      else while (pending.some(isOf) || beingWritten.some(isOf)) await write();
    },
    get refusedRows() {
      return refusedRows;
    },
    get backlogRows() {
      return pending.length;
    },
    get trouble() {
      return trouble;
    },
  };
}
