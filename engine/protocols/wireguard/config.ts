/** WireGuard configurations (wg-quick files): what a monitor needs of them, with host and port of the monitor over the file's Endpoint. */
import type { TunnelProtocol } from "../../../model/kind.ts";
import {
  identityOf,
  missing,
  type ParsedTunnel,
  presentFields,
  required,
  TunnelConfigError,
  type TunnelEndpoint,
  type TunnelFields,
} from "../../contract/tunnel.ts";
import { Handover } from "../../net/handover.ts";
import { literalOf } from "../../net/literal.ts";
import { parseEndpoint, parseHost, withAddress } from "../endpoint.ts";
import { entryOf, itemsOf, parseIni, type Section, type WireguardFile } from "./ini.ts";

/** Keys that wg-quick knows; others are reported, not refused, because apps add their own. */
const INTERFACE_KEYS =
  "PrivateKey ListenPort FwMark Address DNS MTU Table PreUp PostUp PreDown PostDown SaveConfig Reserved".split(" ");
const PEER_KEYS = "PublicKey PresharedKey Endpoint AllowedIPs PersistentKeepalive AdvancedSecurity Reserved".split(" ");
/** Without one in the file: 1500 less IPv6, UDP and WireGuard's own bytes (wg-quick). */
const STANDARD_MTU = 1_420;
/** Unknown keys that are named. */
const TOLD_KEYS = 5;
/** 32 bytes in base64; the last letter carries two bits that must be zero. */
const KEY = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

export interface WireguardPeer {
  readonly publicKey: string;
  readonly presharedKey: string | null;
  readonly endpoint: TunnelEndpoint | null;
  readonly allowedIps: readonly string[];
}

export interface WireguardConfig {
  readonly privateKey: string;
  /** With prefix lengths as written. */
  readonly addresses: readonly string[];
  readonly dns: readonly string[];
  readonly mtuBytes: number;
  /** Three bytes that some providers want in each message. */
  readonly reserved: Uint8Array | null;
  /** Keys of the file that no client knows, as written there but lowercase. */
  readonly unknownKeys: readonly string[];
  /** At least one, and at least one of them has an endpoint. */
  readonly peers: readonly WireguardPeer[];
  readonly file: WireguardFile;
}

/** @throws TunnelConfigError */
export function parseWireguard(fields: TunnelFields): ParsedTunnel {
  const config = readConfig(fields);
  const parsed = tunnelOf("wireguard", fields, config);
  configs.leave(parsed.fields, config);
  return parsed;
}

const configs = new Handover<TunnelFields, WireguardConfig>();

/** As readConfig(), without parsing what parseWireguard() has just parsed. @throws TunnelConfigError */
export function configOf(fields: TunnelFields): WireguardConfig {
  return configs.take(fields) ?? readConfig(fields);
}

/** The whole configuration; AmneziaWG's is the same with more keys of [Interface]. @throws TunnelConfigError */
export function readConfig(fields: TunnelFields, moreKeys: readonly string[] = []): WireguardConfig {
  const file = parseIni(required(fields, "config"));
  const client = file.interface;
  const addresses = itemsOf(client, "Address");
  const privateKey = keyOf(client, "PrivateKey");
  if (addresses.length === 0) throw missing("Address");
  for (const address of addresses) requireAddress(address, "Address");
  if (file.peers.length === 0) throw missing("[Peer]");
  const peers = withOverride(fields, file.peers.map(readPeer));
  if (peers.every((peer) => peer.endpoint === null)) throw missing("Endpoint");
  requireListenPort(client);
  return {
    privateKey,
    addresses,
    dns: itemsOf(client, "DNS"),
    mtuBytes: mtuOf(client) ?? STANDARD_MTU,
    reserved: reservedOf(client) ?? file.peers.map(reservedOf).find((bytes) => bytes !== null) ?? null,
    unknownKeys: unknownKeys(file, moreKeys),
    peers,
    file,
  };
}

function unknownKeys({ interface: client, peers }: WireguardFile, moreKeys: readonly string[]): readonly string[] {
  const lower = (names: readonly string[]) => new Set(names.map((name) => name.toLowerCase()));
  const [ownKnown, peerKnown] = [lower([...INTERFACE_KEYS, ...moreKeys]), lower(PEER_KEYS)];
  const unknown = [
    ...[...client.keys()].filter((key) => !ownKnown.has(key)),
    ...peers.flatMap((peer) => [...peer.keys()].filter((key) => !peerKnown.has(key))),
  ];
  // A key is shown only when it looks like one: a line may hold a misplaced secret.
  return [...new Set(unknown)].filter((key) => /^[a-z][a-z0-9_-]{0,31}$/.test(key)).slice(0, TOLD_KEYS);
}

