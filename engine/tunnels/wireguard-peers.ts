/** What a WireGuard or AmneziaWG configuration asks for, made ready once for all of a monitor's checks, and one check of it. */

import { before } from "../../model/text.ts";
import { isOwnVerdict } from "../../model/verdict.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelEndpoint, TunnelFields } from "../contract/tunnel.ts";
import { targetsOf } from "../contract/tunnel-targets.ts";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import { literalOf } from "../net/literal.ts";
import { explainAnswer } from "../protocols/amneziawg/framing.ts";
import type { AmneziaParams } from "../protocols/amneziawg/params.ts";
import { addressBytes } from "../protocols/inner/packet.ts";
import type { QuestionTarget } from "../protocols/inner/question.ts";
import type { WireguardConfig, WireguardPeer } from "../protocols/wireguard/config.ts";
import type { Framing } from "../protocols/wireguard/message.ts";
import { createPeerKeys, type PeerKeys } from "../protocols/wireguard/noise.ts";
import type { Stray } from "../protocols/wireguard/session.ts";
import { onePerFamily } from "../transport/one-per-family.ts";
import type { Address } from "../transport/transport.ts";
import { checkTunnel, type TunnelCheck } from "./check-tunnel.ts";
import { askable } from "./inner-probe.ts";
import { withUnasked } from "./unasked-addresses.ts";
import { wireguardCrypto } from "./wireguard-crypto.ts";
import { type TimestampMemory, type WireguardEndpoint, WireguardTunnel } from "./wireguard-tunnel.ts";

/** Servers of one configuration that are brought up in one check. */
const PEER_LIMIT = 8;

/** What handshakes with the peers that do not decide may take, ms: three initiations of each, at the same time. */
const OTHERS_MS = 3_000;
/** With less time left nothing is said of them, ms: the second initiation needs 700. */
const LEAST_OTHERS_MS = 1_200;

/** The verdict is ours before the check's deadline ends it without words, ms. */
const MARGIN_MS = 100;

interface Network {
  readonly address: Uint8Array;
  readonly bits: number;
}

/** What follows from the operator's targets: the same list makes the same, and a prober has one list. */
interface Routes {
  readonly operators: readonly QuestionTarget[];
  /** The server whose AllowedIPs lead to what is asked. */
  readonly decider: PreparedServer | undefined;
  /** What is to be asked through each server; empty where nothing leads to it, and then made when it is first wanted. */
  readonly targets: (readonly QuestionTarget[])[];
}

/** One configuration between its checks: what they need and not what it was read from, because thousands of these wait. */
export class PreparedWireguard {
  /** Those that have an endpoint, in the order of the file. */
  readonly servers: readonly PreparedServer[];
  readonly addresses: readonly string[];
  readonly dns: readonly string[];
  readonly mtuBytes: number;
  /** Silence of any other peer counts too. */
  readonly needsAll: boolean;
  readonly stuckHint: string;
  readonly params: AmneziaParams | null;
  /** The greatest time stamp that was sent. */
  lastNs = 0n;
  /** AllowedIPs of each peer of the file. */
  readonly #allowedIps: readonly (readonly string[])[];
  #routes: Routes | null = null;

  /** @param fields of the monitor; `ip` is the first server's. @throws NetworkFault `misconfigured` */
  constructor(
    config: WireguardConfig,
    { ip, all_peers: needsAll = false }: TunnelFields,
    params: AmneziaParams | null,
  ) {
    const dialled = config.peers.flatMap((peer, index) => (peer.endpoint === null ? [] : [{ peer, index }]));
    this.servers = dialled.map(
      ({ peer, index }, at) =>
        new PreparedServer(this, index, keysOf(config, peer), peer.endpoint, at === 0 ? ip : null),
    );
    this.addresses = exact(literals(config.addresses));
    this.dns = exact(literals(config.dns));
    this.mtuBytes = config.mtuBytes;
    this.needsAll = needsAll;
    this.stuckHint = stuckHint(config.unknownKeys, params);
    this.params = params;
    this.#allowedIps = config.peers.map(({ allowedIps }) => exact(allowedIps));
  }

  deciderFor(operators: readonly QuestionTarget[]): PreparedServer | undefined {
    return this.#routesFor(operators).decider;
  }

  targetsFor(server: PreparedServer, operators: readonly QuestionTarget[]): readonly QuestionTarget[] {
    return this.#targetsOf(server, this.#routesFor(operators).targets);
  }

