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

  constructor(options: ThinningOptions) {
    this.#options = options;
  }

  /** It writes whole tables anew, so the day is remembered where a restart, and the shard's next holder, find it. */
  async look(): Promise<void> {
    const { results, meta, ownedShards, nowMs } = this.#options;
    const now = new Date(nowMs());
    const [today = ""] = now.toISOString().split("T");
    if (now.getUTCHours() < THINNING_HOUR || today === this.#thinnedOn || !ownedShards.hasFirst) return;
    const isDone = (await meta.get(THINNED_ON)) === today;
    if (!isDone) await meta.set(THINNED_ON, today);
    this.#thinnedOn = today;
    if (!isDone) await results.thin();
  }
}

/** @returns what stops it */
export function thinDaily(options: ThinningOptions, log: Logger): () => void {
  const thinning = new Thinning(options);
  const looking = oneAtATime(
    () => thinning.look(),
    (error) => log.error({ err: error }, "thinning failed; tomorrow's will do its work too"),
  );
  return onTicks(LOOK_MS, looking.request);
}
