/** WireGuard and AmneziaWG over a datagram link: retries, several addresses of one server, and what silence means. */

import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { mostTelling } from "../net/fault-rank.ts";
import type { Framing } from "../protocols/wireguard/message.ts";
import type { PeerKeys } from "../protocols/wireguard/noise.ts";
import { type SessionEvent, WireguardSession } from "../protocols/wireguard/session.ts";
import { encodeTai64n, nextTimestampNs } from "../protocols/wireguard/tai64n.ts";
import type { Address, DatagramLink } from "../transport/transport.ts";
import type { Tunnel, TunnelInfo } from "./tunnel.ts";

/** How long a server has for its first answer, ms. */
const FIRST_ANSWER_MS = 5_000;
/** When an initiation follows the first one, ms after it; servers want 20 ms between two. */
const RETRIES_AFTER_MS = [700, 1_600, 3_200] as const;

/** What is the same in every check of one server of a configuration. */
export interface WireguardEndpoint {
  readonly keys: PeerKeys;
  readonly port: number;
  readonly addresses: readonly string[];
  readonly dns: readonly string[];
  readonly mtuBytes: number;
  /** Of this key, for as long as the process lives. */
  readonly clock: TimestampMemory;
  /** What unreadable datagrams of these sizes say of the configuration; null: nothing. */
  readonly diagnose: (straySizes: readonly number[]) => NetworkFault | null;
}

/** Of one check. */
export interface WireguardDial {
  readonly framing: Framing;
  /** The server's, judged by the guard; tried in their order. */
  readonly servers: readonly Address[];
  /** How long the tunnel may take to come up, ms. */
  readonly withinMs: number;
}

/** The greatest time stamp that was sent. */
export interface TimestampMemory {
  lastNs: bigint;
}

export class WireguardTunnel implements Tunnel {
  readonly #endpoint: WireguardEndpoint;
  readonly #dial: WireguardDial;
  readonly #context: ProbeContext;
  #session: WireguardSession;
  #link: DatagramLink | null = null;
  #listener: ((packet: Uint8Array, atMs: number) => void) | null = null;
  #initiatedAtMs: number[] = [];
  #startedAtMs = 0;
  #hear: (event: SessionEvent, atMs: number) => void = () => {};
  #fail: (fault: Error) => void = () => {};
  #isClockBack = false;

  constructor(end: WireguardEndpoint, dial: WireguardDial, context: ProbeContext) {
    this.#endpoint = end;
    this.#dial = dial;
    this.#context = context;
    this.#session = this.#newSession();
  }

