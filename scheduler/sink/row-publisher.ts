/** Tells processes that show results of rows that are on their way to the stores: before SQL tells their statuses, so that none is without its row. */
import type { Monitor } from "../../model/monitor.ts";
import { batchText, type PublishedRow } from "../../store/recent/batch.ts";
import type { RowFeed } from "../../store/state/state.ts";
import type { JudgedRow } from "./judged-outcome.ts";

export interface RowPublisherOptions {
  readonly feed: Pick<RowFeed, "publish">;
  /** Of the spool: it names this scheduler. */
  readonly name: string;
  /** @returns undefined for one that is gone */
  readonly monitor: (monitorId: number) => Pick<Monitor, "projectId" | "kind"> | undefined;
}

export class RowPublisher {
  readonly #options: RowPublisherOptions;
  #number = 0;

  constructor(options: RowPublisherOptions) {
    this.#options = options;
  }

  publish(items: readonly JudgedRow[]): void {
    const rows: PublishedRow[] = [];
    for (const item of items) {
      const row = this.#rowOf(item);
      if (row !== undefined) rows.push(row);
    }
    this.#send(rows, []);
  }

  /** SQL refused a row of the monitor that was published. */
  refuse(monitorId: number): void {
    this.#send([], [monitorId]);
  }

  #send(rows: readonly PublishedRow[], refused: readonly number[]): void {
    if (rows.length + refused.length === 0) return;
    const { feed, name } = this.#options;
    feed.publish(batchText({ publisher: name, number: ++this.#number, rows, refused }));
  }

  #rowOf({ live }: JudgedRow): PublishedRow | undefined {
    const monitor = this.#options.monitor(live.monitorId);
    const { monitorId, seq, lastRowId, lastRowStatus, lastCheckedAtMs } = live;
    if (monitor === undefined || lastRowId === null || lastRowStatus === null || lastCheckedAtMs === null)
      return undefined;
    // One literal: this runs for every check, and spreading costs as much as the rest.
    return {
      monitorId,
      projectId: monitor.projectId,
      seq,
      id: lastRowId,
      kind: monitor.kind,
      status: lastRowStatus,
      testedAtMs: lastCheckedAtMs,
      latencyMs: live.latencyMs,
      connectMs: live.connectMs,
      errorMessage: live.errorMessage,
      liveStatus: live.status,
    };
  }
}
