/** The server's answer to CONNECT: what the tunnel is like (draft-mavrogiannopoulos-openconnect-04 section 2.1.5). Pure. */
import { literalOf } from "../../net/literal.ts";
import { type AddressBytes, addressBytes } from "../inner/packet.ts";
import { type HttpAnswer, headerOf, headersOf } from "./http.ts";

export interface TunnelOffer {
  /** Canonical text; at most one of each family. */
  readonly addresses: readonly string[];
  readonly dns: readonly string[];
  readonly mtuBytes: number;
  /** What the server says to route through it; empty: everything. */
  readonly networks: readonly Network[];
}

export interface Network {
  readonly address: AddressBytes;
  readonly prefixBits: number;
}

/** Where the server names none. */
const STANDARD_MTU_BYTES = 1_400;
/** RFC 791: the smallest that any network carries. */
const MIN_MTU_BYTES = 68;
const DNS_LIMIT = 8;
const NETWORK_LIMIT = 1_024;

/** @returns undefined when it gives no address */
export function parseOffer(answer: Pick<HttpAnswer, "headers">): TunnelOffer | undefined {
  const literals = (name: string, family: 4 | 6): readonly string[] =>
    headersOf(answer, name).flatMap((text) => {
      // IPv6 addresses come with their prefix length.
      const literal = literalOf(text.split("/")[0] ?? "");
      return literal === undefined || literal.hasZone || literal.family !== family ? [] : [literal.ip];
    });
  const four = literals("x-cstp-address", 4)[0];
  const six = [...literals("x-cstp-address-ip6", 6), ...literals("x-cstp-address", 6)][0];
  const addresses = [four, six].filter((text) => text !== undefined);
  if (addresses.length === 0) return undefined;
  const dnsOf = (name: string) => [...literals(name, 4), ...literals(name, 6)];
  const mtuBytes = Number(headerOf(answer, "x-cstp-mtu") ?? "");
  return {
    addresses,
    dns: [...new Set([...dnsOf("x-cstp-dns"), ...dnsOf("x-cstp-dns-ip6")])].slice(0, DNS_LIMIT),
    mtuBytes:
      Number.isInteger(mtuBytes) && mtuBytes >= MIN_MTU_BYTES && mtuBytes <= 65_535 ? mtuBytes : STANDARD_MTU_BYTES,
    networks: ["x-cstp-split-include", "x-cstp-split-include-ip6"]
      .flatMap((name) => headersOf(answer, name))
      .slice(0, NETWORK_LIMIT)
      .flatMap((text) => networkOf(text) ?? []),
  };
}

/** Whether the server says that this address is behind it. */
export function isOffered({ networks }: TunnelOffer, address: AddressBytes): boolean {
  return networks.length === 0 || networks.some((network) => isWithin(network, address));
}

/** `10.0.0.0/255.0.0.0`, `10.0.0.0/8`, `fd00::/64`. */
function networkOf(text: string): Network | undefined {
  const [host = "", size = ""] = text.split("/");
  const address = addressBytes(host);
  if (address === undefined) return undefined;
  const mask = addressBytes(size);
  const prefixBits = mask === undefined ? (/^\d{1,3}$/.test(size) ? Number(size) : -1) : bitsOf(mask);
  return prefixBits < 0 || prefixBits > 8 * address.length ? undefined : { address, prefixBits };
}

function bitsOf(mask: AddressBytes): number {
  let bits = 0;
  for (const byte of mask) bits += byte.toString(2).replaceAll("0", "").length;
  return bits;
}

function isWithin({ address, prefixBits }: Network, other: AddressBytes): boolean {
  if (address.length !== other.length) return false;
  return address.every((byte, at) => {
    const bits = Math.max(0, Math.min(8, prefixBits - 8 * at));
    return ((byte ^ (other[at] ?? 0)) & (0xff << (8 - bits)) & 0xff) === 0;
  });
}
