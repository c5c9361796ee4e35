/** A check that is to fail: a website that must not be reachable from here. */
import { isOwnVerdict, type Verdict } from "../../model/verdict.ts";
import type { Outcome } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";

/** It works, wholly or in part. */
const WORKS: ReadonlySet<Verdict> = new Set(["ok", "incomplete"]);

/**
 * Turns an outcome round. What says nothing of the target stays what it is: faults of ours, and settings that cannot work, such as an address that the
 * guard refuses.
 */
export async function inverted(check: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return turned(await check());
  } catch (error) {
    const { verdict } = classify(error, null);
    if (isFinal(verdict)) throw error;
    return { verdict: "ok", latencyMs: null };
  }
}

function turned({ verdict, certificate = null, domainExpiresAtMs = null, ...rest }: Outcome): Outcome {
  const seen = { certificate, domainExpiresAtMs };
  if (WORKS.has(verdict))
    return { verdict: "rejected", message: "The website works, and invert says that it must not", ...seen };
  return isFinal(verdict) ? { verdict, ...rest, ...seen } : { verdict: "ok", latencyMs: null, ...seen };
}

function isFinal(verdict: Verdict): boolean {
  return isOwnVerdict(verdict) || verdict === "misconfigured";
}
