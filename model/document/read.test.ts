import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { BROKEN, HEAD as head } from "../../testkit/api/broken-documents.suite.ts";
import { assertProperty } from "../../testkit/property.ts";
import { type Document, MOST_DOCUMENT_BYTES } from "./document.ts";
import { parseDuration } from "./durations.ts";
import { documentJsonSchema } from "./json-schema.ts";
import { finished, readDocument } from "./read.ts";
import type { DocumentWords } from "./shape.ts";
import { plainOf } from "./tree.ts";
import { writeDocument } from "./write.ts";
import { parseYaml } from "./yaml.ts";

const WORDS: DocumentWords = {
  monitorFields: {
    type: { type: "text" },
    name: { type: "text" },
    active: { type: "boolean" },
    interval: { type: "seconds" },
    tags: { type: "list", of: { type: "text" } },
    tags_add: { type: "list", of: { type: "text" } },
    url: { type: "text", nullable: true },
    port: { type: "any" },
    headers: { type: "any" },
  },
  defaultFields: ["interval", "tags"],
  kinds: ["http", "vless"],
};

const read = (text: string) => readDocument(text, WORDS);
/** What is wrong with a document, as `path:line message`. */
function faultsOf(text: string): readonly string[] {
  return read(text).faults.map(({ path, line, message }) => `${path}:${line ?? ""} ${message}`);
}

test("a document is read: durations, literals, anchors, nothing", () => {
  const text = [
    "sonde: 1",
    "name: production",
    "defaults: {interval: 1m30s, tags: &tags [prod, eu]}",
    "monitors:",
    "  shop: {type: http, url: 'https://x.test-site.org/$${env:A}', tags_add: *tags, port: 0x50}",
    "  007: {type: http, url: ~, active: false, headers: {a: [1, true, null]}}",
    "channels:",
    "alert_rules: [{name: a, repeat_s: 1h, channels: null, match: {select: {keys: [shop], not: {tags: [x]}}}}]",
  ].join("\n");
  expect(read(text)).toMatchObject({
    faults: [],
    document: {
      sonde: 1,
      name: "production",
      defaults: { interval: 90, tags: ["prod", "eu"] },
      monitors: {
        shop: { url: `https://x.test-site.org/\${env:A}`, tags_add: ["prod", "eu"], port: 80 },
        "007": { url: null, active: false, headers: { a: [1, true, null] } },
      },
      alert_rules: [{ name: "a", repeat_s: 3_600, channels: null }],
    },
  });
  const lineOf = finished(read(text).places());
  expect(lineOf(["monitors", "007", "headers", "a", 1])).toBe(6);
  expect(lineOf(["monitors", "nowhere"])).toBe(4);
});

test.each(BROKEN)("refused with its place: %s", (_, text, fault) => {
  const found = faultsOf(text);
  expect(
    found.some((one) => fault.test(one)),
    found.join("\n"),
  ).toBe(true);
  expect(read(text).document).toBeNull();
});

/** What no schema says: it is about two places, or is filled in before it is sent. */
const UNSAID = new Set([
  "placeholder",
  "file placeholder in a list",
  "placeholder in an open field",
  "two rules of a name",
]);

test("the JSON Schema takes what is read, and refuses what is broken where it can say so", () => {
  const takes = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
    documentJsonSchema(WORDS),
  );
  const accepted = [
    `${head}name: production\ndefaults: {interval: 1m30s}\nmonitors:\n  shop: {type: http, port: 0x50, tags_add: [x]}\nchannels:`,
    `${head}monitors: {a: {url: "\${env:A}", active: false, headers: {a: [1]}}}`,
    `${head}alert_rules: [{name: a, repeat_s: null, match: {select: {keys: [a], not: {tags: [x]}}}}]`,
    `${head}status_pages: {a: {colour: x, groups: [{title: x, components: [{select: {all: true}, merge: worst}]}]}}`,
  ];
  for (const text of accepted) {
    const { root } = parseYaml(text);
    expect(takes(root === null ? null : plainOf(root)), `${text}\n${JSON.stringify(takes.errors)}`).toBe(true);
  }
  const unsaid = BROKEN.filter(([, text]) => {
    const { root, faults } = parseYaml(text);
    return faults.length === 0 && root !== null && takes(plainOf(root));
  });
  expect(new Set(unsaid.map(([name]) => name))).toEqual(UNSAID);
});

test("all faults are told, and of very many the number", () => {
  expect(faultsOf(`${head}a: 1\nb: 2\nmonitors: {x: {y: 1, z: 2}}`)).toHaveLength(4);
  const many = Array.from({ length: 130 }, (_, index) => `  k${index}: {no: 1}`).join("\n");
  expect(faultsOf(`${head}monitors:\n${many}`).at(-1)).toBe(": and 30 more");
});

test("a name as long as the document is in no fault as a whole", () => {
  const long = "k".repeat(100_000);
  const faults = [
    ...faultsOf(`${head}monitors: {${long}: {type: [1], ${long}: 2}}`),
    ...faultsOf(`${head}monitors: *${long}`),
  ];
  expect(faults).toHaveLength(4);
  expect(faults.filter((text) => text.length > 1_000)).toEqual([]);
});

