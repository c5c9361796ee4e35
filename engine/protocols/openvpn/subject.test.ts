import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeDer } from "../ikev2/der.ts";
import { certificateOf, ecPublic, oid, sequence } from "../keys/hostile-keys.suite.ts";
import { commonName, subjectText } from "./subject.ts";

const SPKI = ecPublic("P-256", "named");
const TYPE = {
  CN: "2.5.4.3",
  C: "2.5.4.6",
  O: "2.5.4.10",
  OU: "2.5.4.11",
  emailAddress: "1.2.840.113549.1.9.1",
} as const;
const TAG = {
  bits: 3,
  utf8: 12,
  sequence: 0x30,
  numeric: 18,
  printable: 19,
  t61: 20,
  ia5: 22,
  universal: 28,
  bmp: 30,
} as const;

type Value = readonly [type: string, tag: keyof typeof TAG, content: Buffer];

function certificate(...parts: readonly (readonly Value[])[]): Buffer {
  const subjectParts = parts.map((values) =>
    encodeDer(
      0x31,
      Buffer.concat(values.map(([type, tag, content]) => sequence(oid(type), encodeDer(TAG[tag], content)))),
    ),
  );
  return certificateOf({ spki: SPKI, subjectParts });
}

const utf8 = (type: string, text: string): readonly Value[] => [[type, "utf8", Buffer.from(text)]];

function bmp(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}

function universal(...codes: readonly number[]): Buffer {
  const bytes = Buffer.alloc(codes.length * 4);
  for (const [index, code] of codes.entries()) bytes.writeUInt32BE(code, index * 4);
  return bytes;
}

const text = (der: Buffer): string => subjectText(der).toString();

/** What node:crypto says of it, without the escapes of RFC 2253 that OpenVPN does not ask for. */
function byNode(der: Buffer): string {
  return new X509Certificate(der).subject
    .split("\n")
    .join(", ")
    .replace(/\\(.)/gs, (found, letter) => (',+"<>; #'.includes(letter) ? letter : found));
}

