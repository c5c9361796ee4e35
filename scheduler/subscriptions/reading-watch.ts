/**
 * Decides when the reading of a list has taken too much. It looks at the processor time of the thread that reads, so a busy machine, which
 * slows everything down, makes no list look hostile. Pure.
 */

/** Processor time of one piece of reading, in which the thread answers nothing else, ms. The largest realistic list takes about 1,000. */
const LONGEST_PIECE_CPU_MS = 2_000;
/** Processor time of one list, ms. */
const LONGEST_LIST_CPU_MS = 10_000;
/** Elapsed time of one list, ms: for systems that do not report a thread's processor time, and for a thread that waits without end. */
const LONGEST_LIST_MS = 60_000;

export interface ReadingSample {
  /** Counts up each time the thread pauses or begins another list. */
  readonly beats: number;
  /** Processor time of the thread so far, ms; null when the system does not report it. */
  readonly cpuMs: number | null;
  /** Monotonic, ms. */
  readonly nowMs: number;
}

export class ReadingWatch {
  readonly #start: ReadingSample;
  #piece: ReadingSample;

  constructor(start: ReadingSample) {
    this.#start = start;
    this.#piece = start;
  }

  /** @returns what the reading has taken too much of; undefined while it may go on */
  look(sample: ReadingSample): string | undefined {
    if (sample.beats !== this.#piece.beats) this.#piece = sample;
    if (usedMs(this.#piece, sample) > LONGEST_PIECE_CPU_MS)
      return `${LONGEST_PIECE_CPU_MS / 1_000} s of computing at a stretch`;
    if (usedMs(this.#start, sample) > LONGEST_LIST_CPU_MS) return `${LONGEST_LIST_CPU_MS / 1_000} s of computing`;
    if (sample.nowMs - this.#start.nowMs > LONGEST_LIST_MS) return `${LONGEST_LIST_MS / 1_000} s`;
    return undefined;
  }
}

function usedMs(from: ReadingSample, to: ReadingSample): number {
  return from.cpuMs === null || to.cpuMs === null ? 0 : to.cpuMs - from.cpuMs;
}
