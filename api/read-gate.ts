/**
 * Refuses reads before they make a check late. A caller that reads in a loop takes all that is left of the processors, and checks need it: so reads have a
 * budget (model/read-budget.ts). A read that finds it used up waits a moment; when several wait already, it is told when to come again. What changes
 * something, signs in, or asks for health is never refused.
 */
import { setTimeout } from "node:timers/promises";
import { BoundedMap } from "../model/bounded-map.ts";
import type { MaybePromise } from "../model/maybe-promise.ts";
import { type BudgetReading, ReadBudget } from "../model/read-budget.ts";
import { type ApiError, refusal } from "./errors.ts";
import type { ApiRequest } from "./http.ts";

/** Of a route. */
interface Asked {
  readonly method: string;
  readonly scope: string;
  readonly path: string;
}

/** What the gate looks at: processor time of this thread, and what the scheduler of this process says of its checks. */
export interface Pressure {
  /** Monotonic, ms. */
  readonly nowMs: () => number;
  /** ms, since whenever. */
  readonly threadMs: () => number;
  readonly checks: { readonly begun: number; readonly late: number };
  /** By default a timer. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** The rates are looked at without reads too, ms. */
const LOOK_EVERY_MS = 250;
/** Routes by how many rows are asked for: bounds memory. */
const MOST_KINDS = 500;
/** What a read of a kind costs that was not seen yet, ms. */
const FIRST_COST_MS = 2;
/** How much the newest cost of a kind counts. */
const NEWEST_SHARE = 0.2;
/** One that waited for another store shows what all of this thread cost meanwhile, so no more counts, ms. */
const MOST_COST_MS = 100;
/** A read waits at most so long, ms: what a person does not take for a fault. */
const LONGEST_WAIT_MS = 1_000;
const SHORTEST_WAIT_MS = 5;
/** At one time. Readers in a loop are refused beyond it: waiting would hold their connections, and bring them nothing. */
const MOST_WAITING = 4;
/** How long health tells of a refusal, and what is read may be older, ms. */
const TOLD_FOR_MS = 60_000;

const LIMIT = /(?:^|&)limit=(\d{1,4})(?:&|$)/;

export class ReadGate {
  readonly #pressure: Pressure | null;
  readonly #budget: ReadBudget;
  readonly #costs = new BoundedMap<string, number>(MOST_KINDS);
  readonly #pause: (ms: number) => Promise<unknown>;
  #waiting = 0;
  #refused = 0;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #pressedAtMs = Number.NEGATIVE_INFINITY;

  /** @param pressure null: no check of this process could be late, and nothing is refused */
  constructor(pressure: Pressure | null) {
    this.#pressure = pressure;
    this.#pause = pressure?.pause ?? setTimeout;
    this.#budget = new ReadBudget(this.#reading());
  }

  /** Reads that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Of this thread, what reads may use now, 0 to 1. */
  get share(): number {
    return this.#budget.share;
  }

  /** Whether a read was refused in the last minute. */
  get isRefusing(): boolean {
    return this.#pressure !== null && this.#pressure.nowMs() - this.#refusedAtMs < TOLD_FOR_MS;
  }

  /** Whether checks have begun late in the last minute while reads used much: what is read often may be a second old. */
  get isPressed(): boolean {
    if (this.#pressure === null) return false;
    const nowMs = this.#pressure.nowMs();
    if (this.#budget.share < 1) this.#pressedAtMs = nowMs;
    return nowMs - this.#pressedAtMs < TOLD_FOR_MS;
  }

  /** @returns what stops it */
  watch(): () => void {
    if (this.#pressure === null) return () => {};
    const look = (): void => {
      this.#budget.look(this.#reading());
      void this.isPressed;
    };
    const timer = setInterval(look, LOOK_EVERY_MS).unref();
    return () => clearInterval(timer);
  }

  /**
   * A read that finds the budget used up waits a little, so that a caller who asks one thing after the other is slower and is refused nothing.
   * @param isKept the answer is there already
   * @returns what to call when it was answered. @throws 503 with when to come again
   */
  enter(route: Asked, request: Pick<ApiRequest, "query">, isKept = false): MaybePromise<() => void> {
    const pressure = this.#pressure;
    if (pressure === null || !isRefusable(route)) return () => {};
    const kind = `${isKept ? "kept " : ""}${route.path} ${LIMIT.exec(request.query)?.[1] ?? ""}`;
    const costMs = this.#costs.use(kind) ?? FIRST_COST_MS;
    const waitMs = this.#letIn(costMs);
    if (waitMs === null) return this.#begun(kind, costMs);
    if (waitMs > LONGEST_WAIT_MS || this.#waiting >= MOST_WAITING) throw this.#refusal(waitMs);
    return this.#waited(kind, costMs, waitMs);
  }

  async #waited(kind: string, costMs: number, firstWaitMs: number): Promise<() => void> {
    let leftMs = LONGEST_WAIT_MS;
    this.#waiting += 1;
    try {
      for (let waitMs: number | null = firstWaitMs; waitMs !== null; waitMs = this.#letIn(costMs)) {
        const pauseMs = Math.max(SHORTEST_WAIT_MS, Math.ceil(waitMs));
        leftMs -= pauseMs;
        if (leftMs < 0) throw this.#refusal(waitMs);
        await this.#pause(pauseMs);
      }
    } finally {
      this.#waiting -= 1;
    }
    return this.#begun(kind, costMs);
  }

  /** @returns null when it was; else after how many ms it may be */
  #letIn(costMs: number): number | null {
    this.#budget.look(this.#reading());
    return this.#budget.enter(costMs);
  }

  #begun(kind: string, costMs: number): () => void {
    const before = this.#reading();
    return () => {
      const after = this.#reading();
      this.#budget.leave(costMs, after);
      const usedMs = Math.min(MOST_COST_MS, Math.max(0, after.usedMs - before.usedMs));
      const known = this.#costs.use(kind);
      this.#costs.set(kind, known === undefined ? usedMs : known + (usedMs - known) * NEWEST_SHARE);
    };
  }

  #refusal(waitMs: number): ApiError {
    this.#refused += 1;
    this.#refusedAtMs = this.#reading().nowMs;
    return refusal("readsRefused", { retryAfterS: Math.max(1, Math.ceil(waitMs / 1_000)) });
  }

  #reading(): BudgetReading {
    const pressure = this.#pressure;
    if (pressure === null) return { nowMs: 0, usedMs: 0, begun: 0, late: 0 };
    const { begun, late } = pressure.checks;
    return { nowMs: pressure.nowMs(), usedMs: pressure.threadMs(), begun, late };
  }
}

/** Reads of a project's things. Streams are not: a browser does not come back to one that was refused. */
export function isRefusable(route: Asked): boolean {
  return route.method === "GET" && route.scope === "project" && route.path !== "/live";
}
