/** Which of several addresses' or servers' faults a check reports. */
import { classify } from "./classify.ts";
import { NetworkFault } from "./fault.ts";

/** @returns the fault that says most about the target, the earliest of equals; undefined for no faults */
export function mostTelling<Fault>(faults: readonly Fault[]): Fault | undefined {
  const [first, ...others] = faults;
  return first === undefined
    ? undefined
    : others.reduce((best, fault) => (rank(fault) > rank(best) ? fault : best), first);
}

/**
 * From most to least informative: a refusal by a server that answers, a timeout of one that answered before, a refused port, a timeout, a missing name or route,
 * and last what only says that this machine cannot ask.
 */
function rank(fault: unknown): number {
  if (!(fault instanceof NetworkFault)) {
    const { verdict } = classify(fault, "request");
    if (verdict === "unsupported") return 0;
    return verdict === "refused" ? 3 : 1;
  }
  switch (fault.verdict) {
    case "unsupported":
      return 0;
    case "unresolved":
    case "unreachable":
      return 1;
    case "timeout":
      return fault.peerAnswered === true ? 4 : 2;
    default:
      return 5;
  }
}
