/** What a check of an imported server says of each of its configs, as it is kept and shown. */
import type { CheckOutcome, ConfigOutcome } from "../model/result.ts";
import { errorCategoryOf, type Verdict } from "../model/verdict.ts";
import type { NewConfigResult } from "../store/sql/ports/imports.ts";

/** Faults of ours that pass say nothing of a config: what was found before stays. */
const UNHEARD: ReadonlySet<Verdict> = new Set(["unfit", "cancelled"]);

/** @returns undefined of a check that is of one config only */
export function configResultsOf(outcome: CheckOutcome, location: string): readonly NewConfigResult[] | undefined {
  const { configs, startedAtMs } = outcome;
  if (configs === undefined) return undefined;
  // A check that was taken while our network was cut: only what passed is believed.
  const isHeard = (one: ConfigOutcome): boolean =>
    one.verdict === "ok" || !(UNHEARD.has(outcome.verdict) || UNHEARD.has(one.verdict));
  return configs.filter(isHeard).map((one) => ({
    configId: one.configId,
    location,
    atMs: startedAtMs,
    success: one.verdict === "ok",
    totalMs: one.totalMs,
    error: one.message ?? "",
    errorCategory: errorCategoryOf(one.verdict, "tunnel", one.peerAnswered) ?? "",
    publicIp: one.publicIp ?? "",
    engineUsed: one.engineUsed ?? "",
  }));
}
