import fc from "fast-check";
import { CORE_SCHEMA, DUMP_SCHEMA, dump, load } from "js-yaml";
import { expect, test } from "vitest";
import type { Document } from "./document.ts";
import { environmentPlaceholder, escapeText, fillPlaceholders, placeholderIn, unescapeText } from "./placeholders.ts";
import { writeDocument, writeDocumentInSteps } from "./write.ts";

const DOCUMENT: Document = {
  sonde: 1,
  name: "production",
  defaults: { interval: 60, tags: ["prod"] },
  monitors: {
    shop: { type: "keyword", url: "https://shop.test-site.org/", keyword: "In stock: yes" },
    "wg-office": { protocol: "wireguard", config: "[Interface]\nPrivateKey = x\n\n[Peer]\n", locations: ["de", "no"] },
    "007": { type: "dns", host: "9.9.9.9", domain: "test-site.org", name: "0x10", active: false, keyword: null },
  },
  channels: {},
  alert_rules: [{ name: "Pages", channels: null, repeat_s: "1h", match: { select: { keys: ["shop"] } } }],
};

test("what was written is read again", () => {
  const text = writeDocument(DOCUMENT, ["made by a test\nof lines"]);
  const { channels: _, ...others } = DOCUMENT;
  expect(text.startsWith("# made by a test of lines\nsonde: 1\nname: production\n")).toBe(true);
  expect(load(text, { schema: CORE_SCHEMA })).toEqual(others);
});

test("what is written in steps is what is written at once", () => {
  const entries = Array.from({ length: 250 }, (_, n) => [
    n % 3 === 0 ? String(n) : `web-${n}`,
    { url: `a: ${n}\nb`, tags: [`t${n}`] },
  ]);
  const rules = Array.from({ length: 201 }, (_, n) => ({ name: `rule ${n}`, channels: null }));
  const document = { sonde: 1, monitors: Object.fromEntries(entries), alert_rules: rules } as unknown as Document;
  const steps = writeDocumentInSteps(document, []);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count += 1;
  expect(step.value).toBe(dump(document, { schema: DUMP_SCHEMA, noRefs: true, lineWidth: 120 }));
  expect(count).toBe(1 + 3 + 3);
});

test("any text of a field is read again", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 80 }),
      fc.string({ minLength: 1, maxLength: 20 }),
      (value, key) => {
        const document: Document = { sonde: 1, monitors: { [`k${key}`]: { type: "http", url: value } } };
        expect(load(writeDocument(document), { schema: CORE_SCHEMA })).toEqual(document);
      },
    ),
    { numRuns: 200 },
  );
});

test("an escaped text has no placeholder and says what it said", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("$", "{", "}", "env:A", "file:b", "x")), (parts) => {
      const text = parts.join("");
      const escaped = escapeText(text);
      expect(placeholderIn(escaped)).toBeUndefined();
      expect(unescapeText(escaped)).toBe(text);
      expect(unescapeText(fillPlaceholders(`\${env:A}|${escaped}`, () => text))).toBe(`${text}|${text}`);
    }),
    { numRuns: 300 },
  );
});

/** `#` stands for the dollar of a placeholder. */
const text = (written: string): string => written.replaceAll("#", "$");

test("placeholders are found, filled in, and made for secrets", () => {
  expect(placeholderIn(text("a##{env:NO}#{file:wg/office.conf}"))).toEqual({ source: "file", name: "wg/office.conf" });
  const filled = fillPlaceholders(text("##{env:NO} #{env:YES} #{HOME}"), ({ name }) => `<${name}>`);
  expect(filled).toBe(text("##{env:NO} <YES> #{HOME}"));
  expect(environmentPlaceholder("shop-2", "bearer_token")).toBe(text("#{env:SHOP_2_BEARER_TOKEN}"));
  expect(environmentPlaceholder("007", "url")).toBe(text("#{env:_007_URL}"));
  expect(environmentPlaceholder("…")).toBe(text("#{env:SECRET}"));
});
