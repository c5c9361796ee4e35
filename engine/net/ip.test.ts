/** The readers of addresses, against what they write and against any text. What the guard makes of addresses: engine/transport/guard.test.ts. */
import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect } from "vitest";
import { property } from "../../testkit/property.ts";
import { formatIpv4, formatIpv6, type Ipv6Words, parseCidr, parseIpv4, parseIpv6 } from "./ip.ts";

const word = fc.nat({ max: 0xffff_ffff });
const nearText = fc.string({ unit: fc.constantFrom(..."0123456789abcdefx:.%[]/-１。"), maxLength: 45 });

describe("addresses", () => {
  property([word])("IPv4: reads what it writes", (address) => {
    expect(parseIpv4(formatIpv4(address))).toBe(address);
  });

  property([fc.tuple(word, word, word, word)])("IPv6: reads what it writes", (words) => {
    expect(parseIpv6(formatIpv6(words as unknown as Ipv6Words))).toEqual(words);
  });

  property([fc.oneof(fc.string({ maxLength: 60 }), nearText)])("reads no text that Node takes for none", (text) => {
    if (parseIpv4(text) >= 0) expect(isIP(text)).toBe(4);
    if (parseIpv6(text) !== undefined) expect(isIP(text)).toBe(6);
  });

  property([
    fc.oneof(
      nearText,
      fc.tuple(word, fc.nat(40)).map(([address, bits]) => `${formatIpv4(address)}/${bits}`),
    ),
  ])("prefixes: none longer than its family", (text) => {
    const cidr = parseCidr(text);
    if (cidr !== undefined) expect(cidr.bits).toBeLessThanOrEqual(cidr.family === 4 ? 32 : 128);
  });
});
