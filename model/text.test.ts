import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { before, linesOf, pemBlocks, withoutBlanks, withoutTrailing } from "./text.ts";

const text = fc.string({
  unit: fc.constantFrom("a", "#", "?", " ", "\t", "\n", "\r", '"', "é", "\ufeff", "😀"),
  maxLength: 40,
});

describe("cuts are what the expressions say", () => {
  it("before", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("#", "?#", '"'), (from, marks) => {
        expect(before(from, marks)).toBe(from.replace(new RegExp(`[${marks}].*$`, "s"), ""));
      }),
    );
  });

  it("withoutTrailing", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("#", "? \t", '"a'), (from, characters) => {
        expect(withoutTrailing(from, characters)).toBe(from.replace(new RegExp(`[${characters}]+$`), ""));
      }),
    );
  });

  it("withoutBlanks", () => {
    fc.assert(
      fc.property(text, (from) => {
        expect(withoutBlanks(from)).toBe(from.replace(/^[\t ]+|[\t ]+$/g, ""));
      }),
    );
  });

  it("linesOf", () => {
    expect(linesOf("a\r\nb\rc\nd\n")).toEqual(["a", "b", "c", "d", ""]);
  });
});

describe("pemBlocks", () => {
  const begin = "-----BEGIN CERTIFICATE-----";
  const end = "-----END CERTIFICATE-----";
  const piece = fc.constantFrom(begin, end, "AAAA", "\n", "remark:", "-----", "-----BEGIN PRIVATE KEY-----", "");

  it("finds what an expression finds, whatever stands around it", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const pem = pieces.join("");
        expect(pemBlocks(pem, "CERTIFICATE")).toEqual(
          pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g) ?? [],
        );
      }),
    );
  });
});
