/** Domain names as text: from what people write to what goes on the wire. Pure. */
import { domainToASCII } from "node:url";
import { parseIpv4, parseIpv6 } from "../../net/ip.ts";

/** RFC 1035 section 2.3.4: 255 octets on the wire, two of which (first length, root) are no text. */
const NAME_LENGTH = 253;
const LABEL_LENGTH = 63;
/** Names with hyphens at either end exist; one of hyphens alone is a slip, such as the `-` that stands for stdin elsewhere. */
const LABEL = /^-*[a-z0-9_][a-z0-9_-]*$/;

/**
 * A name that may be asked for, in ASCII and lowercase, without its final dot; undefined when it is none.
 * Letters, digits, hyphens and underscores (service names); what is not ASCII goes through IDNA (UTS 46).
 * A last label of digits is refused: resolvers and browsers take such a text for an IPv4 address (WHATWG URL, "ends in a number").
 */
export function toAsciiName(text: string): string | undefined {
  if (text.length === 0 || text.length > 4 * NAME_LENGTH) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
  const ascii = /^[\x00-\x7f]*$/.test(text) ? text : domainToASCII(text);
  const name = (ascii.endsWith(".") ? ascii.slice(0, -1) : ascii).toLowerCase();
  if (name.length === 0 || name.length > NAME_LENGTH) return undefined;
  const labels = name.split(".");
  if (!labels.every((label) => label.length <= LABEL_LENGTH && LABEL.test(label))) return undefined;
  return /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "") ? undefined : name;
}

/**
 * The name that the PTR records of an address are at: RFC 1035 section 3.5 (IPv4), RFC 3596 section 2.5 (IPv6).
 * @param address dotted decimal, or IPv6 without brackets and zone @returns undefined for what is no such address
 */
export function reverseName(address: string): string | undefined {
  if (parseIpv4(address) >= 0) return `${address.split(".").reverse().join(".")}.in-addr.arpa`;
  const words = parseIpv6(address);
  if (words === undefined) return undefined;
  const digits = words.map((word) => word.toString(16).padStart(8, "0")).join("");
  return `${[...digits].reverse().join(".")}.ip6.arpa`;
}
