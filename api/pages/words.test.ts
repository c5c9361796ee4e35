/** Which language a reader gets where no page says it. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { wantedLanguage } from "./words.ts";

it("takes the language that is wanted most of those that have words", () => {
  for (const [header, language] of [
    ["", "en"],
    ["*", "en"],
    ["ru", "ru"],
    ["zh-CN,zh;q=0.9,en;q=0.8", "zh"],
    ["en-US,en;q=0.9,ru;q=0.8", "en"],
    ["de-AT, de;q=0.9, FA-ir ; q=0.3, en;q=0.2", "fa"],
    ["de;q=1, fr", "en"],
    ["ru;q=0, fa;q=0.001", "fa"],
    ["ru;q=nonsense", "ru"],
    [`${"de,".repeat(20)}ru`, "en"],
  ] as const)
    expect(wantedLanguage(header), header).toBe(language);
});

it("knows the language whatever was sent", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (header) => ["en", "ru", "fa", "zh"].includes(wantedLanguage(header))),
  );
});
