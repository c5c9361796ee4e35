/** A tree to a document: every field known, every value of its type, every fault reported with its line. Pure. */
import { nearestOf } from "../nearest.ts";
import { type Document, KEY, LONGEST_KEY, MOST_THINGS, SECTIONS } from "./document.ts";
import { parseDuration } from "./durations.ts";
import { jsonTree } from "./json.ts";
import { placeholderIn, unescapeText } from "./placeholders.ts";
import { type DocumentWords, documentShape, type ObjectShape, type Shape } from "./shape.ts";
import { type DocumentFault, describe, type MapNode, MOST_FAULTS, pathOf, type TreeNode } from "./tree.ts";
import { yamlSteps } from "./yaml.ts";

/** Where a path stands. */
export type LineOf = (path: readonly (string | number)[]) => number | null;

export interface ReadDocument {
  /** Only when there is no fault. Durations are seconds, and texts are what they say. */
  readonly document: Document | null;
  readonly faults: readonly DocumentFault[];
  /** For faults that are found later. */
  places(): Generator<void, LineOf>;
}

/** Things of a step: some milliseconds of work. */
const THINGS_OF_A_STEP = 500;

/** @returns the document, at the end of its steps */
export function* readDocumentInSteps(text: string, words: DocumentWords): Generator<void, ReadDocument> {
  // JSON is read in a third of the time; it has no lines, which only faults need.
  const plain = jsonTree(text);
  if (plain !== null) {
    yield;
    const read = yield* readTree(plain, words);
    if (read.document !== null) return { ...read, places: () => placesIn(text) };
  }
  const { root, faults } = yield* yamlSteps(text);
  const places = function* (): Generator<void, LineOf> {
    return (path) => lineIn(root, path);
  };
  if (root !== null && faults.length === 0) return { ...(yield* readTree(root, words)), places };
  const told = root === null && faults.length === 0 ? [{ path: "", line: null, message: "It is empty." }] : faults;
  return { document: null, faults: told, places };
}

function* readTree(root: TreeNode, words: DocumentWords): Generator<void, Pick<ReadDocument, "document" | "faults">> {
  const reader = new DocumentReader();
  const document = yield* reader.read(root, documentShape(words));
  const { faults } = reader;
  return { document: faults.length === 0 ? document : null, faults };
}

function* placesIn(text: string): Generator<void, LineOf> {
  const { root } = yield* yamlSteps(text);
  return (path) => lineIn(root, path);
}

export function readDocument(text: string, words: DocumentWords): ReadDocument {
  return finished(readDocumentInSteps(text, words));
}

export function finished<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Of the last part of the path that is there. */
function lineIn(root: TreeNode | null, path: readonly (string | number)[]): number | null {
  let node = root;
  let line = node?.line ?? null;
  for (const part of path) {
    if (node?.type === "map") {
      const member = node.members.get(String(part));
      if (member === undefined) return line;
      line = member.line;
      node = member.node;
    } else if (node?.type === "list") {
      const item = node.items[Number(part)];
      if (item === undefined) return line;
      line = item.line;
      node = item;
    } else return line;
  }
  return line;
}

class DocumentReader {
  readonly #faults: DocumentFault[] = [];
  #unsaid = 0;
  #things = 0;

  get faults(): readonly DocumentFault[] {
    if (this.#unsaid === 0) return this.#faults;
    return [...this.#faults, { path: "", line: null, message: `and ${this.#unsaid} more` }];
  }

  *read(root: TreeNode, shape: ObjectShape): Generator<void, Document> {
    if (root.type !== "map") {
      this.#fault("", root.line, `A document is an object, such as sonde: 1, but this is ${describe(root)}.`);
      return { sonde: 1 };
    }
    const { fields } = shape;
    const read: Record<string, unknown> = {};
    for (const [name, { node, line }] of root.members) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) this.#unknown(name, line, "", shape);
      else if (isNothing(node) && name !== "sonde") continue;
      else if (field.type === "things") read[name] = yield* this.#section(node, field.of, name);
      else read[name] = this.#value(node, field, name);
    }
    this.#version(root);
    this.#name(root);
    this.#rules(root);
    return read as unknown as Document;
  }

