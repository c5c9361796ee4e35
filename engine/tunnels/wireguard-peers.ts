/** What a WireGuard or AmneziaWG configuration asks for, made ready once for all of a monitor's checks, and one check of it. */

import { before } from "../../model/text.ts";
import { isOwnVerdict } from "../../model/verdict.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { targetsOf } from "../contract/tunnel-targets.ts";
import { classify } from "../net/classify.ts";
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
import type { Address } from "../transport/transport.ts";
import { checkTunnel } from "./check-tunnel.ts";
import { askable } from "./inner-probe.ts";
import { wireguardCrypto } from "./wireguard-crypto.ts";
import { type WireguardEndpoint, WireguardTunnel } from "./wireguard-tunnel.ts";

/** Servers of one configuration that are brought up in one check. */
const PEER_LIMIT = 8;

/** What handshakes with the peers that do not decide may take, ms: three initiations of each, at the same time. */
const OTHERS_MS = 3_000;
/** With less time left nothing is said of them, ms: the second initiation needs 700. */
const LEAST_OTHERS_MS = 1_200;

/** The verdict is ours before the check's deadline ends it without words, ms. */
const MARGIN_MS = 100;

/** Of one configuration. */
export interface PreparedWireguard {
  /** Those that have an endpoint, in the order of the file. */
  readonly servers: readonly PreparedServer[];
  /** The one whose AllowedIPs lead to what is asked. */
  readonly deciderFor: (operators: readonly QuestionTarget[]) => PreparedServer | undefined;
  /** Silence of any other peer counts too. */
  readonly needsAll: boolean;
  readonly stuckHint: string;
}

interface PreparedServer {
  /** Of the peer in the file, from 1. */
  readonly number: number;
  readonly end: WireguardEndpoint;
  readonly host: string;
  /** Dialled instead of resolving the host; null: the host is resolved. */
  readonly ip: string | null;
  /** What is to be asked through it. */
  readonly targetsOf: (operators: readonly QuestionTarget[]) => readonly QuestionTarget[];
}

interface RoutedTarget extends QuestionTarget {
  /** The place in the file of the peer that it goes to, which has the longest of the prefixes that hold it; -1: no peer. */
  readonly owner: number;
}

interface Network {
  readonly address: Uint8Array;
  readonly bits: number;
}

