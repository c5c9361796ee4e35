/** The prober threads of this process and the checkers elsewhere as one: each run goes to the side that has its location. */
import type { CheckRun, CheckSpec } from "../../engine/contract/messages.ts";
import type { Probers } from "../../engine/pool/probers.ts";
import { ANY_LOCATION } from "../../model/monitor.ts";

export class ProbersByLocation implements Probers {
  readonly #own: Probers;
  readonly #elsewhere: Probers;
  readonly #ownLocations: ReadonlySet<string>;

  /** @param ownLocations locations whose runs go to `threads`; the runs of all others go to `elsewhere` */
  constructor(threads: Probers, elsewhere: Probers, ownLocations: readonly string[]) {
    this.#own = threads;
    this.#elsewhere = elsewhere;
    this.#ownLocations = new Set(ownLocations);
  }

  /** Of this process alone: who is up elsewhere is counted by location. */
  get size(): number {
    return this.#own.size;
  }

  get inFlight(): number {
    return this.#own.inFlight + this.#elsewhere.inFlight;
  }

  get overBudget(): number {
    return this.#own.overBudget + this.#elsewhere.overBudget;
  }

  /** Both sides learn them, because a monitor is checked from several locations under one spec. */
  define(specs: readonly CheckSpec[]): void {
    this.#own.define(specs);
    this.#elsewhere.define(specs);
  }

  forget(specKeys: readonly number[]): void {
    this.#own.forget(specKeys);
    this.#elsewhere.forget(specKeys);
  }

  run(runs: readonly CheckRun[]): void {
    const own: CheckRun[] = [];
    const elsewhere: CheckRun[] = [];
    for (const run of runs) {
      const isOwn = this.#ownLocations.has(run.place?.location ?? ANY_LOCATION);
      (isOwn ? own : elsewhere).push(run);
    }
    if (own.length > 0) this.#own.run(own);
    if (elsewhere.length > 0) this.#elsewhere.run(elsewhere);
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#elsewhere.close()]);
  }
}
