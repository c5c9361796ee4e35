/** Rows that retention does not keep are dropped once a day, for all schedulers by the holder of the first shard. */
import type { Logger } from "pino";
import { onTicks } from "../../model/ticks.ts";
import type { ResultStore } from "../../store/results/result-store.ts";
import type { Meta } from "../../store/sql/coordination/meta-port.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";

/** At this hour, UTC, or at the first look after it. */
const THINNING_HOUR = 3;
/** How often it is looked whether it is time, ms. */
const LOOK_MS = 60_000;
/** So long after one that failed comes the next try, ms: it may have worked for minutes before it failed. */
const AGAIN_MS = 3_600_000;
/** The day of the latest one. */
const THINNED_ON = "results_thinned_on";

export interface ThinningOptions {
  readonly results: Pick<ResultStore, "thin">;
  readonly meta: Pick<Meta, "get" | "set">;
  readonly ownedShards: Pick<OwnedShards, "hasFirst">;
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number;
}

export class Thinning {
  readonly #options: ThinningOptions;
  #thinnedOn = "";
  #notBeforeMs = 0;

  constructor(options: ThinningOptions) {
    this.#options = options;
  }

  /**
   * It writes whole tables anew, so the day is remembered where a restart, and the shard's next holder, find it: before it begins, because it may be
   * what ends the process. The day is forgotten when ClickHouse refuses.
   */
  async look(): Promise<void> {
    const { results, meta, ownedShards, nowMs } = this.#options;
    const now = new Date(nowMs());
    const [today = ""] = now.toISOString().split("T");
    if (now.getUTCHours() < THINNING_HOUR || today === this.#thinnedOn || !ownedShards.hasFirst) return;
    if (now.getTime() < this.#notBeforeMs) return;
    const before = await meta.get(THINNED_ON);
    if (before !== today) {
      await meta.set(THINNED_ON, today);
      try {
        await results.thin();
      } catch (error) {
        this.#notBeforeMs = nowMs() + AGAIN_MS;
        await meta.set(THINNED_ON, before ?? "");
        throw error;
      }
    }
    this.#thinnedOn = today;
  }
}

/** @returns what stops it */
export function thinDaily(options: ThinningOptions, log: Logger): () => void {
  const thinning = new Thinning(options);
  const looking = oneAtATime(
    () => thinning.look(),
    (error) => log.error({ err: error }, "thinning failed; it is tried again in an hour"),
  );
  return onTicks(LOOK_MS, looking.request);
}
