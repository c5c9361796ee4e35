/** What a check is given, and what it returns. */
import type { ZodType } from "zod";
import type { TunnelFacts } from "../../model/result.ts";
import type { CertificateState } from "../../model/status.ts";
import type { Verdict } from "../../model/verdict.ts";
import type { Outbounds } from "../cores/outbound.ts";
import type { KeyOpener } from "../key-opener/key-opener.ts";
import type { TextJudge } from "../text-judge/text-judge.ts";
import type { DialContext, Transport } from "../transport/transport.ts";
import type { Verifier } from "../verify/verifier.ts";

/** What one check is given. A probe touches network, clock and random only through this. */
export interface ProbeContext extends DialContext {
  /** Every dial passes the address guard. */
  readonly transport: Transport;
  /** Unix ms of the check's deadline, for sub-deadlines and caches. */
  readonly deadlineAtMs: number;
  /** Monotonic ms with a fraction. */
  now(): number;
  /** Wall clock, Unix ms. */
  wallNowMs(): number;
  randomBytes(sizeBytes: number): Uint8Array;
  /** When the domain that a host belongs to expires, as far as known: asks aside and never waits. Absent where no registry is asked. */
  readonly domainExpiresAtMs?: ((host: string) => number | null) | undefined;
  /** Managed cores for share links; absent where none can be started. */
  readonly outbounds?: Outbounds | undefined;
  /** Opens foreign keys that may take long; absent where no process can be started. */
  readonly keyOpener?: KeyOpener | undefined;
  /** Looks into answers with expressions of users; absent where no process can be started. */
  readonly textJudge?: TextJudge | undefined;
  /** What is asked through a proxy. */
  readonly verifier?: Verifier | undefined;
  /** Workspace of the check; 0: an anonymous caller or the command line. */
  readonly workspace: number;
}

/** What the protocol said. What the network did is thrown (see classify.ts). */
export interface Outcome {
  readonly verdict: Verdict;
  /** What the API shows as `latency_ms`, by kind. Rounded to whole ms by the runner. */
  readonly latencyMs?: number | null;
  readonly connectMs?: number | null;
  /** Why it is not `ok`, in words for error_message; at most 500 characters. */
  readonly message?: string;
  readonly peer?: string;
  readonly hint?: string;
  readonly certificate?: CertificateState | null;
  readonly domainExpiresAtMs?: number | null;
  /** Of tunnels. Times are rounded to whole ms by the runner. */
  readonly tunnel?: TunnelFacts;
}

/** What a prober runs: a kind's schema with its code (kind.ts). */
export interface Probe<Settings> {
  readonly settings: ZodType<Settings>;
  run(settings: Settings, context: ProbeContext): Promise<Outcome>;
}