  #routesFor(operators: readonly QuestionTarget[]): Routes {
    if (this.#routes?.operators === operators) return this.#routes;
    // Once for all servers: files have hundreds of peers and thousands of networks.
    const networks = this.#allowedIps.map(networksOf);
    const asked = targetsOf(this.dns, operators);
    const owners = asked.map(({ address }) => ownerOf(address, networks));
    const targets = this.servers.map(({ index }) => exact(asked.filter((_, at) => owners[at] === index)));
    const addresses = [...new Map(this.addresses.map((text) => [text.includes(":"), text])).values()];
    const first = askable(asked, addresses).find((target) => targets.some((wanted) => wanted.includes(target)));
    const decider =
      first === undefined
        ? this.servers.find((server) => askable(this.#targetsOf(server, targets), addresses).length > 0)
        : this.servers.find((_, at) => targets[at]?.includes(first));
    this.#routes = { operators, decider: decider ?? this.servers[0], targets };
    return this.#routes;
  }

  #targetsOf(server: PreparedServer, targets: Routes["targets"]): readonly QuestionTarget[] {
    const at = this.servers.indexOf(server);
    const wanted = targets[at] ?? [];
    if (wanted.length > 0) return wanted;
    const ours = new Set(this.addresses.map((text) => Buffer.from(addressBytes(text) ?? []).toString("hex")));
    const echoes = echoesTo(networksOf(this.#allowedIps[server.index] ?? []), ours);
    targets[at] = echoes;
    return echoes;
  }
}

/** One server of a configuration. */
class PreparedServer implements WireguardEndpoint {
  readonly of: PreparedWireguard;
  /** Of the peer in the file, from 0. */
  readonly index: number;
  readonly keys: PeerKeys;
  readonly host: string;
  readonly port: number;
  /** Dialled instead of resolving the host; null: the host is resolved. */
  readonly ip: string | null;

  constructor(
    of: PreparedWireguard,
    index: number,
    keys: PeerKeys,
    endpoint: TunnelEndpoint | null,
    ip?: string | null,
  ) {
    this.of = of;
    this.index = index;
    this.keys = keys;
    this.host = endpoint?.host ?? "";
    this.port = endpoint?.port ?? 0;
    this.ip = ip ?? null;
  }

  get addresses(): readonly string[] {
    return this.of.addresses;
  }

  get dns(): readonly string[] {
    return this.of.dns;
  }

  get mtuBytes(): number {
    return this.of.mtuBytes;
  }

  get clock(): TimestampMemory {
    return this.of;
  }

  targetsFor(operators: readonly QuestionTarget[]): readonly QuestionTarget[] {
    return this.of.targetsFor(this, operators);
  }

  get moreReasons(): string {
    const { params } = this.of;
    return params === null ? "" : ` ${["S1", "H1", ...keyName(params)].join(" or ")} other than there,`;
  }

  get silenceRemark(): string {
    const { count = 0, wanted = 0 } = this.of.params?.junk ?? {};
    return count === wanted ? "" : `. Of ${wanted} junk packets (Jc) a check sends ${count} before each`;
  }

  diagnose(strays: readonly Stray[]): NetworkFault | null {
    return diagnose(strays, this.of.params);
  }
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

/** How all servers of one check are dialled. */
interface WireguardDialling {
  readonly framing: Framing;
  readonly tellsAddress: boolean;
}

/**
 * The peer that routes what is asked decides, as it does for the packets of a device with this file. Of the others it is found out whether they
 * answer a handshake.
 */
export function checkWireguard(
  prepared: PreparedWireguard,
  dialling: WireguardDialling,
  context: ProbeContext,
): Promise<Outcome> {
  const { servers } = prepared;
  const decider = prepared.deciderFor(context.transport.tunnelTargets);
  if (decider === undefined) return Promise.resolve({ verdict: "misconfigured", message: "No peer has an Endpoint" });
  return servers.length === 1
    ? checkServer(decider, dialling, context.deadlineAtMs, context)
    : checkServers(decider, servers.filter((server) => server !== decider).slice(0, PEER_LIMIT - 1), dialling, context);
}

async function checkServers(
  decider: PreparedServer,
  others: readonly PreparedServer[],
  dialling: WireguardDialling,
  context: ProbeContext,
): Promise<Outcome> {
  const leftMs = context.deadlineAtMs - context.wallNowMs();
  const deadlineAtMs = context.deadlineAtMs - Math.min(OTHERS_MS, leftMs / 2);
  const outcome = await checkServer(decider, dialling, deadlineAtMs, context).catch((error: unknown) => {
    throw context.signal.aborted ? error : renamed(error, decider);
  });
  if (outcome.verdict !== "ok") return { ...outcome, message: `${nameOf(decider)}: ${outcome.message ?? ""}` };
  const silent = await silentOf(others, dialling.framing, context);
  if (silent.length === 0) return outcome;
  const words = `${nameOf(decider)} carries what is asked, and no answer came from ${silent.map(nameOf).join(", ")}`;
  return decider.of.needsAll ? { ...outcome, verdict: "incomplete", message: words } : { ...outcome, hint: words };
}

/** What a check of one server is made of, one object: thousands wait for servers that say nothing. */
class ServerCheck implements TunnelCheck {
  readonly tries = 2;
  readonly deadlineAtMs: number;
  readonly #server: PreparedServer;
  readonly #addresses: readonly Address[];
  readonly #dialling: WireguardDialling;
  readonly #context: ProbeContext;

  constructor(
    server: PreparedServer,
    addresses: readonly Address[],
    dialling: WireguardDialling,
    deadlineAtMs: number,
    context: ProbeContext,
  ) {
    this.#server = server;
    this.#addresses = addresses;
    this.#dialling = dialling;
    this.deadlineAtMs = deadlineAtMs;
    this.#context = context;
  }

  get stuckHint(): string {
    return this.#server.of.stuckHint;
  }

  get tellsAddress(): boolean {
    return this.#dialling.tellsAddress;
  }

  create(withinMs: number): WireguardTunnel {
    const dial = { framing: this.#dialling.framing, servers: this.#addresses, withinMs };
    return new WireguardTunnel(this.#server, dial, this.#context);
  }

  targets(): readonly QuestionTarget[] {
    return this.#server.targetsFor(this.#context.transport.tunnelTargets);
  }
}

async function checkServer(
  server: PreparedServer,
  dialling: WireguardDialling,
  deadlineAtMs: number,
  context: ProbeContext,
): Promise<Outcome> {
  context.phase("resolve");
  const resolved = await addressesOf(server, context);
  const asked = onePerFamily(resolved);
  const check = checkTunnel(new ServerCheck(server, asked, dialling, deadlineAtMs, context), context);
  if (asked.length === resolved.length) return check;
  return check.catch((error: unknown) => {
    throw withUnasked(error, { resolved, asked }, context);
  });
}

function addressesOf({ ip, host, port }: PreparedServer, context: ProbeContext): Promise<readonly Address[]> {
  return context.transport.resolve(ip ?? host, port, "both", context);
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
    const servers = onePerFamily(await addressesOf(server, context));
    tunnel = new WireguardTunnel(server, { framing, servers, withinMs }, context);
    await tunnel.open();
    return false;
  } catch (error) {
    if (context.signal.aborted) throw error;
    return !isOwnVerdict(classify(error, "handshake").verdict);
  } finally {
    await tunnel?.close();
  }
}

function nameOf({ index, host, port }: PreparedServer): string {
  return `Peer ${index + 1} (${host.includes(":") ? `[${host}]` : host}:${port})`;
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
function diagnose(strays: readonly Stray[], params: AmneziaParams | null): NetworkFault | null {
  const stray = strays.find(({ answer }) => answer !== null) ?? strays[0];
  if (stray === undefined) return null;
  const { answer, sizeBytes } = stray;
  if (answer !== null) {
    const words = params === null ? "it is one of AmneziaWG" : explainAnswer(params, answer, sizeBytes);
    return new NetworkFault("misconfigured", `The server answered, but not as this configuration expects: ${words}`, {
      peerAnswered: true,
      ...(params !== null && { hint: `Settings read as AmneziaWG ${params.version}` }),
    });
  }
  const words = params === null ? "are not WireGuard's" : "this configuration cannot read";
  const mayDiffer =
    params === null
      ? "it may be an AmneziaWG server"
      : `${["S2", "H2", ...keyName(params)].join(" or ")} may be other than there`;
  return new NetworkFault("protocol-error", `The server answered with ${sizeBytes} bytes that ${words}`, {
    peerAnswered: true,
    hint: `Another service may be on this port, or ${mayDiffer}`,
  });
}

function keyName({ headerProtectionKey }: AmneziaParams): readonly string[] {
  return headerProtectionKey === null ? [] : ["HeaderProtectionKey"];
}

/** Addresses without their prefixes; names (search domains in DNS) are left out. */
function literals(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const literal = literalOf(before(text.replace(/\s/g, ""), "/"));
    return literal === undefined || literal.hasZone ? [] : [literal.ip];
  });
}

/** The same list without the room for sixteen more members that V8 leaves in one that grew. */
function exact<Item>(list: readonly Item[]): readonly Item[] {
  return list.slice();
}

function networksOf(texts: readonly string[]): readonly Network[] {
  return texts.flatMap((text) => networkOf(text) ?? []);
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
