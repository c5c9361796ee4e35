/**
 * Configurations that a location's checkers may say brought their thread down: so many at once, and in an hour. Such a configuration is run nowhere for an
 * hour, so who stole a location's key must not stop every monitor that is checked there, also from other locations.
 */
import { createShares } from "../../store/state/shares.ts";

const AT_ONCE = 10;
const PER_HOUR = 10;

export interface BelievedHarms {
  /** @returns why it is not believed; null: it is */
  refuse(location: string, monotonicNowMs: number): string | null;
}

export function createBelievedHarms(): BelievedHarms {
  const shares = createShares({ perSecond: PER_HOUR / 3_600, burst: AT_ONCE });
  return {
    refuse: (location, monotonicNowMs) =>
      shares.take(location, 1, monotonicNowMs) ? null : "more harmful configurations than are believed",
  };
}
