import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../../../testkit/must.ts";
import { property } from "../../../testkit/property.ts";
import {
  decodeIcmp,
  ECHO_BYTES,
  encodeEchoReply,
  encodeEchoRequest,
  internetChecksum,
  isIntact,
  payloadOfIpv4,
  quotedRequest,
} from "./echo.ts";

const echoes = fc.record({
  identifier: fc.integer({ min: 0, max: 0xffff }),
  sequence: fc.integer({ min: 0, max: 0xffff }),
  token: fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }),
});
const families = fc.constantFrom(4 as const, 6 as const);

const ECHO = { identifier: 0x1234, sequence: 0x0001, token: 0x0102030405060708n };
/** By hand: 0800 + 1234 + 0001 + 0102 + 0304 + 0506 + 0708 = 2a49; its complement is d5b6. */
const REQUEST = Buffer.from("0800d5b6123400010102030405060708", "hex");

function ipv4Packet(payload: Uint8Array, optionBytes = 0): Uint8Array {
  const packet = new Uint8Array(20 + optionBytes + payload.length);
  packet[0] = 0x40 | (5 + optionBytes / 4);
  packet[9] = 1;
  packet.set(payload, 20 + optionBytes);
  return packet;
}

function ipv6Packet(payload: Uint8Array, nextHeader = 58): Uint8Array {
  const packet = new Uint8Array(40 + payload.length);
  packet[0] = 0x60;
  packet[6] = nextHeader;
  packet.set(payload, 40);
  return packet;
}

function errorAbout(type: number, code: number, quoted: Uint8Array): Uint8Array {
  return Uint8Array.from([type, code, 0, 0, 0, 0, 0, 0, ...quoted]);
}

describe("echo", () => {
  it("is encoded byte for byte as RFC 792 says", () => {
    expect(Buffer.from(encodeEchoRequest(4, ECHO)).toString("hex")).toBe(REQUEST.toString("hex"));
    expect(encodeEchoRequest(6, ECHO).subarray(0, 4)).toEqual(Uint8Array.of(128, 0, 0, 0));
    expect(encodeEchoReply(6, ECHO)[0]).toBe(129);
  });

  property([families, echoes], { numRuns: 5_000 })("comes back as it was", (family, echo) => {
    mustEqual(decodeIcmp(family, encodeEchoRequest(family, echo)), { type: "echo-request", echo });
    mustEqual(decodeIcmp(family, encodeEchoReply(family, echo)), { type: "echo-reply", echo });
    mustEqual(isIntact(encodeEchoRequest(4, echo)), true);
  });

  it("is not taken from the other family, with a code, or cut short", () => {
    expect(decodeIcmp(6, encodeEchoReply(4, ECHO))).toBeUndefined();
    expect(decodeIcmp(4, encodeEchoReply(6, ECHO))).toBeUndefined();
    const coded = encodeEchoReply(4, ECHO);
    coded[1] = 1;
    expect(decodeIcmp(4, coded)).toBeUndefined();
    for (let length = 0; length < ECHO_BYTES; length++) {
      expect(decodeIcmp(4, encodeEchoReply(4, ECHO).subarray(0, length))).toBeUndefined();
    }
  });
});

describe("checksum", () => {
  it("is RFC 1071's example", () => {
    // Section 3: 00 01 f2 03 f4 f5 f6 f7 sum to ddf2
    expect(internetChecksum(Buffer.from("0001f203f4f5f6f7", "hex"))).toBe(~0xddf2 & 0xffff);
  });

  it("pads an odd length with zero, and finds any single flipped bit", () => {
    expect(internetChecksum(Uint8Array.of(1))).toBe(internetChecksum(Uint8Array.of(1, 0)));
    for (let bit = 0; bit < REQUEST.length * 8; bit++) {
      const damaged = Uint8Array.from(REQUEST);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(isIntact(damaged)).toBe(false);
    }
  });
});

describe("errors", () => {
  it.each([
    [4, 3, 0, "network-unreachable"],
    [4, 3, 1, "host-unreachable"],
    [4, 3, 3, "host-unreachable"],
    [4, 3, 4, "bad-packet"],
    [4, 3, 13, "prohibited"],
    [4, 11, 0, "hops-exceeded"],
    [4, 12, 0, "bad-packet"],
    [6, 1, 0, "network-unreachable"],
    [6, 1, 1, "prohibited"],
    [6, 1, 3, "host-unreachable"],
    [6, 2, 0, "bad-packet"],
    [6, 3, 0, "hops-exceeded"],
  ] as const)("IPv%i type %i code %i is %s", (family, type, code, problem) => {
    const request = encodeEchoRequest(family, ECHO);
    const quoted = family === 4 ? ipv4Packet(request, 8) : ipv6Packet(request);
    expect(decodeIcmp(family, errorAbout(type, code, quoted))).toEqual({ type: "error", problem, quoted: ECHO });
  });

  it("may quote eight bytes only", () => {
    const quoted = ipv4Packet(encodeEchoRequest(4, ECHO).subarray(0, 8));
    expect(decodeIcmp(4, errorAbout(3, 1, quoted))).toMatchObject({
      quoted: { sequence: 1, identifier: 0x1234, token: null },
    });
  });

  it("about something else are not for us", () => {
    const reply = ipv4Packet(encodeEchoReply(4, ECHO));
    const udp = ipv4Packet(encodeEchoRequest(4, ECHO));
    udp[9] = 17;
    const fragment = ipv4Packet(encodeEchoRequest(4, ECHO));
    fragment[7] = 1;
    for (const quoted of [reply, udp, fragment, new Uint8Array(0), Uint8Array.of(0x4f)]) {
      expect(decodeIcmp(4, errorAbout(3, 1, quoted))).toBeUndefined();
    }
    expect(decodeIcmp(6, errorAbout(1, 0, ipv6Packet(encodeEchoRequest(6, ECHO), 17)))).toBeUndefined();
    expect(decodeIcmp(4, errorAbout(5, 0, ipv4Packet(encodeEchoRequest(4, ECHO))))).toBeUndefined();
    expect(quotedRequest(4, encodeEchoReply(4, ECHO))).toBeUndefined();
  });
});

/** Random bytes, and real messages with some bytes changed and the end cut. */
const hostile = fc.oneof(
  fc.uint8Array({ maxLength: 96 }),
  fc
    .tuple(families, echoes, fc.array(fc.tuple(fc.nat(90), fc.nat(255)), { maxLength: 4 }), fc.nat(90))
    .map(([family, echo, changes, keep]) => {
      const request = encodeEchoRequest(family, echo);
      const message = errorAbout(family === 4 ? 3 : 1, 1, family === 4 ? ipv4Packet(request) : ipv6Packet(request));
      for (const [at, value] of changes) if (at < message.length) message[at] = value;
      return message.subarray(0, keep);
    }),
);

describe("decoding anything", () => {
  let decoded = 0;

  property([families, hostile], { numRuns: 100_000 })("never throws, and yields numbers in range", (family, bytes) => {
    const message = decodeIcmp(family, bytes);
    const inner = payloadOfIpv4(bytes);
    mustEqual(inner === undefined || inner.length <= bytes.length - 20, true);
    if (message === undefined) return;
    decoded++;
    const { identifier, sequence } = message.type === "error" ? message.quoted : message.echo;
    mustEqual(identifier >= 0 && identifier <= 0xffff && sequence >= 0 && sequence <= 0xffff, true);
  });

  it("has met messages that decode", () => {
    expect(decoded).toBeGreaterThan(1_000);
  });
});
