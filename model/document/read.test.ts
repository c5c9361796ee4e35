import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Document, MOST_DOCUMENT_BYTES } from "./document.ts";
import { parseDuration, writeDuration } from "./durations.ts";
import { documentJsonSchema } from "./json-schema.ts";
import { readDocument } from "./read.ts";
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
  expect(read(text).lineOf(["monitors", "007", "headers", "a", 1])).toBe(6);
  expect(read(text).lineOf(["monitors", "nowhere"])).toBe(4);
});

const head = "sonde: 1\n";
/** What is wrong, and where it is told. */
const BROKEN: readonly (readonly [name: string, text: string, fault: RegExp])[] = [
  ["empty", "", /^:\d* It is empty|^:1/],
  ["a comment", "# nothing", /It is empty|must be|is missing/],
  ["a text", "hello", /^:1 A document is an object, such as sonde: 1, but this is a text\.$/],
  ["a list", "- a", /^:1 A document is an object/],
  ["no form", "monitors: {}", /^:1 sonde: 1 is missing/],
  ["another form", "sonde: 2", /^sonde:1 sonde must be 1/],
  ["a form as text", "sonde: '1'", /^sonde:1 sonde must be 1/],
  ["no form's value", "sonde:", /^sonde:1 sonde must be 1/],
  ["unclosed bracket", `${head}monitors: {a: {type: http}`, /^:\d+ This is no YAML/],
  ["unclosed quote", `${head}name: "abc`, /^:\d+ This is no YAML/],
  ["tab", `${head}monitors:\n\ta: {}`, /^:3 This is no YAML/],
  ["bad indentation", `${head}monitors:\n  a:\n    type: http\n   url: x`, /^:\d+ This is no YAML/],
  ["two documents", `${head}---\nsonde: 1`, /^:\d+ A file holds one document/],
  ["twice at the top", `${head}name: a\nname: b`, /^name:3 "name" is there twice, first on line 2\.$/],
  [
    "a key twice",
    `${head}monitors:\n  a: {type: http}\n  b: {type: http}\n  a: {type: ping}`,
    /^monitors\.a:5 "a" is there twice, first on line 3\.$/,
  ],
  [
    "a field twice",
    `${head}monitors:\n  a:\n    type: http\n    type: ping`,
    /^monitors\.a\.type:5 "type" is there twice/,
  ],
  [
    "merge key",
    `${head}monitors:\n  a: &a {type: http}\n  b: {<<: *a}`,
    /^monitors\.b\.<<:4 << is not read here: write the fields out, or use defaults\.$/,
  ],
  ["quoted merge key", `${head}monitors: {b: {"<<": {}}}`, /<< is not read here/],
  ["tag", `${head}name: !!str x`, /^name:2 Tags such as !!str mean nothing here/],
  ["local tag", `${head}monitors: !env {a: {type: http}}`, /^monitors:2 Tags/],
  ["unknown alias", `${head}monitors: *gone`, /^monitors:2 \*gone repeats nothing/],
  ["alias of itself", `${head}monitors: &m {a: *m}`, /^monitors\.a:2 \*m repeats nothing/],
  ["alias as a name", `${head}defaults: {tags: &t [x]}\nmonitors: {*t : {type: http}}`, /A key has|no YAML|is missing/],
  ["an object as a name", `${head}monitors: {{a: 1}: {type: http}}`, /A name must be a text|no YAML/],
  ["a list as a name", `${head}? [a, b]\n: 1`, /A name must be a text/],
  ["unknown section", `${head}monitor: {}`, /^monitor:2 There is no field "monitor" here\. Did you mean monitors\?$/],
  ["unknown section far away", `${head}whatever: {}`, /^whatever:2 There is no field "whatever" here\.$/],
  [
    "unknown field",
    `${head}monitors:\n  a:\n    typ: http`,
    /^monitors\.a\.typ:4 There is no field "typ" here\. Did you mean type\?$/,
  ],
  ["prototype field", `${head}monitors: {a: {constructor: 1}}`, /^monitors\.a\.constructor:2 There is no field/],
  ["prototype key", `${head}monitors: {a: {__proto__: {type: http}}}`, /^monitors\.a\.__proto__:2 There is no field/],
  ["unknown default", `${head}defaults: {url: x}`, /^defaults\.url:2 There is no field "url" here/],
  ["text for a list", `${head}monitors: {a: {tags: prod}}`, /^monitors\.a\.tags:2 tags must be a list, not a text\.$/],
  [
    "number in texts",
    `${head}monitors:\n  a:\n    tags:\n      - x\n      - 7`,
    /^monitors\.a\.tags\[1\]:6 tags\[1\] must be a text, not a number: put 7 in quotes\.$/,
  ],
  [
    "number for a text",
    `${head}monitors: {a: {name: 12}}`,
    /^monitors\.a\.name:2 name must be a text, not a number: put 12 in quotes\.$/,
  ],
  [
    "boolean for a text",
    `${head}monitors: {a: {name: yes, url: true}}`,
    /^monitors\.a\.url:2 url must be a text, not true/,
  ],
  [
    "text for yes or no",
    `${head}monitors: {a: {active: "no"}}`,
    /^monitors\.a\.active:2 active must be true or false, not a text\.$/,
  ],
  ["nothing", `${head}monitors: {a: {name: }}`, /^monitors\.a\.name:2 name has no value\.$/],
  ["nothing for a thing", `${head}monitors:\n  a:`, /^monitors\.a:3 a has no value\.$/],
  ["a list of monitors", `${head}monitors: [{type: http}]`, /^monitors:2 monitors must be an object of things by key/],
  [
    "a text for a thing",
    `${head}monitors: {a: https://x.test-site.org/}`,
    /^monitors\.a:2 a must be an object, not a text\.$/,
  ],
  [
    "bad duration",
    `${head}monitors: {a: {interval: 5 minutes}}`,
    /^monitors\.a\.interval:2 interval must be seconds, or a duration/,
  ],
  ["negative duration", `${head}monitors: {a: {interval: "-5m"}}`, /must be seconds, or a duration/],
  ["list for a duration", `${head}monitors: {a: {interval: [5]}}`, /must be seconds, or a duration/],
  ["key with a blank", `${head}monitors: {"a b": {type: http}}`, /^monitors\.a b:2 A key has 1 to 255/],
  ["empty key", `${head}monitors: {"": {type: http}}`, /A key has 1 to 255/],
  ["long key", `${head}monitors: {${"k".repeat(256)}: {type: http}}`, /A key has 1 to 255/],
  ["key of signs", `${head}monitors: {"-a": {type: http}}`, /A key has 1 to 255/],
  ["name with a line break", `${head}name: "a\\nb"`, /^name:2 A key has 1 to 255/],
  [
    "placeholder",
    `${head}monitors: {a: {url: "\${env:SHOP}"}}`,
    /^monitors\.a\.url:2 \$\{env:SHOP\} is filled in by sonde apply, never by the service\.$/,
  ],
  [
    "file placeholder in a list",
    `${head}monitors: {a: {tags: ["\${file:x}"]}}`,
    /^monitors\.a\.tags\[0\]:2 \$\{file:x\}/,
  ],
  [
    "placeholder in an open field",
    `${head}channels: {a: {kind: ntfy, deep: {er: ["\${env:X}"]}}}`,
    /^channels\.a\.deep\.er\[0\]:2/,
  ],
  [
    "ids",
    `${head}maintenance: {a: {schedule: {type: once}, select: {ids: [srv_1]}}}`,
    /^maintenance\.a\.select\.ids:2 There is no "ids" here: a document names monitors by their keys/,
  ],
  [
    "ids, negated",
    `${head}maintenance: {a: {schedule: {type: once}, select: {all: true, not: {ids: [1]}}}}`,
    /by their keys/,
  ],
  [
    "subscription ids",
    `${head}alert_rules: [{name: a, match: {select: {subscription_ids: [1]}}}]`,
    /names subscriptions by their keys/,
  ],
  [
    "not twice",
    `${head}maintenance: {a: {schedule: {type: once}, select: {not: {not: {}}}}}`,
    /There is no field "not" here/,
  ],
  ["no selector", `${head}maintenance: {a: {schedule: {type: once}}}`, /^maintenance\.a:2 select is missing\.$/],
  [
    "unknown schedule",
    `${head}maintenance: {a: {select: {}, schedule: {type: weekley}}}`,
    /type has no value "weekley"\. Did you mean weekly\?/,
  ],
  [
    "unknown kind selected",
    `${head}maintenance: {a: {schedule: {type: once}, select: {kinds: [htp]}}}`,
    /kinds\[0\]:2 kinds\[0\] has no value "htp"\. Did you mean http\?/,
  ],
  ["a rule without a name", `${head}alert_rules: [{channels: null}]`, /^alert_rules\[0\]:2 name is missing\.$/],
  [
    "two rules of a name",
    `${head}alert_rules:\n  - {name: a}\n  - {name: a}`,
    /^alert_rules\[1\]\.name:4 Another rule has this name, on line 3\.$/,
  ],
  ["rules by key", `${head}alert_rules: {a: {name: a}}`, /^alert_rules:2 alert_rules must be a list, not an object\.$/],
  ["old names", `${head}alert_rules: [{name: a, repeat: 1h}]`, /There is no "repeat" here: it is called repeat_s\./],
  ["no channel kind", `${head}channels: {a: {name: x}}`, /^channels\.a:2 kind is missing\.$/],
  ["page without groups", `${head}status_pages: {a: {title: x}}`, /^status_pages\.a:2 groups is missing\.$/],
  [
    "servers of a component",
    `${head}status_pages: {a: {groups: [{title: x, components: [{servers: {}}]}]}}`,
    /it is called select/,
  ],
  ["half a character", `${head}name: "a\\ud83d"`, /This text holds half of a character/],
];

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

test("what is too large is refused before it is read", () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (const [index, name] of [..."bcdefghij"].entries())
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${"abcdefghij"[index]}`).join(", ")}]`);
  expect(faultsOf(`${bomb.join("\n")}\n`)).toEqual([expect.stringContaining("more than 600000 values")]);
  const repeated = `a: &a 1\nb: [${Array(5_001).fill("*a").join(", ")}]`;
  expect(faultsOf(repeated)).toEqual([expect.stringContaining("repeats more than 5000 times")]);
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
  fc.assert(
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
  fc.assert(
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
  fc.assert(fc.property(fc.nat(10_000_000), (seconds) => parseDuration(writeDuration(seconds)) === seconds));
});
