/**
 * YAML text to a tree with lines. The text comes from any caller with a key: its size, depth, values and repetitions are bounded before work
 * is done for them, and nothing of it is looked up or run.
 */
import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import { MOST_DOCUMENT_BYTES } from "./document.ts";
import {
  charactersOf,
  type DocumentFault,
  type MapNode,
  type Member,
  MOST_FAULTS,
  pathOf,
  type TreeNode,
} from "./tree.ts";

/** The deepest field of a document has 9 levels. */
export const MOST_DEPTH = 20;
/** Values, repeated ones included: 20,000 things of a dozen fields are 500,000. A million is read in a second. */
const MOST_NODES = 600_000;
/** A block or two of settings, each repeated by many things. */
const MOST_ALIASES = 5_000;
/** Characters of all that is repeated: a text of some kilobytes, repeated in lists of lists, would be gigabytes as JSON. */
const MOST_REPEATED = 4 * MOST_DOCUMENT_BYTES;
const SURROGATE = /\p{Surrogate}/u;
const HEAD = /^\uFEFF/;

export interface ParsedYaml {
  /** null: it is empty, or cannot be read at all. */
  readonly root: TreeNode | null;
  readonly faults: readonly DocumentFault[];
}

/** Steps of some milliseconds, so that the caller can do other work between them. */
const NODES_OF_A_STEP = 5_000;

/** @returns the tree, at the end of its steps */
export function* yamlSteps(text: string): Generator<void, ParsedYaml> {
  const refused = sizeFault(text);
  if (refused !== null) return { root: null, faults: [{ path: "", line: null, message: refused }] };
  const source = text.replace(HEAD, "");
  let events: Event[];
  try {
    events = parseEvents(source, { maxDepth: MOST_DEPTH });
  } catch (error) {
    return { root: null, faults: [syntaxFault(error)] };
  }
  yield;
  const builder = new TreeBuilder(source);
  for (const [index, event] of events.entries()) {
    builder.take(event);
    if (builder.isOver) break;
    if (index % NODES_OF_A_STEP === NODES_OF_A_STEP - 1) yield;
  }
  return builder.result();
}

export function parseYaml(text: string): ParsedYaml {
  const steps = yamlSteps(text);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** What each value costs is spent when the text is cut into events, so values are counted by their signs before. */
export function sizeFault(text: string): string | null {
  if (text.length > MOST_DOCUMENT_BYTES || new TextEncoder().encode(text).length > MOST_DOCUMENT_BYTES)
    return `The document is longer than ${MOST_DOCUMENT_BYTES} bytes.`;
  let signs = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    // Line feed, comma, and the brackets that open: a value has one of them before it.
    if (code === 0x0a || code === 0x2c || code === 0x5b || code === 0x7b) signs += 1;
  }
  return signs > MOST_NODES ? `The document has more than ${MOST_NODES} lines and values.` : null;
}

function syntaxFault(error: unknown): DocumentFault {
  if (error instanceof YAMLException) {
    const line = error.mark === undefined ? null : error.mark.line + 1;
    return { path: "", line, message: `This is no YAML: ${error.reason}.` };
  }
  return { path: "", line: null, message: "This is no YAML." };
}

type Open =
  | { readonly type: "list"; readonly path: string; readonly line: number; readonly items: TreeNode[]; size: number }
  | {
      readonly type: "map";
      readonly path: string;
      readonly line: number;
      readonly members: Map<string, Member>;
      size: number;
      /** The name whose value comes next; null: a name comes next. */
      name: { readonly text: string; readonly line: number; readonly isKept: boolean } | null;
    };

class TreeBuilder {
  readonly #text: string;
  readonly #faults: DocumentFault[] = [];
  readonly #open: Open[] = [];
  readonly #anchors = new Map<string, TreeNode>();
  /** Names of collections that are open. */
  readonly #anchorsOf: (string | null)[] = [];
  #root: TreeNode | null = null;
  #documents = 0;
  #aliases = 0;
  #repeated = 0;
  #line = 1;
  #offset = 0;
  /** Where the line ends; below 0: it is the last. Kept, because looking for it takes the length of what is left: a text may be one line. */
  #lineEnd: number;
  #isOver = false;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = text.indexOf("\n");
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  result(): ParsedYaml {
    return { root: this.#isOver ? null : this.#root, faults: this.#faults };
  }

  take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        if (++this.#documents > 1) this.#end("A file holds one document: what follows --- is another.");
        return;
      case EVENT_ID.POP:
        this.#close();
        return;
      case EVENT_ID.ALIAS:
        this.#alias(this.#lineAt(event.anchorStart), this.#text.slice(event.anchorStart, event.anchorEnd));
        return;
      case EVENT_ID.SCALAR: {
        const line = this.#lineAt(event.valueStart);
        this.#refuseTag(event.tagStart, line);
        const isQuoted = event.style !== SCALAR_STYLE.PLAIN;
        const text = this.#textOf(event, line);
        if (this.#isNameDue()) this.#takeName(text, line);
        else
          this.#add({ type: "scalar", value: isQuoted ? text : plainValue(text), line, size: 1 }, this.#anchor(event));
        return;
      }
      default:
        this.#begin(event.type === EVENT_ID.MAPPING, event.start, event.tagStart, this.#anchor(event));
    }
  }

  #textOf(event: ScalarEvent, line: number): string {
    const text = getScalarValue(this.#text, event);
    if (event.style !== SCALAR_STYLE.DOUBLE_QUOTED || !SURROGATE.test(text)) return text;
    this.#fault(line, "This text holds half of a character.");
    return "";
  }

  #begin(isMap: boolean, start: number, tagStart: number, anchor: string | null): void {
    const line = this.#lineAt(start);
    this.#refuseTag(tagStart, line);
    const path = this.#pathOfNext();
    if (this.#isNameDue()) {
      this.#end("A name must be a text.");
      return;
    }
    this.#anchorsOf.push(anchor);
    if (isMap) this.#open.push({ type: "map", path, line, members: new Map(), size: 1, name: null });
    else this.#open.push({ type: "list", path, line, items: [], size: 1 });
  }

