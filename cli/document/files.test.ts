import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { unescapeText } from "../../model/document/placeholders.ts";
import { plainOf } from "../../model/document/tree.ts";
import { parseYaml } from "../../model/document/yaml.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { readLocalDocument } from "./files.ts";

let folder: string;
beforeAll(() => {
  folder = temporaryFolder();
});

/** `#` stands for the dollar of a placeholder. */
const text = (written: string): string => written.replaceAll("#", () => "$");
function read(
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
  paths: string | readonly string[] = ".",
) {
  const inside = mkdtempSync(join(folder, "case-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(inside, name, ".."), { recursive: true });
    writeFileSync(join(inside, name), text(content));
  }
  const found = readLocalDocument(
    [paths].flat().map((path) => join(inside, path)),
    { environment, stdin: null },
  );
  if (!("text" in found))
    return found.map(
      ({ place, message }) =>
        `${place.file.replace(`${inside}/`, "")}:${place.line} ${message.replaceAll(`${inside}/`, "")}`,
    );
  const { root, faults } = parseYaml(found.text);
  expect(faults).toEqual([]);
  return { ...found, plain: root === null ? null : (plainOf(root) as Record<string, unknown>) };
}

test("one file: placeholders are filled in, and each value knows its line", () => {
  const found = read(
    {
      "sonde.yaml":
        "sonde: 1\nmonitors:\n  a:\n    url: 'https://#{env:HOST}/##{env:NO}'\n    config: '#{file:keys/wg.conf}'\n",
      "keys/wg.conf": "[Peer]\nKey = 'x'\n",
    },
    { HOST: text("h#{env:EVIL}") },
    "sonde.yaml",
  );
  if (!("plain" in found)) throw new Error(found.join("\n"));
  const a = (found.plain as { monitors: Record<string, Record<string, string>> }).monitors.a ?? {};
  expect(unescapeText(a.url ?? "")).toBe(text("https://h#{env:EVIL}/#{env:NO}"));
  expect(a.config).toBe("[Peer]\nKey = 'x'\n");
  const at = found.text.split("\n").findIndex((one) => one.startsWith('"url"'));
  expect(found.placeOf(at + 1)?.line).toBe(4);
});

test("a long file that needs nothing of this machine is sent as it is", () => {
  const name = "n".repeat(1_000);
  const lines = Array.from({ length: 300 }, (_, at) => `  web-${at}: { type: ping, host: h${at}.test, name: ${name} }`);
  const long = ["sonde: 1", "monitors:", ...lines].join("\n");
  const found = read({ "sonde.yaml": long }, {}, "sonde.yaml");
  if (!("plain" in found)) throw new Error(found.join("\n"));
  expect(found.text).toBe(long);
  expect(found.placeOf(7)).toEqual({ file: expect.stringMatching(/sonde\.yaml$/), line: 7 });
  const filled = read(
    { "sonde.yaml": `${long}\n  last: { type: ping, host: "#{env:HOST}" }` },
    { HOST: "h" },
    "sonde.yaml",
  );
  if (!("plain" in filled)) throw new Error(filled.join("\n"));
  expect(filled.plain).toMatchObject({ monitors: { last: { host: "h" }, "web-0": { host: "h0.test" } } });
  expect(filled.placeOf(filled.text.split("\n").length)?.line).toBe(303);
});

test("a folder is one document, and a key stands in one file", () => {
  const found = read({
    "a.yaml": "sonde: 1\nname: x\nmonitors: {a: {type: ping}}\nalert_rules: [{name: one}]\n",
    "b.yml": "sonde: 1\nmonitors:\n  b: {type: ping}\nalert_rules: [{name: two}]\n",
    "notes.txt": "no",
  });
  if (!("plain" in found)) throw new Error(found.join("\n"));
  expect(found.plain).toEqual({
    sonde: 1,
    name: "x",
    monitors: { a: { type: "ping" }, b: { type: "ping" } },
    alert_rules: [{ name: "one" }, { name: "two" }],
  });
  expect(read({ "a.yaml": "sonde: 1\nmonitors: {a: {type: ping}}", "b.yaml": "monitors:\n  a: {type: ping}" })).toEqual(
    ["b.yaml:2 monitors.a is there twice, first in a.yaml:2."],
  );
  expect(read({ "a.yaml": "sonde: 1\nname: x", "b.yaml": "sonde: 1\nname: y" })).toEqual([
    "b.yaml:2 name is there twice, first in a.yaml:2.",
  ]);
  const several = read(
    {
      "a.yaml": "sonde: 1\nmonitors: {a: {type: ping}}",
      "more/b.yaml": "monitors: {b: {type: dns}}",
      "c.yaml": "x: 1",
    },
    {},
    ["a.yaml", "more"],
  );
  expect("plain" in several ? several.plain : several).toEqual({
    sonde: 1,
    monitors: { a: { type: "ping" }, b: { type: "dns" } },
  });
  expect(read({ "notes.txt": "no" })).toEqual([expect.stringContaining("There is no .yaml file in it.")]);
});

test("what is not there, and what is not beside the document, is refused with its line", () => {
  const inside = mkdtempSync(join(folder, "links-"));
  writeFileSync(join(folder, "secret"), "s");
  symlinkSync(join(folder, "secret"), join(inside, "link"));
  const names = ["/etc/hostname", "../secret", "link", "gone", "."];
  writeFileSync(
    join(inside, "sonde.yaml"),
    text(
      `sonde: 1\nmonitors:\n${names.map((name, index) => `  k${index}: {url: "#{file:${name}}"}\n`).join("")}  e: {url: "#{env:NO_SUCH}"}\n`,
    ),
  );
  const found = readLocalDocument([join(inside, "sonde.yaml")], { environment: {}, stdin: null });
  expect("text" in found ? [] : found.map(({ place, message }) => `${place.line} ${message}`)).toEqual([
    text("3 monitors.k0.url: #{file:/etc/hostname} must name a file in the document's folder."),
    text("4 monitors.k1.url: #{file:../secret} must name a file in the document's folder."),
    text("5 monitors.k2.url: #{file:link} leads out of the document's folder."),
    text("6 monitors.k3.url: #{file:gone} cannot be read (ENOENT)."),
    text("7 monitors.k4.url: #{file:.} is no file."),
    "8 monitors.e.url: the environment has no NO_SUCH.",
  ]);
  expect(read({ "sonde.yaml": "sonde: 1\nsonde: 1" }, {}, "sonde.yaml")).toEqual([
    'sonde.yaml:2 sonde: "sonde" is there twice, first on line 1.',
  ]);
});

test("any value of the environment comes through as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (value) => {
      const found = readLocalDocument(["-"], {
        environment: { A: value },
        stdin: text("{sonde: 1, name: '#{env:A}'}"),
      });
      const { root, faults } = parseYaml("text" in found ? found.text : "");
      expect(faults).toEqual([]);
      expect(root === null ? null : unescapeText((plainOf(root) as { name: string }).name)).toBe(value);
    }),
    { numRuns: 100 },
  );
});
