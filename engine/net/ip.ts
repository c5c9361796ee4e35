/**
 * IP addresses as numbers: strict parsing, formatting, prefixes. Pure and without dependencies, because the API imports it too.
 * IPv4 is an unsigned 32-bit number; IPv6 is four of them.
 */

export type Ipv6Words = readonly [number, number, number, number];

/** An address prefix; `words` of an IPv4 prefix holds the address in its first place. */
export interface Cidr {
  readonly family: 4 | 6;
  readonly words: Ipv6Words;
  readonly bits: number;
}

const ZERO = 48;
const NINE = 57;
const DOT = 46;

/** Strict dotted decimal: four parts, no leading zeros (RFC 6943 section 3.1.1 calls the rest loose). @returns -1 when it is not */
export function parseIpv4(text: string): number {
  if (text.length < 7 || text.length > 15) return -1;
  let address = 0;
  let part = -1;
  let parts = 1;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === DOT) {
      if (part < 0 || parts === 4) return -1;
      address = address * 256 + part;
      part = -1;
      parts++;
    } else if (code >= ZERO && code <= NINE) {
      if (part === 0) return -1;
      part = part < 0 ? code - ZERO : part * 10 + code - ZERO;
      if (part > 255) return -1;
    } else return -1;
  }
  return parts === 4 && part >= 0 ? address * 256 + part : -1;
}

/** RFC 4291 section 2.2, all three forms, without brackets and zone. */
export function parseIpv6(text: string): Ipv6Words | undefined {
  if (text.length < 2 || text.length > 45 || !text.includes(":")) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? "", halves.length === 1);
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? "", true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return [wordAt(groups, 0), wordAt(groups, 2), wordAt(groups, 4), wordAt(groups, 6)];
}

function wordAt(groups: readonly number[], index: number): number {
  return (groups[index] ?? 0) * 0x1_0000 + (groups[index + 1] ?? 0);
}

/** @param last whether the text ends the address, where dotted decimal may stand */
function groupsOf(text: string, last: boolean): number[] | undefined {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (last && index === parts.length - 1 && part.includes(".")) {
      const ipv4 = parseIpv4(part);
      if (ipv4 < 0) return undefined;
      groups.push(Math.floor(ipv4 / 0x1_0000), ipv4 % 0x1_0000);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups.length <= 8 ? groups : undefined;
}

export function formatIpv4(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** RFC 5952: lowercase, longest run of zeros shortened, IPv4-mapped in mixed form. */
export function formatIpv6(words: Ipv6Words): string {
  if (words[0] === 0 && words[1] === 0 && words[2] === 0xffff) return `::ffff:${formatIpv4(words[3])}`;
  const groups = words.flatMap((word) => [word >>> 16, word & 0xffff]);
  let start = -1;
  let length = 1;
  for (let index = 0; index < 8; index++) {
    let end = index;
    while (end < 8 && groups[end] === 0) end++;
    if (end - index > length) [start, length] = [index, end - index];
  }
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(":");
  return start < 0 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
}

/** @returns dotted decimal, or RFC 5952; undefined for what is no address in one of the two strict forms */
export function canonicalIp(text: string): string | undefined {
  if (parseIpv4(text) >= 0) return text;
  const words = parseIpv6(text);
  return words === undefined ? undefined : formatIpv6(words);
}

/** The IPv4 address inside `::ffff:0:0/96` (RFC 4291 section 2.5.5.2), -1 when it is not one. */
export function mappedIpv4(words: Ipv6Words): number {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff ? words[3] : -1;
}

/** A prefix or one address; bits beyond the prefix must be zero. IPv4-mapped prefixes become IPv4. Undefined when it is neither. */
export function parseCidr(text: string): Cidr | undefined {
  const [, address = "", length] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const ipv4 = parseIpv4(address);
  if (ipv4 >= 0) return exactCidr(4, [ipv4, 0, 0, 0], length === undefined ? 32 : Number(length));
  const words = parseIpv6(address);
  if (words === undefined) return undefined;
  const bits = length === undefined ? 128 : Number(length);
  const mapped = mappedIpv4(words);
  return mapped >= 0 && bits >= 96 ? exactCidr(4, [mapped, 0, 0, 0], bits - 96) : exactCidr(6, words, bits);
}

function exactCidr(family: 4 | 6, words: Ipv6Words, bits: number): Cidr | undefined {
  if (bits > (family === 4 ? 32 : 128)) return undefined;
  const masked = words.map((word, index) => (word & maskOf(bits - 32 * index)) >>> 0);
  return masked.every((word, index) => word === words[index]) ? { family, words, bits } : undefined;
}

/** The first `bits` of 32 set; below 0 none, above 32 all. */
function maskOf(bits: number): number {
  return bits <= 0 ? 0 : bits >= 32 ? 0xffff_ffff : (0xffff_ffff << (32 - bits)) >>> 0;
}

export function cidrHasIpv4(cidr: Cidr, address: number): boolean {
  return cidr.family === 4 && ((address ^ cidr.words[0]) & maskOf(cidr.bits)) === 0;
}

export function cidrHasIpv6(cidr: Cidr, words: Ipv6Words): boolean {
  if (cidr.family !== 6) return false;
  for (let index = 0, bits = cidr.bits; bits > 0; index++, bits -= 32) {
    if ((((words[index] ?? 0) ^ (cidr.words[index] ?? 0)) & maskOf(bits)) !== 0) return false;
  }
  return true;
}
