/**
 * One ping: several echoes to one address with pauses between them, and their results. It ends when every echo has its reply or its error,
 * when the time of the last echo is over, or, after a first reply, when late replies have had enough time.
 */

import { NetworkFault, whenAborted } from "../net/fault.ts";
import type { IcmpProblem } from "../protocols/icmp/echo.ts";
import type { EchoSockets, ForgetEcho } from "./echo-sockets.ts";
import type { Address, DialContext, PingOptions, PingReport } from "./transport.ts";

/** In an explanation's hint: how it was done (model/result.ts). */
export const METHOD_WORDS: Readonly<Record<PingReport["method"], string>> = {
  "icmp-datagram": "ICMP datagram socket",
  "icmp-raw": "raw socket",
  "system-ping": "system ping",
};

/** A host that has answered is waited for so much longer after the last echo: this, or three of its slowest round trips. */
const STRAGGLER_MS = 1_000;
const STRAGGLER_ROUND_TRIPS = 3;

/** Words for what ICMP said; classify() uses the same for the kernel's errors. */
const PROBLEM_WORDS: Readonly<Record<IcmpProblem, string>> = {
  "network-unreachable": "Network unreachable",
  "host-unreachable": "Host unreachable",
  prohibited: "A firewall on the way refused the echo requests",
  "hops-exceeded": "The way to the host is too long or a loop",
  "bad-packet": "A router on the way refused the echo requests",
};

export class PingRun {
  readonly #sockets: EchoSockets;
  readonly #method: PingReport["method"];
  readonly #address: Address;
  readonly #options: PingOptions;
  readonly #context: DialContext;
  readonly #outstanding = new Set<ForgetEcho>();
  readonly #roundTripsMs: number[] = [];
  #sent = 0;
  /** Monotonic ms; null until the last echo has left. */
  #lastSentAt: number | null = null;
  #problem: IcmpProblem | null = null;
  #refusal: unknown = null;
  #sendTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #isOver = false;
  #resolve: (report: PingReport) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(
    sockets: EchoSockets,
    method: PingReport["method"],
    address: Address,
    options: PingOptions,
    context: DialContext,
  ) {
    this.#sockets = sockets;
    this.#method = method;
    this.#address = address;
    this.#options = options;
    this.#context = context;
  }

  start(): Promise<PingReport> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      whenAborted(this.#context, (fault) => {
        if (this.#end()) reject(fault);
      });
      if (!this.#isOver) this.#sendNext();
    });
  }

  #sendNext(): void {
    this.#sent++;
    const isLast = this.#sent === this.#options.count;
    if (!isLast) this.#sendTimer = setTimeout(() => this.#sendNext(), this.#options.spacingMs);
    let forget: ForgetEcho | undefined;
    const settle = (): void => {
      if (forget !== undefined) this.#outstanding.delete(forget);
      this.#finishIfAllSettled();
    };
    let isSettled = false;
    try {
      forget = this.#sockets.send(this.#address.ip, this.#address.family, {
        onSent: () => {
          if (isLast) this.#startWaiting();
        },
        onReply: (roundTripMs) => {
          isSettled = true;
          this.#heard(roundTripMs);
          settle();
        },
        onProblem: (problem) => {
          isSettled = true;
          this.#problem ??= problem;
          settle();
        },
        onRefused: (error) => {
          isSettled = true;
          this.#refused(error, isLast);
          settle();
        },
      });
      if (!isSettled) this.#outstanding.add(forget);
    } catch (error) {
      this.#refused(error, isLast);
      this.#finishIfAllSettled();
    }
  }

  /** Earlier echoes may still be answered. */
  #refused(error: unknown, isLast: boolean): void {
    this.#refusal ??= error;
    if (isLast) this.#startWaiting();
  }

  /** The last echo has left, or never will. */
  #startWaiting(): void {
    this.#lastSentAt = performance.now();
    this.#finishIn(this.#options.replyTimeoutMs);
    this.#hurry();
  }

  /** After a stall Node runs timers before it reads sockets, so the end lets one read come first. */
  #finishIn(ms: number): void {
    clearTimeout(this.#endTimer);
    this.#endTimer = setTimeout(() => setImmediate(() => this.#finish()), ms);
  }

  #heard(roundTripMs: number): void {
    // An echo waits no longer than its own time, even while a later one's runs.
    if (roundTripMs > this.#options.replyTimeoutMs) return;
    this.#context.answered();
    this.#roundTripsMs.push(roundTripMs);
    this.#hurry();
  }

  /** After the last echo a host that has answered gets the stragglers' time only. */
  #hurry(): void {
    if (this.#lastSentAt === null || this.#roundTripsMs.length === 0) return;
    const fairMs = Math.max(STRAGGLER_MS, STRAGGLER_ROUND_TRIPS * Math.max(...this.#roundTripsMs));
    if (fairMs >= this.#options.replyTimeoutMs) return;
    this.#finishIn(Math.max(0, fairMs - (performance.now() - this.#lastSentAt)));
  }

  #finishIfAllSettled(): void {
    // What this machine refuses once it refuses again; the rest need not be tried.
    const isRefused = this.#refusal !== null && this.#roundTripsMs.length === 0 && this.#outstanding.size === 0;
    if (isRefused || (this.#sent === this.#options.count && this.#outstanding.size === 0)) this.#finish();
  }

  #finish(): void {
    if (!this.#end()) return;
    const isSilent = this.#roundTripsMs.length === 0;
    if (isSilent && this.#refusal !== null) this.#reject(this.#refusal);
    else if (isSilent && this.#problem !== null) {
      const hint = METHOD_WORDS[this.#method];
      this.#reject(new NetworkFault("unreachable", PROBLEM_WORDS[this.#problem], { hint }));
    } else this.#resolve({ sent: this.#sent, roundTripsMs: this.#roundTripsMs, method: this.#method });
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#sendTimer);
    clearTimeout(this.#endTimer);
    for (const forget of this.#outstanding) forget();
    this.#outstanding.clear();
    return true;
  }
}
