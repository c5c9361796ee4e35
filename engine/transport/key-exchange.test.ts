import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { fuzz } from "../protocols/fuzz.suite.ts";
import { KeyExchangeWatch } from "./key-exchange.ts";

const record = (type: number, body: Buffer): Buffer => {
  const head = Buffer.from([type, 3, 3, 0, 0]);
  head.writeUInt16BE(body.length, 3);
  return Buffer.concat([head, body]);
};
const message = (type: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUIntBE(body.length, 1, 3);
  head.writeUInt8(type, 0);
  return Buffer.concat([head, body]);
};
const vector = (bytes: Buffer): Buffer => {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(bytes.length);
  return Buffer.concat([size, bytes]);
};
const group = (primeBytes: number, signatureBytes = 256): Buffer =>
  message(
    12,
    Buffer.concat([
      vector(Buffer.alloc(primeBytes, 0xc5)),
      vector(Buffer.from([2])),
      vector(Buffer.alloc(primeBytes, 3)),
      Buffer.from([4, 1]),
      vector(Buffer.alloc(signatureBytes, 9)),
    ]),
  );
const curve = (signatureBytes: number): Buffer =>
  message(
    12,
    Buffer.concat([
      Buffer.from([3, 0, 0x1d, 32]),
      Buffer.alloc(32, 5),
      Buffer.from([4, 1]),
      vector(Buffer.alloc(signatureBytes, 9)),
    ]),
  );
const hello = message(2, Buffer.alloc(70, 1));
const certificates = message(11, Buffer.alloc(60_000, 2));
const done = message(14, Buffer.alloc(0));

/** In records of so many bytes. */
function stream(messages: readonly Buffer[], recordBytes: number): Buffer {
  const all = Buffer.concat(messages);
  const records: Buffer[] = [];
  for (let at = 0; at < all.length; at += recordBytes) records.push(record(22, all.subarray(at, at + recordBytes)));
  return Buffer.concat(records);
}
function heard(bytes: Buffer, pieceBytes: number): string | null {
  const watch = new KeyExchangeWatch();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const words = watch.push(bytes.subarray(at, at + pieceBytes));
    if (words !== null) return words;
  }
  return null;
}

describe("a server's key exchange", () => {
  const sizes = fc.tuple(fc.integer({ min: 1, max: 16_384 }), fc.integer({ min: 1, max: 70_000 }));
  it.each([256, 384, 512])("passes with a prime of %i bytes, however it is cut", (bytes) => {
    assertProperty(
      fc.property(sizes, ([recordBytes, pieceBytes]) => {
        must(heard(stream([hello, certificates, group(bytes), done], recordBytes), pieceBytes) === null, "refused");
      }),
      { numRuns: 300 },
    );
  });
  it.each([514, 767, 768, 800, 1_023, 1_024, 1_250, 2_048, 60_000])(
    "is refused with a prime of %i bytes, however it is cut",
    (bytes) => {
      assertProperty(
        fc.property(sizes, ([recordBytes, pieceBytes]) => {
          const words = heard(stream([hello, certificates, group(bytes), done], recordBytes), pieceBytes);
          must(words === "The server wants a Diffie-Hellman group of more than 4096 bits", String(words));
        }),
        { numRuns: 100 },
      );
    },
  );
  it.each([64, 256, 512, 1_024])("passes over a curve, with a signature of %i bytes", (bytes) => {
    expect(heard(stream([hello, certificates, curve(bytes), done], 1_000), 100)).toBeNull();
  });
  it("is over with encryption: what comes then is not looked at", () => {
    for (const end of [20, 23]) {
      const bytes = Buffer.concat([stream([hello], 100), record(end, Buffer.from([1])), stream([group(2_048)], 1_000)]);
      expect(heard(bytes, 7)).toBeNull();
    }
  });
  fuzz(
    "is watched in any bytes",
    [fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 1, max: 9 })],
    (bytes, piece) => {
      heard(Buffer.concat([Buffer.from([22, 3, 3, 0, 30]), Buffer.from(bytes)]), piece);
    },
  );
});
