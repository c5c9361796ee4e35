/**
 * JSON to the tree that YAML makes of it, without its lines: several times as quick, and `sonde apply` sends JSON. What the two may read
 * differently (numbers that lose digits, escapes, signs that YAML refuses, a name that is there twice) is left to YAML, which reports it. Pure.
 */
import type { Member, TreeNode } from "./tree.ts";
import { MOST_DEPTH, sizeFault } from "./yaml.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** No line is known. */
const NOWHERE = { line: 0, size: 1 } as const;
/** What YAML takes in no text as it is, and half characters. */
const NOT_IN_YAML = /[\u007f-\u009f\ufeff\ufffe\uffff]|\p{Surrogate}/u;

/** @returns null: it is no JSON, or YAML has the say */
export function jsonTree(text: string): TreeNode | null {
  if (!/^[ \n\r]*\{/.test(text) || text.includes("\\u") || sizeFault(text) !== null || NOT_IN_YAML.test(text))
    return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const tree = new JsonTree();
  const root = tree.node(value, 0);
  return tree.isSame && tree.names === namesIn(text) ? root : null;
}

class JsonTree {
  /** Whether YAML reads the same. */
  isSame = true;
  names = 0;

  node(value: unknown, depth: number): TreeNode {
    if (typeof value === "object" && value !== null) {
      if (depth >= MOST_DEPTH) return this.#other();
      return Array.isArray(value) ? this.#list(value, depth) : this.#map(value, depth);
    }
    if (typeof value === "number" && !Number.isSafeInteger(value)) return this.#other();
    return { type: "scalar", value: value as string | number | boolean | null, ...NOWHERE };
  }

  #list(values: readonly unknown[], depth: number): TreeNode {
    return { type: "list", items: values.map((value) => this.node(value, depth + 1)), ...NOWHERE };
  }

  #map(object: object, depth: number): TreeNode {
    const members = new Map<string, Member>();
    for (const [name, value] of Object.entries(object)) {
      if (name === "<<") this.#other();
      members.set(name, { node: this.node(value, depth + 1), line: 0 });
    }
    this.names += members.size;
    return { type: "map", members, ...NOWHERE };
  }

  #other(): TreeNode {
    this.isSame = false;
    return { type: "scalar", value: null, ...NOWHERE };
  }
}

/** How many names JSON has: of those that are there twice its reader keeps one. */
function namesIn(text: string): number {
  let names = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) names += 1;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return names;
}

/** Of valid JSON. @param from where the string begins @returns where it ends */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
