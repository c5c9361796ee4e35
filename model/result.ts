/** Results: the record of one check, from the engine's outcome to the stored row. */

import type { Kind } from "./kind.ts";
import type { CertificateState, RowStatus } from "./status.ts";
import type { Engine } from "./subscription.ts";
import type { ErrorCategory, Verdict } from "./verdict.ts";

/** Parts of a check, timed with a monotonic clock, in the order they may come. */
export const PHASES = ["resolve", "connect", "handshake", "request", "transfer"] as const;
export type Phase = (typeof PHASES)[number];

/** Milliseconds spent in each phase that was entered, failed checks included. */
export type PhaseTimes = Partial<Record<Phase, number>>;

/**
 * Times by PHASES' order; undefined and NaN: the phase was not entered. Written out, because each check passes here: members that are set by names from a
 * list take ten times as long.
 */
export function phaseTimes(
  resolve: number | undefined,
  connect: number | undefined,
  handshake: number | undefined,
  request: number | undefined,
  transfer: number | undefined,
): PhaseTimes {
  const times: PhaseTimes = {};
  if (resolve !== undefined && !Number.isNaN(resolve)) times.resolve = resolve;
  if (connect !== undefined && !Number.isNaN(connect)) times.connect = connect;
  if (handshake !== undefined && !Number.isNaN(handshake)) times.handshake = handshake;
  if (request !== undefined && !Number.isNaN(request)) times.request = request;
  if (transfer !== undefined && !Number.isNaN(transfer)) times.transfer = transfer;
  return times;
}

/** What the hint of a latency has that was measured beside many other checks. */
export const CROWDED_HINT = "Measured while";

/** Why a check failed, or what is worth saying of one that passed. */
export interface Explanation {
  /** The phase in which it ended. */
  readonly stage: Phase | null;
  /** The address tried, `ip:port` or `ip`. */
  readonly address: string | null;
  /** The peer's own words, stripped of control characters and secrets; at most 500 characters. */
  readonly peer: string | null;
  /** What a person can do about it; the way it was done (`raw socket`, `system ping`). */
  readonly hint: string | null;
}

/** What a tunnel's probe knows beyond every check's times (docs/api-contract.md#checks-without-a-monitor); null: not measured, or not of this protocol. */
export interface TunnelFacts {
  /** The whole attempt: setup, tunnel up, one test request; of share links the start of the local client (docs/api-contract.md#results). */
  readonly connectionTimeMs: number | null;
  readonly handshakeTimeMs: number | null;
  /** The tunnel's own address, or the public one that traffic left from. */
  readonly assignedIp: string | null;
  /** Of share links. */
  readonly engineUsed: Engine | null;
  /** Where traffic left from, ISO 3166-1 alpha-2; absent: unknown. */
  readonly exitCountry?: string;
  /** Of a bounded download through the tunnel, bits per second; absent: it was not asked for, or brought nothing. */
  readonly downloadBitsPerS?: number;
}

/** How one config did of a monitor that stands for many (docs/api-contract.md#subscriptions). */
export interface ConfigOutcome {
  readonly configId: number;
  readonly verdict: Verdict;
  /** The whole of its run. */
  readonly totalMs: number;
  /** Splits `timeout` into two categories. */
  readonly peerAnswered: boolean;
  /** null: it passed. */
  readonly message: string | null;
  /** Where traffic left from; null: it did not pass, or that is not known. */
  readonly publicIp: string | null;
  readonly engineUsed: TunnelFacts["engineUsed"];
  /** Where traffic left from, as in TunnelFacts. */
  readonly exitCountry?: string;
}

/** What the engine says of one check; crosses threads and the spool as plain JSON. */
export interface CheckOutcome {
  readonly checkId: number;
  readonly verdict: Verdict;
  /** Wall clock when the probe started, Unix ms. */
  readonly startedAtMs: number;
  /** Started minus due, ms; never negative. */
  readonly latenessMs: number;
  readonly durationMs: number;
  readonly latencyMs: number | null;
  readonly connectMs: number | null;
  /** Whether the target had said anything: splits `timeout` into two categories. */
  readonly peerAnswered: boolean;
  readonly message: string | null;
  readonly phases: PhaseTimes;
  readonly explanation: Explanation | null;
  readonly certificate: CertificateState | null;
  /** Unix ms when the target's domain expires; null when not asked or not known. */
  readonly domainExpiresAtMs: number | null;
  /** Of tunnels, passed or not. */
  readonly tunnel?: TunnelFacts;
  /** The machine that measured it; absent: this one. */
  readonly checker?: string;
  /** Of monitors that stand for many configs: how each did. */
  readonly configs?: readonly ConfigOutcome[];
  /** Processor time of the run's thread, ms; of runs in a prober set aside, until it is said in words. */
  readonly heldMs?: number;
  /** `cancelled`, and not to be run elsewhere either: the check has used up its thread time. */
  readonly isSpent?: true;
}

/**
 * One stored row: a line of the spool and of ClickHouse's table `results`, with these very names as columns.
 * snake_case because the file and the table share it.
 */
export interface ResultRow {
  /** `hb_<id>`: decimal text of milliseconds, shard and counter; larger is later. */
  readonly id: string;
  readonly project_id: number;
  readonly monitor_id: number;
  readonly location: string;
  readonly checker: string;
  /** Counts the monitor's rows from 1, without gaps. */
  readonly seq: number;
  readonly check_id: number;
  readonly kind: Kind;
  /** Unix ms. */
  readonly tested_at: number;
  readonly status: RowStatus;
  readonly verdict: Verdict;
  /** 1 when the status differs from the row before it, or there is none: kept beyond 24 h (docs/api-contract.md#results). */
  readonly changed: 0 | 1;
  readonly latency_ms: number | null;
  readonly connect_ms: number | null;
  readonly error_category: ErrorCategory | null;
  readonly error_message: string | null;
  readonly lateness_ms: number;
  readonly duration_ms: number;
  /** 1 for a scheduled check, n for its nth confirming retry. */
  readonly attempt: number;
  /** JSON of PhaseTimes. */
  readonly phases: string;
  /** JSON of Explanation; empty when the check passed. */
  readonly explanation: string;
}

export const PERIODS = ["15m", "1h", "24h", "7d"] as const;
export type Period = (typeof PERIODS)[number];

export const PERIOD_MS: Readonly<Record<Period, number>> = {
  "15m": 15 * 60_000,
  "1h": 3_600_000,
  "24h": 24 * 3_600_000,
  "7d": 7 * 24 * 3_600_000,
};
