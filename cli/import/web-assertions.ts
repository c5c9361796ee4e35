/** Assertions on a website's answer, as several programs have them, put into one monitor. */
import type { MonitorDraft } from "./monitor-draft.ts";
import { Codes } from "./status-codes.ts";
import { numberIn, quoted } from "./values.ts";

export type Comparison = "==" | "!=" | "<" | "<=" | ">" | ">=" | "contains" | "excludes";

export class WebAssertions {
  readonly #monitor: MonitorDraft;
  readonly #codes = new Codes();
  #hasCodes = false;

  constructor(monitor: MonitorDraft) {
    this.#monitor = monitor;
  }

  /** @returns false when it cannot be said, which the caller notes */
  status(comparison: Comparison, target: unknown): boolean {
    const wanted = numberIn(target);
    if (wanted === undefined) return false;
    const tests: Readonly<Partial<Record<Comparison, (code: number) => boolean>>> = {
      "==": (code) => code === wanted,
      "!=": (code) => code !== wanted,
      "<": (code) => code < wanted,
      "<=": (code) => code <= wanted,
      ">": (code) => code > wanted,
      ">=": (code) => code >= wanted,
    };
    const test = tests[comparison];
    if (test === undefined) return false;
    this.#hasCodes = true;
    this.#codes.keep(test);
    return true;
  }

  /** One text that must be there, or must not. */
  text(comparison: Comparison, target: unknown): boolean {
    if (typeof target !== "string" || target === "") return false;
    if (comparison !== "contains" && comparison !== "excludes") return false;
    if (this.#monitor.get("keyword") !== undefined) return this.#second(comparison, target);
    this.#monitor.kind("keyword").keyword(target);
    if (comparison === "excludes") this.#monitor.set("invert_keyword", true);
    return true;
  }

  /** A second one is an expression. */
  #second(comparison: Comparison, target: string): boolean {
    if (comparison !== "contains" || this.#monitor.get("body_regex") !== undefined) return false;
    this.#monitor.set("body_regex", target.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return true;
  }

  /** A slow answer makes a monitor degraded, where the other program may have called it down. */
  responseTime(comparison: Comparison, target: unknown, meaning: "degraded" | "down"): boolean {
    const ms = numberIn(target);
    if ((comparison !== "<" && comparison !== "<=") || ms === undefined || ms < 1) return false;
    this.#monitor.set("max_response_time", Math.min(Math.round(ms), 120_000));
    if (meaning === "down") this.#monitor.changed(`an answer after ${quoted(target)} ms makes it degraded, not down`);
    return true;
  }

  /** @param otherwise codes that count where nothing was said of them */
  finish(otherwise: readonly string[] | undefined): void {
    if (!this.#hasCodes) {
      this.#monitor.set("accepted_statuscodes", otherwise);
      return;
    }
    const ranges = this.#codes.ranges();
    if (ranges.length === 0) this.#monitor.lost("its conditions on the status leave no code");
    else this.#monitor.set("accepted_statuscodes", ranges);
  }
}