export function tunnelOf(protocol: TunnelProtocol, fields: TunnelFields, config: WireguardConfig): ParsedTunnel {
  const dialled = config.peers.flatMap(({ endpoint }) => (endpoint === null ? [] : [endpoint]));
  const [server, ...others] = withAddress(fields, dialled);
  if (server === undefined) throw missing("Endpoint");
  const { config: text, host, port, ip, all_peers: allPeers } = fields;
  return {
    protocol,
    fields: presentFields({
      ...(text !== undefined && { config: text }),
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      ...(ip !== undefined && { ip }),
      ...(allPeers === true && { all_peers: true }),
    }),
    endpoints: [server, ...others],
    identity: identityOf(protocol, config.privateKey, config.privateKey, server),
  };
}

function readPeer(peer: Section): WireguardPeer {
  const endpoint = entryOf(peer, "Endpoint");
  const allowedIps = itemsOf(peer, "AllowedIPs");
  for (const network of allowedIps) requireAddress(network, "AllowedIPs");
  requireKeepalive(entryOf(peer, "PersistentKeepalive"));
  return {
    publicKey: keyOf(peer, "PublicKey"),
    presharedKey: entryOf(peer, "PresharedKey") === undefined ? null : keyOf(peer, "PresharedKey"),
    endpoint: endpoint === undefined ? null : parseEndpoint(endpoint.replace(/\s/g, ""), null, "Endpoint"),
    allowedIps,
  };
}

/** host and port of the monitor replace those of the first peer that is dialled (docs/api-contract.md#tunnel-fields). */
function withOverride(fields: TunnelFields, peers: readonly WireguardPeer[]): readonly WireguardPeer[] {
  if (fields.host === undefined && fields.port === undefined) return peers;
  const index = Math.max(
    0,
    peers.findIndex((peer) => peer.endpoint !== null),
  );
  return peers.map((peer, at) => (at === index ? { ...peer, endpoint: overridden(fields, peer.endpoint) } : peer));
}

function overridden({ host, port }: TunnelFields, written: TunnelEndpoint | null): TunnelEndpoint | null {
  if (host === undefined) return written === null || port === undefined ? written : { host: written.host, port };
  const portToUse = port ?? written?.port;
  if (portToUse !== undefined) return { host: parseHost(host), port: portToUse };
  return parseEndpoint(host, null, "host");
}

function keyOf(section: Section, name: string): string {
  const key = entryOf(section, name)?.replace(/\s/g, "");
  if (key === undefined) throw missing(name);
  if (!KEY.test(key)) throw new TunnelConfigError(`${name} is not a key of 32 bytes in base64`);
  return key;
}

function requireAddress(text: string, name: string): void {
  const [address = "", bits, ...rest] = text.replace(/\s/g, "").split("/");
  const literal = literalOf(address);
  const most = literal?.family === 6 ? 128 : 32;
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  if (literal === undefined || literal.hasZone || rest.length > 0 || !isPrefix) {
    throw new TunnelConfigError(`${name} holds something that is not an address or network`);
  }
}

/** RFC 791: a host must take 576 bytes; above 65535 no datagram exists. */
function mtuOf(section: Section): number | null {
  const text = entryOf(section, "MTU");
  if (text === undefined) return null;
  const mtu = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (mtu < 576 || mtu > 65_535) throw new TunnelConfigError("MTU must be a number from 576 to 65535");
  return mtu;
}

/** Three numbers, or their base64. */
function reservedOf(section: Section): Uint8Array | null {
  const text = entryOf(section, "Reserved")?.replace(/[\s[\]]/g, "");
  if (text === undefined) return null;
  if (/^[A-Za-z0-9+/]{4}$/.test(text)) return Uint8Array.from(Buffer.from(text, "base64"));
  const numbers = text.split(",").map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 256));
  if (numbers.length !== 3 || numbers.some((number) => number > 255)) {
    throw new TunnelConfigError("Reserved must be three numbers from 0 to 255");
  }
  return Uint8Array.from(numbers);
}

function requireListenPort(section: Section): void {
  const text = entryOf(section, "ListenPort");
  if (text !== undefined && !(/^\d{1,5}$/.test(text) && Number(text) <= 65_535)) {
    throw new TunnelConfigError("ListenPort must be a number from 0 to 65535");
  }
}

/** Seconds, `off`, or since AmneziaWG 3 a range of them. */
function requireKeepalive(text: string | undefined): void {
  if (text === undefined || text.toLowerCase() === "off") return;
  const bounds = text.replace(/\s/g, "").split("-");
  const isRight = bounds.length <= 2 && bounds.every((bound) => /^\d{1,5}$/.test(bound) && Number(bound) <= 65_535);
  if (!isRight) throw new TunnelConfigError("PersistentKeepalive must be a number of seconds from 0 to 65535, or off");
}
