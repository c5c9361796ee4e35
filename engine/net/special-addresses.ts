/**
 * Addresses that are not ordinary hosts of the internet, as data.
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries, IPv4/IPv6 Multicast Address Space, IPv6 Address Space;
 * RFC numbers beside each line. Pure and without dependencies.
 */
import { type Cidr, cidrHasIpv4, cidrHasIpv6, type Ipv6Words, parseCidr } from "./ip.ts";

export type SpecialKind =
  | "unspecified"
  | "loopback"
  | "private"
  | "shared"
  | "link-local"
  | "site-local"
  | "multicast"
  | "broadcast"
  | "documentation"
  | "benchmarking"
  | "discard-only"
  | "tunnelling"
  | "platform"
  | "reserved";

/** How a person reads the kind: `127.0.0.1 is a loopback address`. */
export const KIND_WORDS: Readonly<Record<SpecialKind, string>> = {
  unspecified: "an unspecified address",
  loopback: "a loopback address",
  private: "a private address",
  shared: "a carrier-grade NAT address",
  "link-local": "a link-local address",
  "site-local": "a site-local address",
  multicast: "a multicast address",
  broadcast: "a broadcast address",
  documentation: "an address reserved for documentation",
  benchmarking: "an address reserved for benchmarking",
  "discard-only": "a discard-only address",
  tunnelling: "a tunnelling or translation address",
  platform: "an address of the hosting platform's own service",
  reserved: "a reserved address",
};

/** The first line that holds an address names it. */
const IPV4: readonly (readonly [string, SpecialKind])[] = [
  ["0.0.0.0/8", "unspecified"], // RFC 791: this network; Linux takes 0.0.0.0 for itself
  ["10.0.0.0/8", "private"], // RFC 1918
  ["100.64.0.0/10", "shared"], // RFC 6598
  ["127.0.0.0/8", "loopback"], // RFC 1122
  ["168.63.129.16/32", "platform"], // Azure WireServer: a public number that only means something on the machine itself
  ["169.254.0.0/16", "link-local"], // RFC 3927; metadata services of most clouds
  ["172.16.0.0/12", "private"], // RFC 1918
  ["192.0.0.0/24", "reserved"], // RFC 6890: IETF protocol assignments
  ["192.0.2.0/24", "documentation"], // RFC 5737
  ["192.88.99.0/24", "tunnelling"], // RFC 7526: deprecated 6to4 relay anycast
  ["192.168.0.0/16", "private"], // RFC 1918
  ["198.18.0.0/15", "benchmarking"], // RFC 2544
  ["198.51.100.0/24", "documentation"], // RFC 5737
  ["203.0.113.0/24", "documentation"], // RFC 5737
  ["233.252.0.0/24", "documentation"], // RFC 6676: MCAST-TEST-NET
  ["224.0.0.0/4", "multicast"], // RFC 5771
  ["255.255.255.255/32", "broadcast"], // RFC 919
  ["240.0.0.0/4", "reserved"], // RFC 1112
];

/** Ends with the complement of 2000::/3, so what IANA has not given out as unicast is reserved whatever comes later. */
const IPV6: readonly (readonly [string, SpecialKind])[] = [
  ["::/128", "unspecified"], // RFC 4291
  ["::1/128", "loopback"], // RFC 4291
  ["::/96", "reserved"], // RFC 4291 section 2.5.5.1: IPv4-compatible, deprecated
  ["::ffff:0:0:0/96", "tunnelling"], // RFC 2765: IPv4-translated, obsolete
  ["64:ff9b:1::/48", "tunnelling"], // RFC 8215: local-use translation
  ["100::/64", "discard-only"], // RFC 6666
  ["100:0:0:1::/64", "reserved"], // RFC 9780: dummy prefix
  ["2001::/32", "tunnelling"], // RFC 4380: Teredo
  ["2001:2::/48", "benchmarking"], // RFC 5180
  ["2001:10::/28", "reserved"], // RFC 4843: ORCHID, deprecated
  ["2001:20::/28", "reserved"], // RFC 7343: ORCHIDv2, not routed
  ["2001:db8::/32", "documentation"], // RFC 3849
  ["2001::/23", "reserved"], // RFC 2928: IETF protocol assignments
  ["3fff::/20", "documentation"], // RFC 9637
  ["fc00::/7", "private"], // RFC 4193: unique local
  ["fe80::/10", "link-local"], // RFC 4291
  ["fec0::/10", "site-local"], // RFC 3879, deprecated
  ["ff00::/8", "multicast"], // RFC 4291
  ["::/3", "reserved"],
  ["4000::/2", "reserved"], // also 5f00::/16, segment routing, RFC 9602
  ["8000::/1", "reserved"],
];

