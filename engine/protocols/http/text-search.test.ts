import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../../../testkit/must.ts";
import { property } from "../../../testkit/property.ts";
import { charsetOf, searchText } from "./text-search.ts";

function occurs(text: string, charset: string | null, pieces: readonly Uint8Array[]): boolean {
  const search = searchText(text, charset);
  for (const piece of pieces) {
    // What was pushed is used again by the socket.
    const lent = Buffer.from(piece);
    search.push(lent);
    lent.fill(0);
  }
  search.end();
  return search.found;
}

describe("searchText", () => {
  it("is case-sensitive", () => {
    expect(occurs("Stock", null, [Buffer.from("in Stock")])).toBe(true);
    expect(occurs("Stock", null, [Buffer.from("in stock")])).toBe(false);
  });

  it("finds a text that straddles pieces, at every place", () => {
    const bytes = Buffer.from("größer ist 好");
    for (let at = 0; at <= bytes.length; at++) {
      expect(occurs("größer ist 好", null, [bytes.subarray(0, at), bytes.subarray(at)])).toBe(true);
    }
    expect(
      occurs(
        "好",
        null,
        [...bytes].map((byte) => Buffer.from([byte])),
      ),
    ).toBe(true);
  });

  it("reads the charset that the answer names", () => {
    expect(occurs("привет", "windows-1251", [Buffer.from([0xef, 0xf0, 0xe8]), Buffer.from([0xe2, 0xe5, 0xf2])])).toBe(
      true,
    );
    expect(occurs("é", "ISO-8859-1", [Buffer.from([0xe9])])).toBe(true);
    expect(occurs("é", null, [Buffer.from([0xe9])])).toBe(false);
    const utf16 = Buffer.from("a keyword", "utf16le");
    expect(occurs("keyword", "utf-16le", [utf16.subarray(0, 5), utf16.subarray(5)])).toBe(true);
    expect(occurs("日本", "shift_jis", [Buffer.from([0x93]), Buffer.from([0xfa, 0x96, 0x7b])])).toBe(true);
  });

  it("takes UTF-8 for an unknown charset", () => {
    expect(occurs("é", "x-unheard-of", [Buffer.from("é")])).toBe(true);
  });

  const letters = fc.string({ unit: fc.constantFrom("a", "b", "é", "好"), maxLength: 60 });
  const needle = fc.string({ unit: fc.constantFrom("a", "b", "é", "好"), minLength: 1, maxLength: 6 });
  property([letters, needle, fc.array(fc.nat(200), { maxLength: 8 }), fc.constantFrom(null, "utf-16le")], {
    numRuns: 50_000,
  })("agrees with searching the whole text", (text, wanted, cuts, charset) => {
    const bytes = Buffer.from(text, charset === null ? "utf8" : "utf16le");
    const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
    const pieces = [0, ...places].map((place, index) => bytes.subarray(place, places[index] ?? bytes.length));
    mustEqual(occurs(wanted, charset, pieces), text.includes(wanted));
  });
});

describe("charsetOf", () => {
  it.each([
    ["text/html", null],
    ["text/html; charset=UTF-8", "UTF-8"],
    ['text/html;charset="iso-8859-1"', "iso-8859-1"],
    ["text/html; boundary=x; CHARSET = koi8-r; y=z", "koi8-r"],
    ["text/html; charset=", null],
    [null, null],
  ])("%s", (contentType, charset) => {
    expect(charsetOf(contentType)).toBe(charset);
  });
});
