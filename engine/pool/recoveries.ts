/**
 * Re-runs the checks in flight of probers that died, alone and a few at a time, one prober after the other, to find the check that kills its
 * prober. If two recoveries shared a prober and it died, the cause would be unknown, so each recovery has its own prober.
 */
import type { CheckRun } from "../contract/messages.ts";
import type { Flight, ProberSide } from "./prober-side.ts";

/** Alone runs given to a prober at once. */
const ALONE_AT_ONCE = 32;

/** The runs that were in flight in one prober when it died. */
interface Recovery {
  waiting: CheckRun[];
  prober: ProberSide | null;
  /** In the order in which the prober runs them: the first without an outcome is the one that killed it. */
  order: readonly number[];
}

export class Recoveries {
  readonly #all = new Set<Recovery>();

  get size(): number {
    return this.#all.size;
  }

  /** Runs that were not given to a prober yet. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#all) count += waiting.length;
    return count;
  }

  /** @param suspect the check that was last about to do something: it is run first */
  suspect(runs: readonly CheckRun[], suspect: number | null): void {
    if (runs.length === 0) return;
    const waiting = [...runs];
    const first = waiting.findIndex(({ checkId }) => checkId === suspect);
    if (first > 0) waiting.unshift(...waiting.splice(first, 1));
    this.#all.add({ waiting, prober: null, order: [] });
  }

  /**
   * A prober died. Where it was running alone what an earlier death had left, the first run without an outcome killed it as well, unless an
   * ordinary run was at work before their turn came.
   * @returns the runs that killed their prober, and the runs that were only in flight with them
   */
  settle(
    prober: ProberSide,
    suspect: number | null,
  ): { readonly killers: readonly Flight[]; readonly near: CheckRun[] } {
    const isOther = suspect !== null && prober.flights.get(suspect)?.accused === false;
    const killers: Flight[] = [];
    const near: CheckRun[] = [];
    for (const recovery of this.#all) {
      if (recovery.prober !== prober) continue;
      const unanswered = recovery.order.flatMap((checkId) => prober.flights.get(checkId) ?? []);
      recovery.prober = null;
      recovery.order = [];
      const killer = isOther ? undefined : unanswered.shift();
      const left = unanswered.map(({ run }) => run).concat(recovery.waiting);
      if (killer === undefined) {
        recovery.waiting = left;
        continue;
      }
      killers.push(killer);
      for (const run of left) near.push(run);
      this.#all.delete(recovery);
    }
    return { killers, near };
  }

  /** Gives each recovery its next alone runs. @param give sends them; @returns the checks that are under way by it, in their order */
  advance(
    probers: readonly ProberSide[],
    give: (prober: ProberSide, runs: readonly CheckRun[]) => readonly number[],
  ): void {
    for (const recovery of this.#all) {
      const busy = recovery.prober;
      if (busy !== null && recovery.order.some((checkId) => busy.flights.has(checkId))) continue;
      if (recovery.waiting.length === 0) {
        this.#all.delete(recovery);
        continue;
      }
      recovery.prober = null;
      const prober = this.#free(probers);
      if (prober === undefined) continue;
      recovery.prober = prober;
      recovery.order = give(prober, recovery.waiting.splice(0, ALONE_AT_ONCE));
    }
  }

  /** Everything that waits. */
  takeAll(): readonly CheckRun[] {
    const all = [...this.#all].flatMap(({ waiting }) => waiting);
    this.#all.clear();
    return all;
  }

  /** The least busy without a recovery. */
  #free(probers: readonly ProberSide[]): ProberSide | undefined {
    const taken = new Set([...this.#all].map(({ prober }) => prober));
    let least: ProberSide | undefined;
    for (const prober of probers) {
      if (!taken.has(prober) && (least === undefined || prober.flights.size < least.flights.size)) least = prober;
    }
    return least;
  }
}
