/**
 * Sink: where outcomes become rows, statuses and incidents. One order, so that a death between any two steps loses and doubles nothing:
 *
 *   judged in memory ─▶ spool (one sync per batch) ─▶ one SQL transaction, up to that spool sequence ─▶ acknowledged ─▶ ClickHouse
 *
 * A restart replays the spool from the sequence that SQL has applied; ClickHouse gets whole segments by a token (store/results/pump.ts).
 * A step that fails is tried again with the same batch; meanwhile outcomes wait here, up to a bound, and dispatch is held.
 * A batch that another scheduler's taking of a shard refuses is tried again without that shard's rows, which leave the spool as well:
 * their turns are run or counted by whoever has the shard.
 */
import type { Logger } from "pino";
import type { MonitorAlert } from "../model/alert.ts";
import type { LiveState } from "../model/status.ts";
import type { Spool } from "../store/results/spool.ts";
import type { IncidentChange, SinkBatch, SinkStore } from "../store/sql/control-plane.ts";
import type { NewConfigResult } from "../store/sql/ports/imports.ts";
import type { JobEnd } from "../store/sql/ports/jobs.ts";
import { type Fence, ShardsLost, type Skips } from "../store/sql/ports/shards.ts";

/** Results wait this long for company, ms; design 3.5 allows 1 s. */
const BATCH_WAIT_MS = 250;
/** A batch is written sooner when it has this many; our choice: well below a second's worth at full speed. */
const BATCH_ROWS = 2_000;
/** Outcomes that may wait for a store that is away; about 15 s at full speed and 60 MB. */
const BACKLOG_ROWS = 100_000;
const RETRY_FIRST_MS = 100;
const RETRY_LONGEST_MS = 5_000;

/** An outcome that was judged: what must be written of it. */
export interface SinkItem {
  readonly monitorId: number;
  /** Of its shard, when it was judged. */
  readonly fence: Fence;
  /** Line of the spool. */
  readonly line: string;
  readonly incidents: readonly IncidentChange[];
  /** Absent: none. */
  readonly alerts?: readonly MonitorAlert[];
  /** The heartbeat call that it came from. */
  readonly inboxId: number | null;
  /** The test that it ends. */
  readonly jobEnd?: JobEnd | undefined;
  /** How the configs of an imported server did. Absent: none. */
  readonly configResults?: readonly NewConfigResult[] | undefined;
}

/** What a batch changes in SQL. Live states are those after its last item, so nothing may be judged between its items and this. */
export function changesOf(
  items: readonly SinkItem[],
  live: (monitorId: number) => LiveState | undefined,
  discardedInboxIds: readonly number[] = [],
): Omit<SinkBatch, "spool" | "appliedSeq" | "skips"> & { readonly fences: readonly Fence[] } {
  const fences = new Map<number, Fence>();
  const states = new Map<number, LiveState>();
  const incidents: IncidentChange[] = [];
  const alerts: MonitorAlert[] = [];
  const jobEnds: JobEnd[] = [];
  const configResults: NewConfigResult[] = [];
  const drainedInboxIds = [...discardedInboxIds];
  for (const item of items) {
    fences.set(item.fence.shard, item.fence);
    const state = live(item.monitorId);
    if (state !== undefined) states.set(item.monitorId, state);
    if (item.incidents.length > 0) incidents.push(...item.incidents);
    if (item.alerts !== undefined && item.alerts.length > 0) alerts.push(...item.alerts);
    if (item.inboxId !== null) drainedInboxIds.push(item.inboxId);
    if (item.jobEnd !== undefined) jobEnds.push(item.jobEnd);
    if (item.configResults !== undefined) configResults.push(...item.configResults);
  }
  return {
    fences: [...fences.values()],
    live: [...states.values()],
    incidents,
    alerts,
    drainedInboxIds,
    jobEnds,
    configResults,
  };
}

export interface SinkOptions {
  readonly spool: Spool;
  readonly store: SinkStore;
  readonly log: Logger;
  /** The live state as of the latest judged outcome. */
  readonly live: (monitorId: number) => LiveState | undefined;
  /** undefined: another writes about the monitor. */
  readonly fenceOf: (monitorId: number) => Fence | undefined;
  /** Under which a shard is held. */
  readonly fence: (shard: number) => Fence | undefined;
  /** A write said that these are another's. */
  readonly onLost: (fences: readonly Fence[]) => void;
  /** Rows are on disk and in SQL: the segment may go to ClickHouse. */
  readonly onApplied: (appliedSeq: number) => void;
  /** Tests have ended in SQL: whoever waits for them may look. */
  readonly onJobsEnded: () => void;
  /** The backlog is full (true) or has room again (false). */
  readonly onHold: (isHeld: boolean) => void;
}

