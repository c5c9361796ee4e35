/** OpenVPN over datagrams or TCP: the servers of a profile in turn, each at its addresses, until one brings the tunnel up. */

import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import { mostTelling } from "../net/fault-rank.ts";
import { literalOf } from "../net/literal.ts";
import type { SessionSettings } from "../protocols/openvpn/settings.ts";
import { onePerFamily } from "../transport/one-per-family.ts";
import type { Address, IpPreference } from "../transport/transport.ts";
import { type Established, OpenvpnAttempt } from "./openvpn-attempt.ts";
import type { OpenvpnContext } from "./openvpn-context.ts";
import { refusedSilently, SilentRefusal } from "./openvpn-faults.ts";
import { type Link, type LinkListener, openDatagramLink, openStreamLink } from "./openvpn-link.ts";
import type { Tunnel, TunnelInfo } from "./tunnel.ts";

/** How long a server has to answer a new session, ms. */
const PROOF_OF_LIFE_MS = 1_500;
const STANDARD_MTU = 1_500;
/** Of one server over UDP, each with its share of the time. */
const MAX_ADDRESSES = 4;
/** init.c hostname_randomize. */
const RANDOM_NAME_BYTES = 6;

export interface OpenvpnServer {
  readonly host: string;
  readonly port: number;
  readonly proto: "udp" | "tcp";
  readonly family: IpPreference;
  /** Its name is asked for with random letters before it: some clouds know no other (AWS Client VPN). */
  readonly hasRandomName: boolean;
  readonly settings: SessionSettings;
  readonly tls: OpenvpnContext;
  readonly hasCertificate: boolean;
}

export interface OpenvpnEndpoint {
  /** Tried in their order. */
  readonly servers: readonly OpenvpnServer[];
  readonly login: { readonly username: string; readonly password: string } | null;
  /** How long the tunnel may take to come up, ms. */
  readonly withinMs: number;
}

export class OpenvpnTunnel implements Tunnel {
  readonly #end: OpenvpnEndpoint;
  readonly #context: ProbeContext;
  #attempt: OpenvpnAttempt | null = null;

  constructor(end: OpenvpnEndpoint, context: ProbeContext) {
    this.#end = end;
    this.#context = context;
  }

  /** Packets of the server that could not be read once the tunnel was up. */
  get strayPackets(): number {
    return this.#attempt?.strayPackets ?? 0;
  }

  async open(): Promise<TunnelInfo> {
    const { servers, withinMs } = this.#end;
    const endsAtMs = this.#context.now() + withinMs;
    const faults: Error[] = [];
    for (const [index, server] of servers.entries()) {
      try {
        return await this.#openServer(server, endsAtMs, servers.length - index);
      } catch (error) {
        if (this.#context.signal.aborted || !(error instanceof Error)) throw error;
        faults.push(error);
        // The account is the same at all of them, and tries too many lock it.
        if (error instanceof NetworkFault && error.verdict === "auth-failed") break;
        if (this.#context.now() >= endsAtMs) break;
      }
    }
    throw mostTelling(faults) ?? noAddress();
  }

  send(ipPacket: Uint8Array): void {
    this.#attempt?.send(ipPacket);
  }

  onPacket(listener: (packet: Uint8Array, atMs: number) => void): void {
    this.#attempt?.onPacket(listener);
  }

  close(): Promise<void> {
    return this.#attempt?.close() ?? Promise.resolve();
  }

  async #openServer(server: OpenvpnServer, endsAtMs: number, serversLeft: number): Promise<TunnelInfo> {
    const { transport } = this.#context;
    this.#context.phase("resolve");
    const resolved = await transport.resolve(this.#nameOf(server), server.port, server.family, this.#context);
    const ways: readonly (readonly Address[])[] =
      server.proto === "tcp" ? [resolved] : inTurn(resolved).map((one) => [one]);
    const faults: Error[] = [];
    for (const [index, addresses] of ways.entries()) {
      const leftMs = endsAtMs - this.#context.now();
      // A server's other address has its share of this server's time, a server that has answered all of it.
      const shareMs = leftMs / serversLeft;
      const attempt = this.#begin(server, addresses, {
        firstAnswerMs: shareMs / (ways.length - index),
        withinMs: shareMs,
      });
      try {
        return infoOf(await attempt.open(), attempt, this.#context.now());
      } catch (error) {
        await attempt.close();
        if (this.#context.signal.aborted || !(error instanceof Error)) throw error;
        if (error instanceof SilentRefusal) throw await this.#proven(error, server, addresses, endsAtMs);
        if (attempt.hasAnswered) throw error;
        faults.push(error);
      }
    }
    throw mostTelling(faults) ?? noAddress();
  }

  #nameOf({ host, hasRandomName }: OpenvpnServer): string {
    if (!hasRandomName || literalOf(host) !== undefined) return host;
    return `${Buffer.from(this.#context.randomBytes(RANDOM_NAME_BYTES)).toString("hex")}.${host}`;
  }

  #begin(
    server: OpenvpnServer,
    addresses: readonly Address[],
    limits: { readonly firstAnswerMs: number; readonly withinMs: number },
  ): OpenvpnAttempt {
    const { settings, proto, tls, hasCertificate } = server;
    const { firstAnswerMs, withinMs } = limits;
    const { login } = this.#end;
    const connect = (listener: LinkListener): Promise<Link> => this.#connect(server, addresses, listener);
    const attempt = new OpenvpnAttempt(
      { settings, proto, tls, hasCertificate, login, connect, firstAnswerMs, withinMs },
      this.#context,
    );
    this.#attempt = attempt;
    return attempt;
  }

  /** Whether the server answers a new session: then its silence was a refusal. */
  async #proven(
    silence: SilentRefusal,
    server: OpenvpnServer,
    addresses: readonly Address[],
    endsAtMs: number,
  ): Promise<NetworkFault> {
    const leftMs = Math.min(PROOF_OF_LIFE_MS, endsAtMs - this.#context.now());
    if (leftMs <= 0) return silence;
    const attempt = this.#begin(server, addresses, { firstAnswerMs: leftMs, withinMs: leftMs });
    const isAlive = await attempt.isAnswered();
    await attempt.close();
    return isAlive ? refusedSilently(silence) : silence;
  }

  async #connect(server: OpenvpnServer, addresses: readonly Address[], listener: LinkListener): Promise<Link> {
    const [address] = addresses;
    if (server.proto === "udp" && address !== undefined) {
      this.#context.phase("handshake");
      return openDatagramLink(address, server.port, listener, this.#context);
    }
    this.#context.phase("connect");
    const socket = await this.#context.transport.connectTcp(addresses, server.port, this.#context);
    this.#context.phase("handshake");
    return openStreamLink(socket, listener, this.#context);
  }
}

/** The first of each family, then the others, as `openvpn` goes on to the next address of a silent one. */
function inTurn(addresses: readonly Address[]): readonly Address[] {
  const first = onePerFamily(addresses);
  return [...first, ...addresses.filter((address) => !first.includes(address))].slice(0, MAX_ADDRESSES);
}

function infoOf(
  { addresses, pushed, handshakeMs }: Established,
  { startedAtMs }: OpenvpnAttempt,
  nowMs: number,
): TunnelInfo {
  return {
    addresses,
    dns: pushed.dns,
    mtuBytes: pushed.mtuBytes ?? STANDARD_MTU,
    connectMs: nowMs - startedAtMs,
    handshakeMs,
  };
}

function noAddress(): NetworkFault {
  return new NetworkFault("unresolved", "The server has no address");
}
