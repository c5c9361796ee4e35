/** How the sink's batches, and what a replay finds, are written to SQL: see sink-parts.ts. */
import type { MonitorAlert } from "../model/alert.ts";
import type { LiveState } from "../model/status.ts";
import type { Spool } from "../store/results/spool.ts";
import type { SetAside } from "../store/set-aside.ts";
import { type IncidentChange, isAboutValues, type SinkBatch, type SinkStore } from "../store/sql/control-plane.ts";
import type { NewConfigResult } from "../store/sql/ports/imports.ts";
import type { JobEnd } from "../store/sql/ports/jobs.ts";
import { type Fence, ShardsLost } from "../store/sql/ports/shards.ts";
import type { SinkItem } from "./sink-item.ts";
import { fencesOf, type Part, type PartWriter, skipsOf, withoutRow } from "./sink-parts.ts";

/** Between two tries of a step, ms. */
export const RETRY_FIRST_MS = 100;
export const RETRY_LONGEST_MS = 5_000;

export interface PartWriterOptions {
  readonly spool: Pick<Spool, "name" | "discard">;
  readonly store: Pick<SinkStore, "apply" | "touch">;
  readonly setAside: Pick<SetAside, "add">;
  /** A store refused a row of the monitor for its values: the values in memory may be as bad. */
  readonly onSetAside: (monitorId: number) => void;
  /** Tests have ended in SQL without a row. */
  readonly onJobsEnded: () => void;
  /** @param rows that are dropped with them */
  readonly onLost: (fences: readonly Fence[], rows: number) => void;
  /** Tries a step until it succeeds, or as often as is right. @throws ShardsLost, or what isAboutValues() knows, at once */
  readonly persist: <T>(step: string, attempt: () => Promise<T>) => Promise<T>;
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** What a batch, or a part of one, changes in SQL: live states are those after its own last items. */
export function changesOf(
  items: readonly SinkItem[],
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
    states.set(item.monitorId, item.live);
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

/** How parts are written to SQL. */
export function createPartWriter(options: PartWriterOptions): PartWriter {
  const { spool, store, setAside, onSetAside, onLost, persist, wait } = options;
  return {
    write(part) {
      const { items, moved, appliedSeq, discardedInboxIds } = part;
      const fences = fencesOf(part);
      const skips = skipsOf(part);
      const states = moved.map((one) => one.live);
      if (appliedSeq === 0) return persist("control plane", () => store.touch({ live: states, skips, fences }));
      const { live, ...changes } = changesOf(items, discardedInboxIds);
      // What moved without a check did so after it.
      const all = { ...changes, live: [...live, ...states], skips, fences };
      return persist("control plane", () => store.apply({ ...all, spool: spool.name, appliedSeq }));
    },
    async lose(fences, rows) {
      onLost(fences, rows.length);
      if (rows.length > 0) await persist("spool", () => spool.discard(new Set(rows)));
    },
    async setAside(part, error) {
      const [item, moved] = [part.items[0], part.moved[0]];
      const monitorId = item?.monitorId ?? moved?.live.monitorId ?? null;
      await setAside.add({ store: "sql", monitorId, error, line: item?.line ?? JSON.stringify(moved?.live ?? null) });
      if (monitorId !== null) onSetAside(monitorId);
      if (item === undefined) return;
      await persist("spool", () => spool.discard(new Set(part.seqs)));
      await passOver(part, options).catch((failure: unknown) => {
        // Another scheduler holds the shard, and the row has left the spool: nothing else is to do.
        if (!(failure instanceof ShardsLost)) throw failure;
      });
    },
    pause: (isLong) => wait(isLong ? RETRY_LONGEST_MS : RETRY_FIRST_MS),
  };
}

/** Moves the sequence past a row that has left the spool. */
async function passOver(part: Part, options: PartWriterOptions): Promise<void> {
  const { spool, store, onJobsEnded, persist, nowMs } = options;
  const { jobEnds, ...bare } = withoutRow(part, nowMs());
  const common = {
    spool: spool.name,
    ...bare,
    skips: skipsOf(part),
    live: [],
    incidents: [],
    fences: fencesOf(part),
  };
  try {
    await persist("control plane", () => store.apply({ ...common, jobEnds }));
    if (jobEnds.length > 0) onJobsEnded();
  } catch (error) {
    if (!isAboutValues(error)) throw error;
    await persist("control plane", () => store.apply({ ...common, drainedInboxIds: [] }));
  }
}
