import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, mustEqual } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { caseKey, listFromJson, searchable, searchKey, storable } from "./text.ts";

describe("text", () => {
  it("is stored as a database gives it back", () => {
    assertProperty(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.array(fc.constantFrom("\0", "\ud800", "\udc00", "a", "🚀")),
        (text, odd) => {
          const stored = storable(text + odd.join(""));
          must(!stored.includes("\0"), "U+0000 is stored");
          mustEqual(Buffer.from(stored, "utf8").toString("utf8"), stored);
          mustEqual(storable(stored), stored);
        },
      ),
      { numRuns: 100_000 },
    );
  });

  it("keeps pairs of surrogates and replaces single ones", () => {
    expect(storable("🚀\ud83d🚀\ude80!")).toBe("🚀\ufffd🚀\ufffd!");
  });

  it("finds each part of a monitor, and nothing across two parts", () => {
    const part = fc.string({ minLength: 1, maxLength: 5 });
    assertProperty(
      fc.property(part, part, fc.array(part, { maxLength: 3 }), part, (name, host, tags, question) => {
        const key = searchKey({ name, host, tags });
        for (const text of [name, host, ...tags])
          must(key.includes(searchable(text.toUpperCase().toLowerCase())), `${text} is not found`);
        const isInShards = [name, host, ...tags].some((text) => searchable(text).includes(searchable(question)));
        mustEqual(key.includes(searchable(question)), isInShards);
      }),
      { numRuns: 20_000 },
    );
  });

  it("gives equal short lists as one that cannot be changed", () => {
    const list = listFromJson('["de","nl"]');
    expect(list).toEqual(["de", "nl"]);
    expect(listFromJson('["de","nl"]')).toBe(list);
    expect(() => (list as string[]).push("us")).toThrow(TypeError);
    const long = JSON.stringify(["x".repeat(70)]);
    expect(listFromJson(long)).toEqual(JSON.parse(long));
    expect(listFromJson(long)).not.toBe(listFromJson(long));
  });

  it("folds case and composition", () => {
    expect(caseKey("ÄPFEL")).toBe(caseKey("a\u0308pfel"));
    expect(caseKey("БАНАН")).toBe("банан");
  });
});
