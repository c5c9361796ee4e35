/** Where a scheduler's checks run: on the prober threads of its own process, on checkers that are processes of their own, or on both. */

import { randomUUID } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import type { CheckRun, CheckSpec, ToPool } from "../../engine/contract/messages.ts";
import type { EngineOptions } from "../../engine/contract/options.ts";
import { connectProbers, type Probers, type ProbersCallbacks } from "../../engine/pool/probers.ts";
import { after } from "../../engine/transport/after.ts";
import type { Canary } from "../../engine/trust/canary.ts";
import { OwnNetwork } from "../../engine/trust/own-network.ts";
import { ANY_LOCATION } from "../../model/monitor.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { openLocationKeys } from "../../store/sealing/location-keys.ts";
import type { Locations } from "../../store/sql/coordination/locations-port.ts";
import { type AccountLeases, ASK_AGAIN_MS } from "../../store/state/accounts.ts";
import type { CheckerWatch } from "../../store/state/checkers.ts";
import { openAccountLeases, openRunSender, watchCheckers } from "../../store/state/open.ts";
import type { RedisLocation } from "../../store/state/redis.ts";
import { SYSTEM_CLOCKS } from "../clock.ts";
import type { SharedTime } from "../shared-time.ts";
import type { Tenure } from "../tenure.ts";
import { AccountTurns, RENEW_MS } from "./account-turns.ts";
import { ProbersByLocation } from "./probers-by-location.ts";
import {
  LOOK_EVERY_MS,
  RETURN_WITHIN_MS,
  RemoteProbers,
  type RemoteProbersCallbacks,
  START_WITHIN_MS,
} from "./remote-probers.ts";
import { StandIn } from "./stand-in.ts";

export interface OpenProbers {
  readonly probers: Probers;
  /** Whether a checker runs there now. */
  readonly hasChecker: (location: string) => boolean;
  /**
   * Where this process measures itself. Outcomes of every other location were judged by the checker that measured them: this process's own
   * network says nothing about those.
   */
  readonly ownLocations: readonly string[];
}

/** Prober threads of this process. */
export interface ThreadTarget {
  readonly control: MessagePort;
  /** Where they stand. */
  readonly locations: readonly string[];
}

/** Checkers that are processes of their own. */
export interface CheckerTarget {
  readonly redis: RedisLocation;
  readonly locations: Locations;
  /** The operator's: it opens the locations' keys. */
  readonly sealing: Pick<Sealing, "open">;
  /** Probers of this process that stand in for those of the general pool while Redis is away; null: none do. */
  readonly standIn: StandInParts | null;
}

export interface StandInParts {
  /** Of a pool that stands by. */
  readonly control: MessagePort;
  /** What they judge their own network by. */
  readonly engine: EngineOptions;
  readonly canaries: readonly Canary[];
  readonly log: Logger;
}

export interface ProberEvents extends ProbersCallbacks, RemoteProbersCallbacks {
  /** The answer of hasChecker() has changed for some location. */
  onAvailability(): void;
  /** A problem that the operator should know. Work continues without help. */
  onTrouble(error: unknown): void;
  /** Called with the number of invalid messages of a location's checkers that were dropped. */
  onRefused(location: string, count: number, reason: string): void;
}

export interface ProberTargets {
  /** null: no thread of this process runs checks. */
  readonly threads: ThreadTarget | null;
  /** null: no other process runs checks. */
  readonly checkers: CheckerTarget | null;
  /** For how long runs may still be sent to checkers. */
  readonly tenure: Pick<Tenure, "leftMs">;
  readonly time: SharedTime;
}

