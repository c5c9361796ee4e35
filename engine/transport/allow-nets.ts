/** SONDE_ALLOW_NETS and SONDE_PUBLIC_ALLOW_NETS: networks and ports that the address guard lets through. Pure. */
import { type Cidr, cidrHasIpv4, cidrHasIpv6, type Ipv6Words, parseCidr } from "../net/ip.ts";

export interface AllowNet {
  readonly range: Cidr;
  /** One address, or a part of loopback: it can only mean the machine that has it. */
  readonly isNamed: boolean;
  readonly firstPort: number;
  readonly lastPort: number;
}

/** RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3. */
const LOOPBACK: readonly Cidr[] = [
  { family: 4, words: [0x7f00_0000, 0, 0, 0], bits: 8 },
  { family: 6, words: [0, 0, 0, 1], bits: 128 },
];

/** An entry that cannot be used; the message names it. */
export class AllowNetError extends Error {
  override readonly name = "AllowNetError";
}

/**
 * One entry, `cidr[:port[-port]]`. An address alone is a network of one. With a port IPv6 stands in brackets, around the
 * address or around the whole prefix, or is a prefix: `[fc00::]/7:443`, `[fc00::/7]:443`, `fc00::/7:443`, `[::1]:53`.
 * Port 0 stands for what has no ports: ping.
 */
export function parseAllowNet(entry: string): AllowNet {
  const text = entry.trim();
  const [, bracketed, ending = "", bracketPorts] = /^\[([^\]]*)\](\/\d+)?(?::([^:]*))?$/.exec(text) ?? [];
  if (bracketed !== undefined) {
    if (!bracketed.includes(":")) throw refusal(entry, "brackets are for IPv6");
    return entryOf(entry, bracketed + ending, bracketPorts);
  }
  // A colon is a port's after IPv4 or after a prefix length; otherwise it belongs to an IPv6 address.
  const [, network, ports] = /^([^:]+|[^/]+\/\d+):([^:]*)$/.exec(text) ?? [];
  return entryOf(entry, network ?? text, ports);
}

function entryOf(entry: string, network: string, ports: string | undefined): AllowNet {
  const range = parseCidr(network);
  if (range === undefined) {
    const [address = "", bits] = network.split("/");
    if (bits !== undefined && parseCidr(address) !== undefined && /^\d+$/.test(bits)) {
      throw refusal(
        entry,
        `the address has bits beyond /${bits}, or the length is too large; write the network's first address`,
      );
    }
    throw refusal(entry, "not an address or network such as 10.0.0.0/8 or fc00::/7");
  }
  const isNamed = LOOPBACK.some((loopback) => lies(range, loopback)) || range.bits === (range.family === 4 ? 32 : 128);
  if (ports === undefined) return { range, isNamed, firstPort: 0, lastPort: 65_535 };
  const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(ports) ?? [];
  const firstPort = Number(first);
  const lastPort = last === undefined ? firstPort : Number(last);
  if (first === undefined || firstPort > lastPort || lastPort > 65_535) {
    throw refusal(entry, `"${ports}" is not a port or port range such as 443 or 8000-8100`);
  }
  return { range, isNamed, firstPort, lastPort };
}

function lies(range: Cidr, within: Cidr): boolean {
  if (range.family !== within.family || range.bits < within.bits) return false;
  return range.family === 4 ? cidrHasIpv4(within, range.words[0]) : cidrHasIpv6(within, range.words);
}

function refusal(entry: string, reason: string): AllowNetError {
  return new AllowNetError(`"${entry}": ${reason}`);
}

export function allowsIpv4(nets: readonly AllowNet[], address: number, port: number): boolean {
  return nets.some((net) => port >= net.firstPort && port <= net.lastPort && cidrHasIpv4(net.range, address));
}

export function allowsIpv6(nets: readonly AllowNet[], words: Ipv6Words, port: number): boolean {
  return nets.some((net) => port >= net.firstPort && port <= net.lastPort && cidrHasIpv6(net.range, words));
}
