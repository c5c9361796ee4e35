import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { fuzz } from "../fuzz.suite.ts";
import { toDer } from "./ber.ts";
import { certificateOf, nested, octets, type Pkcs12, pkcs12Of, type Scheme, sequence } from "./hostile-keys.suite.ts";
import { KeyBoundError } from "./key-bounds.ts";
import { boundPkcs12, openPkcs12 } from "./pkcs12.ts";

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = pair.privateKey.export({ type: "pkcs8", format: "der" });
const certificate = certificateOf({
  spki: pair.publicKey.export({ type: "spki", format: "der" }),
  signer: pair.privateKey,
});
const HUGE = 150_000_000;
const file = (overrides: Partial<Pkcs12> = {}): Buffer => pkcs12Of({ key, certificates: [certificate], ...overrides });

describe("a PKCS #12 file", () => {
  it.each<[string, Partial<Pkcs12>]>([
    ["AES under PBKDF2", {}],
    ["3DES", { keyScheme: { kind: "3des", rounds: 2_000 }, certificateScheme: { kind: "3des", rounds: 2_000 } }],
    [
      "3DES and no password at all",
      { keyScheme: { kind: "3des", rounds: 9 }, certificateScheme: { kind: "3des", rounds: 9 }, password: null },
    ],
    ["certificates in the clear", { certificateScheme: null }],
    ["a key in the clear", { keyScheme: null }],
    ["no MAC", { macRounds: null }],
    ["PBMAC1", { mac: "pbmac1" }],
    ["contents within contents", { depth: 3 }],
  ])("is opened: %s", (_name, contents) => {
    const bytes = file(contents);
    boundPkcs12(bytes);
    expect(openPkcs12(bytes)).toEqual({ keys: [key], certificates: [certificate] });
  });

  it("is opened also where lengths are open and strings are in pieces", () => {
    expect(openPkcs12(inBer(file()))).toEqual({ keys: [key], certificates: [certificate] });
  });

  const rounds = (count: number): Scheme => ({ kind: "pbkdf2", rounds: count });
  it.each<[string, Partial<Pkcs12>, string]>([
    ["150 million rounds of its MAC", { macRounds: HUGE }, "a key derivation of 150000000 rounds; at most 1000000"],
    ["2^31 rounds of its MAC", { macRounds: 2 ** 31 - 1 }, "2147483647 rounds"],
    ["2^52 rounds", { macRounds: 2 ** 52 }, "more than 2^47 rounds"],
    ["150 million rounds of PBMAC1", { mac: "pbmac1", macRounds: HUGE }, "150000000 rounds"],
    ["150 million rounds for its certificates", { certificateScheme: rounds(HUGE) }, "150004096 rounds"],
    ["150 million rounds for its key", { keyScheme: rounds(HUGE) }, "rounds; at most 1000000 are accepted in all"],
    ["150 million rounds of 3DES", { certificateScheme: { kind: "3des", rounds: HUGE } }, "150004096 rounds"],
    [
      "a million rounds thrice",
      { macRounds: 400_000, keyScheme: rounds(400_000), certificateScheme: rounds(400_000) },
      "1200000 rounds",
    ],
    ["no rounds", { certificateScheme: rounds(0) }, "no rounds"],
    [
      "scrypt of 1 GiB",
      { certificateScheme: { kind: "scrypt", N: 2 ** 20, r: 8, p: 1 } },
      "scrypt with N 1048576, r 8, p 1",
    ],
    [
      "scrypt of p 100,000",
      { certificateScheme: { kind: "scrypt", N: 16_384, r: 8, p: 100_000 } },
      "scrypt with N 16384",
    ],
    [
      "a derived key of 100,000 bytes",
      { certificateScheme: { kind: "pbkdf2", rounds: 9, keyBytes: 100_000 } },
      "more than 64 bytes",
    ],
    ["RC2", { certificateScheme: { kind: "rc2", rounds: 9 } }, "a cipher that is not known"],
    [
      "200 certificates in the clear",
      { certificates: Array.from({ length: 200 }, () => certificate), certificateScheme: null },
      "more than 64 parts",
    ],
    ["contents nested 6 deep, in the clear", { depth: 6, certificateScheme: null }, "nested too deep"],
  ])("is refused before anything is computed: %s", (_name, contents, words) => {
    const bytes = file(contents);
    expect(() => openPkcs12(bytes)).toThrow(words);
    expect(() => boundPkcs12(bytes)).toThrow(words);
  });

  it("is refused while it is opened, where only then more of it is seen", () => {
    const shrouded = { certificates: Array.from({ length: 100 }, () => certificate) };
    expect(() => boundPkcs12(file(shrouded))).not.toThrow();
    expect(() => openPkcs12(file(shrouded))).toThrow("more than 64 parts");
    expect(() => openPkcs12(file({ depth: 6 }))).toThrow("nested too deep");
  });

  it("is refused under a password, without a word of it", () => {
    expect(() => openPkcs12(file({ password: "secret" }))).toThrow("with a password, which cannot be typed in here");
  });

  it.each<[string, Buffer]>([
    ["nothing", Buffer.alloc(0)],
    ["a megabyte of zeros", Buffer.alloc(1_000_000)],
    ["a megabyte of nesting", Buffer.alloc(200_000, Buffer.from([0x30, 0x80]))],
    ["nesting 10,000 deep", nested(10_000)],
    ["a sequence of 100,000 values", sequence(...Array.from({ length: 70_000 }, () => Buffer.from([2, 1, 1])))],
    ["an octet string", octets(Buffer.alloc(9))],
  ])("is not %s", (_name, bytes) => {
    expect(() => boundPkcs12(bytes)).toThrow(KeyBoundError);
    expect(() => openPkcs12(bytes)).toThrow(KeyBoundError);
  });

  const small = { macRounds: 2, keyScheme: rounds(2), certificateScheme: rounds(2) } as const;
  const good = [
    file(small),
    file({ ...small, keyScheme: { kind: "3des", rounds: 2 } }),
    file({ ...small, certificateScheme: null, depth: 2 }),
    file({ ...small, mac: "pbmac1" }),
    file({ ...small, macRounds: null, keyScheme: null }),
    inBer(file(small)),
  ];
  const change = fc.tuple(fc.nat(1 << 20), fc.nat(255), fc.nat(2));
  fuzz(
    "that was changed is opened or refused, and bounds and opening agree",
    [fc.nat(good.length - 1), fc.array(change, { minLength: 1, maxLength: 4 })],
    (which, changes) => {
      let bytes = Buffer.from(good[which] ?? Buffer.alloc(0));
      for (const [place, value, kind] of changes) {
        const at = place % bytes.length;
        if (kind === 0) bytes[at] = value;
        else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([value]), bytes.subarray(at)]);
        else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
        if (bytes.length === 0) return;
      }
      const bound = refusal(() => boundPkcs12(bytes));
      if (bound !== undefined && !bound.isUnreadable) {
        const opened = refusal(() => openPkcs12(bytes));
        must(opened !== undefined, `opened what its bounds refuse: ${bound.message}`);
      }
    },
  );
  fuzz("is opened or refused, of small changes", [fc.nat(good.length - 1), change], (which, [place, value]) => {
    const bytes = Buffer.from(good[which] ?? Buffer.alloc(0));
    bytes[place % bytes.length] = value;
    if (refusal(() => boundPkcs12(bytes)) === undefined && isCheap(bytes)) refusal(() => openPkcs12(bytes));
  });
  fuzz("of BER is turned into DER that stays as it is", [fc.uint8Array({ maxLength: 40 })], (bytes) => {
    let der: Buffer | undefined;
    refusal(() => {
      der = toDer(Buffer.from(bytes));
    });
    if (der !== undefined) must(toDer(der).equals(der), "read differently the second time");
  });
});