  async open(): Promise<TunnelInfo> {
    const { servers, withinMs } = this.#dial;
    const budgetMs = Math.min(FIRST_ANSWER_MS, withinMs);
    this.#startedAtMs = this.#context.now();
    const faults: Error[] = [];
    for (const [index, server] of servers.entries()) {
      const spentMs = this.#context.now() - this.#startedAtMs;
      try {
        return await this.#openOne(server, (budgetMs - spentMs) / (servers.length - index));
      } catch (error) {
        this.#link?.close();
        if (this.#context.signal.aborted || !(error instanceof Error)) throw error;
        faults.push(error);
      }
    }
    throw mostTelling(faults) ?? new NetworkFault("unresolved", "The server has no address");
  }

  send(ipPacket: Uint8Array): void {
    const datagram = this.#session.seal(ipPacket);
    if (datagram !== undefined) this.#link?.send(datagram);
  }

  onPacket(listener: (packet: Uint8Array, atMs: number) => void): void {
    this.#listener = listener;
  }

  /** WireGuard has no word for it. */
  close(): Promise<void> {
    this.#listener = null;
    this.#link?.close();
    this.#session.close();
    return Promise.resolve();
  }

  #openOne(server: Address, budgetMs: number): Promise<TunnelInfo> {
    const { transport } = this.#context;
    this.#session.close();
    this.#session = this.#newSession();
    this.#initiatedAtMs = [];
    return new Promise((resolve, reject) => {
      let cancelRetry = (): void => {};
      let cancelEnd = (): void => {};
      const settle = (how: () => void): void => {
        cancelRetry();
        cancelEnd();
        this.#fail = () => {};
        how();
      };
      this.#fail = (fault) => settle(() => reject(fault));
      this.#hear = (event, atMs) => {
        if (event.kind === "established") settle(() => resolve(this.#infoOf(event.attempt, atMs)));
        else if (event.kind === "preshared-key-differs") settle(() => reject(presharedKeyDiffers()));
      };
      whenAborted(this.#context, (fault) => this.#fail(fault));
      this.#link = transport.openDatagrams(
        server,
        this.#endpoint.port,
        {
          received: (datagram, atMs) => this.#receive(datagram, atMs),
          failed: (error) => this.#fail(error),
        },
        this.#context,
      );
      // One timer at a time: thousands of these wait for servers that say nothing.
      const retryFrom = (index: number): void => {
        const afterMs = RETRIES_AFTER_MS[index];
        if (afterMs === undefined || afterMs >= budgetMs) return;
        cancelRetry = transport.after(afterMs - (RETRIES_AFTER_MS[index - 1] ?? 0), () => {
          this.#initiate();
          retryFrom(index + 1);
        });
      };
      this.#initiate();
      retryFrom(0);
      cancelEnd = transport.after(Math.max(1, budgetMs), () => this.#fail(this.#silence(budgetMs)));
    });
  }

  #receive(datagram: Uint8Array, atMs: number): void {
    const event = this.#session.receive(datagram);
    if (event.kind === "packet") {
      this.#listener?.(event.packet, atMs);
    } else if (event.kind === "cookie") {
      this.#context.answered();
      this.#initiate();
    } else {
      this.#hear(event, atMs);
    }
  }

  #initiate(): void {
    this.#initiatedAtMs.push(this.#context.now());
    for (const datagram of this.#session.initiate()) this.#link?.send(datagram);
  }

  #infoOf(attempt: number, atMs: number): TunnelInfo {
    const { addresses, dns, mtuBytes } = this.#endpoint;
    const initiatedAtMs = this.#initiatedAtMs[attempt] ?? this.#startedAtMs;
    return {
      addresses,
      dns,
      mtuBytes,
      connectMs: Math.max(0, atMs - this.#startedAtMs),
      handshakeMs: Math.max(0, atMs - initiatedAtMs),
    };
  }

  #newSession(): WireguardSession {
    const { keys, mtuBytes } = this.#endpoint;
    return new WireguardSession(keys, {
      framing: this.#dial.framing,
      mtuBytes,
      randomBytes: this.#context.randomBytes,
      timestamp: () => this.#timestamp(),
    });
  }

  #timestamp(): Uint8Array {
    const { clock } = this.#endpoint;
    const nextNs = nextTimestampNs(this.#context.wallNowMs(), clock.lastNs);
    this.#isClockBack ||= nextNs <= clock.lastNs;
    if (nextNs > clock.lastNs) clock.lastNs = nextNs;
    return encodeTai64n(nextNs);
  }

  /** The protocol is silent by design, so silence has many reasons; a cookie or an unreadable answer leaves fewer. */
  #silence(afterMs: number): NetworkFault {
    const hint = this.#isClockBack
      ? "This checker's clock was set back, so servers may take its handshakes for old ones"
      : undefined;
    if (this.#session.hasCookie) {
      return new NetworkFault(
        "auth-failed",
        "The server is alive (it sent a cookie) but does not complete the handshake: this client's key is not registered there, or this checker's clock is behind",
        { peerAnswered: true, ...(hint !== undefined && { hint }) },
      );
    }
    const diagnosis = this.#endpoint.diagnose(this.#session.straySizes);
    if (diagnosis !== null) return diagnosis;
    const seconds = Math.round(afterMs / 100) / 10;
    return new NetworkFault(
      "timeout",
      `No handshake response in ${seconds} s: server down, UDP blocked, wrong server public key, client key not registered there, or clock behind`,
      {
        peerAnswered: false,
        hint: hint ?? this.#whatCameBack(),
      },
    );
  }

  #whatCameBack(): string {
    const sent = `${this.#session.attempts} initiations were sent`;
    return this.#session.isMirrored
      ? `${sent}, and only this checker's own datagrams came back: something on the way mirrors them`
      : `${sent} and nothing came back`;
  }
}

function presharedKeyDiffers(): NetworkFault {
  return new NetworkFault(
    "auth-failed",
    "The server knows this client, but its preshared key is another (or one side has none)",
    {
      peerAnswered: true,
      hint: "PresharedKey of the [Peer] section",
    },
  );
}
