/**
 * Addresses that the kernel delivers to this machine itself, also without an interface: its `local` routes. Pure parsers of /proc/net/fib_trie
 * (net/ipv4/fib_trie.c, fib_trie_seq_show) and /proc/net/ipv6_route (net/ipv6/route.c and ip6_fib.c, ipv6_route_native_seq_show).
 */
import { type Cidr, type Ipv6Words, parseIpv4 } from "../net/ip.ts";

/** include/uapi/linux/route.h, ipv6_route.h: delivered here; RTF_ANYCAST is the address that all routers of a subnet share. */
const RTF_LOCAL = 0x8000_0000;
const RTF_ANYCAST = 0x0010_0000;

/** Leaves name an address (`|-- 10.0.0.5`), and below them each line a prefix length, a scope and a type (`/32 host LOCAL`). Every table is in it. */
export function localRoutes4(fibTrie: string): readonly Cidr[] {
  const found = new Map<string, Cidr>();
  let leaf = -1;
  for (const line of fibTrie.split("\n")) {
    const text = line.trimStart();
    if (text.startsWith("|-- ")) leaf = parseIpv4(text.slice(4).trimEnd());
    else if (leaf >= 0 && text.startsWith("/") && text.includes(" LOCAL")) {
      const bits = Number(/^\/(\d{1,2}) \S+ LOCAL\b/.exec(text)?.[1] ?? -1);
      // 0.0.0.0/0 as a local route would make every address ours: a transparent proxy's, which only holds for packets that it marks.
      if (bits > 0 && bits <= 32) found.set(`${leaf}/${bits}`, { family: 4, words: [leaf, 0, 0, 0], bits });
    }
  }
  return [...found.values()];
}

/** A line a route: destination and prefix length in hexadecimal, source and its length, next hop, metric, two counters, flags, device. */
export function localRoutes6(routes: string): readonly Cidr[] {
  const found = new Map<string, Cidr>();
  for (const line of routes.split("\n")) {
    const [, destination = "", length = "", flags = ""] =
      /^([0-9a-f]{32}) ([0-9a-f]{2}) (?:[0-9a-f]+ ){6}([0-9a-f]{8})\s/.exec(line) ?? [];
    if ((Number.parseInt(flags, 16) & (RTF_LOCAL | RTF_ANYCAST)) === 0) continue;
    const bits = Number.parseInt(length, 16);
    if (!(bits > 0 && bits <= 128)) continue;
    found.set(`${destination}/${bits}`, { family: 6, words: wordsOf(destination), bits });
  }
  return [...found.values()];
}

function wordsOf(digits: string): Ipv6Words {
  const word = (at: number): number => Number.parseInt(digits.slice(8 * at, 8 * at + 8), 16);
  return [word(0), word(1), word(2), word(3)];
}
