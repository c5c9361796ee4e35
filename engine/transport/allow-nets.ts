/** SONDE_ALLOW_NETS and SONDE_PUBLIC_ALLOW_NETS: networks and ports that the address guard lets through. Pure. */
import { type Cidr, cidrHasIpv4, cidrHasIpv6, type Ipv6Words, parseCidr } from "./ip.ts";

export interface AllowNet {
  readonly range: Cidr;
  readonly firstPort: number;
  readonly lastPort: number;
}

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
  if (ports === undefined) return { range, firstPort: 0, lastPort: 65_535 };
  const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(ports) ?? [];
  const firstPort = Number(first);
  const lastPort = last === undefined ? firstPort : Number(last);
  if (first === undefined || firstPort > lastPort || lastPort > 65_535) {
    throw refusal(entry, `"${ports}" is not a port or port range such as 443 or 8000-8100`);
  }
  return { range, firstPort, lastPort };
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
