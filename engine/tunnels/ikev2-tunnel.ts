/** IKEv2 as a tunnel: the gateway's addresses in turn, its packets in ESP. */
import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import type { Child } from "../protocols/ikev2/child.ts";
import { Ikev2Attempt, type Ikev2Endpoint } from "./ikev2-attempt.ts";
import type { Tunnel, TunnelInfo } from "./tunnel.ts";

/** Ethernet less IPv4, UDP, and ESP with its largest IV, padding and check value. */
const MTU_BYTES = 1_400;

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
      const attempt = new Ikev2Attempt(this.#end, server, leftMs / (servers.length - index), this.#context);
      this.#attempt = attempt;
      try {
        this.#child = await attempt.open();
        const nowMs = this.#context.now();
        const { addresses, dns } = this.#child;
        return {
          addresses,
          dns,
          mtuBytes: MTU_BYTES,
          connectMs: nowMs - startedAtMs,
          handshakeMs: nowMs - attempt.startedAtMs,
        };
      } catch (error) {
        await attempt.close();
        // A gateway that has spoken is the one that is meant: its other address would say the same.
        if (attempt.hasAnswered || this.#context.signal.aborted || !(error instanceof Error)) throw error;
        if (fault === undefined || saysLeast(fault)) fault = error;
      }
    }
    throw fault ?? new NetworkFault("unresolved", "The gateway has no address");
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
