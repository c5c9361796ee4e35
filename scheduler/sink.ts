/**
 * Sink: where outcomes become rows, statuses and incidents. One order, so that a death between any two steps loses and doubles nothing:
 *
 *   judged in memory ─▶ spool (one sync per batch) ─▶ one SQL transaction, up to that spool sequence ─▶ acknowledged ─▶ ClickHouse
 *
 * A restart replays the spool from the sequence that SQL has applied; ClickHouse gets whole segments by a token (store/results/pump.ts).
 * A step that fails is tried again with the same batch; meanwhile outcomes wait here, up to a bound, and dispatch is held.
 */
import type { Logger } from "pino";
import type { MonitorAlert } from "../model/alert.ts";
import type { LiveState } from "../model/status.ts";
import type { Spool } from "../store/results/spool.ts";
import type { IncidentChange, SinkBatch, SinkStore } from "../store/sql/control-plane.ts";
import type { JobEnd } from "../store/sql/ports/jobs.ts";

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
  /** Line of the spool. */
  readonly line: string;
  readonly incidents: readonly IncidentChange[];
  /** Absent: none. */
  readonly alerts?: readonly MonitorAlert[];
  /** The heartbeat call that it came from. */
  readonly inboxId: number | null;
  /** The test that it ends. */
  readonly jobEnd?: JobEnd | undefined;
}

/** What a batch changes in SQL. Live states are those after its last item, so nothing may be judged between its items and this. */
export function changesOf(
  items: readonly SinkItem[],
  live: (monitorId: number) => LiveState | undefined,
  discardedInboxIds: readonly number[] = [],
): Omit<SinkBatch, "shard" | "appliedSeq"> {
  const states = new Map<number, LiveState>();
  const incidents: IncidentChange[] = [];
  const alerts: MonitorAlert[] = [];
  const jobEnds: JobEnd[] = [];
  const drainedInboxIds = [...discardedInboxIds];
  for (const item of items) {
    const state = live(item.monitorId);
    if (state !== undefined) states.set(item.monitorId, state);
    if (item.incidents.length > 0) incidents.push(...item.incidents);
    if (item.alerts !== undefined && item.alerts.length > 0) alerts.push(...item.alerts);
    if (item.inboxId !== null) drainedInboxIds.push(item.inboxId);
    if (item.jobEnd !== undefined) jobEnds.push(item.jobEnd);
  }
  return { live: [...states.values()], incidents, alerts, drainedInboxIds, jobEnds };
}

export interface SinkOptions {
  readonly shard: number;
  readonly spool: Spool;
  readonly store: SinkStore;
  readonly log: Logger;
  /** The live state as of the latest judged outcome. */
  readonly live: (monitorId: number) => LiveState | undefined;
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
  /** Resolves when everything added before is applied. */
  flush(): Promise<void>;
  readonly backlogRows: number;
  /** Why the latest step failed; null when none does. */
  readonly trouble: string | null;
}

export function createSink(options: SinkOptions): Sink {
  const { shard, spool, store, log } = options;
  let pending: SinkItem[] = [];
  let discarded: number[] = [];
  let touched = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let isHeld = false;
  let trouble: string | null = null;

  /** Tries a step until it succeeds: what is judged must not be judged again. */
  async function persist<T>(step: string, attempt: () => Promise<T>): Promise<T> {
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LONGEST_MS)) {
      try {
        const done = await attempt();
        trouble = null;
        return done;
      } catch (error) {
        trouble = `${step}: ${error instanceof Error ? error.message : String(error)}`;
        log.error({ err: error, step, waitMs }, "results wait: a step of the sink failed and is tried again");
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  async function writeBatch(): Promise<void> {
    const items = pending;
    const moved = [...touched].flatMap((monitorId) => options.live(monitorId) ?? []);
    touched = new Set();
    if (items.length === 0) return persist("control plane", () => store.touch(moved));
    const judged = changesOf(items, options.live, discarded);
    // What was judged later stands in both, as the same.
    const changes = { ...judged, live: [...moved, ...judged.live] };
    pending = [];
    discarded = [];
    const appliedSeq = await persist("spool", () => spool.append(items.map((item) => item.line)));
    await persist("control plane", () => store.apply({ shard, appliedSeq, ...changes }));
    options.onApplied(appliedSeq);
    if (changes.jobEnds !== undefined && changes.jobEnds.length > 0) options.onJobsEnded();
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
    if (writing !== undefined || (pending.length === 0 && touched.size === 0)) return;
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
    async flush() {
      while (pending.length > 0 || touched.size > 0 || writing !== undefined) await write();
    },
    get backlogRows() {
      return pending.length;
    },
    get trouble() {
      return trouble;
    },
  };
}
