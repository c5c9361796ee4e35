/** WireGuard and AmneziaWG over a datagram link: retries, several addresses of one server, and what silence means. */

import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { mostTelling } from "../net/fault-rank.ts";
import type { Framing } from "../protocols/wireguard/message.ts";
import type { PeerKeys } from "../protocols/wireguard/noise.ts";
import { type Stray, WireguardSession } from "../protocols/wireguard/session.ts";
import { encodeTai64n, nextTimestampNs } from "../protocols/wireguard/tai64n.ts";
import { endpointOf } from "../transport/connect-race.ts";
import type { Address, DatagramLink, DatagramListener } from "../transport/transport.ts";
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
  /** Why a server may be silent that plain WireGuard does not know, to be named among the reasons; empty: nothing. */
  readonly moreReasons: string;
  /** What a check did not do as the configuration says; empty: nothing. */
  readonly silenceRemark: string;
  /** What unreadable datagrams say of the configuration; null: nothing. */
  diagnose(strays: readonly Stray[]): NetworkFault | null;
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

/** While it is brought up. */
interface Opening {
  readonly resolve: (info: TunnelInfo) => void;
  readonly reject: (fault: Error) => void;
  /** How long this server has, ms. */
  readonly budgetMs: number;
  readonly beganAtMs: number;
}

const NOTHING = (): void => {};

/** It is its socket's listener and has one timer at a time, because thousands of these wait for servers that do not answer. */
export class WireguardTunnel implements Tunnel, DatagramListener {
  readonly #endpoint: WireguardEndpoint;
  readonly #dial: WireguardDial;
  readonly #context: ProbeContext;
  #session: WireguardSession;
  #link: DatagramLink | null = null;
  #listener: ((packet: Uint8Array, atMs: number) => void) | null = null;
  #initiatedAtMs: readonly number[] = [];
  #startedAtMs = 0;
  #opening: Opening | null = null;
  #cancelTimer = NOTHING;
  #abortedBy: Error | null = null;
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
    whenAborted(this.#context, (fault) => {
      this.#abortedBy = fault;
      this.#settle(fault);
    });
    const faults = new Map<Error, Address>();
    for (const [index, server] of servers.entries()) {
      const spentMs = this.#context.now() - this.#startedAtMs;
      try {
        return await this.#openOne(server, (budgetMs - spentMs) / (servers.length - index));
      } catch (error) {
        this.#link?.close();
        if (this.#abortedBy !== null || !(error instanceof Error)) throw error;
        faults.set(error, server);
      }
    }
    const told = mostTelling([...faults.keys()]) ?? new NetworkFault("unresolved", "The server has no address");
    const address = faults.get(told);
    if (address !== undefined) this.#context.tried(endpointOf(address, this.#endpoint.port));
    throw told;
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

  received(datagram: Uint8Array, atMs: number): void {
    const event = this.#session.receive(datagram);
    if (event.kind === "packet") {
      this.#listener?.(event.packet, atMs);
    } else if (event.kind === "cookie") {
      this.#context.answered();
      this.#initiate();
    } else if (event.kind === "established") {
      this.#settle(this.#infoOf(event.attempt, atMs));
    } else if (event.kind === "preshared-key-differs") {
      this.#settle(presharedKeyDiffers());
    }
  }

  failed(error: Error): void {
    this.#settle(error);
  }

  #openOne(server: Address, budgetMs: number): Promise<TunnelInfo> {
    this.#session.close();
    this.#session = this.#newSession();
    this.#initiatedAtMs = [];
    return new Promise((resolve, reject) => {
      if (this.#abortedBy !== null) return reject(this.#abortedBy);
      this.#link = this.#context.transport.openDatagrams(server, this.#endpoint.port, this, this.#context);
      this.#opening = { resolve, reject, budgetMs, beganAtMs: this.#context.now() };
      this.#initiate();
      this.#waitFrom(0);
    });
  }

  #waitFrom(retry: number): void {
    if (this.#opening === null) return;
    const { transport, now } = this.#context;
    const { budgetMs, beganAtMs } = this.#opening;
    const afterMs = RETRIES_AFTER_MS[retry];
    if (afterMs !== undefined && afterMs < budgetMs) {
      this.#cancelTimer = transport.after(afterMs - (RETRIES_AFTER_MS[retry - 1] ?? 0), () => {
        this.#initiate();
        this.#waitFrom(retry + 1);
      });
    } else {
      const leftMs = budgetMs - (now() - beganAtMs);
      this.#cancelTimer = transport.after(Math.max(1, leftMs), () => this.#settle(this.#silence(budgetMs)));
    }
  }

  #settle(result: TunnelInfo | Error): void {
    const opening = this.#opening;
    if (opening === null) return;
    this.#opening = null;
    this.#cancelTimer();
    this.#cancelTimer = NOTHING;
    if (result instanceof Error) opening.reject(result);
    else opening.resolve(result);
  }

  #initiate(): void {
    this.#initiatedAtMs = this.#initiatedAtMs.concat(this.#context.now());
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
    const diagnosis = this.#endpoint.diagnose(this.#session.strays);
    if (diagnosis !== null) return diagnosis;
    const seconds = Math.round(afterMs / 100) / 10;
    return new NetworkFault(
      "timeout",
      `No handshake response in ${seconds} s: server down, UDP blocked, wrong server public key, client key not registered there,${this.#endpoint.moreReasons} or clock behind`,
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
      : `${sent} and nothing came back${this.#endpoint.silenceRemark}`;
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
