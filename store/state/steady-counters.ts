/**
 * Counters of requests that go on while Redis is away (docs/decisions/0012-without-redis.md): each process then counts for itself, from zero, and
 * asks Redis again every second. What was counted alone is forgotten when Redis is back.
 */
import type { Log } from "../../model/log.ts";
import type { MaybePromise } from "../../model/maybe-promise.ts";
import { StoreError } from "../errors.ts";
import { createAdmissionCounters } from "./in-process.ts";
import { openState, type StateLocation } from "./open.ts";
import type { AdmissionCounters, Counters, State } from "./state.ts";

/** While it is away one request a second waits for Redis, which may take two seconds to say nothing. */
const ASK_AGAIN_MS = 1_000;

export interface SteadyOptions {
  readonly log: Pick<Log, "info" | "warn">;
  readonly monotonicNowMs: () => number;
}

/** The state of a process that serves requests. */
export async function openSteadyState(place: StateLocation, options: SteadyOptions): Promise<State> {
  const state = await openState(place, (message) => options.log.warn({}, message));
  // Counters in this process are away only with it.
  return "url" in place ? { ...state, counters: steadyCounters(state.counters, options) } : state;
}

/** All other calls (anonymous checks, what /usage shows) are refused while Redis is away. */
export function steadyCounters(shared: Counters, options: SteadyOptions): Counters {
  const admission = new SteadyAdmission(shared, options);
  return {
    ...shared,
    takeRequest: (id, limits, nowMs) => admission.ask((counters) => counters.takeRequest(id, limits, nowMs)),
    usage: (id, nowMs) => admission.ask((counters) => counters.usage(id, nowMs)),
    mayTryKey: (address, nowMs) => admission.ask((counters) => counters.mayTryKey(address, nowMs)),
    wrongKey: (address, nowMs) => admission.ask((counters) => counters.wrongKey(address, nowMs)),
    takeFrom: (name, limit, windowMs, nowMs) =>
      admission.ask((counters) => counters.takeFrom(name, limit, windowMs, nowMs)),
  };
}

class SteadyAdmission {
  readonly #shared: AdmissionCounters;
  readonly #options: SteadyOptions;
  /** Counters of this process only; null while the shared ones answer. */
  #own: AdmissionCounters | null = null;
  #askAtMs = 0;

  constructor(shared: AdmissionCounters, options: SteadyOptions) {
    this.#shared = shared;
    this.#options = options;
  }

  async ask<T>(question: (counters: AdmissionCounters) => MaybePromise<T>): Promise<T> {
    const nowMs = this.#options.monotonicNowMs();
    if (this.#own !== null) {
      if (nowMs < this.#askAtMs) return question(this.#own);
      this.#askAtMs = nowMs + ASK_AGAIN_MS;
    }
    try {
      const answer = await question(this.#shared);
      this.#back();
      return answer;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return question(this.#away(error));
    }
  }

  #back(): void {
    if (this.#own === null) return;
    this.#own = null;
    this.#options.log.info({}, "Redis is back: requests are counted together again");
  }

  #away({ message }: StoreError): AdmissionCounters {
    this.#askAtMs = this.#options.monotonicNowMs() + ASK_AGAIN_MS;
    if (this.#own === null) {
      this.#own = createAdmissionCounters();
      this.#options.log.warn({ reason: message }, "Redis is away: each process counts requests for itself");
    }
    return this.#own;
  }
}
