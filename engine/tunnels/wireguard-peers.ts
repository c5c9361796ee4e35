/** What a WireGuard or AmneziaWG configuration asks for, made ready once for all of a monitor's checks, and one check of it. */

import { before } from "../../model/text.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { targetsOf } from "../contract/tunnel-targets.ts";
import { NetworkFault } from "../net/fault.ts";
import { literalOf } from "../net/literal.ts";
import { explainStray } from "../protocols/amneziawg/framing.ts";
import type { AmneziaParams } from "../protocols/amneziawg/params.ts";
import { addressBytes } from "../protocols/inner/packet.ts";
import type { QuestionTarget } from "../protocols/inner/question.ts";
import type { WireguardConfig, WireguardPeer } from "../protocols/wireguard/config.ts";
import { type Framing, RESPONSE } from "../protocols/wireguard/message.ts";
import { createPeerKeys, type PeerKeys } from "../protocols/wireguard/noise.ts";
import { onePerFamily } from "../transport/one-per-family.ts";
import { checkTunnel } from "./check-tunnel.ts";
import { wireguardCrypto } from "./wireguard-crypto.ts";
import { type WireguardEndpoint, WireguardTunnel } from "./wireguard-tunnel.ts";

/** Servers of one configuration that are brought up in one check. */
const PEER_LIMIT = 8;

/** Of one configuration. */
export interface PreparedWireguard {
  /** Those that have an endpoint, in the order of the file. */
  readonly servers: readonly PreparedServer[];
  readonly stuckHint: string;
}

interface PreparedServer {
  readonly end: WireguardEndpoint;
  readonly host: string;
  /** Dialled instead of resolving the host; null: the host is resolved. */
  readonly ip: string | null;
  /** What is to be asked through it. */
  readonly targetsOf: (operators: readonly QuestionTarget[]) => readonly QuestionTarget[];
}

interface Routes {
  readonly networks: readonly Network[];
  /** Whether packets for an address go to this server: it has the longest of the prefixes that hold it. */
  readonly routes: (address: Uint8Array) => boolean;
}

interface Network {
  readonly address: Uint8Array;
  readonly bits: number;
}

/** @param ip of the monitor, for the first server. @throws NetworkFault `misconfigured` */
export function prepareWireguard(
  config: WireguardConfig,
  ip: string | undefined,
  params: AmneziaParams | null,
): PreparedWireguard {
  const networks = config.peers.map(({ allowedIps }) => allowedIps.flatMap((text) => networkOf(text) ?? []));
  const dialled = config.peers
    .flatMap((peer, index) => (peer.endpoint === null ? [] : [{ peer, index }]))
    .slice(0, PEER_LIMIT);
  const same = {
    addresses: literals(config.addresses),
    dns: literals(config.dns),
    mtuBytes: config.mtuBytes,
    clock: { lastNs: 0n },
    diagnose: (sizes: readonly number[]) => diagnose(sizes, params),
  };
  return {
    servers: dialled.map(({ peer, index }, at) => ({
      end: { ...same, keys: keysOf(config, peer), port: peer.endpoint?.port ?? 0 },
      host: peer.endpoint?.host ?? "",
      ip: at === 0 ? (ip ?? null) : null,
      targetsOf: memoizedLast((operators) =>
        targetsThrough(
          { networks: networks[index] ?? [], routes: (address) => ownerOf(address, networks) === index },
          same,
          operators,
        ),
      ),
    })),
    stuckHint: stuckHint(config.unknownKeys, params),
  };
}

/** The same list makes the same answer; a prober has one list. */
function memoizedLast<Input extends object, Answer>(answer: (input: Input) => Answer): (input: Input) => Answer {
  let last: { readonly input: Input; readonly answer: Answer } | undefined;
  return (input) => {
    if (last?.input !== input) last = { input, answer: answer(input) };
    return last.answer;
  };
}

function keysOf(config: WireguardConfig, peer: WireguardPeer): PeerKeys {
  const keys = createPeerKeys(wireguardCrypto(), {
    privateKey: Buffer.from(config.privateKey, "base64"),
    serverKey: Buffer.from(peer.publicKey, "base64"),
    presharedKey: peer.presharedKey === null ? null : Buffer.from(peer.presharedKey, "base64"),
  });
  if (keys === null) throw new NetworkFault("misconfigured", "PublicKey is a key that no server can have");
  return keys;
}

