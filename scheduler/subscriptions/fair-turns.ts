/**
 * One piece of heavy work at a time, in an order that is fair between workspaces: of those that wait, the workspace that has used the thread
 * least is next. Without this a workspace with many large lists would make every other one wait for all of them. Pure: the clock is an argument.
 */

import { UsedTime } from "../../model/used-time.ts";

interface Waiting {
  readonly workspaceId: number;
  readonly begin: () => void;
}

export class FairTurns {
  readonly #nowMs: () => number;
  readonly #waiting: Waiting[] = [];
  readonly #used = new UsedTime();
  #isBusy = false;

  /** @param nowMs monotonic, ms */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @returns what the work returns, once it was its turn */
  async run<T>(workspaceId: number, work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await new Promise<void>((begin) => this.#waiting.push({ workspaceId, begin }));
    this.#isBusy = true;
    const startedAtMs = this.#nowMs();
    try {
      return await work();
    } finally {
      this.#used.charge(workspaceId, this.#nowMs() - startedAtMs, this.#nowMs());
      this.#isBusy = false;
      this.#beginNext();
    }
  }

  #beginNext(): void {
    const workspaces = this.#waiting.map(({ workspaceId }) => workspaceId);
    const next = Math.max(0, this.#used.placeOfLeast(workspaces, this.#nowMs()));
    const [chosen] = this.#waiting.splice(next, 1);
    if (chosen === undefined) return;
    // Set here and not when the chosen one continues: work that comes in between has to wait.
    this.#isBusy = true;
    chosen.begin();
  }
}