  #version(root: MapNode): void {
    const member = root.members.get("sonde");
    if (member === undefined) this.#fault("", root.line, "sonde: 1 is missing: it says which form this is.");
    else if (member.node.type !== "scalar" || member.node.value !== 1)
      this.#fault("sonde", member.line, "sonde must be 1: this version knows no other form.");
  }

  #name(root: MapNode): void {
    const member = root.members.get("name");
    if (member?.node.type !== "scalar" || typeof member.node.value !== "string") return;
    if (!isKey(member.node.value)) this.#fault("name", member.line, KEY_RULE);
  }

  /** Names of rules are their keys. */
  #rules(root: MapNode): void {
    const rules = root.members.get("alert_rules")?.node;
    if (rules?.type !== "list") return;
    this.#count(rules.items.length, "alert_rules", rules.line);
    const lines = new Map<string, number>();
    for (const [index, rule] of rules.items.entries()) {
      const name = rule.type === "map" ? rule.members.get("name")?.node : undefined;
      if (name?.type !== "scalar" || typeof name.value !== "string") continue;
      const before = lines.get(name.value);
      const path = `alert_rules[${index}].name`;
      if (before !== undefined) this.#fault(path, name.line, `Another rule has this name, on line ${before}.`);
      lines.set(name.value, name.line);
    }
  }

  *#section(node: TreeNode, shape: Shape, section: string): Generator<void, Record<string, unknown>> {
    if (node.type !== "map") {
      const example = `${section}: { ${section === "monitors" ? "shop" : "one"}: { … } }`;
      this.#fault(section, node.line, `${section} must be an object of things by key, such as ${example}.`);
      return {};
    }
    const read: [string, unknown][] = [];
    this.#count(node.members.size, section, node.line);
    for (const [key, member] of node.members) {
      const path = pathOf(section, key);
      if (!isKey(key)) this.#fault(path, member.line, KEY_RULE);
      read.push([key, this.#value(member.node, shape, path, member.line)]);
      if (read.length % THINGS_OF_A_STEP === 0) yield;
    }
    return Object.fromEntries(read);
  }

  #count(more: number, path: string, line: number): void {
    const isOver = this.#things > MOST_THINGS;
    this.#things += more;
    if (this.#things > MOST_THINGS && !isOver)
      this.#fault(path, line, `A document has at most ${MOST_THINGS} things (${SECTIONS.join(", ")}).`);
  }

  #value(node: TreeNode, shape: Shape, path: string, line = node.line): unknown {
    if (isNothing(node)) {
      if (shape.nullable === true || shape.type === "any") return null;
      this.#fault(path, line, `${lastOf(path)} has no value.`);
      return null;
    }
    switch (shape.type) {
      case "any":
        return this.#plain(node, path);
      case "list":
        if (node.type !== "list") return this.#wrong(node, "a list", path, line);
        return node.items.map((item, index) => this.#value(item, shape.of, pathOf(path, index)));
      case "things":
      case "object":
        if (node.type !== "map") return this.#wrong(node, "an object", path, line);
        return shape.type === "object" ? this.#object(node, shape, path) : this.#plain(node, path);
      case "text":
        return this.#text(node, shape.words, path, line);
      case "seconds":
        return this.#seconds(node, path, line);
      default:
        if (node.type === "scalar" && typeof node.value === shape.type) return node.value;
        return this.#wrong(node, shape.type === "number" ? "a number" : "true or false", path, line);
    }
  }

  #object(node: MapNode, shape: ObjectShape, path: string): Record<string, unknown> {
    const read: [string, unknown][] = [];
    for (const [name, member] of node.members) {
      const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      if (field !== undefined) read.push([name, this.#value(member.node, field, pathOf(path, name), member.line)]);
      else if (shape.isOpen === true) read.push([name, this.#plain(member.node, pathOf(path, name))]);
      else this.#unknown(name, member.line, path, shape);
    }
    for (const name of shape.required ?? [])
      if (!node.members.has(name)) this.#fault(path, node.line, `${name} is missing.`);
    return Object.fromEntries(read);
  }

  #text(node: TreeNode, words: readonly string[] | undefined, path: string, line: number): string {
    if (node.type !== "scalar" || typeof node.value !== "string") {
      const isValue = node.type === "scalar";
      const advice = isValue ? `: put ${String(node.value)} in quotes` : "";
      this.#fault(path, line, `${lastOf(path)} must be a text, not ${describe(node)}${advice}.`);
      return "";
    }
    const value = this.#said(node.value, path, line);
    if (words !== undefined && !words.includes(value)) {
      const near = this.#nearest(value, words);
      const known = near === undefined ? `It must be one of ${words.join(", ")}.` : `Did you mean ${near}?`;
      this.#fault(path, line, `${lastOf(path)} has no value ${shown(value)}. ${known}`);
    }
    return value;
  }

  #said(text: string, path: string, line: number): string {
    const placeholder = placeholderIn(text);
    if (placeholder === undefined) return unescapeText(text);
    const { source, name } = placeholder;
    this.#fault(path, line, `\${${source}:${shorter(name)}} is filled in by sonde apply, never by the service.`);
    return text;
  }

  #seconds(node: TreeNode, path: string, line: number): number {
    const value = node.type === "scalar" ? node.value : null;
    if (typeof value === "number") return value;
    const parsed = typeof value === "string" ? parseDuration(value.trim()) : undefined;
    if (parsed === undefined)
      this.#fault(path, line, `${lastOf(path)} must be seconds, or a duration such as 90s, 5m, 1h or 2d.`);
    return parsed ?? 0;
  }

  /** As JSON has it, with texts that say what they say. */
  #plain(node: TreeNode, path: string): unknown {
    if (node.type === "list") return node.items.map((item, index) => this.#plain(item, pathOf(path, index)));
    if (node.type === "map") {
      const members = [...node.members].map(
        ([name, { node: inner }]) => [name, this.#plain(inner, pathOf(path, name))] as const,
      );
      return Object.fromEntries(members);
    }
    return typeof node.value === "string" ? this.#said(node.value, path, node.line) : node.value;
  }

  #wrong(node: TreeNode, wanted: string, path: string, line: number): null {
    this.#fault(path, line, `${lastOf(path)} must be ${wanted}, not ${describe(node)}.`);
    return null;
  }

  #unknown(name: string, line: number, parent: string, { fields, refused }: ObjectShape): void {
    const path = pathOf(parent, name);
    const instead = refused !== undefined && Object.hasOwn(refused, name) ? refused[name] : undefined;
    const near = instead === undefined ? this.#nearest(name, Object.keys(fields)) : undefined;
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    const why =
      instead === undefined ? `There is no field ${shown(name)} here.` : `There is no ${shown(name)} here: ${instead}.`;
    this.#fault(path, line, why + hint);
  }

  /** For faults that are told: there may be half a million. */
  #nearest(word: string, known: readonly string[]): string | undefined {
    return this.#faults.length < MOST_FAULTS ? nearestOf(word, known) : undefined;
  }

  #fault(path: string, line: number | null, message: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push({ path, line, message });
    else this.#unsaid += 1;
  }
}

const KEY_RULE = `A key has 1 to ${LONGEST_KEY} letters, digits and _ - . : / + @, and begins with a letter, a digit or _.`;

function isKey(text: string): boolean {
  return text.length <= LONGEST_KEY && KEY.test(text);
}

function isNothing(node: TreeNode): boolean {
  return node.type === "scalar" && node.value === null;
}

/** The field's own name. */
function lastOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1) || "It";
}

function shorter(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function shown(text: string): string {
  return JSON.stringify(shorter(text));
}