/** Every server of the configuration must come up and carry something: they are tried in turn, and the first that fails is told. */
export async function checkWireguard(
  prepared: PreparedWireguard,
  framing: Framing,
  tellsAddress: boolean,
  context: ProbeContext,
): Promise<Outcome> {
  let first: Outcome | undefined;
  for (const [index, server] of prepared.servers.entries()) {
    const leftMs = context.deadlineAtMs - context.wallNowMs();
    const deadlineAtMs = context.wallNowMs() + leftMs / (prepared.servers.length - index);
    context.phase("resolve");
    const { end } = server;
    const addresses = await context.transport.resolve(server.ip ?? server.host, end.port, "both", context);
    const servers = onePerFamily(addresses);
    const outcome = await checkTunnel(
      {
        create: (withinMs) => new WireguardTunnel(end, { framing, servers, withinMs }, context),
        targets: () => server.targetsOf(context.transport.tunnelTargets),
        tries: 2,
        stuckHint: prepared.stuckHint,
        deadlineAtMs,
        tellsAddress,
      },
      context,
    );
    if (outcome.verdict !== "ok") return prepared.servers.length === 1 ? outcome : named(outcome, server, index);
    first ??= outcome;
  }
  return first ?? { verdict: "misconfigured", message: "No peer has an Endpoint" };
}

/** Of several servers, which one failed. */
function named(outcome: Outcome, { host, end }: PreparedServer, index: number): Outcome {
  return { ...outcome, message: `Peer ${index + 1} (${host}:${end.port}): ${outcome.message ?? ""}` };
}

/** What is to be asked and goes to this server; without any, an echo to an address that the server says it has. */
function targetsThrough(
  server: Routes,
  client: { readonly dns: readonly string[]; readonly addresses: readonly string[] },
  operators: readonly QuestionTarget[],
): readonly QuestionTarget[] {
  const wanted = targetsOf(client.dns, operators).filter(({ address }) => server.routes(address));
  if (wanted.length > 0) return wanted;
  const ours = new Set(client.addresses.map((text) => Buffer.from(addressBytes(text) ?? []).toString("hex")));
  return server.networks
    .map((network): QuestionTarget => ({ kind: "icmp", address: likelyHost(network), port: 0 }))
    .filter(({ address }) => !ours.has(Buffer.from(address).toString("hex")));
}

/** The first address of a network, where gateways live; of a single address itself. */
function likelyHost({ address, bits }: Network): Uint8Array {
  const host = Uint8Array.from(address);
  const last = host.length - 1;
  if (bits < host.length * 8) host[last] = (host[last] ?? 0) | 1;
  return host;
}

function stuckHint(unknownKeys: readonly string[], params: AmneziaParams | null): string {
  const why =
    "Look at AllowedIPs and Address of this client on the server, forwarding and NAT there, and firewalls between it and what was asked";
  const amnezia = params === null ? "" : `, or S4 and H4 (settings read as AmneziaWG ${params.version})`;
  const remark = `. Keys of the file that are not known and were not used: ${unknownKeys.join(", ")}`;
  return `${why}${amnezia}${unknownKeys.length === 0 ? "" : remark}`;
}

/** What came and could not be read, when nothing else came. */
function diagnose(sizes: readonly number[], params: AmneziaParams | null): NetworkFault | null {
  const size = sizes.find((each) => each >= RESPONSE.bytes) ?? sizes[0];
  if (size === undefined) return null;
  if (params === null) {
    return new NetworkFault("protocol-error", `The server answered with ${size} bytes that are not WireGuard's`, {
      peerAnswered: true,
      hint:
        size >= RESPONSE.bytes
          ? "It may be an AmneziaWG server, or another service"
          : "Another service may be on this port",
    });
  }
  const words = explainStray(params, size);
  if (words === null) return null;
  return new NetworkFault("misconfigured", `The server answered, but not as this configuration expects: ${words}`, {
    peerAnswered: true,
    hint: `Settings read as AmneziaWG ${params.version}`,
  });
}

/** Addresses without their prefixes; names (search domains in DNS) are left out. */
function literals(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const literal = literalOf(before(text.replace(/\s/g, ""), "/"));
    return literal === undefined || literal.hasZone ? [] : [literal.ip];
  });
}

function networkOf(text: string): Network | undefined {
  const [host = "", bits] = text.replace(/\s/g, "").split("/");
  const literal = literalOf(host);
  const address = literal === undefined ? undefined : addressBytes(literal.ip);
  if (address === undefined) return undefined;
  const most = address.length * 8;
  const length = bits === undefined ? most : Math.min(most, Number(bits));
  const masked = address.map((byte, index) => byte & (0xff00 >> Math.max(0, Math.min(8, length - index * 8))) & 0xff);
  return { address: masked, bits: length };
}

/** The peer with the longest prefix that holds the address (the last one wins, as in the kernel); -1 when none does. */
function ownerOf(address: Uint8Array, peers: readonly (readonly Network[])[]): number {
  let owner = -1;
  let longest = -1;
  for (const [index, networks] of peers.entries()) {
    for (const network of networks) {
      if (network.bits >= longest && holds(network, address)) {
        owner = index;
        longest = network.bits;
      }
    }
  }
  return owner;
}

function holds({ address: network, bits }: Network, address: Uint8Array): boolean {
  if (network.length !== address.length) return false;
  return network.every((byte, index) => {
    const mask = (0xff00 >> Math.max(0, Math.min(8, bits - index * 8))) & 0xff;
    return ((address[index] ?? 0) & mask) === (byte & mask);
  });
}