function refusal(run: () => unknown): KeyBoundError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof KeyBoundError) return error;
    throw error;
  }
}

/** Whether no number in it became one of rounds that would take long: at most a byte behind the tag of an INTEGER. */
function isCheap(bytes: Buffer): boolean {
  for (let at = 0; at + 1 < bytes.length; at++)
    if (bytes[at] === 2 && (bytes[at + 1] ?? 0) > 1 && (bytes[at + 1] ?? 0) < 7) return false;
  return true;
}

/** Each constructed value with an open length, each octet string in two pieces. */
function inBer(der: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < der.length; ) {
    const tag = der.readUInt8(at);
    const first = der.readUInt8(at + 1);
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const contentAt = at + 2 + lengthBytes;
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    const content = der.subarray(contentAt, contentAt + length);
    const end = Buffer.from([0, 0]);
    if ((tag & 0x20) !== 0) parts.push(Buffer.from([tag, 0x80]), inBer(content), end);
    else if (tag === 4 && length > 100) {
      const half = Math.floor(length / 2);
      parts.push(Buffer.from([0x24, 0x80]), octets(content.subarray(0, half)), octets(content.subarray(half)), end);
    } else parts.push(der.subarray(at, contentAt + length));
    at = contentAt + length;
  }
  return Buffer.concat(parts);
}
