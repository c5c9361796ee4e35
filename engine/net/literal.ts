/**
 * Hosts that are IP addresses in any spelling, and names reserved for documentation. Pure, because the API
 * imports it too. The guard judges these addresses like any other.
 */

import { domainToASCII } from "node:url";
import { withoutBrackets } from "../../model/url.ts";
import { formatIpv4, formatIpv6, mappedIpv4, parseIpv4, parseIpv6 } from "./ip.ts";

export interface Literal {
  /** Canonical: dotted decimal, or RFC 5952; an IPv4-mapped address is written as the IPv4 inside. */
  readonly ip: string;
  readonly family: 4 | 6;
  /** It names an interface of this machine (RFC 4007), so it has no meaning on other machines. */
  readonly hasZone: boolean;
}

/** RFC 1035 section 2.3.4, as text; also bounds the work below. Percent-encoding may triple it. */
const HOST_LENGTH = 3 * 255;

/**
 * The address that a host means, undefined when it is a name. Understands what some resolver, browser or library takes
 * for an address: strict forms, brackets, zones, the forms of inet_aton(3) (`0x7f.1`, `2130706433`, `0177.0.0.1`),
 * a final dot, percent-encoding, full-width and other digits that Unicode or IDNA maps to ASCII.
 */
export function literalOf(host: string): Literal | undefined {
  const strict = parseIpv4(host);
  if (strict >= 0) return { ip: host, family: 4, hasZone: false };
  if (host.length > HOST_LENGTH) return undefined;
  const text = unwrapped(host);
  if (text.includes(":")) return ipv6Literal(text);
  const name = asciiOf(text).replace(/\.$/, "").toLowerCase();
  const ipv4 = parseInetAton(name);
  return ipv4 < 0 ? undefined : { ip: formatIpv4(ipv4), family: 4, hasZone: false };
}

/** `localhost` and all below it are this machine and never asked of a server (RFC 6761 section 6.3). */
export function isLoopbackName(host: string): boolean {
  return /(?:^|\.)localhost$/.test(plainName(host));
}

/**
 * RFC 2606 sections 2 and 3, RFC 6761 section 6.5: `example` and example.com, .net, .org, with all below them.
 * `.test` (for testing, also people's own) and `.invalid` (never resolves) are not documentation; `.localhost` is a literal.
 */
export function isDocumentationName(host: string): boolean {
  return /(?:^|\.)example(?:\.(?:com|net|org))?$/.test(plainName(host));
}

function plainName(host: string): string {
  return asciiOf(host.trim()).replace(/\.$/, "").toLowerCase();
}

/** Without brackets, surrounding blanks and percent-encoding; compatibility characters (full-width colon, digits) folded. */
function unwrapped(host: string): string {
  return withoutBrackets(percentDecoded(host).trim().normalize("NFKC"));
}

function percentDecoded(text: string): string {
  // In an IPv6 address the percent sign begins a zone.
  if (!text.includes("%") || text.includes(":")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** UTS 46 for what is not ASCII: ideographic dots become dots, invisible characters vanish. */
function asciiOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
  return /^[\x00-\x7f]*$/.test(text) ? text : domainToASCII(text);
}

function ipv6Literal(text: string): Literal | undefined {
  const [address = "", zone] = text.split("%", 2);
  const words = parseIpv6(address);
  if (words === undefined) return undefined;
  const mapped = mappedIpv4(words);
  return mapped >= 0
    ? { ip: formatIpv4(mapped), family: 4, hasZone: zone !== undefined }
    : { ip: formatIpv6(words), family: 6, hasZone: zone !== undefined };
}

/** inet_aton(3): one to four parts, decimal, octal (0…) or hexadecimal (0x…), the last one filling what is left. @returns -1 when it is not */
function parseInetAton(text: string): number {
  const parts = text.split(".");
  if (parts.length > 4) return -1;
  let address = 0;
  for (const [index, part] of parts.entries()) {
    const value = inetAtonPart(part);
    const isLast = index === parts.length - 1;
    const bytes = isLast ? 4 - index : 1;
    if (value < 0 || value >= 256 ** bytes) return -1;
    address += isLast ? value : value * 256 ** (3 - index);
  }
  return address;
}

function inetAtonPart(part: string): number {
  if (/^0x[0-9a-f]*$/.test(part)) return part.length === 2 ? 0 : Number.parseInt(part, 16);
  if (/^0[0-7]*$/.test(part)) return Number.parseInt(part, 8);
  return /^[1-9]\d*$/.test(part) ? Number(part) : -1;
}
