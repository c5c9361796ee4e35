/**
 * Asks hosts through a tunnel until one answers: ICMP echo first, then DNS beside it, then a TCP SYN too, again and again with other sizes
 * and other hosts until the time is over. Only an answer to a question of our own counts, and the time it took is that of the try it answers.
 */

import type { ProbeContext } from "../contract/probe.ts";
import { whenAborted } from "../net/fault.ts";
import { formatIpv4, formatIpv6 } from "../net/ip.ts";
import { type AddressBytes, addressBytes } from "../protocols/inner/packet.ts";
import {
  createQuestion,
  decodeInner,
  type Question,
  type QuestionKind,
  type QuestionTarget,
  SEED_BYTES,
} from "../protocols/inner/question.ts";
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
  /** A remark for the result although it passed. */
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
export function askThrough(tunnel: Tunnel, options: InnerProbeOptions, context: Context): Promise<Passage | Silence> {
  return new Promise((resolve) => new InnerProbe(tunnel, options, context, resolve).start());
}

class InnerProbe {
  readonly #tunnel: Tunnel;
  readonly #context: Context;
  readonly #sources: readonly AddressBytes[];
  readonly #targetsByKind: readonly (readonly QuestionTarget[])[];
  readonly #giveUpAfterMs: number;
  readonly #resolve: (result: Passage | Silence) => void;
  readonly #sent: { readonly question: Question; readonly atMs: number }[] = [];
  #reported: string | null = null;
  #round = 0;
  #isOver = false;
  #cancelRound = (): void => {};
  #cancelEnd = (): void => {};

  constructor(
    tunnel: Tunnel,
    { addresses, targets, giveUpAfterMs }: InnerProbeOptions,
    context: Context,
    resolve: (result: Passage | Silence) => void,
  ) {
    this.#tunnel = tunnel;
    this.#context = context;
    this.#sources = addresses.flatMap((text) => addressBytes(text) ?? []);
    this.#targetsByKind = KINDS.map((kind) => targets.filter((target) => target.kind === kind)).filter(
      (some) => some.length > 0,
    );
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#resolve = resolve;
  }

  start(): void {
    this.#cancelEnd = this.#context.transport.after(this.#giveUpAfterMs, () => {
      const asked = askedWords(this.#sent.map(({ question }) => question.target));
      this.#end({ kind: "silent", attempts: this.#sent.length, asked, said: this.#reported });
    });
    whenAborted(this.#context, () => this.#stop());
    this.#tunnel.onPacket((packet, atMs) => this.#onPacket(packet, atMs));
    this.#sendRound();
  }

  #stop(): void {
    this.#isOver = true;
    this.#cancelRound();
    this.#cancelEnd();
  }

  #end(result: Passage | Silence): void {
    this.#stop();
    this.#resolve(result);
  }

  #sendRound(): void {
    for (const [since, targets] of this.#targetsByKind.slice(0, this.#round + 1).entries()) {
      const target = targets[(this.#round - since) % targets.length];
      if (target !== undefined) this.#ask(target);
    }
    const gapMs = GAPS_MS[Math.min(this.#round, GAPS_MS.length - 1)] ?? 1_000;
    this.#round++;
    this.#cancelRound = this.#context.transport.after(gapMs, () => this.#sendRound());
  }

  #ask(target: QuestionTarget): void {
    const source = this.#sources.find((address) => address.length === target.address.length);
    if (source === undefined) return;
    const question = createQuestion(target, source, this.#round, this.#context.randomBytes(SEED_BYTES));
    this.#sent.push({ question, atMs: this.#context.now() });
    this.#tunnel.send(question.packet);
  }

  #onPacket(packet: Uint8Array, atMs: number): void {
    const decoded = this.#isOver ? undefined : decodeInner(packet);
    if (decoded === undefined) return;
    for (const { question, atMs: sentAtMs } of this.#sent) {
      const answer = question.read(decoded);
      if (answer === undefined) continue;
      if (answer.kind === "answered") {
        if (answer.farewell !== undefined) this.#tunnel.send(answer.farewell);
        this.#end({ kind: "passed", latencyMs: atMs - sentAtMs, attempts: this.#sent.length, note: answer.note });
        return;
      }
      this.#reported ??= `${textOf(answer.by)} says of ${textOf(question.target.address)}: ${PROBLEM_WORDS[answer.problem]}`;
      return;
    }
  }
}

/** Targets that a tunnel with these addresses can ask. */
export function askable<Target extends QuestionTarget>(
  targets: readonly Target[],
  addresses: readonly string[],
): readonly Target[] {
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