/** @param fields of the monitor; `ip` is the first server's. @throws NetworkFault `misconfigured` */
export function prepareWireguard(
  config: WireguardConfig,
  { ip, all_peers: needsAll = false }: TunnelFields,
  params: AmneziaParams | null,
): PreparedWireguard {
  const networks = config.peers.map(({ allowedIps }) => allowedIps.flatMap((text) => networkOf(text) ?? []));
  const same = {
    addresses: literals(config.addresses),
    dns: literals(config.dns),
    mtuBytes: config.mtuBytes,
    clock: { lastNs: 0n },
    diagnose: (sizes: readonly number[]) => diagnose(sizes, params),
  };
  // Once for all servers: files have hundreds of peers and thousands of networks.
  const routed = memoizedLast((operators: readonly QuestionTarget[]): readonly RoutedTarget[] =>
    targetsOf(same.dns, operators).map((target) => ({ ...target, owner: ownerOf(target.address, networks) })),
  );
  const oneOfEachFamily = [...new Map(same.addresses.map((text) => [text.includes(":"), text])).values()];
  const ours = new Set(same.addresses.map((text) => Buffer.from(addressBytes(text) ?? []).toString("hex")));
  const dialled = config.peers.flatMap((peer, index) => (peer.endpoint === null ? [] : [{ peer, index }]));
  const servers = dialled.map(
    ({ peer, index }, at): PreparedServer => ({
      number: index + 1,
      end: { ...same, keys: keysOf(config, peer), port: peer.endpoint?.port ?? 0 },
      host: peer.endpoint?.host ?? "",
      ip: at === 0 ? (ip ?? null) : null,
      targetsOf: memoizedLast((operators) => {
        const wanted = routed(operators).filter(({ owner }) => owner === index);
        return wanted.length > 0 ? wanted : echoesTo(networks[index] ?? [], ours);
      }),
    }),
  );
  return {
    servers,
    deciderFor: memoizedLast((operators) => {
      const owners = askable(routed(operators), oneOfEachFamily).map(({ owner }) => owner + 1);
      const numbers = owners.filter((owner) => servers.some(({ number }) => number === owner));
      return (
        servers.find(({ number }) => number === numbers[0]) ??
        servers.find((server) => askable(server.targetsOf(operators), oneOfEachFamily).length > 0) ??
        servers[0]
      );
    }),
    needsAll,
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

/**
 * The peer that routes what is asked decides, as it does for the packets of a device with this file. Of the others it is found out whether they
 * answer a handshake.
 */
export async function checkWireguard(
  prepared: PreparedWireguard,
  framing: Framing,
  tellsAddress: boolean,
  context: ProbeContext,
): Promise<Outcome> {
  const { servers, needsAll, stuckHint } = prepared;
  const decider = prepared.deciderFor(context.transport.tunnelTargets);
  if (decider === undefined) return { verdict: "misconfigured", message: "No peer has an Endpoint" };
  const others = servers.filter((server) => server !== decider).slice(0, PEER_LIMIT - 1);
  const leftMs = context.deadlineAtMs - context.wallNowMs();
  const dial = { framing, stuckHint, tellsAddress };
  const forOthersMs = others.length === 0 ? 0 : Math.min(OTHERS_MS, leftMs / 2);
  const outcome = await checkServer(
    decider,
    { ...dial, deadlineAtMs: context.deadlineAtMs - forOthersMs },
    context,
  ).catch((error: unknown) => {
    throw others.length > 0 && !context.signal.aborted ? renamed(error, decider) : error;
  });
  if (others.length === 0) return outcome;
  if (outcome.verdict !== "ok") return { ...outcome, message: `${nameOf(decider)}: ${outcome.message ?? ""}` };
  const silent = await silentOf(others, framing, context);
  if (silent.length === 0) return outcome;
  const words = `${nameOf(decider)} carries what is asked, and no answer came from ${silent.map(nameOf).join(", ")}`;
  return needsAll ? { ...outcome, verdict: "incomplete", message: words } : { ...outcome, hint: words };
}

interface ServerDial {
  readonly framing: Framing;
  readonly stuckHint: string;
  readonly tellsAddress: boolean;
  readonly deadlineAtMs: number;
}

async function checkServer(server: PreparedServer, dial: ServerDial, context: ProbeContext): Promise<Outcome> {
  context.phase("resolve");
  const { end } = server;
  const servers = await addressesOf(server, context);
  return checkTunnel(
    {
      create: (withinMs) => new WireguardTunnel(end, { framing: dial.framing, servers, withinMs }, context),
      targets: () => server.targetsOf(context.transport.tunnelTargets),
      tries: 2,
      stuckHint: dial.stuckHint,
      deadlineAtMs: dial.deadlineAtMs,
      tellsAddress: dial.tellsAddress,
    },
    context,
  );
}

async function addressesOf({ ip, host, end }: PreparedServer, context: ProbeContext): Promise<readonly Address[]> {
  return onePerFamily(await context.transport.resolve(ip ?? host, end.port, "both", context));
}

/** Those that answer no handshake. What went wrong with us says nothing of them. */
async function silentOf(
  servers: readonly PreparedServer[],
  framing: Framing,
  context: ProbeContext,
): Promise<readonly PreparedServer[]> {
  const withinMs = Math.min(OTHERS_MS, context.deadlineAtMs - context.wallNowMs() - MARGIN_MS);
  if (withinMs < LEAST_OTHERS_MS) return [];
  context.phase("handshake");
  // What is learned of them is no step of the check.
  const aside: ProbeContext = {
    ...context,
    signal: context.signal,
    phase: () => {},
    answered: () => {},
    tried: () => {},
  };
  const answers = await Promise.all(servers.map((server) => isSilent(server, { framing, withinMs }, aside)));
  return servers.filter((_, index) => answers[index]);
}

async function isSilent(
  server: PreparedServer,
  { framing, withinMs }: { readonly framing: Framing; readonly withinMs: number },
  context: ProbeContext,
): Promise<boolean> {
  let tunnel: WireguardTunnel | undefined;
  try {
    const servers = await addressesOf(server, context);
    tunnel = new WireguardTunnel(server.end, { framing, servers, withinMs }, context);
    await tunnel.open();
    return false;
  } catch (error) {
    if (context.signal.aborted) throw error;
    return !isOwnVerdict(classify(error, "handshake").verdict);
  } finally {
    await tunnel?.close();
  }
}

function nameOf({ number, host, end }: PreparedServer): string {
  return `Peer ${number} (${host.includes(":") ? `[${host}]` : host}:${end.port})`;
}

/** The same fault, with the peer's name before its words. */
function renamed(error: unknown, server: PreparedServer): NetworkFault {
  const { verdict, message, peerAnswered, peer, hint } = classify(error, "handshake");
  return new NetworkFault(verdict, `${nameOf(server)}: ${message}`, {
    ...(peerAnswered !== undefined && { peerAnswered }),
    ...(peer !== undefined && { peer }),
    ...(hint !== undefined && { hint }),
    cause: error,
  });
}

/** Where nothing that is to be asked goes to a server: an echo to an address that the server says it has. @param ours in hex */
function echoesTo(networks: readonly Network[], ours: ReadonlySet<string>): readonly QuestionTarget[] {
  return networks
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
