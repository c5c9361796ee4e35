/**
 * Passing checks at a checker: configs that are checked once and not stored. They run as errands, under the common caps and a limit of
 * their own, so that they delay no turn beyond what the caps say.
 */
import { ANY_LOCATION, type Monitor } from "../model/monitor.ts";
import { type CheckReply, type Lane, type PassingCheck, startWithinMs } from "../store/state/checks.ts";
import type { Entry } from "./entry.ts";
import type { Errands } from "./errands.ts";

/** At the same time in one checker, by lane: anonymous callers have few (docs/decisions/0004-address-guard.md). */
export const PASSING_ROOM: Readonly<Record<Lane, number>> = { api: 64, public: 10 };

export interface PassingChecksOptions {
  readonly errands: Errands;
  /** Sends what was started. */
  readonly flush: () => void;
  /** Acts once, that many ms from now; @returns what prevents it */
  readonly after: (delayMs: number, act: () => void) => () => void;
}

/** @returns what runs a check; settles within startWithinMs and its time-out */
export function createPassingChecks({
  errands,
  flush,
  after,
}: PassingChecksOptions): (check: PassingCheck, lane: Lane) => Promise<CheckReply> {
  let count = 0;

  return (check, lane) =>
    new Promise((resolve) => {
      count += 1;
      const errand: Entry = errands.start({
        // No monitor has a negative id: so no state belongs to it, and no two share a turn.
        monitor: monitorOf(-count, check),
        location: ANY_LOCATION,
        given: { settings: check.settings, identity: check.identity, isPublic: lane === "public" },
        end({ verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message, tunnel }) {
          giveTime();
          // The checker is stopping: nothing was measured.
          if (verdict === "cancelled") return resolve({ type: "busy" });
          const result = { verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message };
          resolve({ type: "measured", result: tunnel === undefined ? result : { ...result, tunnel } });
        },
      });
      const giveTime = after(startWithinMs(lane, check.timeoutMs), () => {
        if (errands.withdraw(errand)) resolve({ type: "busy" });
      });
      flush();
    });
}

function monitorOf(id: number, { kind, host, timeoutMs, organizationId }: PassingCheck): Monitor {
  return {
    id,
    projectId: 0,
    organizationId,
    name: "",
    kind,
    settings: {},
    intervalS: 0,
    timeoutS: timeoutMs / 1_000,
    maxRetries: 1,
    tags: [],
    pauseReasons: [],
    pausedAtMs: null,
    locations: [ANY_LOCATION],
    disabledLocations: [],
    notifyOnPartial: false,
    maintenance: null,
    host,
    sslExpirationDays: null,
    domainExpirationDays: null,
    graceS: null,
    subscriptionId: null,
    createdAtMs: 0,
    updatedAtMs: 0,
  };
}
