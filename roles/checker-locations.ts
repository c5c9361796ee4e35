/** What a process with an API knows of the checkers of other locations: their keys, which of them are healthy, and what was refused of them. */
import type { Logger } from "pino";
import { Counter, type Registry } from "prom-client";
import type { RegionState } from "../api/api.ts";
import { ANY_LOCATION } from "../model/monitor.ts";
import type { Sealing } from "../store/sealed-text.ts";
import { type LocationKeys, openLocationKeys } from "../store/sealing/location-keys.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import type { CheckerReport, CheckerWatch } from "../store/state/checkers.ts";
import { watchCheckers } from "../store/state/open.ts";
import type { RedisLocation } from "../store/state/redis.ts";
import { createRefusals, type Refusals } from "../store/state/refusals.ts";
import { type Closers, closing } from "./shared.ts";

export interface CheckerLocations {
  readonly keys: Pick<LocationKeys, "sealingOf" | "refresh">;
  /** Takes what one-off checks refuse. */
  readonly onRefused: Refusals["add"];
  /** Every location that the operator made, and the general pool. */
  regions(): readonly RegionState[];
  /** Checkers run where this process measures itself: they get no runs. */
  hasIdle(): boolean;
}

export interface CheckerLocationsOptions {
  readonly redis: RedisLocation;
  readonly controlPlane: Pick<ControlPlane, "locations">;
  readonly sealing: Sealing;
  /** Where this process measures itself. */
  readonly ownLocations: readonly string[];
  readonly registry: Registry;
  readonly log: Logger;
  /** Redis's clock minus the right one, ms. */
  readonly redisAheadMs?: () => number;
}

/** @throws what the stores throw */
export async function openCheckerLocations(
  closers: Closers,
  options: CheckerLocationsOptions,
): Promise<CheckerLocations> {
  const { redis, controlPlane, sealing, ownLocations, registry, log, redisAheadMs = () => 0 } = options;
  const onError = (error: unknown): void =>
    log.error({ err: error }, "reading locations and their keys failed and is tried again");
  const keys = closing(closers, await openLocationKeys({ locations: controlPlane.locations, sealing, onError }));
  const onRefused = countRefusals(registry, log);
  let idle: IdleCheckers | null = null;
  const onChange = (): void => idle?.look();
  const watch = closing(
    closers,
    await watchCheckers(redis, { locations: keys.codes, onRefused, onChange, redisAheadMs }),
  );
  idle = new IdleCheckers(watch, ownLocations, log);
  idle.look();
  return { keys, onRefused, regions: () => regionsOf(keys, watch), hasIdle: () => idle.any() };
}

/** Says of each checker that gets no runs why, once. */
class IdleCheckers {
  readonly #watch: Pick<CheckerWatch, "healthy">;
  readonly #ownLocations: readonly string[];
  readonly #log: Pick<Logger, "warn">;
  #said: ReadonlySet<string> = new Set();

  constructor(watch: Pick<CheckerWatch, "healthy">, ownLocations: readonly string[], log: Pick<Logger, "warn">) {
    this.#watch = watch;
    this.#ownLocations = ownLocations;
    this.#log = log;
  }

  any(): boolean {
    return this.#idle().length > 0;
  }

  look(): void {
    const idle = this.#idle();
    for (const { id, name, location } of idle) {
      if (this.#said.has(id)) continue;
      const why =
        "this checker gets no runs, because this process checks its location itself: start it with another --location";
      this.#log.warn({ location, checker: name }, why);
    }
    this.#said = new Set(idle.map(({ id }) => id));
  }

  #idle(): readonly CheckerReport[] {
    return this.#watch.healthy().filter(({ location }) => this.#ownLocations.includes(location));
  }
}

/** Counts and logs what this process refuses of what a location's checkers send. */
function countRefusals(registry: Registry, log: Logger): Refusals["add"] {
  const refused = new Counter({
    name: "sonde_checker_answers_refused_total",
    help: "Answers to one-off checks and reports of a location's checkers that the API refused",
    labelNames: ["location"],
    registers: [registry],
  });
  const { add } = createRefusals({
    monotonicNowMs: () => performance.now(),
    say: (location, count, reason) =>
      log.warn({ location, count, reason }, "what came from a location's checkers is refused: is its key stolen?"),
  });
  return (location, count, reason) => {
    refused.inc({ location }, count);
    add(location, count, reason);
  };
}

function regionsOf(keys: LocationKeys, checkers: CheckerWatch): readonly RegionState[] {
  const healthy = new Set(checkers.healthy());
  const known = checkers.known();
  return [...new Set([ANY_LOCATION, ...keys.codes()])].map((code) => ({
    code,
    healthyCheckers: [...healthy].filter(({ location }) => location === code).length,
    machines: known
      .filter(({ location }) => location === code)
      .map((one) => ({
        name: one.name,
        version: one.version,
        isHealthy: healthy.has(one),
        isFit: one.isFit,
        reasons: one.reasons,
        clockOffsetMs: one.clockOffsetMs,
        running: one.inFlight,
        room: one.room,
        seenAtMs: one.atMs,
      })),
  }));
}
