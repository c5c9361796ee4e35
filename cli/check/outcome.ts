/** The outcome of a check as JSON: the contract's "Config check result", with explanations. */

import { kindNamed } from "../../engine/contract/registry.ts";
import { familyOf, type Kind } from "../../model/kind.ts";
import { type CheckOutcome, CROWDED_HINT, type PhaseTimes } from "../../model/result.ts";
import type { Engine } from "../../model/subscription.ts";
import { formatIso } from "../../model/time.ts";
import { type ErrorCategory, errorCategoryOf, isOwnVerdict, type Verdict } from "../../model/verdict.ts";

export interface CheckView {
  readonly protocol: Kind;
  /** `unknown`: a fault of ours, which says nothing about the server. */
  readonly status: "healthy" | "down" | "unknown";
  readonly verdict: Verdict;
  readonly error_category: ErrorCategory | null;
  readonly error_message: string | null;
  readonly latency_ms: number | null;
  /** Many other checks of ours ran beside it: the latency may be too high. */
  readonly latency_crowded: boolean;
  readonly connect_ms: number | null;
  readonly connection_time_ms: number | null;
  readonly handshake_time_ms: number | null;
  readonly assigned_ip: string | null;
  /** Where traffic left from, ISO 3166-1 alpha-2; null: unknown. Results of an earlier release have none. */
  readonly exit_country?: string | null;
  readonly engine_used: Engine | null;
  readonly tested_at: string;
  readonly duration_ms: number;
}

export interface Explained extends CheckView {
  readonly stages: PhaseTimes;
  readonly stage: string | null;
  readonly address: string | null;
  readonly peer: string | null;
  readonly hint: string | null;
}

export function viewOf(kind: Kind, outcome: CheckOutcome): CheckView {
  const { verdict, tunnel, latencyMs, connectMs } = outcome;
  const family = familyOf(kind);
  const described = kindNamed(kind);
  // The connect time of a share link is not the whole attempt (docs/api-contract.md#checks-without-a-monitor).
  const wholeMs = described?.family === "tunnel" && described.form.by !== "link" ? connectMs : null;
  return {
    protocol: kind,
    status: verdict === "ok" ? "healthy" : isOwnVerdict(verdict) ? "unknown" : "down",
    verdict,
    error_category: errorCategoryOf(verdict, family, outcome.peerAnswered),
    error_message: outcome.message,
    latency_ms: latencyMs,
    latency_crowded: verdict === "ok" && outcome.explanation?.hint?.includes(CROWDED_HINT) === true,
    connect_ms: connectMs,
    connection_time_ms: tunnel?.connectionTimeMs ?? wholeMs,
    handshake_time_ms: tunnel?.handshakeTimeMs ?? null,
    assigned_ip: tunnel?.assignedIp ?? null,
    exit_country: tunnel?.exitCountry ?? null,
    engine_used: tunnel?.engineUsed ?? null,
    tested_at: formatIso(outcome.startedAtMs),
    duration_ms: outcome.durationMs,
  };
}

export function explain(kind: Kind, outcome: CheckOutcome): Explained {
  const { stage = null, address = null, peer = null, hint = null } = outcome.explanation ?? {};
  return { ...viewOf(kind, outcome), stages: outcome.phases, stage, address, peer, hint };
}
