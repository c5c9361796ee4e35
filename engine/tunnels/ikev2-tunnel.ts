/** IKEv2 as a tunnel: the gateway's addresses in turn, its packets in ESP. */
import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import type { Child } from "../protocols/ikev2/child.ts";
import type { Address } from "../transport/transport.ts";
import { Ikev2Attempt, type Ikev2Endpoint } from "./ikev2-attempt.ts";
import type { Tunnel, TunnelInfo } from "./tunnel.ts";

/** Ethernet less IPv4, UDP, and ESP with its largest IV, padding and check value. */
const MTU_BYTES = 1_400;

interface Opened {
  readonly attempt: Ikev2Attempt;
  readonly child: Child;
}

export class Ikev2Tunnel implements Tunnel {
  readonly #end: Ikev2Endpoint;
  readonly #context: ProbeContext;
  #attempt: Ikev2Attempt | null = null;
  #child: Child | null = null;

  constructor(end: Ikev2Endpoint, context: ProbeContext) {
    this.#end = end;
    this.#context = context;
  }

  /** Where packets may go to, once it is up. */
  get child(): Child | null {
    return this.#child;
  }

  async open(): Promise<TunnelInfo> {
    const { servers, withinMs } = this.#end;
    const startedAtMs = this.#context.now();
    let fault: Error | undefined;
    for (const [index, server] of servers.entries()) {
      const leftMs = withinMs - (this.#context.now() - startedAtMs);
      try {
        const { child, attempt } = await this.#openAt(server, leftMs / (servers.length - index));
        this.#child = child;
        const nowMs = this.#context.now();
        const { addresses, dns } = child;
        return {
          addresses,
          dns,
          mtuBytes: MTU_BYTES,
          connectMs: nowMs - startedAtMs,
          handshakeMs: nowMs - attempt.startedAtMs,
        };
      } catch (error) {
        // A gateway that has spoken is the one that is meant: its other address would say the same.
        const hasAnswered = this.#attempt?.hasAnswered === true;
        if (hasAnswered || this.#context.signal.aborted || !(error instanceof Error)) throw error;
        if (fault === undefined || saysLeast(fault)) fault = error;
      }
    }
    throw fault ?? new NetworkFault("unresolved", "The gateway has no address");
  }

  /** A gateway does not say which signatures of RSA it takes (unless by RFC 9593): one that refuses ours is shown one of the other padding, once. */
  async #openAt(server: Address, withinMs: number): Promise<Opened> {
    const startedAtMs = this.#context.now();
    try {
      return await this.#attemptAt(this.#end, server, withinMs);
    } catch (error) {
      const { certificate } = this.#end.settings;
      const leftMs = withinMs - (this.#context.now() - startedAtMs);
      const isLast = this.#attempt?.mayTakeOtherPadding !== true || leftMs <= 0 || this.#context.signal.aborted;
      if (certificate === null || isLast) throw error;
      const padding = certificate.padding === "pss" ? "pkcs1" : "pss";
      const settings = { ...this.#end.settings, certificate: { ...certificate, padding } as const };
      const opened = await this.#attemptAt({ ...this.#end, settings }, server, leftMs);
      this.#end.onPadding(padding);
      return opened;
    }
  }

  async #attemptAt(end: Ikev2Endpoint, server: Address, withinMs: number): Promise<Opened> {
    const attempt = new Ikev2Attempt(end, server, withinMs, this.#context);
    this.#attempt = attempt;
    try {
      return { attempt, child: await attempt.open() };
    } catch (error) {
      await attempt.close();
      throw error;
    }
  }

  send(ipPacket: Uint8Array): void {
    if (this.#child !== null) this.#attempt?.sendEsp(this.#child.sender.seal(ipPacket));
  }

  onPacket(listener: (packet: Uint8Array, atMs: number) => void): void {
    this.#attempt?.onEsp((datagram, atMs) => {
      const packet = this.#child?.receiver.open(datagram);
      if (packet !== undefined) listener(packet, atMs);
    });
  }

  close(): Promise<void> {
    return this.#attempt?.close() ?? Promise.resolve();
  }
}

/** A missing route is often only that of IPv6 here. */
function saysLeast(error: Error): boolean {
  return "code" in error && (error.code === "ENETUNREACH" || error.code === "EADDRNOTAVAIL");
}
