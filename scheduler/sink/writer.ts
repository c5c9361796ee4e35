/** How the sink's batches, and what a replay finds, are written to SQL: see parts.ts. */
import type { MonitorAlert } from "../../model/alert.ts";
import type { IncidentChange } from "../../model/incident.ts";
import type { LiveState } from "../../model/status.ts";
import { isAboutValues } from "../../store/errors.ts";
import type { Spool } from "../../store/results/spool.ts";
import type { SetAside } from "../../store/set-aside.ts";
import { type ShardLease, ShardsLost } from "../../store/sql/coordination/shards-port.ts";
import type { EndedTest } from "../../store/sql/jobs/port.ts";
import type { NewConfigResult } from "../../store/sql/monitors/imports-port.ts";
import type { SinkBatch, SinkStore } from "../../store/sql/sink/port.ts";
import type { JudgedRow } from "./judged-outcome.ts";
import { leasesOf, type Part, skipsOf, withoutRow } from "./parts.ts";
import type { ReplayWriter } from "./replay.ts";

/** Between two tries of a step, ms. */
export const RETRY_FIRST_MS = 100;
export const RETRY_LONGEST_MS = 5_000;

/** How steps that can fail for a while are tried again. */
export interface Steps {
  /** Tries a step until it succeeds, or as often as is right. @throws ShardsLost, or what isAboutValues() knows, at once */
  run<T>(step: string, attempt: () => Promise<T>): Promise<T>;
  wait(ms: number): Promise<void>;
  /** Wall clock, Unix ms. */
  nowMs(): number;
}

export interface PartWriterEvents {
  /** Tests have ended in SQL without a row. */
  onTestsEnded(): void;
  /** @param rows that are dropped with them */
  onLost(leases: readonly ShardLease[], rows: number): void;
}

export interface PartWriterOptions {
  readonly spool: Pick<Spool, "name" | "discard">;
  readonly store: Pick<SinkStore, "apply" | "touch">;
  readonly setAside: Pick<SetAside, "add" | "has">;
  /** A store refused a row of the monitor for its values: the values in memory may be as bad. */
  readonly states: { heal(monitorId: number): void };
  readonly steps: Steps;
  readonly events: PartWriterEvents;
}

/** What a batch, or a part of one, changes in SQL: live states are those after its own last items. */
export function changesOf(
  items: readonly JudgedRow[],
  discardedInboxIds: readonly number[] = [],
): Omit<SinkBatch, "spool" | "appliedSeq" | "skips"> & { readonly leases: readonly ShardLease[] } {
  const leases = new Map<number, ShardLease>();
  const states = new Map<number, LiveState>();
  const incidents: IncidentChange[] = [];
  const alerts: MonitorAlert[] = [];
  const endedTests: EndedTest[] = [];
  const configResults: NewConfigResult[] = [];
  const drainedInboxIds = [...discardedInboxIds];
  for (const item of items) {
    leases.set(item.lease.shard, item.lease);
    states.set(item.live.monitorId, item.live);
    if (item.incidents.length > 0) incidents.push(...item.incidents);
    if (item.alerts.length > 0) alerts.push(...item.alerts);
    if (item.inboxId !== null) drainedInboxIds.push(item.inboxId);
    if (item.endedTest !== undefined) endedTests.push(item.endedTest);
    if (item.configResults !== undefined) configResults.push(...item.configResults);
  }
  return {
    leases: [...leases.values()],
    live: [...states.values()],
    incidents,
    alerts,
    drainedInboxIds,
    endedTests,
    configResults,
  };
}

/** Writes parts to SQL. */
export class StorePartWriter implements ReplayWriter {
  readonly #options: PartWriterOptions;

  constructor(options: PartWriterOptions) {
    this.#options = options;
  }

  write(part: Part): Promise<void> {
    const { spool, store, steps } = this.#options;
    const { items, moved, appliedSeq, discardedInboxIds } = part;
    const leases = leasesOf(part);
    const skips = skipsOf(part);
    const states = moved.map((one) => one.live);
    if (appliedSeq === 0) return steps.run("control plane", () => store.touch({ live: states, skips, leases }));
    const { live, ...changes } = changesOf(items, discardedInboxIds);
    // States that changed without a check changed after the items of this part, so they come last.
    const all = { ...changes, live: [...live, ...states], skips, leases };
    return steps.run("control plane", () => store.apply({ ...all, spool: spool.name, appliedSeq }));
  }

  async lose(leases: readonly ShardLease[], rows: readonly number[]): Promise<void> {
    this.#options.events.onLost(leases, rows.length);
    if (rows.length > 0) await this.#discard(rows);
  }

  wasSetAside(line: string): boolean {
    return this.#options.setAside.has("sql", line);
  }

  async setAside(part: Part, error: unknown): Promise<void> {
    const { setAside, states } = this.#options;
    const [item, moved] = [part.items[0], part.moved[0]];
    const monitorId = item?.live.monitorId ?? moved?.live.monitorId ?? null;
    const [seq] = part.seqs;
    const line = seq === undefined ? JSON.stringify(moved?.live ?? null) : part.lineOf(seq);
    await setAside.add({ store: "sql", monitorId, error, line });
    if (monitorId !== null) states.heal(monitorId);
    if (item === undefined) return;
    await this.#discard(part.seqs);
    await this.#passOver(part).catch((failure: unknown) => {
      // Another scheduler holds the shard, and the row has left the spool: nothing else is to do.
      if (!(failure instanceof ShardsLost)) throw failure;
    });
  }

  /** Moves the applied sequence past a row that has left the spool. */
  async #passOver(part: Part): Promise<void> {
    const { spool, store, steps, events } = this.#options;
    const { endedTests, ...bare } = withoutRow(part, steps.nowMs());
    const nothing = { live: [], incidents: [] };
    const common = { spool: spool.name, ...bare, ...nothing, skips: skipsOf(part), leases: leasesOf(part) };
    try {
      await steps.run("control plane", () => store.apply({ ...common, endedTests }));
      if (endedTests.length > 0) events.onTestsEnded();
    } catch (error) {
      if (!isAboutValues(error)) throw error;
      await steps.run("control plane", () => store.apply({ ...common, drainedInboxIds: [] }));
    }
  }

  async #discard(rows: readonly number[]): Promise<void> {
    const { spool, steps } = this.#options;
    await steps.run("spool", () => spool.discard(new Set(rows)));
  }

  pause(isLong: boolean): Promise<void> {
    return this.#options.steps.wait(isLong ? RETRY_LONGEST_MS : RETRY_FIRST_MS);
  }
}
