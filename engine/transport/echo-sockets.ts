/**
 * One ICMP socket per family for all pings of a thread: hands each reply to the echo it answers, by sequence number and token, and each ICMP error to
 * the echo it quotes. Late, duplicate and foreign replies are dropped. Sends are paced: a burst of echoes is spread over several turns of the
 * event loop, and a full send buffer is waited for.
 */
import { randomFillSync } from "node:crypto";
import { IdTable } from "../../model/id-table.ts";
import { type IcmpSocket, type IcmpSocketKind, openIcmpSocket } from "../../native/icmp-socket.ts";
import type { Libc } from "../../native/libc.ts";
import type { Readiness } from "../../native/readiness.ts";
import {
  decodeIcmp,
  encodeEchoRequest,
  type IcmpFamily,
  type IcmpProblem,
  isIntact,
  payloadOfIpv4,
  type QuotedEcho,
  quotedRequest,
} from "../protocols/icmp/echo.ts";

/** What becomes of one echo: of the last three at most one is called, once. */
export interface EchoListener {
  /** It has left this process; perhaps a while after it was handed in. */
  onSent(): void;
  onReply(roundTripMs: number): void;
  onProblem(problem: IcmpProblem): void;
  /** It could not be sent: an errno error. */
  onRefused(error: unknown): void;
}

interface Echo {
  readonly ip: string;
  readonly sequence: number;
  readonly token: bigint;
  readonly listener: EchoListener;
  /** Monotonic ms when it was handed in. */
  readonly queuedAt: number;
  /** The kernel's clock, ns; null until it was sent. */
  sentAtNs: bigint | null;
  /** Monotonic ms. */
  sentAt: number;
}

/** Forgets an echo: its later replies are dropped. */
export type ForgetEcho = () => void;

/** Sent in one turn of the event loop. */
const SENDS_PER_TURN = 64;
/** Full buffers empty within milliseconds; after so long in the queue an echo is refused. */
const BACK_OFF_MS = 2;
const MAX_BACK_OFF_MS = 64;
const QUEUED_AT_MOST_MS = 500;
/** Of 65,536 sequence numbers, some are left free so that a free one is found at once. */
const IN_FLIGHT_LIMIT = 60_000;
/** Tokens made at once. */
const TOKEN_BATCH = 128;
/** errno(3): this machine's buffers are full for the moment. */
const FULL_CODES = new Set(["ENOBUFS", "EAGAIN", "ENOMEM"]);
/** What Linux makes of ICMP errors (net/ipv4/icmp.c icmp_err_convert, net/ipv6/icmp.c tab_unreach): by errno. */
const PROBLEM_OF_ERRNO: ReadonlyMap<number, IcmpProblem> = new Map([
  [13, "prohibited"], // EACCES
  [71, "bad-packet"], // EPROTO
  [90, "bad-packet"], // EMSGSIZE
  [101, "network-unreachable"], // ENETUNREACH
]);

export class EchoSockets {
  readonly #libc: Libc;
  readonly #readiness: Readiness;
  readonly #kind: IcmpSocketKind;
  readonly #families = new Map<IcmpFamily, EchoFamily>();

  private constructor(libc: Libc, readiness: Readiness, kind: IcmpSocketKind) {
    this.#libc = libc;
    this.#readiness = readiness;
    this.#kind = kind;
  }

  /** Null when this kind of socket cannot be had in either family. */
  static open(libc: Libc, readiness: Readiness, kind: IcmpSocketKind): EchoSockets | null {
    const sockets = new EchoSockets(libc, readiness, kind);
    for (const family of [4, 6] as const) {
      try {
        sockets.#of(family);
        return sockets;
      } catch {
        // The other family, then the next way.
      }
    }
    return null;
  }

  /** @throws an errno error when the family's socket cannot be had */
  send(ip: string, family: IcmpFamily, listener: EchoListener): ForgetEcho {
    return this.#of(family).send(ip, listener);
  }

