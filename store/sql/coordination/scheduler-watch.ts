/** Schedulers that are separate processes, as an API sees them: whether one works, and why results are late. */
import { BeatWatch } from "../../../model/lease.ts";
import type { SchedulerRow, Shards, Warning } from "./shards-port.ts";

export interface SchedulerWatchOptions {
  readonly shards: Pick<Shards, "view">;
  readonly monotonicNowMs: () => number;
}

const LOOK_MS = 2_000;
/** A beat that stood still for this long, by our own clock, is no sign of life, ms: several beats and a frozen moment. */
const SILENT_MS = 15_000;

export class SchedulerWatch {
  readonly #shards: Pick<Shards, "view">;
  readonly #nowMs: () => number;
  /** A scheduler that is seen for the first time gets the same time as the others before it counts as dead. */
  readonly #beats = new BeatWatch();
  readonly #timer: NodeJS.Timeout;
  #schedulers: readonly SchedulerRow[] = [];
  #looking: Promise<void> | null = null;

  constructor({ shards, monotonicNowMs }: SchedulerWatchOptions) {
    this.#shards = shards;
    this.#nowMs = monotonicNowMs;
    this.#timer = setInterval(() => void this.#lookOnce().catch(() => {}), LOOK_MS);
  }

  /** @throws an Error when no scheduler gives a sign of life */
  async ping(): Promise<void> {
    await this.#lookOnce();
    if (this.#alive().length === 0) throw new Error("no scheduler gives a sign of life");
  }

  /** Why results are late or not readable, in words for operators; null when all is well. */
  trouble(): string | null {
    return this.#alive().find(({ report }) => report.trouble !== null)?.report.trouble ?? null;
  }

  /** Words for what the operator should look at. */
  warnings(): readonly Warning[] {
    return [...new Set(this.#alive().flatMap(({ report }) => report.warnings ?? []))];
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #lookOnce(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { schedulers } = await this.#shards.view();
    this.#beats.look(schedulers, this.#nowMs());
    this.#schedulers = schedulers;
  }

  #alive(): readonly SchedulerRow[] {
    const nowMs = this.#nowMs();
    return this.#schedulers.filter(({ id }) => (this.#beats.stillMs(id, nowMs) ?? 0) <= SILENT_MS);
  }
}
