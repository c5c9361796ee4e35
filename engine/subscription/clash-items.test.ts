import fc from "fast-check";
import { dump, FAILSAFE_SCHEMA, load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { entriesOf } from "./body.ts";
import { itemsOfClash } from "./clash-items.ts";

const read = (text: string): unknown => load(text, { schema: FAILSAFE_SCHEMA });
const one = (name: string, indent = "  "): string =>
  `${indent}- {name: ${name}, type: trojan, server: ${name}.test-provider.org, port: 443, password: p}\n`;

describe("entries of a Clash document", () => {
  it("are those of the whole document, whatever is in them and however it is written", () => {
    const value = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.stringMatching(/^[\n #:&*-]{0,9}$/));
    const proxy = fc.dictionary(fc.stringMatching(/^[a-z-]{1,9}$/), fc.oneof(value, fc.array(value)), { minKeys: 1 });
    const style = fc.record({
      seqNoIndent: fc.boolean(),
      indent: fc.integer({ min: 2, max: 6 }),
      flowLevel: fc.constantFrom(-1, 2, 3),
    });
    let cut = 0;
    fc.assert(
      fc.property(fc.array(proxy, { minLength: 1 }), style, fc.boolean(), (proxies, options, isBefore) => {
        const rest = { rules: ["MATCH,DIRECT"] };
        const document = isBefore ? { ...rest, proxies } : { proxies, ...rest };
        const text = dump(document, { ...options, noRefs: true, lineWidth: -1 });
        const items = itemsOfClash(text);
        if (items === undefined) return;
        cut++;
        expect([...items].map((item) => read(item))).toEqual(proxies.map((of) => [read(dump(of))]));
      }),
    );
    expect(cut).toBeGreaterThan(0);
  });

  it.each([
    ["at the margin", `proxies:\n${one("a", "")}${one("b", "")}rules:\n- MATCH,DIRECT\n`],
    [
      "with remarks and empty lines",
      `x: 1\nproxies: # mine\n\n# first\n${one("a")}\n\t\n    # second\n${one("b")}# end\n`,
    ],
    ["with carriage returns", `proxies:\n${one("a")}${one("b")}rules: []\n`.replaceAll("\n", "\r\n")],
    ["in a document with marks", `---\nproxies:\n${one("a")}${one("b")}...\n`],
    [
      "over several lines",
      `Proxy:\n${one("a").replaceAll(", ", ",\n    ")}  -\n   name: b\n   type: trojan\n   server: b.test-provider.org\n   port: 443\n   password: p`,
    ],
    ["without an end", `proxies:\n${one("a")}${one("b").trimEnd()}`],
  ])("are cut %s", (_, text) => {
    expect([...(itemsOfClash(text) ?? [])].length).toBe(2);
    expect([...entriesOf(text)].map((entry) => entry.kind === "config" && entry.read.name)).toEqual(["a", "b"]);
  });

  it.each([
    ["a flow", `proxies: [{name: a}]`],
    ["a flow on the next line", `proxies:\n  [{name: a}]`],
    ["nothing", "proxies:\nrules: []"],
    ["given twice", `proxies:\n${one("a")}Proxy:\n${one("b")}`],
    ["with an anchor", `shared: &s {tls: true}\nproxies:\n  - {name: a, <<: *s}\n`],
    ["under a directive", `%TAG ! tag:test,2026:\n---\nproxies:\n${one("a")}`],
  ])("are left together: %s", (_, text) => {
    expect(itemsOfClash(text)).toBeUndefined();
  });

  it("spoil no others when one cannot be read, and what follows the list spoils none", () => {
    const text = `proxies:\n${one("a")}  - {name: "b\n${one("c")}  - ${"x".repeat(200_000)}\n${one("d")}rules:\n  - "\n`;
    expect([...entriesOf(text)].map((entry) => (entry.kind === "bad" ? [entry.at, entry.reason] : entry.kind))).toEqual(
      ["config", [2, "it is YAML that cannot be read"], "config", [4, "it is too long"], "config"],
    );
  });

  it.each([
    ["what is neither an entry nor a key", `proxies:\n${one("a")}words\n${one("b")}`, ["bad", "config"]],
    ["a broken line of an entry", `proxies:\n  - name: a\n\ufffd   tls: true\n${one("b")}`, ["bad", "config"]],
    ["an entry with another indent", `proxies:\n${one("a")}${one("b", " ")}`, ["config", "config"]],
    ["a tab before an entry", `proxies:\n${one("a")}\t${one("b")}${one("c")}`, ["config", "bad", "config"]],
    [
      "an entry without end",
      `proxies:\n${one("a")}${"    x: y\n".repeat(10_001)}${one("b")}`,
      ["bad", "bad", "config"],
    ],
    [
      "an entry that needs what cannot be read",
      `s: &s {tls: true}\nt: "\nproxies:\n${one("a")}  - {<<: *s, name: b}\n${one("c")}`,
      ["config", "bad", "config"],
    ],
    ["a second document", `proxies:\n${one("a")}---\nx: 1\n---\n`, ["config"]],
  ])("are told apart from %s", (_, text, kinds) => {
    expect([...entriesOf(text)].map(({ kind }) => kind)).toEqual(kinds);
  });
});