/** Where both are given, the threads run the checks of their own locations, and checkers those of all others. @throws what Redis throws */
export async function openProbers(
  { threads, checkers, tenure, time }: ProberTargets,
  events: ProberEvents,
): Promise<OpenProbers> {
  const ownLocations = threads?.locations ?? [];
  const own = threads === null ? null : connectProbers(threads.control, events);
  const remote = checkers === null ? null : await Checkers.open(checkers, { tenure, time }, events);
  const probers = own !== null && remote !== null ? new ProbersByLocation(own, remote, ownLocations) : (own ?? remote);
  if (probers === null) throw new Error("there is no place where checks run");
  const hasChecker = (location: string): boolean =>
    ownLocations.includes(location) || remote?.isStaffed(location) === true;
  return { probers, hasChecker, ownLocations };
}

/** Runs of this long go to a checker in one message, ms. */
const GATHER_MS = 20;
/** Within this after Redis is back checkers have reported again, ms: they try three times a second, and the reports are read every second. */
const REPORTED_WITHIN_MS = 10_000;

interface CheckersParts {
  readonly leases: AccountLeases;
  readonly scheduler: string;
  readonly tenure: ProberTargets["tenure"];
  readonly time: SharedTime;
  readonly standIn: StandInParts | null;
}

/** Remote probers whose runs wait for their accounts, and which of their locations have a checker. */
class Checkers implements Probers {
  readonly #events: ProberEvents;
  readonly #accounts: AccountTurns;
  readonly #remote: RemoteProbers;
  readonly #timers: readonly NodeJS.Timeout[];
  /** null: not opened yet, and no checker is known. */
  #watch: CheckerWatch | null = null;
  #staffed: ReadonlySet<string> = new Set();
  /** Redis was away at the latest look, and our own probers stand in. */
  #wasAway = false;
  /** Until then the general pool counts as staffed if it was, by our monotonic clock. */
  #keepPoolUntilMs = 0;

