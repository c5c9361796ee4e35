/** Which failures our own load may have caused, so that these checks are run again before they count (docs/decisions/0003-whose-fault.md). Pure. */
import type { CheckOutcome } from "../model/result.ts";
import type { Verdict } from "../model/verdict.ts";

/** In flight in this process from which on a moment is crowded; our choice. */
export const CROWD_IN_FLIGHT = 256;
/** A check that started this late ran in a crowded moment, ms; our choice. */
const CROWD_LATENESS_MS = 250;

/** Verdicts that our own load can cause; an explicit answer of the target counts at once. */
const CROWD_VERDICTS: ReadonlySet<Verdict> = new Set([
  "timeout",
  "unreachable",
  "unresolved",
  "closed",
  "handshake-failed",
]);

/** @param inFlight checks in this process when it ended, itself included */
export function endedInCrowd(outcome: CheckOutcome, inFlight: number): boolean {
  return canComeOfCrowd(outcome) && (inFlight > CROWD_IN_FLIGHT || outcome.latenessMs > CROWD_LATENESS_MS);
}

export function canComeOfCrowd({ verdict }: CheckOutcome): boolean {
  return CROWD_VERDICTS.has(verdict);
}