  #close(): void {
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const { line, size } = closed;
    const node: TreeNode =
      closed.type === "map"
        ? ({ type: "map", members: closed.members, line, size } satisfies MapNode)
        : { type: "list", items: closed.items, line, size };
    this.#add(node, this.#anchorsOf.pop() ?? null);
  }

  #alias(line: number, name: string): void {
    const node = this.#anchors.get(name);
    if (node === undefined) this.#fault(line, `*${shortened(name)} repeats nothing that stands above it.`);
    else this.#repeated += charactersOf(node);
    if (this.#repeated > MOST_REPEATED)
      this.#end(`The document repeats more than ${MOST_REPEATED} characters (*name).`);
    if (++this.#aliases > MOST_ALIASES) this.#end(`The document repeats more than ${MOST_ALIASES} times (*name).`);
    if (this.#isNameDue()) this.#takeName("", line);
    else this.#add(node ?? { type: "scalar", value: null, line, size: 1 }, null);
  }

  #takeName(text: string, line: number): void {
    const map = this.#open.at(-1);
    if (map?.type !== "map") return;
    const known = map.members.get(text);
    if (known !== undefined) this.#fault(line, `${quoted(text)} is there twice, first on line ${known.line}.`, text);
    if (text === "<<") this.#fault(line, "<< is not read here: write the fields out, or use defaults.", text);
    map.name = { text, line, isKept: known === undefined && text !== "<<" };
  }

  #add(node: TreeNode, anchor: string | null): void {
    const parent = this.#open.at(-1);
    if (anchor !== null) this.#anchors.set(anchor, node);
    if (parent === undefined) {
      this.#root = node;
      return;
    }
    // A repeated node counts as often as it stands there: a few lines must not stand for a billion.
    parent.size += node.size;
    if (parent.size > MOST_NODES) this.#end(`The document has more than ${MOST_NODES} values.`);
    if (parent.type === "list") parent.items.push(node);
    else if (parent.name !== null) {
      if (parent.name.isKept) parent.members.set(parent.name.text, { node, line: parent.name.line });
      parent.name = null;
    }
  }

  #isNameDue(): boolean {
    const parent = this.#open.at(-1);
    return parent?.type === "map" && parent.name === null;
  }

  #pathOfNext(): string {
    const parent = this.#open.at(-1);
    if (parent === undefined) return "";
    if (parent.type === "list") return pathOf(parent.path, parent.items.length);
    return parent.name === null ? parent.path : pathOf(parent.path, parent.name.text);
  }

  #refuseTag(tagStart: number, line: number): void {
    if (tagStart >= 0) this.#fault(line, "Tags such as !!str mean nothing here: a text stands in quotes.");
  }

  #anchor(event: { readonly anchorStart: number; readonly anchorEnd: number }): string | null {
    return event.anchorStart < 0 ? null : this.#text.slice(event.anchorStart, event.anchorEnd);
  }

  #fault(line: number, message: string, name?: string): void {
    const path = name === undefined ? this.#pathOfNext() : pathOf(this.#pathOfNext(), name);
    if (this.#faults.length < MOST_FAULTS) this.#faults.push({ path, line, message });
  }

  /** Nothing more is read. */
  #end(message: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#faults.push({ path: "", line: this.#line, message });
  }

  /** Events come in the order of the text, but for a mapping whose first name is known before it. */
  #lineAt(offset: number): number {
    if (offset < this.#offset) return this.#line;
    for (; this.#lineEnd >= 0 && this.#lineEnd < offset; this.#lineEnd = this.#text.indexOf("\n", this.#lineEnd + 1))
      this.#line += 1;
    this.#offset = offset;
    return this.#line;
  }
}

function quoted(name: string): string {
  return JSON.stringify(shortened(name));
}

function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

const NULLS = new Set(["", "~", "null", "Null", "NULL"]);
const TRUE = new Set(["true", "True", "TRUE"]);
const FALSE = new Set(["false", "False", "FALSE"]);
const INTEGER = /^[-+]?[0-9]{1,16}$/;
const BASED = /^0(?:o[0-7]{1,17}|x[0-9a-fA-F]{1,13})$/;
const FLOAT = /^[-+]?(?:\.[0-9]{1,32}|[0-9]{1,32}(?:\.[0-9]{0,32})?)(?:[eE][-+]?[0-9]{1,3})?$/;

/** YAML 1.2.2 section 10.3.2. A number that would lose digits stays a text. */
function plainValue(text: string): string | number | boolean | null {
  const first = text.charCodeAt(0);
  const mayBeNumber = (first >= 0x30 && first <= 0x39) || first === 0x2d || first === 0x2b || first === 0x2e;
  if (mayBeNumber) {
    const value = INTEGER.test(text) || BASED.test(text) || FLOAT.test(text) ? Number(text) : Number.NaN;
    const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    return isExact ? value : text;
  }
  if (NULLS.has(text)) return null;
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : text;
}
