/**
 * Refuses reads before they make a check late. A caller that reads in a loop takes all that is left of the processors, and checks need it: so reads have a
 * budget (model/read-budget.ts). A read that finds it used up waits a moment; when several wait already, it is told when to come again. What changes
 * something, signs in, or asks for health is never refused. An answer that is in memory already costs much less than one that has to be made: those have a
 * budget of their own, so that dear reads do not use up what cheap ones need. So have answers that are made once for all who ask within a second: a reader
 * more costs nothing there, and each would wait for all others where what is left is a little less than all pages take.
 */
import { setTimeout } from "node:timers/promises";
import { BoundedMap } from "../model/bounded-map.ts";
import { andThen, type MaybePromise } from "../model/maybe-promise.ts";
import { type BudgetReading, ReadBudget } from "../model/read-budget.ts";
import { onTicks } from "../model/ticks.ts";
import { type ApiError, refusal } from "./errors.ts";
import type { ApiRequest } from "./http.ts";
import { ReadQueue } from "./read-queue.ts";

/** What an answer takes: it is made for the one who asks; it is made for all who ask within a second; what it is made of is in memory. */
export type Source = "made" | "shared" | "memory";

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
const LOOK_EVERY_MS = 500;
/** Processor time of this thread in which the kernel takes an answer's bytes, ms a byte: measured on loopback, 0.35 ms for 1 MB. It follows after leave(). */
const WRITE_MS_PER_BYTE = 0.35 / 1e6;
/** Routes by how many rows are asked for: bounds memory. */
const MOST_KINDS = 500;
/** What a read of a kind costs that was not seen yet, ms. */
const FIRST_COST_MS = 2;
/** How much the newest cost of a kind counts. */
const NEWEST_SHARE = 0.2;
/** One that waited alone for another store shows what all else of this thread cost meanwhile, so no more counts, ms. */
const MOST_COST_MS = 100;
/** At one time. Readers in a loop are refused beyond it: waiting would hold their connections, and bring them nothing. */
const MOST_WAITING = 4;
/** The same of answers that are in memory: one holds its connection and a timer while it waits. */
const MOST_KEPT_WAITING = 256;
/** The same of answers that several will get. Those who ask for one that is being made do not count. */
const MOST_SHARED_WAITING = 32;
/** What is left to answers in memory however late checks are, ms of the thread a second: some thousand answers. Its niceness lets checks go before it. */
const LEAST_KEPT_RATE = 300;
/** The same of answers that are made once for all: all pages of 5,000 monitors that are checked every second take 60 to 120. */
const LEAST_SHARED_RATE = 150;
/** How long health tells of a refusal, and what is read may be older, ms. */
const TOLD_FOR_MS = 60_000;
/** Of the thread, ms a second: reads that use more come in a loop, or from very many. */
const MANY_RATE = 250;
/** Reads a second that are as many, however little each takes. */
const MANY_READS = 200;
/** So long after it is still said that they are many, ms: answers that are kept then are why they use less. */
const MANY_FOR_MS = 10_000;

const LIMIT = /(?:^|&)limit=(\d{1,4})(?:&|$)/;

export class ReadGate {
  readonly #pressure: Pressure | null;
  readonly #queues: Readonly<Record<Source, ReadQueue>>;
  readonly #costs = new BoundedMap<string, number>(MOST_KINDS);
  #refused = 0;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #pressedAtMs = Number.NEGATIVE_INFINITY;
  #manyAtMs = Number.NEGATIVE_INFINITY;
  /** Reads since a moment. */
  #entered = 0;
  #countedFromMs = 0;

  /** @param pressure null: no check of this process could be late, and nothing is refused */
  constructor(pressure: Pressure | null) {
    this.#pressure = pressure;
    const reading = this.#reading();
    const clock = { reading: () => this.#reading(), pause: pressure?.pause ?? setTimeout };
    const queue = (places: number, leastRate?: number) =>
      new ReadQueue(new ReadBudget(reading, leastRate), places, clock);
    this.#queues = {
      made: queue(MOST_WAITING),
      shared: queue(MOST_SHARED_WAITING, LEAST_SHARED_RATE),
      memory: queue(MOST_KEPT_WAITING, LEAST_KEPT_RATE),
    };
    this.#countedFromMs = reading.nowMs;
  }