export interface Sink {
  add(item: SinkItem): void;
  /** An inbox row that belongs to nothing any more. */
  discard(inboxId: number): void;
  /** A live state moved without a check: written with the next batch, or by itself. */
  touch(monitorId: number): void;
  /** Turns of a shard that nobody ran: written down with the next batch. */
  skip(shard: number, turns: number): void;
  /** Drops what is not being written yet of shards that are no longer held. */
  drop(): void;
  /** Resolves when nothing waits any more; of one shard, when it is given. */
  flush(shard?: number): Promise<void>;
  /** Outcomes of shards that another took before they were written. */
  readonly refusedRows: number;
  readonly backlogRows: number;
  /** Why the latest step failed; null when none does. */
  readonly trouble: string | null;
}

/** What is written together, each under the epoch that its shard had when it was taken. */
interface Batch {
  readonly items: readonly SinkItem[];
  /** Live states that moved without a check. */
  readonly moved: readonly { readonly live: LiveState; readonly fence: Fence }[];
  readonly skips: readonly { readonly turns: number; readonly fence: Fence }[];
  readonly discardedInboxIds: readonly number[];
}

function fencesOf({ items, moved, skips }: Batch): readonly Fence[] {
  const fences = new Map<number, Fence>();
  for (const { fence } of [...items, ...moved, ...skips]) fences.set(fence.shard, fence);
  return [...fences.values()];
}

function withoutShards(batch: Batch, shards: ReadonlySet<number>): Batch {
  const isKept = ({ fence }: { readonly fence: Fence }): boolean => !shards.has(fence.shard);
  const { items, moved, skips } = batch;
  return { ...batch, items: items.filter(isKept), moved: moved.filter(isKept), skips: skips.filter(isKept) };
}

const skipsOf = ({ skips }: Batch): readonly Skips[] => skips.map(({ turns, fence: { shard } }) => ({ shard, turns }));

export function createSink(options: SinkOptions): Sink {
  const { spool, store, log } = options;
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

  /** Tries a step until it succeeds: what is judged must not be judged again. @throws ShardsLost at once */
  async function persist<T>(step: string, attempt: () => Promise<T>): Promise<T> {
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LONGEST_MS)) {
      try {
        const done = await attempt();
        trouble = null;
        return done;
      } catch (error) {
        if (error instanceof ShardsLost) throw error;
        trouble = `${step}: ${error instanceof Error ? error.message : String(error)}`;
        log.error({ err: error, step, waitMs }, "results wait: a step of the sink failed and is tried again");
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  function takePending(): Batch {
    const moved = [...touched].flatMap((monitorId) => {
      const [fence, live] = [options.fenceOf(monitorId), options.live(monitorId)];
      return fence === undefined || live === undefined ? [] : [{ live, fence }];
    });
    const skips = [...skipped].flatMap(([shard, turns]) => {
      const fence = options.fence(shard);
      return fence === undefined ? [] : [{ turns, fence }];
    });
    const batch = { items: pending, moved, skips, discardedInboxIds: discarded };
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
    // As they are now: what is judged from here on belongs to the next batch.
    const states = new Map(items.map(({ monitorId }) => [monitorId, options.live(monitorId)]));
    if (items.length === 0) return touch(batch);
    const appliedSeq = await persist("spool", () => spool.append(items.map((item) => item.line)));
    const firstSeq = appliedSeq - items.length + 1;
    const kept = await withoutLost(
      batch,
      (part) => apply(part, states, appliedSeq),
      async (lost) => {
        const seqs = items.flatMap((item, index) => (lost.has(item.fence.shard) ? [firstSeq + index] : []));
        await persist("spool", () => spool.discard(new Set(seqs)));
      },
    );
    beingWritten = [];
    refusedRows += items.length - kept.items.length;
    options.onApplied(appliedSeq);
    if (kept.items.some(({ jobEnd }) => jobEnd !== undefined)) options.onJobsEnded();
  }

  async function touch(batch: Batch): Promise<void> {
    await withoutLost(
      batch,
      (part) => store.touch({ live: part.moved.map(({ live }) => live), skips: skipsOf(part), fences: fencesOf(part) }),
      async () => undefined,
    );
  }

  function apply(batch: Batch, states: ReadonlyMap<number, LiveState | undefined>, appliedSeq: number): Promise<void> {
    const changes = changesOf(batch.items, (id) => states.get(id), batch.discardedInboxIds);
    // What was judged later stands in both, as the same.
    const live = [...batch.moved.map((one) => one.live), ...changes.live];
    return store.apply({
      ...changes,
      spool: spool.name,
      appliedSeq,
      live,
      skips: skipsOf(batch),
      fences: fencesOf(batch),
    });
  }

  /** Writes a batch; what others have taken meanwhile leaves it. @returns what was written */
  async function withoutLost(
    whole: Batch,
    write: (batch: Batch) => Promise<void>,
    onDropped: (shards: ReadonlySet<number>) => Promise<void>,
  ): Promise<Batch> {
    let batch = whole;
    for (;;) {
      try {
        await persist("control plane", () => write(batch));
        return batch;
      } catch (error) {
        if (!(error instanceof ShardsLost)) throw error;
        const lost = new Set(error.shards);
        options.onLost(fencesOf(batch).filter(({ shard }) => lost.has(shard)));
        await onDropped(lost);
        batch = withoutShards(batch, lost);
      }
    }
  }

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

  /** Sees to it that what is pending gets written, soon or at once. */
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
