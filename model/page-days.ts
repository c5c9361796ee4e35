/** Days of a line of a status page: of one monitor, or of many together. Pure. */
import { DAY_MS, daysOf, type Past } from "./days.ts";

/** `worst`: of each day the monitor that was down longest · `sum`: all of them together. */
export type DayRule = "worst" | "sum";

interface LineDay {
  /** Midnight, Unix ms. */
  readonly fromMs: number;
  readonly downS: number;
  readonly watchedS: number;
  readonly maintenanceS: number;
  /** The greatest share of the day's watched time that one monitor, or all together, were down; 0 to 1. */
  readonly downShare: number;
}

export class LineDays {
  readonly #rule: DayRule;
  readonly #nowMs: number;
  readonly #firstDay: number;
  readonly #down: Float64Array;
  readonly #watched: Float64Array;
  readonly #maintenance: Float64Array;
  readonly #share: Float64Array;
  /** The first day that is added to. */
  readonly #from: number;

  /**
   * @param days the last of them is the day of `nowMs`
   * @param closed the same days as they were when the last of them began: only that one is added to
   */
  constructor(rule: DayRule, days: number, nowMs: number, closed?: LineDays) {
    this.#rule = rule;
    this.#nowMs = nowMs;
    this.#firstDay = Math.floor(nowMs / DAY_MS) - days + 1;
    this.#from = closed === undefined ? 0 : days - 1;
    this.#down = closed === undefined ? new Float64Array(days) : closed.#down.slice();
    this.#watched = closed === undefined ? new Float64Array(days) : closed.#watched.slice();
    this.#maintenance = closed === undefined ? new Float64Array(days) : closed.#maintenance.slice();
    this.#share = closed === undefined ? new Float64Array(days) : closed.#share.slice();
  }

  /** A monitor that something happened to. */
  add(past: Past): void {
    const days = this.#down.length - this.#from;
    for (const [at, day] of daysOf(past, days, this.#nowMs).entries()) {
      const index = this.#from + at;
      const lengthS = this.#lengthS(index);
      const watched = Math.max(0, lengthS - day.maintenanceS - day.pausedS - day.unwatchedS);
      this.#addDay(index, Math.min(day.downS, watched), watched, day.maintenanceS);
    }
  }

  /** A monitor that nothing happened to. @param knownFromMs Unix ms */
  addQuiet(knownFromMs: number): void {
    for (let index = this.#from; index < this.#down.length; index += 1) {
      const fromMs = (this.#firstDay + index) * DAY_MS;
      const untilMs = Math.min(fromMs + DAY_MS, this.#nowMs);
      const watched = Math.max(0, untilMs - Math.max(fromMs, knownFromMs)) / 1_000;
      this.#addDay(index, 0, watched, 0);
    }
  }

  /** Oldest first. */
  days(): readonly LineDay[] {
    return Array.from(this.#down, (downS, index) => ({
      fromMs: (this.#firstDay + index) * DAY_MS,
      downS,
      watchedS: this.#watched[index] ?? 0,
      maintenanceS: this.#maintenance[index] ?? 0,
      downShare: this.#shareOf(index),
    }));
  }

  /** Percent of the watched time; null when nothing was watched. */
  uptime(): number | null {
    const watched = this.#watched.reduce((sum, one) => sum + one, 0);
    const down = this.#down.reduce((sum, one) => sum + one, 0);
    return watched === 0 ? null : (1 - down / watched) * 100;
  }

  #lengthS(index: number): number {
    const fromMs = (this.#firstDay + index) * DAY_MS;
    return Math.max(0, Math.min(DAY_MS, this.#nowMs - fromMs)) / 1_000;
  }

  #shareOf(index: number): number {
    if (this.#rule === "worst") return this.#share[index] ?? 0;
    const watched = this.#watched[index] ?? 0;
    return watched === 0 ? 0 : (this.#down[index] ?? 0) / watched;
  }

  #addDay(index: number, down: number, watched: number, maintenance: number): void {
    if (this.#rule === "sum") {
      this.#down[index] = (this.#down[index] ?? 0) + down;
      this.#watched[index] = (this.#watched[index] ?? 0) + watched;
      this.#maintenance[index] = (this.#maintenance[index] ?? 0) + maintenance;
      return;
    }
    this.#down[index] = Math.max(this.#down[index] ?? 0, down);
    this.#watched[index] = Math.max(this.#watched[index] ?? 0, watched);
    this.#maintenance[index] = Math.max(this.#maintenance[index] ?? 0, maintenance);
    this.#share[index] = Math.max(this.#share[index] ?? 0, watched === 0 ? 0 : down / watched);
  }
}