  /** Reads that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Of this thread, what reads may use now whose answers are made for each, 0 to 1. */
  get share(): number {
    return this.#queues.made.budget.share;
  }

  /** Whether a read was refused in the last minute. */
  get isRefusing(): boolean {
    return this.#pressure !== null && this.#pressure.nowMs() - this.#refusedAtMs < TOLD_FOR_MS;
  }

  /** Whether checks have begun late in the last minute while reads used much: what is read often may be a second old. */
  get isPressed(): boolean {
    if (this.#pressure === null) return false;
    const nowMs = this.#pressure.nowMs();
    const { made, shared } = this.#queues;
    if (made.budget.share < 1 || shared.budget.share < 1) this.#pressedAtMs = nowMs;
    return nowMs - this.#pressedAtMs < TOLD_FOR_MS;
  }

  /** Whether reads are many or use much of this thread, or have in the last ten seconds: what is asked for often is worth keeping. */
  get areMany(): boolean {
    if (this.#pressure === null) return false;
    const nowMs = this.#pressure.nowMs();
    const usedRate = this.#budgets().reduce((sum, budget) => sum + budget.usedRate, 0);
    if (usedRate >= MANY_RATE || this.#comeOften(nowMs)) this.#manyAtMs = nowMs;
    return nowMs - this.#manyAtMs < MANY_FOR_MS;
  }

  #budgets(): readonly ReadBudget[] {
    return Object.values(this.#queues).map(({ budget }) => budget);
  }

  /** Whether as many came since the last time that this was asked; false too when it was asked just now. */
  #comeOften(nowMs: number): boolean {
    const ms = nowMs - this.#countedFromMs;
    if (ms >= 0 && ms < LOOK_EVERY_MS) return false;
    const areOften = ms > 0 && (this.#entered * 1_000) / ms >= MANY_READS;
    this.#entered = 0;
    this.#countedFromMs = nowMs;
    return areOften;
  }

  /** @returns what stops it */
  watch(): () => void {
    if (this.#pressure === null) return () => {};
    const look = (): void => {
      const reading = this.#reading();
      for (const budget of this.#budgets()) budget.look(reading);
      void this.isPressed;
      void this.areMany;
    };
    return onTicks(LOOK_EVERY_MS, look);
  }

  /**
   * A read that finds the budget used up waits a little, so that a caller who asks one thing after the other is slower and is refused nothing.
   * @param workspace of those that wait, the one whose latest turn is longest ago comes first
   * @param bytes of its answer, where that is known
   * @returns what to call when it was answered. @throws 503 with when to come again
   */
  enter(
    route: Asked,
    request: Pick<ApiRequest, "query">,
    source: Source = "made",
    workspace = 0,
    bytes = 0,
  ): MaybePromise<() => void> {
    if (this.#pressure === null || !isRefusable(route)) return () => {};
    this.#entered += 1;
    const kind = `${source} ${route.path} ${LIMIT.exec(request.query)?.[1] ?? ""}`;
    const costMs = this.#costs.use(kind) ?? FIRST_COST_MS;
    const writeMs = bytes * WRITE_MS_PER_BYTE;
    const { budget } = this.#queues[source];
    return andThen(this.#queues[source].enter(costMs + writeMs, workspace), (refusedMs) => {
      if (refusedMs !== null) throw this.#refusal(refusedMs);
      return this.#begun(budget, kind, costMs, writeMs);
    });
  }

  #begun(budget: ReadBudget, kind: string, costMs: number, writeMs: number): () => void {
    const beforeMs = budget.usedByEachMs;
    return () => {
      budget.leave(costMs + writeMs, this.#reading());
      budget.charge(writeMs);
      const usedMs = Math.min(MOST_COST_MS, budget.usedByEachMs - beforeMs);
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
