/** The set of a machine's addresses: up to thousands of single ones and a few prefixes. Pure. */
import { type Cidr, cidrHasIpv4, cidrHasIpv6, type Ipv6Words, parseCidr } from "../net/ip.ts";

export interface AddressSet {
  has4(address: number): boolean;
  has6(words: Ipv6Words): boolean;
  /** Whether one of its entries holds every address of the prefix. */
  covers(range: Cidr): boolean;
}

/** @param entries addresses and prefixes, as parseCidr() reads them; others are left out */
export function addressSet(entries: Iterable<string>): AddressSet {
  const ranges: Cidr[] = [];
  for (const entry of entries) {
    const range = parseCidr(entry);
    if (range !== undefined) ranges.push(range);
  }
  return setOf(ranges);
}

export function setOf(ranges: readonly Cidr[]): AddressSet {
  const single4 = new Set<number>();
  /** By their last word. */
  const single6 = new Map<number, Ipv6Words[]>();
  const wide: Cidr[] = [];
  for (const range of ranges) {
    const { family, words, bits } = range;
    if (family === 4 && bits === 32) single4.add(words[0]);
    else if (family === 6 && bits === 128) addTo(single6, words);
    else wide.push(range);
  }
  const has4 = (address: number): boolean =>
    single4.has(address) || (wide.length > 0 && wide.some((range) => cidrHasIpv4(range, address)));
  const has6 = (words: Ipv6Words): boolean =>
    single6.get(words[3])?.some((entry) => areSame(entry, words)) === true ||
    wide.some((range) => cidrHasIpv6(range, words));
  return {
    has4,
    has6,
    covers({ family, words, bits }) {
      if (family === 4 && bits === 32) return has4(words[0]);
      if (family === 6 && bits === 128) return has6(words);
      const holds = (entry: Cidr): boolean => (family === 4 ? cidrHasIpv4(entry, words[0]) : cidrHasIpv6(entry, words));
      return wide.some((entry) => entry.family === family && entry.bits <= bits && holds(entry));
    },
  };
}

function addTo(byLastWord: Map<number, Ipv6Words[]>, words: Ipv6Words): void {
  const same = byLastWord.get(words[3]);
  if (same === undefined) byLastWord.set(words[3], [words]);
  else same.push(words);
}

function areSame(one: Ipv6Words, other: Ipv6Words): boolean {
  return one[0] === other[0] && one[1] === other[1] && one[2] === other[2] && one[3] === other[3];
}
