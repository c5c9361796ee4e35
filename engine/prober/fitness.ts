/**
 * Decides whether a prober's own state caused a failure (docs/decisions/0003-whose-fault.md). Pure: samples and monotonic ms come from the caller.
 *
 * What makes a stretch of time unfit:
 * - a stall: nothing ran for 500 ms or more (the process was frozen, starved of CPU, or a check blocked the thread);
 * - an event loop that was on average 250 ms behind over a report's second;
 * - refused local resources (descriptors, ports, buffers): at least five in that second and a fifth of what ended in it.
 *
 * A failed check that ran during such a stretch says more about us than about the target, and becomes `unfit`. A pass stays a pass: the
 * answer was there. A time-out is excused only when a fifth or more of its duration was unfit: a target that was silent in nine fit seconds
 * of ten was really silent. So a freeze of 5 s excuses every check in flight; two busy loops on the same machine excuse none, because they
 * delay turns of the event loop by tens of milliseconds, not by hundreds.
 */
import type { CheckOutcome } from "../../model/result.ts";
import { isOwnVerdict } from "../../model/verdict.ts";
import type { ProberFitness } from "../contract/messages.ts";

/** Shortest gap between two turns of the event loop that counts as a stall. */
export const STALL_MS = 500;
/** How often the prober proves that its loop turns; the lag of a turn is what exceeds it. */
export const TICK_MS = 50;
/** Mean lag of a report's turns that makes the whole stretch unfit. */
const LAG_MS = 250;
/** Local refusals that make a stretch unfit: this many, and this share of the checks that ended. */
const REFUSALS = 5;
const REFUSAL_SHARE = 0.2;
/** Mean lateness of starts that is reported. It excuses no failure: a check that starts late is measured as well as any. */
const LATE_MS = 5_000;
/** Part of a time-out's life that must have been unfit to excuse it. */
const EXCUSING_SHARE = 0.2;
/** Longest life of a check (120 s, docs/api-contract.md#monitors) with room: older stretches excuse nothing any more. */
const REMEMBERED_MS = 180_000;

interface UnfitStretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
}

export class Fitness {
  #lastTurnMs: number;
  #lastTickMs: number;
  #windowFromMs: number;
  #stretches: UnfitStretch[] = [];
  #reasons = new Set<string>();
  #maxGapMs = 0;
  #lagMs = 0;
  #ticks = 0;
  #latenessMs = 0;
  #started = 0;
  #ended = 0;
  #refusals = 0;

  constructor(nowMs: number) {
    this.#lastTurnMs = nowMs;
    this.#lastTickMs = nowMs;
    this.#windowFromMs = nowMs;
  }

  /** To be called in a turn of the event loop, at least every TICK_MS, and before a failure or a deadline is believed. @returns the gap since the last call, ms */
  turn(nowMs: number): number {
    const gapMs = nowMs - this.#lastTurnMs;
    if (gapMs >= STALL_MS) this.#mark(this.#lastTurnMs, nowMs, `nothing ran for ${Math.round(gapMs)} ms`);
    if (gapMs > this.#maxGapMs) this.#maxGapMs = gapMs;
    this.#lastTurnMs = nowMs;
    return gapMs;
  }

  /** A turn by the ticker, which should come every TICK_MS. */
  tick(nowMs: number): void {
    this.turn(nowMs);
    this.#lagMs += Math.max(0, nowMs - this.#lastTickMs - TICK_MS);
    this.#ticks++;
    this.#lastTickMs = nowMs;
  }

  /** A turn after a rest, in which nothing ran: it cannot have come late. */
  resume(nowMs: number): void {
    this.#lastTurnMs = nowMs;
    this.#lastTickMs = nowMs;
  }

  started(latenessMs: number): void {
    this.#started++;
    this.#latenessMs += latenessMs;
  }

  /** @param refusedLocally the check ended because this machine refused a resource */
  ended(refusedLocally: boolean): void {
    this.#ended++;
    if (refusedLocally) this.#refusals++;
  }

  /** Why a check's verdict must not be held against its target; undefined when it stands. */
  excuse(verdict: CheckOutcome["verdict"], startedMs: number, endedMs: number): string | undefined {
    if (verdict === "ok" || isOwnVerdict(verdict)) return undefined;
    let unfitMs = 0;
    let reason: string | undefined;
    for (const stretch of this.#stretches) {
      const overlapMs = Math.min(endedMs, stretch.toMs) - Math.max(startedMs, stretch.fromMs);
      if (overlapMs <= 0) continue;
      unfitMs += overlapMs;
      reason ??= stretch.reason;
    }
    if (verdict === "timeout" && unfitMs < EXCUSING_SHARE * (endedMs - startedMs)) return undefined;
    return reason;
  }

  /** @returns the state since the last report, and starts a new window */
  report(nowMs: number, inFlight: number, loopUtilization: number): ProberFitness {
    this.turn(nowMs);
    this.#judgeWindow(nowMs);
    const reasons = [...this.#reasons];
    const fitness: ProberFitness = {
      fit: reasons.length === 0,
      reasons,
      inFlight,
      maxLoopGapMs: Math.round(this.#maxGapMs),
      localRefusals: this.#refusals,
      loopUtilization: Math.round(loopUtilization * 1000) / 1000,
    };
    this.#startWindow(nowMs);
    return fitness;
  }

  #judgeWindow(nowMs: number): void {
    const lagMs = this.#ticks === 0 ? 0 : this.#lagMs / this.#ticks;
    if (lagMs >= LAG_MS) this.#mark(this.#windowFromMs, nowMs, `the event loop was ${Math.round(lagMs)} ms behind`);
    if (this.#refusals >= REFUSALS && this.#refusals >= REFUSAL_SHARE * this.#ended) {
      this.#mark(
        this.#windowFromMs,
        nowMs,
        `this machine refused ${this.#refusals} of ${this.#ended} checks a resource`,
      );
    }
    const latenessMs = this.#started === 0 ? 0 : this.#latenessMs / this.#started;
    if (latenessMs >= LATE_MS) this.#reasons.add(`checks start ${Math.round(latenessMs)} ms late`);
  }

  #mark(fromMs: number, toMs: number, reason: string): void {
    this.#reasons.add(reason);
    const last = this.#stretches.at(-1);
    // Stretches never overlap, so that their overlaps with a check's life can be summed.
    const clearFromMs = last === undefined ? fromMs : Math.max(fromMs, last.toMs);
    if (clearFromMs < toMs) this.#stretches.push({ fromMs: clearFromMs, toMs, reason });
    const oldest = this.#stretches[0];
    if (oldest !== undefined && oldest.toMs < toMs - REMEMBERED_MS) {
      this.#stretches = this.#stretches.filter((stretch) => stretch.toMs >= toMs - REMEMBERED_MS);
    }
  }

  #startWindow(nowMs: number): void {
    this.#windowFromMs = nowMs;
    this.#reasons = new Set();
    this.#maxGapMs = 0;
    this.#lagMs = 0;
    this.#ticks = 0;
    this.#latenessMs = 0;
    this.#started = 0;
    this.#ended = 0;
    this.#refusals = 0;
  }
}
