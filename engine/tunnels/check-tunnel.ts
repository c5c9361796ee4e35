/** The stages that every userspace tunnel's check goes through: up, asked through, closed; and what each one's failure means. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import type { QuestionTarget } from "../protocols/inner/question.ts";
import { askable, askThrough, type Silence } from "./inner-probe.ts";
import type { Tunnel, TunnelInfo } from "./tunnel.ts";

/** The verdict is ours before the check's deadline ends it without words, ms. */
const MARGIN_MS = 100;
/** How long a try through the tunnel waits for an answer, ms: the last one up to the deadline but not above this. */
const INNER_MS = 5_000;
/** Less than this for a question is none, ms. */
const MIN_INNER_MS = 400;
/** A second try needs a handshake before it, ms. */
const SECOND_HANDSHAKE_MS = 1_000;

export interface TunnelCheck {
  /** @param withinMs what the tunnel has until it must be up */
  create(withinMs: number): Tunnel;
  /** What is asked through the tunnel, in this order. */
  targets(info: TunnelInfo): readonly QuestionTarget[];
  /** How often it is brought up before it counts as stuck: 2 where a session can be lost without a fault of either side. */
  readonly tries: 1 | 2;
  /** What may be wrong when the tunnel is up and nothing comes back. */
  readonly stuckHint: string;
  /** Unix ms by which this check must have ended; not after the context's deadline. */
  readonly deadlineAtMs: number;
  /** Whether the tunnel's own address is what `assigned_ip` means for this protocol (docs/api-contract.md#checks-without-a-monitor). */
  readonly tellsAddress: boolean;
}

/** Phases `handshake` and `request` are called here; the tunnel throws what kept it from coming up. */
export async function checkTunnel(check: TunnelCheck, context: ProbeContext): Promise<Outcome> {
  let silence: Silence | undefined;
  let info: TunnelInfo | undefined;
  for (let left = check.tries; left > 0; left--) {
    const leftMs = () => check.deadlineAtMs - context.wallNowMs() - MARGIN_MS;
    if (silence !== undefined && leftMs() < SECOND_HANDSHAKE_MS) break;
    context.phase("handshake");
    // A later try leaves time to ask.
    const tunnel = check.create(Math.max(1, silence === undefined ? leftMs() : leftMs() - MIN_INNER_MS));
    try {
      info = await tunnel.open();
      context.answered();
      const targets = askable(check.targets(info), info.addresses);
      if (targets.length === 0) throw noTarget();
      context.phase("request");
      const result = await askThrough(
        tunnel,
        { addresses: info.addresses, targets, giveUpAfterMs: innerMs(leftMs(), left) },
        context,
      );
      if (result.kind === "passed") {
        return {
          verdict: "ok",
          latencyMs: result.latencyMs,
          connectMs: info.connectMs,
          tunnel: factsOf(info, check, true),
        };
      }
      silence = silence === undefined ? result : joined(silence, result);
    } catch (error) {
      // It was up before: that a second try stays unanswered says less than that nothing came through the first.
      const isUnanswered = error instanceof NetworkFault && error.verdict === "timeout";
      if (silence === undefined || !isUnanswered) throw error;
    } finally {
      await tunnel.close();
    }
  }
  if (silence === undefined || info === undefined) throw noTarget();
  return stuck(silence, info, check);
}

/** With a second try to come, half of what is left after its handshake. */
function innerMs(leftMs: number, triesLeft: number): number {
  const shareMs = triesLeft > 1 ? (leftMs - SECOND_HANDSHAKE_MS) / 2 : leftMs;
  return Math.max(MIN_INNER_MS, Math.min(INNER_MS, shareMs));
}

function joined(first: Silence, second: Silence): Silence {
  return { ...second, attempts: first.attempts + second.attempts, said: first.said ?? second.said };
}

function noTarget(): NetworkFault {
  return new NetworkFault("misconfigured", "The tunnel leads to none of the addresses that are asked through it", {
    hint: "What the tunnel carries (AllowedIPs, traffic selectors), the family of its addresses, its DNS, SONDE_TUNNEL_TARGETS",
    peerAnswered: true,
  });
}

function stuck(silence: Silence, info: TunnelInfo, check: TunnelCheck): Outcome {
  return {
    verdict: "stuck",
    message: `The tunnel is up, but nothing comes back through it: no answer to ${silence.attempts} packets to ${silence.asked}`,
    ...(silence.said !== null && { peer: silence.said }),
    hint: check.stuckHint,
    tunnel: factsOf(info, check, false),
  };
}

/** The contract: `connection_time_ms` equals `connect_ms` on success. */
function factsOf(info: TunnelInfo, check: TunnelCheck, hasPassed: boolean): NonNullable<Outcome["tunnel"]> {
  return {
    connectionTimeMs: hasPassed ? info.connectMs : null,
    handshakeTimeMs: info.handshakeMs,
    assignedIp: check.tellsAddress ? (info.addresses[0] ?? null) : null,
    engineUsed: null,
  };
}
