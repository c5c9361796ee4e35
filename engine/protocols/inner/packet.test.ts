import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { addressBytes, decodeIp, encodeIp, PROTOCOLS, transportChecksum } from "./packet.ts";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });

const pairs = fc.oneof(fc.tuple(bytes(4), bytes(4)), fc.tuple(bytes(16), bytes(16)));

describe("IP packets", () => {
  it("are encoded as a real client's (an echo that wireguard-go carried)", () => {
    const recorded = hex(
      "4500003ce9a74000400144d40a420002010101010800cfb4123400016161616161616161616161616161616161616161616161616161616161616161",
    );
    const decoded = decodeIp(recorded);
    if (decoded === undefined) throw new Error("not decoded");
    expect(decoded.protocol).toBe(PROTOCOLS.icmp);
    expect(text(encodeIp(decoded, 0xe9a7))).toBe(text(recorded));
  });

  it("come back as they were, and what follows them is cut off", () => {
    assertProperty(
      fc.property(
        pairs,
        fc.nat(255),
        fc.uint8Array({ maxLength: 100 }),
        fc.nat(0xffff),
        fc.nat(40),
        (pair, protocol, payload, id, extra) => {
          const [source, destination] = pair;
          const encoded = encodeIp({ source, destination, protocol, payload }, id);
          const padded = new Uint8Array(encoded.length + extra);
          padded.set(encoded);
          const decoded = decodeIp(padded);
          expect(
            decoded && {
              ...decoded,
              source: text(decoded.source),
              destination: text(decoded.destination),
              payload: text(decoded.payload),
            },
          ).toEqual({
            source: text(source),
            destination: text(destination),
            protocol,
            payload: text(payload),
          });
          for (const length of [0, 1, 19, encoded.length - 1]) {
            if (length < encoded.length) expect(decodeIp(encoded.subarray(0, length))).toBeUndefined();
          }
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("of any bytes never throw, and a payload lies within them", () => {
    const versions = fc.constantFrom(0x45, 0x46, 0x4f, 0x60, 0x40, 0);
    const packets = fc
      .tuple(versions, fc.uint8Array({ maxLength: 120 }))
      .map(([first, rest]) => Uint8Array.of(first, ...rest));
    assertProperty(
      fc.property(fc.oneof(packets, fc.uint8Array({ maxLength: 120 })), (packet) => {
        const decoded = decodeIp(packet);
        must(decoded === undefined || decoded.payload.length <= packet.length, "more than came");
      }),
      { numRuns: 100_000 },
    );
  }, 60_000);

  it("that are fragments or have a wrong header checksum are not taken", () => {
    const packet = encodeIp(
      { source: hex("0a000001"), destination: hex("0a000002"), protocol: 1, payload: hex("00") },
      7,
    );
    for (const index of [6, 7, 8, 10, 12, 19]) {
      const changed = Uint8Array.from(packet);
      changed[index] = (changed[index] ?? 0) ^ 0x21;
      expect(decodeIp(changed)).toBeUndefined();
    }
  });
});

describe("checksums", () => {
  it("make the sum over the whole message zero", () => {
    const payload = hex("c0000035001d0000000101000001000000000000027a7a0000010001");
    const packet = { source: hex("0a000001"), destination: hex("0a000002"), protocol: PROTOCOLS.udp, payload };
    const sum = transportChecksum(packet);
    payload[6] = sum >> 8;
    payload[7] = sum & 255;
    expect(transportChecksum(packet)).toBe(0);
  });
});

describe("addresses", () => {
  it("are their bytes", () => {
    expect(text(addressBytes("10.0.200.3") ?? hex(""))).toBe("0a00c803");
    expect(text(addressBytes("fd00::a:1") ?? hex(""))).toBe("fd0000000000000000000000000a0001");
    expect(addressBytes("name.test")).toBeUndefined();
  });
});
