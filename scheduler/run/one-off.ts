/**
 * One-off checks: configs that are checked once and not stored. They run on demand, under the common limits and a limit of
 * their own, so that they delay no planned check beyond what the limits say.
 */
import type { After } from "../../engine/transport/after.ts";
import type { CheckClass, CheckReply, OneOffCheck } from "../../store/state/checks.ts";
import { startWithinMs } from "../../store/state/checks.ts";
import type { OnDemandRuns } from "./on-demand.ts";

/** At the same time in one checker, by class: anonymous callers have few (docs/decisions/0004-address-guard.md). */
export const ONE_OFF_LIMITS: Readonly<Record<CheckClass, number>> = { api: 64, public: 10 };

export interface OneOffChecksOptions {
  readonly onDemandRuns: Pick<OnDemandRuns, "startConfig" | "withdraw">;
  /** Sends what was started. */
  readonly flush: () => void;
  /** Calls the callback once, after that many ms. @returns a function that cancels it */
  readonly after: After;
}

export class OneOffChecks {
  readonly #options: OneOffChecksOptions;

  constructor(options: OneOffChecksOptions) {
    this.#options = options;
  }

  /** Settles within startWithinMs and the check's time-out. */
  run(check: OneOffCheck, checkClass: CheckClass): Promise<CheckReply> {
    const { onDemandRuns, flush, after } = this.#options;
    return new Promise((resolve) => {
      const run = onDemandRuns.startConfig(
        { ...check, isPublic: checkClass === "public" },
        ({ verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message, tunnel }) => {
          stopWaiting();
          // The checker is stopping: nothing was measured.
          if (verdict === "cancelled") return resolve({ type: "busy" });
          const result = { verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message };
          resolve({ type: "measured", result: tunnel === undefined ? result : { ...result, tunnel } });
        },
      );
      const stopWaiting = after(startWithinMs(checkClass, check.timeoutMs), () => {
        if (onDemandRuns.withdraw(run)) resolve({ type: "busy" });
      });
      flush();
    });
  }
}
