/**
 * When a prober is silent: its beat counter does not change while the watcher itself runs. Pure.
 *
 * Silence is counted in looks of the watcher that came on time, not in elapsed time: when the whole process was frozen (SIGSTOP, a
 * suspended machine) or starved, the watcher's looks come late and no prober could beat, so each prober gets two new seconds.
 */

/** How often the watcher looks, ms. */
export const LOOK_EVERY_MS = 500;
/** Silence after which a prober is given up. */
const SILENT_MS = 2_000;
/** A look this late means that the watcher was away. */
const AWAY_MS = 3 * LOOK_EVERY_MS;

export class SilenceWatch {
  readonly #watched = new Map<number, { beats: number; silentMs: number }>();
  readonly #longestMs: number;
  #lastLookMs: number;

  /** @param longestMs silence after which a prober is reported; the watchdog's when absent */
  constructor(nowMs: number, longestMs = SILENT_MS) {
    this.#longestMs = longestMs;
    this.#lastLookMs = nowMs;
  }

  add(prober: number, beats: number): void {
    this.#watched.set(prober, { beats, silentMs: 0 });
  }

  remove(prober: number): void {
    this.#watched.delete(prober);
  }

  /** @returns the probers that have been silent for that long, each once */
  look(beatsOf: (prober: number) => number, nowMs: number): number[] {
    const sinceMs = nowMs - this.#lastLookMs;
    this.#lastLookMs = nowMs;
    const silent: number[] = [];
    for (const [prober, seen] of this.#watched) {
      const beats = beatsOf(prober);
      if (beats !== seen.beats || sinceMs >= AWAY_MS) seen.silentMs = 0;
      else seen.silentMs += sinceMs;
      seen.beats = beats;
      if (seen.silentMs < this.#longestMs) continue;
      silent.push(prober);
      this.#watched.delete(prober);
    }
    return silent;
  }
}
