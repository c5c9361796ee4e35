/**
 * Asks hosts through a tunnel until one answers: ICMP echo first, then DNS beside it, then a TCP SYN too, again and again with other sizes
 * and other hosts until the time is over. Only an answer to a question of our own counts, and the time it took is that of the try it answers.
 */

import type { ProbeContext } from "../probe.ts";
import { type AddressBytes, addressBytes } from "../protocols/inner/packet.ts";
import {
  createQuestion,
  decodeInner,
  type Question,
  type QuestionKind,
  type QuestionTarget,
  SEED_BYTES,
} from "../protocols/inner/question.ts";
import { whenAborted } from "../transport/fault.ts";
import { formatIpv4, formatIpv6 } from "../transport/ip.ts";
import type { Tunnel } from "./tunnel.ts";

/** Between rounds, ms; the last one goes on. */
const GAPS_MS = [400, 500, 700, 1_000] as const;
/** In the order in which they join in. */
const KINDS: readonly QuestionKind[] = ["icmp", "dns", "tcp"];
const KIND_WORDS: Readonly<Record<QuestionKind, string>> = { icmp: "ICMP", dns: "DNS", tcp: "TCP" };
const PROBLEM_WORDS = {
  "network-unreachable": "its network is unreachable",
  "host-unreachable": "it is unreachable",
  prohibited: "a firewall forbids it",
  "hops-exceeded": "it is too many hops away",
  "bad-packet": "the packet is not acceptable",
} as const;

export interface Passage {
  readonly kind: "passed";
  /** From the sending of the question that was answered to the arrival of its answer, ms. */
  readonly latencyMs: number;
  /** Questions that were sent until then. */
  readonly attempts: number;
  /** Worth telling although it passed. */
  readonly note: string | null;
}

export interface Silence {
  readonly kind: "silent";
  readonly attempts: number;
  /** Who was asked, and how, for people. */
  readonly asked: string;
  /** What routers or hosts behind the tunnel reported about it; null when none did. */
  readonly said: string | null;
}

export interface InnerProbeOptions {
  /** The tunnel's own addresses. */
  readonly addresses: readonly string[];
  /** Those of a family that the tunnel has no address of are left out. */
  readonly targets: readonly QuestionTarget[];
  readonly giveUpAfterMs: number;
}

type Context = Pick<
  ProbeContext,
  "transport" | "now" | "randomBytes" | "signal" | "onAbort" | "phase" | "tried" | "answered"
>;

/** @param targets at least one of a family of the tunnel's addresses, see askable() */
export function askThrough(
  tunnel: Tunnel,
  { addresses, targets, giveUpAfterMs }: InnerProbeOptions,
  context: Context,
): Promise<Passage | Silence> {
  return new Promise((resolve) => {
    const sources = addresses.flatMap((text) => addressBytes(text) ?? []);
    const byKind = KINDS.map((kind) => targets.filter((target) => target.kind === kind)).filter(
      (some) => some.length > 0,
    );
    const sent: { readonly question: Question; readonly atMs: number }[] = [];
    let said: string | null = null;
    let round = 0;
    let isOver = false;
    let cancelRound = (): void => {};

    function end(result: Passage | Silence): void {
      isOver = true;
      cancelRound();
      cancelEnd();
      resolve(result);
    }
    function ask(target: QuestionTarget): void {
      const source = sources.find((address) => address.length === target.address.length);
      if (source === undefined) return;
      const question = createQuestion(target, source, round, context.randomBytes(SEED_BYTES));
      sent.push({ question, atMs: context.now() });
      tunnel.send(question.packet);
    }
    function sendRound(): void {
      for (const [since, some] of byKind.slice(0, round + 1).entries()) {
        const target = some[(round - since) % some.length];
        if (target !== undefined) ask(target);
      }
      const gapMs = GAPS_MS[Math.min(round, GAPS_MS.length - 1)] ?? 1_000;
      round++;
      cancelRound = context.transport.after(gapMs, sendRound);
    }
    function hear(packet: Uint8Array, atMs: number): void {
      const decoded = isOver ? undefined : decodeInner(packet);
      if (decoded === undefined) return;
      for (const each of sent) {
        const answer = each.question.read(decoded);
        if (answer === undefined) continue;
        if (answer.kind === "answered") {
          if (answer.farewell !== undefined) tunnel.send(answer.farewell);
          end({ kind: "passed", latencyMs: atMs - each.atMs, attempts: sent.length, note: answer.note });
          return;
        }
        said ??= `${textOf(answer.by)} says of ${textOf(each.question.target.address)}: ${PROBLEM_WORDS[answer.problem]}`;
        return;
      }
    }

    const cancelEnd = context.transport.after(giveUpAfterMs, () =>
      end({
        kind: "silent",
        attempts: sent.length,
        asked: askedWords(sent.map(({ question }) => question.target)),
        said,
      }),
    );
    whenAborted(context, () => {
      isOver = true;
      cancelRound();
      cancelEnd();
    });
    tunnel.onPacket(hear);
    sendRound();
  });
}

/** Targets that a tunnel with these addresses can ask. */
export function askable(targets: readonly QuestionTarget[], addresses: readonly string[]): readonly QuestionTarget[] {
  const sizes = new Set(addresses.flatMap((text) => addressBytes(text)?.length ?? []));
  return targets.filter(({ address }) => sizes.has(address.length));
}

/** `1.1.1.1 (ICMP, DNS), 9.9.9.9 (DNS)`, the first few. */
function askedWords(targets: readonly QuestionTarget[]): string {
  const kinds = new Map<string, Set<string>>();
  for (const { kind, address } of targets) {
    const text = textOf(address);
    kinds.set(text, (kinds.get(text) ?? new Set()).add(KIND_WORDS[kind]));
  }
  return [...kinds]
    .slice(0, 4)
    .map(([address, ways]) => `${address} (${[...ways].join(", ")})`)
    .join(", ");
}

export function textOf(address: AddressBytes): string {
  const view = new DataView(address.buffer, address.byteOffset, address.byteLength);
  return address.length === 4
    ? formatIpv4(view.getUint32(0))
    : formatIpv6([view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)]);
}
