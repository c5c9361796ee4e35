/** A document as it was written: values with the lines they stand on. Pure. */

export type TreeNode = ScalarNode | ListNode | MapNode;

interface NodeBase {
  /** Where it begins, counted from 1. */
  readonly line: number;
  /** How many nodes it is, itself and repeated ones included. */
  readonly size: number;
}
export interface ScalarNode extends NodeBase {
  readonly type: "scalar";
  readonly value: string | number | boolean | null;
}
export interface ListNode extends NodeBase {
  readonly type: "list";
  readonly items: readonly TreeNode[];
}
export interface MapNode extends NodeBase {
  readonly type: "map";
  readonly members: ReadonlyMap<string, Member>;
}
export interface Member {
  readonly node: TreeNode;
  /** Of its name. */
  readonly line: number;
}

/** What is wrong, and where. */
export interface DocumentFault {
  /** Names between points, numbers of list entries in brackets: `monitors.shop.tags[0]`; empty: the document. */
  readonly path: string;
  /** null: nowhere in particular. */
  readonly line: number | null;
  readonly message: string;
}

/** Faults of one document that are reported; the rest are counted. */
export const MOST_FAULTS = 100;

/** Names in paths; a longer one, which no thing has, is cut: it would be in each fault that lies below it. */
const LONGEST_IN_PATH = 255;

export function pathOf(parent: string, name: string | number): string {
  if (typeof name === "number") return `${parent}[${name}]`;
  const shown = name.length > LONGEST_IN_PATH ? `${name.slice(0, LONGEST_IN_PATH)}…` : name;
  return parent === "" ? shown : `${parent}.${shown}`;
}

/** Characters of its texts and names, repeated ones included. */
export function charactersOf(node: TreeNode): number {
  if (node.type === "scalar") return typeof node.value === "string" ? node.value.length : 0;
  let characters = 0;
  if (node.type === "list") for (const item of node.items) characters += charactersOf(item);
  else for (const [name, { node: inner }] of node.members) characters += name.length + charactersOf(inner);
  return characters;
}

/** As JSON has it. */
export function plainOf(node: TreeNode): unknown {
  switch (node.type) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(plainOf);
    case "map":
      return Object.fromEntries([...node.members].map(([name, { node: inner }]) => [name, plainOf(inner)]));
  }
}

export function describe(node: TreeNode): string {
  if (node.type === "list") return "a list";
  if (node.type === "map") return "an object";
  if (node.value === null) return "nothing";
  return typeof node.value === "string" ? "a text" : typeof node.value === "number" ? "a number" : String(node.value);
}
