/**
 * What a checker has in hand: specs that schedulers have sent, under numbers of its own, so that a spec that comes with every run is parsed
 * once; and runs under way. Pure.
 */
import type { CheckSpec } from "../engine/contract/messages.ts";

/** A spec is forgotten when no run has named it for this long, ms. A monitor that is due less often has its spec parsed again at each run. */
const UNUSED_MS = 10 * 60_000;
/** Most specs in memory; beyond it the specs that were named longest ago are forgotten. */
const MOST_SPECS = 50_000;

interface Known {
  readonly spec: CheckSpec;
  usedAtMs: number;
}

export class InFlight<Check> {
  /** By the name that the scheduler gave the spec; the spec named longest ago comes first. */
  readonly #specs = new Map<string, Known>();
  readonly #running = new Map<number, Check>();
  #lastKey = 0;
  #lastCheckId = 0;

  get inFlight(): number {
    return this.#running.size;
  }

  /** A number that no other spec of this process has. */
  nextKey(): number {
    this.#lastKey += 1;
    return this.#lastKey;
  }

  /** @param name unique among all schedulers; what it names never changes */
  define(name: string, sent: CheckSpec, nowMs: number): { readonly spec: CheckSpec; readonly isNew: boolean } {
    const known = this.#specs.get(name);
    if (known !== undefined) {
      known.usedAtMs = nowMs;
      this.#specs.delete(name);
      this.#specs.set(name, known);
      return { spec: known.spec, isNew: false };
    }
    const spec = { ...sent, key: this.nextKey() };
    this.#specs.set(name, { spec, usedAtMs: nowMs });
    return { spec, isNew: true };
  }

  /** @returns the keys of what is forgotten */
  sweep(nowMs: number): readonly number[] {
    const forgotten: number[] = [];
    for (const [name, { spec, usedAtMs }] of this.#specs) {
      if (nowMs - usedAtMs < UNUSED_MS && this.#specs.size <= MOST_SPECS) break;
      this.#specs.delete(name);
      forgotten.push(spec.key);
    }
    return forgotten;
  }

  /** @returns the run's number in this checker; the numbers of two schedulers may be equal, so theirs cannot be used */
  begin(check: Check): number {
    this.#lastCheckId += 1;
    this.#running.set(this.#lastCheckId, check);
    return this.#lastCheckId;
  }

  /** The one that was begun first comes first. */
  underWay(): Iterable<Check> {
    return this.#running.values();
  }

  find(checkId: number): Check | undefined {
    return this.#running.get(checkId);
  }

  end(checkId: number): void {
    this.#running.delete(checkId);
  }
}
