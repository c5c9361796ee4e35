/** The caller's address: the connection's, or the forwarded one when a trusted proxy stands before us. */

import { BlockList, isIP } from "node:net";
import { BoundedMap } from "../model/bounded-map.ts";
import { parseUrl, withoutBrackets } from "../model/url.ts";
import type { ApiRequest } from "./http.ts";

/** Most addresses whose text is kept; beyond it the oldest are computed again. */
const MAX_KNOWN = 10_000;
/** Most addresses of which it is kept whether they are proxies. */
const MAX_TRUSTS = 1_000;

/**
 * @param trusted addresses or networks, `10.0.0.0/8`
 * @throws Error naming an entry that is neither
 */
export function clientAddressOf(trusted: readonly string[]): (request: ApiRequest) => string {
  const proxies = trusted.length === 0 ? null : blockList(trusted);
  const known = new BoundedMap<string, string>(MAX_KNOWN);
  /** A list takes longer to be looked through than all else that is done for a page that is kept. */
  const trusts = new BoundedMap<string, boolean>(MAX_TRUSTS);

  function plain(text: string): string {
    const before = known.get(text);
    if (before !== undefined) return before;
    const address = plainAddress(text);
    known.set(text, address);
    return address;
  }

  function isTrusted(address: string): boolean {
    const before = trusts.get(address);
    if (before !== undefined) return before;
    const is = proxies !== null && isIn(proxies, address);
    trusts.set(address, is);
    return is;
  }

  return ({ remoteAddress, forwardedFor }) => {
    let address = plain(remoteAddress);
    if (proxies === null || forwardedFor === "") return address;
    // Read from right to left: each entry was written by the host of the entry after it, so it counts only while that host is trusted.
    const hops = forwardedFor.split(",");
    for (let index = hops.length - 1; index >= 0 && isTrusted(address); index--) {
      const hop = plainAddress((hops[index] ?? "").trim());
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  };
}

function isLoopback(address: string): boolean {
  return (isIP(address) === 4 && address.startsWith("127.")) || address === "::1" || address === "localhost";
}

/**
 * Whether a caller without a token may be taken for one on this machine. A proxy on this machine connects from loopback for every caller,
 * so nothing may hint at one: no listener beyond loopback, no header of a proxy, a loopback name in Host. A proxy that hides all of that cannot be seen.
 */
export function isLocalCall(
  listener: string,
  { remoteAddress, isProxied }: Pick<ApiRequest, "remoteAddress" | "isProxied">,
): boolean {
  return isLoopback(listener) && isLoopback(plainAddress(remoteAddress)) && !isProxied;
}

/**
 * What limits count by: an IPv4 address, or the /64 of an IPv6 address. A /64 is the least that one customer has (RFC 6177), so a
 * caller who has one address of it has 2^64 of them.
 * @param address as `plainAddress` writes it
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array.from({ length: missing }, () => "0"), ...last];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** One text for one address: IPv4 inside IPv6 as IPv4, IPv6 in its short form. */
export function plainAddress(text: string): string {
  if (isIP(text) !== 6) return text;
  // The URL parser writes IPv6 in the canonical form of RFC 5952; it knows no zone.
  const url = parseUrl(`http://[${text}]`);
  if (url === undefined) return text;
  const short = withoutBrackets(url.hostname);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const [high, low] = [Number.parseInt(mapped[1] ?? "", 16), Number.parseInt(mapped[2] ?? "", 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function blockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    const most = family === "ipv4" ? 32 : 128;
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
    if (isIP(address) === 0 || length < 0 || length > most) {
      throw new Error(`SONDE_TRUSTED_PROXIES: ${entry} is neither an address nor a network such as 10.0.0.0/8`);
    }
    list.addSubnet(address, length, family);
  }
  return list;
}

function isIn(proxies: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && proxies.check(address, family === 4 ? "ipv4" : "ipv6");
}
