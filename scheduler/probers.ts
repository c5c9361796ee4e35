/** Where a scheduler's checks run: on the prober threads of its own process, or on checkers that are processes of their own. */
import { randomUUID } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import type { CheckSpec } from "../engine/check.ts";
import { connectProbers, type Probers, type ProbersCallbacks } from "../engine/probers.ts";
import { openLocationKeys } from "../store/location-keys.ts";
import type { Sealing } from "../store/sealing.ts";
import type { Locations } from "../store/sql/ports/locations.ts";
import { ASK_AGAIN_MS } from "../store/state/accounts.ts";
import { openAccountLeases, openRunSender, watchCheckers } from "../store/state/open.ts";
import type { RedisPlace } from "../store/state/redis.ts";
import { type AccountTurns, createAccountTurns, RENEW_MS } from "./account-turns.ts";
import { SYSTEM_CLOCKS } from "./clock.ts";
import {
  LOOK_EVERY_MS,
  RETURN_WITHIN_MS,
  RemoteProbers,
  type RemoteProbersCallbacks,
  START_WITHIN_MS,
} from "./remote-probers.ts";

export interface OpenProbers {
  readonly probers: Probers;
  /** Whether a checker runs there now. */
  readonly hasChecker: (location: string) => boolean;
  /** The process that measured an outcome has judged it: this process's own network says nothing about it. */
  readonly areJudged: boolean;
}

/** Prober threads of this process. */
export interface ThreadPlace {
  readonly control: MessagePort;
  /** Where they stand. */
  readonly locations: readonly string[];
}

/** Checkers that are processes of their own. */
export interface CheckerPlace {
  readonly redis: RedisPlace;
  readonly locations: Locations;
  /** The operator's: it opens the locations' keys. */
  readonly sealing: Pick<Sealing, "open">;
}

export interface ProberEvents extends ProbersCallbacks, RemoteProbersCallbacks {
  /** hasChecker() answers otherwise than before for some location. */
  onAvailability(): void;
  /** Something that the operator should know; it goes on by itself. */
  onTrouble(error: unknown): void;
  /** So much of what came from a location's checkers was none, and is dropped. */
  onRefused(location: string, count: number, reason: string): void;
}

export function openProbers(place: ThreadPlace | CheckerPlace, events: ProberEvents): Promise<OpenProbers> {
  return "redis" in place ? openCheckers(place, events) : openThreads(place, events);
}

async function openThreads({ control, locations }: ThreadPlace, events: ProberEvents): Promise<OpenProbers> {
  return {
    probers: connectProbers(control, events),
    hasChecker: (location) => locations.includes(location),
    areJudged: false,
  };
}

async function openCheckers({ redis, locations, sealing }: CheckerPlace, events: ProberEvents): Promise<OpenProbers> {
  const keys = await openLocationKeys({ locations, sealing, onError: events.onTrouble });
  let staffed: ReadonlySet<string> = new Set();
  let onChange: () => void = () => {};
  const { onRefused } = events;
  const watch = await watchCheckers(redis, { locations: keys.codes, onChange: () => onChange(), onRefused });
  const scheduler = randomUUID();
  const leases = await openAccountLeases(redis);
  const accounts = createAccountTurns({
    leases,
    scheduler,
    run: (runs) => remote.run(runs),
    onOutcomes: events.onOutcomes,
    marginMs: START_WITHIN_MS + RETURN_WITHIN_MS,
    wallNowMs: SYSTEM_CLOCKS.wallNowMs,
  });
  const callbacks = callbacksOf(accounts, events);
  const remote = new RemoteProbers({ callbacks, onRefused, watch, clocks: SYSTEM_CLOCKS, after });
  onChange = () => {
    const now = watch.staffed();
    const isOther = now.size !== staffed.size || [...now].some((location) => !staffed.has(location));
    staffed = now;
    remote.look();
    events.onChange?.({ type: "up", detail: `${watch.healthy().length} checkers are healthy` });
    if (isOther) events.onAvailability();
  };
  onChange();
  const timers = [
    setInterval(() => remote.look(), LOOK_EVERY_MS),
    setInterval(() => void accounts.look(), ASK_AGAIN_MS),
    setInterval(() => void accounts.renew(), RENEW_MS),
  ];
  const sender = await openRunSender<CheckSpec>(redis, {
    scheduler,
    locations: keys.codes,
    sealingOf: keys.sealingOf,
    refreshKeys: keys.refresh,
    onOutcomes: (location, outcomes) => remote.take(location, outcomes),
    onCaughtUp: (monotonicMs, behind) => remote.caughtUp(monotonicMs, behind),
    onRefused,
  });
  remote.connect({
    send: sender.send,
    isThere: sender.isThere,
    async close() {
      for (const timer of timers) clearInterval(timer);
      keys.close();
      await leases.close();
      await watch.close();
      await sender.close();
    },
  });
  const probers = withAccounts(remote, accounts);
  return { probers, hasChecker: (location) => staffed.has(location), areJudged: true };
}

/** Remote probers whose runs wait for their accounts. */
function withAccounts(remote: RemoteProbers, accounts: AccountTurns): Probers {
  return {
    define: (specs) => remote.define(specs),
    forget: (specKeys) => remote.forget(specKeys),
    run: accounts.run,
    get size() {
      return remote.size;
    },
    get inFlight() {
      return remote.inFlight;
    },
    get overBudget() {
      return remote.overBudget;
    },
    async close() {
      accounts.close();
      await remote.close();
    },
  };
}

/** What is over frees its account, whatever is known of it. */
function callbacksOf(
  accounts: ReturnType<typeof createAccountTurns>,
  events: RemoteProbersCallbacks,
): RemoteProbersCallbacks {
  return {
    onOutcomes: accounts.take,
    ...(events.onHarm !== undefined && { onHarm: events.onHarm }),
    onWithheld(outcomes) {
      accounts.ended(outcomes);
      events.onWithheld(outcomes);
    },
  };
}

function after(delayMs: number, act: () => void): () => void {
  const timer = setTimeout(act, delayMs);
  return () => clearTimeout(timer);
}