  close(): void {
    for (const family of this.#families.values()) family.close();
    this.#families.clear();
    this.#readiness.close();
  }

  #of(family: IcmpFamily): EchoFamily {
    const known = this.#families.get(family);
    if (known !== undefined) return known;
    const opened = new EchoFamily(this.#libc, this.#readiness, this.#kind, family);
    this.#families.set(family, opened);
    return opened;
  }
}

class EchoFamily {
  readonly #socket: IcmpSocket;
  readonly #readiness: Readiness;
  readonly #family: IcmpFamily;
  readonly #kind: IcmpSocketKind;
  /** By sequence number. */
  readonly #inFlight = new IdTable<Echo>();
  readonly #tokens = new BigUint64Array(TOKEN_BATCH);
  /** Of a raw socket; a datagram socket's is the kernel's. */
  readonly #identifier: number;
  #nextToken = TOKEN_BATCH;
  #nextSequence: number;
  #queue: Echo[] = [];
  #sendsLeft = SENDS_PER_TURN;
  #isFlushing = false;
  #backOffMs = BACK_OFF_MS;
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;

  constructor(libc: Libc, readiness: Readiness, kind: IcmpSocketKind, family: IcmpFamily) {
    this.#family = family;
    this.#kind = kind;
    this.#readiness = readiness;
    // Random starts, so that probers started together do not take each other's numbers.
    this.#identifier = Number(this.#token() & 0xffffn);
    this.#nextSequence = Number(this.#token() & 0xffffn);
    this.#socket = openIcmpSocket(libc, readiness, kind, family, {
      onMessage: (message, arrivedAtNs) => this.#hear(message, arrivedAtNs),
      onError: (errno, quoted) => {
        const problem = PROBLEM_OF_ERRNO.get(errno) ?? "host-unreachable";
        this.#tellProblem(problem, quotedRequest(family, quoted));
      },
    });
  }

  send(ip: string, listener: EchoListener): ForgetEcho {
    if (this.#inFlight.size >= IN_FLIGHT_LIMIT) {
      throw Object.assign(new Error("too many echoes in flight"), { code: "ENOBUFS" });
    }
    const sequence = this.#freeSequence();
    const echo = {
      ip,
      sequence,
      token: this.#token(),
      listener,
      queuedAt: performance.now(),
      sentAtNs: null,
      sentAt: 0,
    };
    if (this.#inFlight.size === 0) this.#readiness.hold();
    this.#inFlight.set(sequence, echo);
    this.#queue.push(echo);
    // A back-off is waited for; otherwise this turn may have sends left.
    if (this.#sendsLeft > 0 && !this.#isBackingOff()) this.#flush();
    return () => this.#end(echo);
  }

  close(): void {
    this.#cancelTimer();
    for (const echo of this.#inFlight.values()) {
      this.#end(echo);
      echo.listener.onRefused(Object.assign(new Error("the socket was closed"), { code: "EAGAIN" }));
    }
    this.#socket.close();
  }

  /** Sends what this turn of the event loop still may, and comes again while something waits. */
  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const now = performance.now();
    let next = 0;
    let isFull = false;
    for (; next < this.#queue.length && this.#sendsLeft > 0 && !isFull; next++) {
      const echo = this.#queue[next];
      // Else it was forgotten while it waited.
      if (echo === undefined || this.#inFlight.get(echo.sequence) !== echo) continue;
      this.#sendsLeft--;
      isFull = !this.#sendNow(echo, now);
      if (isFull) next--;
    }
    this.#queue = next >= this.#queue.length ? [] : this.#queue.slice(next);
    this.#isFlushing = false;
    this.#comeAgain(isFull);
  }

  #comeAgain(isFull: boolean): void {
    if (this.#timer !== null) return;
    const again = (): void => {
      this.#timer = null;
      this.#sendsLeft = SENDS_PER_TURN;
      if (this.#queue.length > 0) this.#flush();
    };
    if (isFull) {
      this.#timer = setTimeout(again, this.#backOffMs);
      this.#backOffMs = Math.min(MAX_BACK_OFF_MS, this.#backOffMs * 2);
    } else {
      this.#timer = setImmediate(again);
      this.#backOffMs = BACK_OFF_MS;
    }
  }

  /** @returns false when the machine's buffers are full and it is worth waiting */
  #sendNow(echo: Echo, now: number): boolean {
    const { sequence, token } = echo;
    try {
      const request = encodeEchoRequest(this.#family, { identifier: this.#identifier, sequence, token });
      echo.sentAt = performance.now();
      echo.sentAtNs = this.#socket.send(request, echo.ip);
      echo.listener.onSent();
    } catch (error) {
      echo.sentAtNs = null;
      if (FULL_CODES.has(codeOf(error)) && now - echo.queuedAt < QUEUED_AT_MOST_MS) return false;
      if (this.#end(echo)) echo.listener.onRefused(error);
    }
    return true;
  }

  #hear(message: Uint8Array, arrivedAtNs: bigint): void {
    const icmp = this.#kind === "raw" && this.#family === 4 ? payloadOfIpv4(message) : message;
    if (icmp === undefined) return;
    // Over IPv6 the kernel has verified the checksum; over IPv4 a raw socket gets messages before the kernel does that.
    if (this.#kind === "raw" && this.#family === 4 && !isIntact(icmp)) return;
    const decoded = decodeIcmp(this.#family, icmp);
    if (decoded?.type === "error") this.#tellProblem(decoded.problem, decoded.quoted);
    else if (decoded?.type === "echo-reply") {
      const { identifier, sequence, token } = decoded.echo;
      const echo = this.#inFlight.get(sequence);
      if (echo?.token !== token || echo.sentAtNs === null) return;
      if (this.#kind === "raw" && identifier !== this.#identifier) return;
      this.#end(echo);
      echo.listener.onReply(roundTripOf(echo, echo.sentAtNs, arrivedAtNs));
    }
  }

  #tellProblem(problem: IcmpProblem, quoted: QuotedEcho | undefined): void {
    if (quoted === undefined) return;
    const echo = this.#inFlight.get(quoted.sequence);
    if (echo === undefined || echo.sentAtNs === null) return;
    if (quoted.token !== null && quoted.token !== echo.token) return;
    if (this.#kind === "raw" && quoted.identifier !== this.#identifier) return;
    this.#end(echo);
    echo.listener.onProblem(problem);
  }

  #end(echo: Echo): boolean {
    if (this.#inFlight.get(echo.sequence) !== echo) return false;
    this.#inFlight.take(echo.sequence);
    if (this.#inFlight.size === 0) this.#readiness.release();
    return true;
  }

  #freeSequence(): number {
    let sequence = this.#nextSequence;
    while (this.#inFlight.has(sequence)) sequence = (sequence + 1) & 0xffff;
    this.#nextSequence = (sequence + 1) & 0xffff;
    return sequence;
  }

  #token(): bigint {
    if (this.#nextToken >= TOKEN_BATCH) {
      randomFillSync(this.#tokens);
      this.#nextToken = 0;
    }
    return this.#tokens[this.#nextToken++] ?? 0n;
  }

  #isBackingOff(): boolean {
    return this.#timer !== null && this.#backOffMs > BACK_OFF_MS;
  }

  #cancelTimer(): void {
    if (this.#timer === null) return;
    // Either kind: clearing one of the other kind does nothing.
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
    this.#timer = null;
  }
}

/** By the kernel's clock, unless that clock was set meanwhile: then what we saw counts. */
function roundTripOf(echo: Echo, sentAtNs: bigint, arrivedAtNs: bigint): number {
  const observedMs = performance.now() - echo.sentAt;
  const kernelMs = Number(arrivedAtNs - sentAtNs) / 1e6;
  return kernelMs > 0 && kernelMs <= observedMs ? kernelMs : observedMs;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