test("the end of a line is looked for once, however many values it has", () => {
  const looks = vi.spyOn(String.prototype, "indexOf");
  const { root } = parseYaml(`[${"a,".repeat(500)}]`);
  const count = looks.mock.calls.filter(([sought]) => sought === "\n").length;
  looks.mockRestore();
  expect(root).toMatchObject({ type: "list", line: 1 });
  expect(count).toBeLessThan(5);
});

test("what is too large is refused before it is read", () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (const [index, name] of [..."bcdefghij"].entries())
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${"abcdefghij"[index]}`).join(", ")}]`);
  expect(faultsOf(`${bomb.join("\n")}\n`)).toEqual([expect.stringContaining("more than 600000 values")]);
  const repeated = `a: &a 1\nb: [${Array(5_001).fill("*a").join(", ")}]`;
  expect(faultsOf(repeated)).toEqual([expect.stringContaining("repeats more than 5000 times")]);
  const text = `a: &a ${"x".repeat(10_000)}\nb: &b [${Array(100).fill("*a").join(", ")}]\nc: [${Array(50).fill("*b").join(", ")}]`;
  expect(faultsOf(text)).toEqual([expect.stringContaining("repeats more than 16777216 characters")]);
  const name = `{ ${"y".repeat(10_000)}: 1 }`;
  expect(faultsOf(`a: &a ${name}\nb: [${Array(2_000).fill("*a").join(", ")}]`)).toEqual([
    expect.stringContaining("repeats more than 16777216 characters"),
  ]);
  expect(faultsOf(`${"#".repeat(MOST_DOCUMENT_BYTES)}\n`)).toEqual([": The document is longer than 4194304 bytes."]);
  expect(faultsOf("\n".repeat(600_001))).toEqual([": The document has more than 600000 lines and values."]);
  expect(faultsOf(`${"[".repeat(30)}${"]".repeat(30)}`)).toEqual([expect.stringContaining("This is no YAML")]);
  const things = Array.from({ length: 20_001 }, (_, index) => `k${index}: {}`).join(", ");
  expect(faultsOf(`${head}monitors: {${things}}`)).toEqual([expect.stringContaining("at most 20000 things")]);
});

test("any text ends in a document or in faults", () => {
  const part = fc.constantFrom(
    "sonde: 1\n",
    "monitors:\n",
    "  a:\n",
    "    url: ",
    "&x ",
    "*x",
    "[",
    "]",
    "{",
    "}",
    "<<",
    ": ",
    "- ",
    "\n",
    "'",
    '"',
    "|\n",
    "!!",
    `\${env:A}`,
    "7",
    "\u0000",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.array(part, { maxLength: 30 }).map((parts) => parts.join("")),
  );
  assertProperty(
    fc.property(texts, (text) => {
      const { document, faults } = read(text);
      expect(document === null).toBe(faults.length > 0);
    }),
    { numRuns: 200 },
  );
});

test("a document that was written is read as the same", () => {
  const key = fc.stringMatching(/^[a-z0-9_][a-z0-9_.:/-]{0,12}$/);
  const monitor = fc.record(
    {
      type: fc.constantFrom("http", "vpn"),
      name: fc.string({ unit: "grapheme", maxLength: 40 }),
      active: fc.boolean(),
      interval: fc.nat(100_000),
      tags: fc.array(fc.string({ maxLength: 10 }), { maxLength: 3 }),
      headers: fc.dictionary(
        fc.stringMatching(/^[a-z]{1,5}$/),
        fc.oneof(fc.string({ unit: "grapheme" }), fc.boolean(), fc.constant(null), fc.integer(), fc.array(fc.string())),
      ),
    },
    { requiredKeys: ["type"] },
  );
  const escaped = (document: Document): Document =>
    JSON.parse(JSON.stringify(document).replaceAll("${", () => "$${")) as Document;
  assertProperty(
    fc.property(fc.dictionary(key, monitor, { maxKeys: 5 }), (monitors) => {
      fc.pre(Object.keys(monitors).length > 0);
      const document = { sonde: 1, monitors } as const satisfies Document;
      const { document: again, faults } = read(writeDocument(escaped(document)));
      expect(faults).toEqual([]);
      expect(again).toEqual(JSON.parse(JSON.stringify(document)));
    }),
    { numRuns: 100 },
  );
});

test("durations", () => {
  expect(["90s", "5m", "1h30m", "2d", "1w"].map(parseDuration)).toEqual([90, 300, 5_400, 172_800, 604_800]);
  expect(["", "5", "m", "5 m", "1.5h", "-1m", "9999999999s", "1m\n"].map(parseDuration)).toEqual(
    Array(8).fill(undefined),
  );
  const parts = fc.array(
    fc.constantFrom("s", "m", "h", "d", "w").chain((unit) => fc.nat(999_999).map((n) => `${n}${unit}`)),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  assertProperty(
    fc.property(
      parts,
      (all) => parseDuration(all.join("")) === all.reduce((sum, part) => sum + (parseDuration(part) ?? Number.NaN), 0),
    ),
  );
});
