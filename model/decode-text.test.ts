import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText, NO_TEXT, withoutStray } from "./decode-text.ts";

describe("decodeText", () => {
  it("reads any text in UTF-8, with and without a byte-order mark, and in UTF-16 with one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        if (text.startsWith("\ufeff")) return;
        const marked = Buffer.from(`\ufeff${text}`, "utf16le");
        const forms = [Buffer.from(text), Buffer.from(`\ufeff${text}`), marked, Buffer.from(marked).swap16()];
        expect(forms.map((bytes) => decodeText(bytes))).toEqual([text, text, text, text]);
      }),
    );
  });

  it("makes a text of any bytes, in which what is none is U+FFFD", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void expect(decodeText(bytes).isWellFormed()).toBe(true)));
    expect(decodeText(Buffer.from([0x61, 0xff, 0x62]))).toBe(`a${NO_TEXT}b`);
  });
});

describe("withoutStray", () => {
  it("leaves blanks, line ends and every character that can be seen", () => {
    expect(withoutStray("a\tb\r\nc é 漢 😀\u00a0")).toBe("a\tb\r\nc é 漢 😀\u00a0");
    expect(withoutStray("a\0b\u001bc\u0085d\ud800e")).toBe(`a${NO_TEXT}b${NO_TEXT}c\u0085d${NO_TEXT}e`);
  });
});
