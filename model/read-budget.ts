/**
 * How much of a thread reads may have, so that they make no check late. Pure: times and readings come in as arguments.
 *
 * A check that began late although no cap held it back tells that processors are short. While some are late, reads get a part of what they used; while
 * none is, they get more again, step by step. Between the two bounds nothing moves. A read is let in while the budget holds what such a read costs,
 * so cheap reads are the last to be refused. What is charged is what the thread used while reads were under way.
 */

/** At one moment. All but the time count since the start. */
export interface BudgetReading {
  /** Monotonic, ms. */
  readonly nowMs: number;
  /** Processor time of the thread, ms. */
  readonly usedMs: number;
  /** Checks that began, and those of them that began late. */
  readonly begun: number;
  readonly late: number;
}

/** All of a thread: nothing is refused. Rates are ms of processor time a second. */
export const FULL_RATE = 1_000;
/** What is left to reads however late checks are: people must be able to look at what is wrong. A twentieth of a machine of one processor. */
export const LEAST_RATE = 50;

/** How often rates are looked at, ms; and the longest time in which checks are collected for one look. */
const LOOK_EVERY_MS = 100;
const LONGEST_LOOK_MS = 500;
/** Fewer in one look, that is fewer than a hundred a second, say little, and take little: then nothing is refused. */
const LEAST_BEGUN = 50;
const LEAST_LATE = 3;
/** Shares of checks that are late: from the upper one on reads give way, below the lower one they come back. */
const BUSY_SHARE = 0.015;
const VERY_BUSY_SHARE = 0.1;
const CALM_SHARE = 0.005;
/** Of what reads used, what is left to them when checks are late, or very late. */
const LEFT_WHEN_BUSY = 0.7;
const LEFT_WHEN_VERY_BUSY = 0.3;
/** What comes back with a calm look: all of it within ten seconds. */
const BACK_PER_LOOK = 10;
/** What may be saved up for a burst: of a second's budget, and at least, ms. */
const BURST_SHARE = 0.25;
const LEAST_BURST_MS = 100;
/** The farthest that one long read can take the budget below nothing, ms. */
const MOST_DEBT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export class ReadBudget {
  #rate = FULL_RATE;
  #levelMs = FULL_RATE * BURST_SHARE;
  /** Costs of reads that are under way, and how many those are. They are charged for what they use. */
  #reservedMs = 0;
  #underWay = 0;
  /** By reads. */
  #usedMs = 0;
  /** What one read that was under way from the start would have used, ms. */
  #usedByEachMs = 0;
  /** In the latest look, ms a second. */
  #usedRate = 0;
  readonly #leastRate: number;
  #last: BudgetReading;
  /** Where the present look began, with what reads had used by then. */
  #from: BudgetReading;

  /** @param leastRate what is left however late checks are */
  constructor(first: BudgetReading, leastRate = LEAST_RATE) {
    this.#leastRate = leastRate;
    this.#last = first;
    this.#from = { ...first, usedMs: 0 };
  }

  /** Of a thread, 0 to 1. */
  get share(): number {
    return this.#rate / FULL_RATE;
  }

  /** What reads used of the thread lately, ms a second. */
  get usedRate(): number {
    return this.#usedRate;
  }

  /**
   * What one read that was under way from the start would have used, ms: between two moments it grows by what a read used that was under way from one to
   * the other. What the thread used is shared equally among the reads that are under way: one that waits for another store is not charged for all others.
   */
  get usedByEachMs(): number {
    return this.#usedByEachMs;
  }

  /** To be called before reads, and now and then without any. */
  look(reading: BudgetReading): void {
    const seconds = Math.min(1, Math.max(0, reading.nowMs - this.#last.nowMs) / 1_000);
    // What else the thread does is none of the reads' doing.
    const used = this.#underWay === 0 ? 0 : Math.max(0, reading.usedMs - this.#last.usedMs);
    this.#usedMs += used;
    if (this.#underWay > 0) this.#usedByEachMs += used / this.#underWay;
    this.#last = reading;
    const level = this.#levelMs + this.#rate * seconds - used;
    this.#levelMs = Math.max(-MOST_DEBT_MS, Math.min(this.#burstMs(), level));
    this.#move(reading);
  }

  /**
   * Lets a read in, which must be given back to leave().
   * @param costMs what reads like it cost
   * @returns null when it is let in; else after how many ms it may come again, above 0
   */
  enter(costMs: number): number | null {
    const wanted = Math.min(Math.max(0, costMs), this.#burstMs());
    const missing = wanted - (this.#levelMs - this.#reservedMs);
    if (this.#rate < FULL_RATE && missing > 0) return Math.min(LONGEST_WAIT_MS, (missing * 1_000) / this.#rate);
    this.#reservedMs += Math.max(0, costMs);
    this.#underWay += 1;
    return null;
  }

  /** It was answered. @param costMs as it was given to enter() */
  leave(costMs: number, reading: BudgetReading): void {
    this.look(reading);
    this.#underWay = Math.max(0, this.#underWay - 1);
    this.#reservedMs = Math.max(0, this.#reservedMs - Math.max(0, costMs));
  }

  /** What a read takes of the thread after it was answered, or takes elsewhere. @param ms processor time */
  charge(ms: number): void {
    this.#usedMs += ms;
    this.#levelMs = Math.max(-MOST_DEBT_MS, this.#levelMs - ms);
  }

  #burstMs(): number {
    return Math.max(LEAST_BURST_MS, this.#rate * BURST_SHARE);
  }

  #move(reading: BudgetReading): void {
    const { nowMs, usedMs, begun, late } = this.#from;
    const ms = reading.nowMs - nowMs;
    const checks = reading.begun - begun;
    const here = { ...reading, usedMs: this.#usedMs };
    if (ms < 0 || checks < 0) this.#from = here;
    if (ms < LOOK_EVERY_MS || checks < 0 || (checks < LEAST_BEGUN && ms < LONGEST_LOOK_MS)) return;
    this.#from = here;
    const lateChecks = reading.late - late;
    const lateShare = checks < LEAST_BEGUN || lateChecks < LEAST_LATE ? 0 : lateChecks / checks;
    const usedRate = ((this.#usedMs - usedMs) * 1_000) / ms;
    this.#usedRate = usedRate;
    if (lateShare >= BUSY_SHARE) {
      // Reads that use so little are not what makes checks late.
      if (usedRate <= this.#leastRate) return;
      const left = lateShare >= VERY_BUSY_SHARE ? LEFT_WHEN_VERY_BUSY : LEFT_WHEN_BUSY;
      this.#rate = Math.max(this.#leastRate, Math.min(this.#rate, usedRate) * left);
    } else if (lateShare < CALM_SHARE) {
      this.#rate = Math.min(FULL_RATE, this.#rate + (BACK_PER_LOOK * ms) / LOOK_EVERY_MS);
    }
  }
}