/** 64:ff9b::/96, RFC 6052: the IPv4 address is the last word. */
const NAT64 = cidr("64:ff9b::/96");
/** 2002::/16, RFC 3056: the IPv4 address follows the first two bytes. */
const SIX_TO_FOUR = cidr("2002::/16");
/** 64:ff9b:1::/48, RFC 8215: a translator of the network's own, which may embed at any of RFC 6052's places. */
const LOCAL_NAT64 = cidr("64:ff9b:1::/48");
/** 2001::/32, RFC 4380 section 4: the server is the second word, the client the last one, its bits turned over. */
const TEREDO = cidr("2001::/32");
/** ::/96 and ::ffff:0:0:0/96: the IPv4 address is the last word. */
const COMPATIBLE = cidr("::/96");
const TRANSLATED = cidr("::ffff:0:0:0/96");
/** The third word of an ISATAP interface identifier (RFC 5214 section 6.1), without its universal/local bit. */
const ISATAP = 0x0000_5efe;
const UNIVERSAL_BIT = 0x0200_0000;

const IPV4_TABLE = IPV4.map(([text, kind]) => ({ range: cidr(text), kind }));
const IPV6_TABLE = IPV6.map(([text, kind]) => ({ range: cidr(text), kind }));

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`not a prefix: ${text}`);
  return parsed;
}

export function specialIpv4(address: number): SpecialKind | undefined {
  for (const { range, kind } of IPV4_TABLE) if (cidrHasIpv4(range, address)) return kind;
  return undefined;
}

/** IPv4-mapped addresses are the caller's: they are IPv4. */
export function specialIpv6(words: Ipv6Words): SpecialKind | undefined {
  const inner = embeddedIpv4(words);
  if (inner >= 0) return specialIpv4(inner);
  for (const { range, kind } of IPV6_TABLE) if (cidrHasIpv6(range, words)) return kind;
  // An ISATAP router on the way would unwrap the packet and send it to the IPv4 address at its end.
  return isIsatap(words) && specialIpv4(words[3]) !== undefined ? "tunnelling" : undefined;
}

/** The IPv4 host that a translator or tunnel would reach with this address; -1 when there is none. */
function embeddedIpv4(words: Ipv6Words): number {
  if (cidrHasIpv6(NAT64, words)) return words[3];
  if (cidrHasIpv6(SIX_TO_FOUR, words)) return ((words[0] & 0xffff) * 0x1_0000 + (words[1] >>> 16)) >>> 0;
  return -1;
}

/**
 * Every IPv4 host that an IPv6 address could stand for by any translator or tunnel that is known here: what must not be one of ours, also where
 * the operator opens the prefix. IPv4-mapped addresses are the caller's.
 */
export function embeddedIpv4s(words: Ipv6Words): readonly number[] {
  const inner = embeddedIpv4(words);
  if (inner >= 0) return [inner];
  const [, second, third, last] = words;
  if (cidrHasIpv6(TEREDO, words)) return [second, ~last >>> 0];
  if (cidrHasIpv6(COMPATIBLE, words) || cidrHasIpv6(TRANSLATED, words) || isIsatap(words)) return [last];
  if (!cidrHasIpv6(LOCAL_NAT64, words)) return [];
  // RFC 6052 section 2.2: prefixes of 48, 56, 64 and 96 bits, around the bits 64 to 71, which are not used.
  const after48 = ((second & 0xffff) * 0x1_0000 + ((third >>> 8) & 0xffff)) >>> 0;
  const after56 = ((second & 0xff) * 0x100_0000 + (third & 0xff_ffff)) >>> 0;
  const after64 = ((third & 0xff_ffff) * 0x100 + (last >>> 24)) >>> 0;
  return [after48, after56, after64, last];
}

function isIsatap(words: Ipv6Words): boolean {
  return (words[2] & ~UNIVERSAL_BIT) >>> 0 === ISATAP;
}