describe("the subject as OpenVPN prints it", () => {
  it.each([
    ["a comma", [utf8(TYPE.C, "XX"), utf8(TYPE.O, "Holdout, Inc"), utf8(TYPE.CN, "gw")], "C=XX, O=Holdout, Inc, CN=gw"],
    ["quotes", [utf8(TYPE.O, `"it's"`)], `O="it's"`],
    ["what RFC 2253 escapes", [utf8(TYPE.O, "# a+b;<c>=d ")], "O=# a+b;<c>=d "],
    ["a backslash", [utf8(TYPE.O, "a\\b")], "O=a\\\\b"],
    ["control characters", [utf8(TYPE.O, "a\0\n\u001f\u007fb")], "O=a\\00\\0A\\1F\\7Fb"],
    ["UTF-8", [utf8(TYPE.O, "Zürich 東京 😀")], "O=Zürich 東京 😀"],
    ["BMPString", [[[TYPE.O, "bmp", bmp("Zürich\t東京")]]], "O=Zürich\\09東京"],
    ["UniversalString", [[[TYPE.O, "universal", universal(0x41, 0x1f600)]]], "O=A😀"],
    ["T61String", [[[TYPE.O, "t61", Buffer.from([0x5a, 0xfc])]]], "O=Zü"],
    [
      "a part of several values",
      [
        [
          [TYPE.CN, "utf8", Buffer.from("gw")],
          [TYPE.OU, "ia5", Buffer.from("x")],
        ],
      ],
      "CN=gw + OU=x",
    ],
    ["no name of its own", [utf8("1.2.3.4.5", "x"), utf8(TYPE.emailAddress, "a@b")], "1.2.3.4.5=x, emailAddress=a@b"],
    ["bits", [[["2.5.4.45", "bits", Buffer.from([3, 0x41, 0x4f])]]], "x500UniqueIdentifier=AH"],
    ["nothing", [], ""],
  ] satisfies readonly [string, readonly (readonly Value[])[], string][])("with %s", (_name, parts, expected) => {
    const der = certificate(...parts);
    expect(text(der)).toBe(expected);
    if (parts.length > 0) expect(byNode(der)).toBe(expected);
  });

  it("has names of attribute types where OpenSSL has them", () => {
    const numbers = (arc: string, most: number) => Array.from({ length: most }, (_, index) => `${arc}.${index + 1}`);
    const types = [
      ...numbers("2.5.4", 110),
      ...numbers("0.9.2342.19200300.100.1", 60),
      ...["1", "2", "7", "8", "20", "21"].map((last) => `1.2.840.113549.1.9.${last}`),
      ...numbers("1.3.6.1.4.1.311.60.2.1", 5),
      ...["1.3.6.1.4.1.311.20.2.3", "1.2.643.100.1", "1.2.643.100.3", "1.2.643.100.5", "1.2.643.3.131.1.1"],
    ];
    // OpenSSL takes 2.5.4.6 and others in one length only when it makes a certificate, not when it reads one.
    const der = certificate(...types.map((type) => utf8(type, "x")));
    expect(text(der).split(", ")).toEqual(byNode(der).split(", "));
  });

  it("is the same as node:crypto's but for its escapes, for any texts", () => {
    const values = fc.oneof(
      fc.tuple(
        fc.constant("utf8" as const),
        fc.string({ unit: "grapheme", maxLength: 20 }).map((one) => Buffer.from(one)),
      ),
      fc.tuple(fc.constant("bmp" as const), fc.string({ unit: "grapheme-ascii", maxLength: 20 }).map(bmp)),
      fc.tuple(
        fc.constantFrom("t61" as const, "ia5" as const, "printable" as const, "numeric" as const),
        fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
      ),
      fc.tuple(
        fc.constant("universal" as const),
        fc.array(fc.integer({ min: 0, max: 0xd7ff }), { maxLength: 9 }).map((codes) => universal(...codes)),
      ),
    );
    const part = fc.array(fc.tuple(fc.constantFrom(...Object.values(TYPE), "1.2.3.4"), values), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const der = certificate(
          ...parts.map((each) => each.map(([type, [tag, content]]): Value => [type, tag, content])),
        );
        expect(text(der)).toBe(byNode(der));
      }),
    );
  });
});

describe("the common name as OpenVPN compares it", () => {
  const of = (...parts: readonly (readonly Value[])[]) => commonName(certificate(...parts))?.toString();

  it.each([
    ["the last one", [utf8(TYPE.CN, "one"), utf8(TYPE.O, "x"), utf8(TYPE.CN, "two")], "two"],
    ["in UTF-8, whatever it is encoded in", [[[TYPE.CN, "bmp", bmp("Zürich")]]], "Zürich"],
    ["with _ for control characters", [utf8(TYPE.CN, "a\nb\u007f")], "a_b_"],
    ["up to a zero", [utf8(TYPE.CN, "gw\0.evil")], "gw"],
    ["of 64 bytes", [utf8(TYPE.CN, "x".repeat(64))], "x".repeat(64)],
    ["not of 65", [utf8(TYPE.CN, "x".repeat(65))], undefined],
    ["not of what is no text", [[[TYPE.CN, "bits", Buffer.from([0, 0x41])]]], undefined],
    ["not of nothing", [], undefined],
  ] satisfies readonly [string, readonly (readonly Value[])[], string | undefined][])(
    "%s",
    (_name, parts, expected) => {
      expect(of(...parts)).toBe(expected);
    },
  );
});

describe("what is no certificate", () => {
  it("has no subject and no name", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(subjectText(Buffer.from(bytes)).length).toBeLessThanOrEqual(bytes.length * 6);
        expect(() => commonName(Buffer.from(bytes))).not.toThrow();
      }),
    );
  });
});
