/**
 * Reads of one sort: the budget that they share, and those that wait for it. They go in one after the other: of the workspaces whose reads wait, the one whose
 * latest turn is longest ago comes first, and of one workspace the read that came first. So a workspace that reads in a loop leaves others their turns, and
 * readers of one workspace wait equally long.
 */
import { BoundedMap } from "../model/bounded-map.ts";
import type { MaybePromise } from "../model/maybe-promise.ts";
import type { BudgetReading, ReadBudget } from "../model/read-budget.ts";

/** A read waits at most so long, ms: what a person does not take for a fault. */
const LONGEST_WAIT_MS = 1_000;
/** Between two looks at the budget while reads wait, ms: its rate moves each 100 ms. */
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 100;
/** A workspace of which none waits has a place beyond those that all share: one that reads in a loop would have them all. As many at most. */
const MOST_WORKSPACES_WAITING = 64;
/** Workspaces whose latest turn is known: bounds memory. One that was left out comes first. */
const MOST_WORKSPACES = 10_000;

export interface QueueClock {
  readonly reading: () => BudgetReading;
  readonly pause: (ms: number) => Promise<unknown>;
}

interface Waiting {
  readonly costMs: number;
  /** Monotonic, ms. */
  readonly untilMs: number;
  readonly settle: (refusedMs: number | null) => void;
}

export class ReadQueue {
  readonly budget: ReadBudget;
  readonly #clock: QueueClock;
  readonly #places: number;
  /** Of each workspace the oldest first; none is empty. */
  readonly #waiting = new Map<number, Waiting[]>();
  #count = 0;
  /** Workspace to its latest turn, counted. */
  readonly #latest = new BoundedMap<number, number>(MOST_WORKSPACES);
  #turn = 0;

  /** @param places for reads that wait, which all workspaces share */
  constructor(budget: ReadBudget, places: number, clock: QueueClock) {
    this.budget = budget;
    this.#places = places;
    this.#clock = clock;
  }

  /**
   * @param costMs what reads like it cost, which must be given back to budget.leave()
   * @returns null when it is let in; when it is refused, after how many ms it may come again
   */
  enter(costMs: number, workspace: number): MaybePromise<number | null> {
    const reading = this.#clock.reading();
    this.budget.look(reading);
    const waitMs = this.#count > 0 ? SHORTEST_PAUSE_MS : this.#letIn(costMs, workspace);
    if (waitMs === null) return null;
    if (waitMs > LONGEST_WAIT_MS || !this.#hasPlace(workspace)) return waitMs;
    return new Promise((settle) => {
      const line = this.#waiting.get(workspace) ?? [];
      line.push({ costMs, untilMs: reading.nowMs + LONGEST_WAIT_MS, settle });
      this.#waiting.set(workspace, line);
      this.#count += 1;
      if (this.#count === 1) void this.#serve(waitMs);
    });
  }

  #hasPlace(workspace: number): boolean {
    if (this.#count < this.#places) return true;
    return !this.#waiting.has(workspace) && this.#waiting.size < MOST_WORKSPACES_WAITING;
  }

  #letIn(costMs: number, workspace: number): number | null {
    const waitMs = this.budget.enter(costMs);
    if (waitMs === null && this.budget.share < 1) this.#latest.set(workspace, ++this.#turn);
    return waitMs;
  }

  /** Until none waits. */
  async #serve(firstWaitMs: number): Promise<void> {
    for (let waitMs = firstWaitMs; this.#count > 0; ) {
      await this.#clock.pause(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, Math.ceil(waitMs))));
      const reading = this.#clock.reading();
      this.budget.look(reading);
      waitMs = this.#serveNow(reading.nowMs);
    }
  }

  /** @returns after how many ms the next may go in */
  #serveNow(nowMs: number): number {
    while (this.#count > 0) {
      const workspace = this.#next();
      const [first] = this.#waiting.get(workspace) ?? [];
      if (first === undefined) return SHORTEST_PAUSE_MS;
      const waitMs = this.#letIn(first.costMs, workspace);
      if (waitMs !== null) {
        this.#refuseOld(nowMs, waitMs);
        return waitMs;
      }
      this.#take(workspace, null);
    }
    return SHORTEST_PAUSE_MS;
  }

  #next(): number {
    let next = -1;
    let latest = Number.POSITIVE_INFINITY;
    for (const workspace of this.#waiting.keys()) {
      const turn = this.#latest.get(workspace) ?? 0;
      if (turn >= latest) continue;
      next = workspace;
      latest = turn;
    }
    return next;
  }

  #refuseOld(nowMs: number, waitMs: number): void {
    for (const [workspace, line] of this.#waiting) {
      while ((line[0]?.untilMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
        this.#take(workspace, waitMs);
        // It had its turn in vain; otherwise its workspace would go on to come before others.
        this.#latest.set(workspace, ++this.#turn);
      }
    }
  }

  #take(workspace: number, refusedMs: number | null): void {
    const line = this.#waiting.get(workspace);
    const first = line?.shift();
    if (line?.length === 0) this.#waiting.delete(workspace);
    if (first === undefined) return;
    this.#count -= 1;
    first.settle(refusedMs);
  }
}
