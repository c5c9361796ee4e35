import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonTree } from "./json.ts";
import type { TreeNode } from "./tree.ts";
import { parseYaml } from "./yaml.ts";

/** Without lines, and numbers of nodes. */
function bare(node: TreeNode | null): unknown {
  if (node === null) return null;
  if (node.type === "scalar") return node.value;
  if (node.type === "list") return node.items.map(bare);
  return new Map([...node.members].map(([name, member]) => [name, bare(member.node)]));
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("<<", "a", "null", '"', "\\", ":", "{"),
);
const value = fc.letrec((tie) => ({
  one: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double(),
    text,
    tie("list"),
    tie("map"),
  ),
  list: fc.array(tie("one"), { maxLength: 4 }),
  map: fc.dictionary(text, tie("one"), { maxKeys: 5, noNullPrototype: true }),
}));

test("what is read as JSON is what YAML reads", () => {
  fc.assert(
    fc.property(value.map, fc.constantFrom(undefined, 2, "\t"), (written, indent) => {
      const json = JSON.stringify(written, null, indent);
      const tree = jsonTree(json);
      if (tree === null) return;
      const { root, faults } = parseYaml(json);
      expect(faults).toEqual([]);
      expect(bare(tree)).toEqual(bare(root));
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["an object", '{"sonde":1,"monitors":{"a":{"name":"\\"b\\\\","tags":["x",":"]}}}'],
  ["blanks before it", '\n  {"sonde": 1}'],
])("takes %s", (_, json) => expect(bare(jsonTree(json))).toEqual(bare(parseYaml(json).root)));

test.each([
  ["YAML", "sonde: 1"],
  ["YAML in braces", "{sonde: 1}"],
  ["a list", "[1]"],
  ["a name that is there twice", '{"a":{"b":1,"b":2}}'],
  ["a name that is there twice, once escaped", '{"a":1,"\\u0061":2}'],
  ["a merge key", '{"<<":{}}'],
  ["a number that loses digits", '{"a":12345678901234567890}'],
  ["a fraction", '{"a":0.1}'],
  ["a sign that YAML refuses", '{"a":"\u007f"}'],
  ["half a character", '{"a":"\ud800"}'],
  ["more depth than a document has", `{"a":${"[".repeat(20)}${"]".repeat(20)}}`],
  ["half of it", '{"a":'],
  ["more than a document may be", `{"a":"${"x".repeat(5_000_000)}"}`],
])("leaves to YAML: %s", (_, json) => expect(jsonTree(json)).toBe(null));