  static async open(
    { redis, locations, sealing, standIn }: CheckerTarget,
    { tenure, time }: Pick<ProberTargets, "tenure" | "time">,
    events: ProberEvents,
  ): Promise<Checkers> {
    const keys = await openLocationKeys({ locations, sealing, onError: events.onTrouble });
    const scheduler = randomUUID();
    const leases = await openAccountLeases(redis);
    const checkers = new Checkers({ leases, scheduler, tenure, time, standIn }, events);
    const { onRefused } = events;
    const watch = await watchCheckers(redis, {
      locations: keys.codes,
      onChange: () => checkers.#look(),
      onRefused,
      redisAheadMs: time.redisAheadMs,
    });
    checkers.#watch = watch;
    checkers.#look();
    const sender = await openRunSender<CheckSpec>(redis, {
      scheduler,
      locations: keys.codes,
      sealingOf: keys.sealingOf,
      refreshKeys: keys.refresh,
      onOutcomes: (location, outcomes) => checkers.#remote.take(location, outcomes),
      onCaughtUp: (monotonicMs, behind) => checkers.#remote.caughtUp(monotonicMs, behind),
      onRefused,
    });
    checkers.#remote.connect({
      send: sender.send,
      isThere: sender.isThere,
      async close() {
        for (const timer of checkers.#timers) clearInterval(timer);
        keys.close();
        await leases.close();
        await watch.close();
        await sender.close();
      },
    });
    return checkers;
  }

  private constructor({ leases, scheduler, tenure, time, standIn }: CheckersParts, events: ProberEvents) {
    this.#events = events;
    const { onHarm, onRefused } = events;
    this.#accounts = new AccountTurns({
      leases,
      scheduler,
      run: (runs) => this.#remote.run(runs),
      onOutcomes: events.onOutcomes,
      marginMs: START_WITHIN_MS + RETURN_WITHIN_MS,
      wallNowMs: time.wallNowMs,
    });
    const ownProbers = standIn === null ? null : this.#standInOf(standIn);
    this.#remote = new RemoteProbers({
      ...(ownProbers !== null && { standIn: ownProbers }),
      callbacks: {
        onOutcomes: (outcomes) => this.#accounts.take(outcomes),
        ...(onHarm !== undefined && { onHarm }),
        onPending: (outcomes) => {
          // A run that is over frees its account, also while its outcome is not known.
          this.#accounts.ended(outcomes);
          events.onPending(outcomes);
        },
      },
      onRefused,
      watch: {
        healthy: () => this.#watch?.healthy() ?? [],
        // Both by the machine's clock.
        clockOffsetMs: () => (this.#watch?.clockOffsetMs() ?? 0) - time.machineAheadMs(),
      },
      machineAheadMs: time.machineAheadMs,
      clocks: time,
      after,
      gatherMs: GATHER_MS,
      tenureLeftMs: () => tenure.leftMs,
    });
    this.#timers = [
      setInterval(() => this.#lookAtRuns(), LOOK_EVERY_MS),
      setInterval(() => void this.#accounts.look(), ASK_AGAIN_MS),
      setInterval(() => void this.#accounts.renew(), RENEW_MS),
    ];
  }

  get size(): number {
    return this.#remote.size;
  }

  get inFlight(): number {
    return this.#remote.inFlight;
  }

  get overBudget(): number {
    return this.#remote.overBudget;
  }

  isStaffed(location: string): boolean {
    return this.#staffed.has(location);
  }

  #standInOf({ control, engine, canaries, log }: StandInParts): StandIn {
    const { onFitness, onHarm, onChange } = this.#events;
    return new StandIn({
      openProbers(callbacks) {
        log.warn("Redis is away: this scheduler's own probers run the checks of the general pool");
        control.postMessage({ type: "want-probers" } satisfies ToPool);
        return connectProbers(control, { ...callbacks, ...(onChange !== undefined && { onChange }) });
      },
      openNetwork: ({ deliver }) => new OwnNetwork({ engine, canaries, nowMs: SYSTEM_CLOCKS.wallNowMs, log, deliver }),
      callbacks: {
        onOutcomes: (outcomes) => this.#remote.takeOwn(outcomes),
        onPending: (outcomes) => this.#remote.takeOwnPending(outcomes),
        onFitness,
        onHarm: (run, harm) => onHarm?.(run, harm),
      },
    });
  }

  #lookAtRuns(): void {
    this.#remote.look();
    const nowMs = SYSTEM_CLOCKS.monotonicNowMs();
    const isAway = this.#remote.isStoodInFor;
    if (isAway) this.#keepPoolUntilMs = Number.POSITIVE_INFINITY;
    else if (this.#wasAway) this.#keepPoolUntilMs = nowMs + REPORTED_WITHIN_MS;
    this.#wasAway = isAway;
    if (this.#keepPoolUntilMs === 0 || nowMs < this.#keepPoolUntilMs) return;
    this.#keepPoolUntilMs = 0;
    this.#look();
  }

  define(specs: readonly CheckSpec[]): void {
    this.#remote.define(specs);
  }

  forget(specKeys: readonly number[]): void {
    this.#remote.forget(specKeys);
  }

  run(runs: readonly CheckRun[]): void {
    this.#accounts.run(runs);
  }

  async close(): Promise<void> {
    this.#accounts.close();
    await this.#remote.close();
  }

  /** Acts on checkers that came or went. */
  #look(): void {
    if (this.#watch === null) return;
    const now = new Set(this.#watch.staffed());
    // Reports grow old while Redis is away, and its probers stand in.
    const isKept = this.#staffed.has(ANY_LOCATION) && SYSTEM_CLOCKS.monotonicNowMs() < this.#keepPoolUntilMs;
    if (isKept) now.add(ANY_LOCATION);
    const isOther = now.size !== this.#staffed.size || [...now].some((location) => !this.#staffed.has(location));
    this.#staffed = now;
    this.#remote.look();
    this.#events.onChange?.({ type: "up", detail: `${this.#watch.healthy().length} checkers are healthy` });
    if (isOther) this.#events.onAvailability();
  }
}
