/** What a check of an imported server says of each of its configs, as it is kept and shown. */
import type { CheckOutcome, ConfigOutcome } from "../../model/result.ts";
import { errorCategoryOf, type Verdict } from "../../model/verdict.ts";
import type { NewConfigResult } from "../../store/sql/monitors/imports-port.ts";

/** Temporary faults of our own say nothing about a config, so its previous result stays. */
const UNHEARD: ReadonlySet<Verdict> = new Set(["unfit", "cancelled"]);

/** @returns undefined for a check of one config */
export function configResultsOf(outcome: CheckOutcome, location: string): readonly NewConfigResult[] | undefined {
  const { configs, startedAtMs } = outcome;
  if (configs === undefined) return undefined;
  // When a check ran while our network was cut, only the configs that passed count.
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
    exitCountry: one.exitCountry ?? "",
  }));
}
