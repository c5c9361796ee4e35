/** What many configs make of their one server (docs/api-contract.md#subscriptions). Pure. */
import type { CheckOutcome, ConfigOutcome } from "./result.ts";
import { isOwnVerdict, type Verdict } from "./verdict.ts";

/** How each config did, by its own run. */
export interface RunOfConfig {
  readonly configId: number;
  readonly outcome: CheckOutcome;
}

/** Faults of ours that pass: a config that met one may well work, so nothing is known of its server. */
const PASSING_FAULTS: ReadonlySet<Verdict> = new Set(["unfit", "cancelled"]);

/**
 * Healthy when one passes, with the times of the fastest; refused credentials only when all were refused; down otherwise. What says
 * nothing of the server is left out: a config that no core here can run is no reason to call it down.
 * @param runs at least one, in the list's order
 * @returns what the whole check has of its configs; ids and times of the run are the caller's
 */
export function mergeConfigs(runs: readonly RunOfConfig[]): CheckOutcome {
  const outcomes = runs.map(({ outcome }) => outcome);
  const chosen = fastest(outcomes) ?? failureOf(outcomes);
  const peerAnswered = outcomes.some((outcome) => outcome.peerAnswered);
  const configs = runs.map(configOutcome);
  if (chosen.verdict === "ok" || outcomes.length === 1) return { ...chosen, configs };
  return { ...chosen, peerAnswered, message: messageOf(chosen, outcomes), configs };
}

/** Of two that pass at once the one that stands first. */
function fastest(outcomes: readonly CheckOutcome[]): CheckOutcome | undefined {
  const passed = outcomes.filter(({ verdict }) => verdict === "ok");
  const timeOf = (outcome: CheckOutcome): number => outcome.latencyMs ?? Number.POSITIVE_INFINITY;
  return passed.reduce<CheckOutcome | undefined>(
    (best, one) => (best === undefined || timeOf(one) < timeOf(best) ? one : best),
    undefined,
  );
}

/** The outcome that stands for all when none passed. */
function failureOf(outcomes: readonly CheckOutcome[]): CheckOutcome {
  const judged = outcomes.filter(({ verdict }) => !isOwnVerdict(verdict));
  const refused = judged.filter(({ verdict }) => verdict === "auth-failed");
  const down = judged.filter(({ verdict }) => verdict !== "auth-failed");
  const chosen =
    outcomes.find(({ verdict }) => PASSING_FAULTS.has(verdict)) ?? commonest(down) ?? refused[0] ?? outcomes[0];
  if (chosen === undefined) throw new Error("a monitor of many configs has none");
  return chosen;
}

function commonest(outcomes: readonly CheckOutcome[]): CheckOutcome | undefined {
  const counts = new Map<Verdict, number>();
  for (const { verdict } of outcomes) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  return outcomes.find(({ verdict }) => counts.get(verdict) === most);
}

function messageOf({ verdict, message }: CheckOutcome, outcomes: readonly CheckOutcome[]): string {
  const alike = outcomes.filter((outcome) => outcome.verdict === verdict).length;
  const share = alike === outcomes.length ? "" : `, ${alike} of them like this`;
  return `None of ${outcomes.length} configs passed${share}: ${message ?? verdict}`;
}

function configOutcome({ configId, outcome }: RunOfConfig): ConfigOutcome {
  const { verdict, durationMs, peerAnswered, message, tunnel } = outcome;
  return {
    configId,
    verdict,
    totalMs: durationMs,
    peerAnswered,
    message,
    publicIp: verdict === "ok" ? (tunnel?.assignedIp ?? null) : null,
    engineUsed: tunnel?.engineUsed ?? null,
    ...(verdict === "ok" && tunnel?.exitCountry !== undefined && { exitCountry: tunnel.exitCountry }),
  };
}
