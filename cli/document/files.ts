/** The files of a document: one, or a folder of them, merged, with what only this machine has filled in. */
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { MOST_DOCUMENT_BYTES } from "../../model/document/document.ts";
import { fillPlaceholders, type Placeholder } from "../../model/document/placeholders.ts";
import {
  type DocumentFault,
  type MapNode,
  type Member,
  pathOf,
  plainOf,
  type TreeNode,
} from "../../model/document/tree.ts";
import { parseYaml } from "../../model/document/yaml.ts";

/** Files of one folder. */
const MOST_FILES = 1_000;
/** The longest field of the contract is 102,400 bytes. */
const MOST_FILE_BYTES = 131_072;
/**
 * UTF-16 units. A longer text, about a thousand monitors, is read by the service alone: a process that has just started needs several times as long for it as the
 * service, and a person waits for both.
 */
const LONG_TEXT = 262_144;
const YAML = /\.ya?ml$/i;

export interface FileLine {
  readonly file: string;
  readonly line: number | null;
}

export interface LocalFault {
  readonly place: FileLine;
  readonly message: string;
}

export interface LocalDocument {
  /** JSON, each value on a line of its own, so that lines in the service's answer are lines of our file; or a long file as it is. */
  readonly text: string;
  /** @param line of the text, counted from 1 */
  placeOf(line: number): FileLine | undefined;
}

export interface LocalInput {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What `-` stands for; its files are looked for in the working folder. null: it is not read. */
  readonly stdin: string | null;
}

/** @param paths of files and folders, which are one document together; `-` is standard input @returns the document, or every fault */
export function readLocalDocument(paths: readonly string[], input: LocalInput): LocalDocument | readonly LocalFault[] {
  const reader = new LocalReader(input);
  const found = paths.map((path) => ({ path, sources: path === "-" ? stdinOf(input) : filesOf(path) }));
  const empty = found.find(({ sources }) => sources.length === 0);
  if (empty !== undefined)
    return [{ place: { file: empty.path, line: null }, message: "There is no .yaml file in it." }];
  const sources = found.flatMap((one) => one.sources);
  const [first] = sources;
  if (first !== undefined && sources.length === 1 && isSentAsItIs(first.text))
    return { text: first.text, placeOf: (line) => ({ file: first.file, line }) };
  const roots = sources.map((source) => reader.read(source.file, source.folder, source.text));
  return reader.finish(roots.filter((root) => root !== null));
}

/** There is nothing that only this machine could fill in, and nothing to merge. */
function isSentAsItIs(text: string): boolean {
  return text.length > LONG_TEXT && text.length <= MOST_DOCUMENT_BYTES && !text.includes("${");
}

interface Source {
  readonly file: string;
  readonly folder: string;
  readonly text: string;
}

function stdinOf({ stdin }: LocalInput): readonly Source[] {
  return [{ file: "-", folder: ".", text: stdin ?? "" }];
}

function filesOf(path: string): readonly Source[] {
  const isFolder = statSync(path).isDirectory();
  const names = isFolder
    ? readdirSync(path)
        .filter((name) => YAML.test(name) && statSync(join(path, name)).isFile())
        .sort()
        .slice(0, MOST_FILES)
        .map((name) => join(path, name))
    : [path];
  return names.map((file) => {
    if (statSync(file).size > MOST_DOCUMENT_BYTES)
      return { file, folder: dirname(file), text: " ".repeat(MOST_DOCUMENT_BYTES + 1) };
    return { file, folder: dirname(file), text: readFileSync(file, "utf8") };
  });
}

interface PlacedNode {
  readonly node: TreeNode;
  readonly file: string;
  readonly folder: string;
}
interface PlacedMember extends PlacedNode {
  readonly line: number;
}

class LocalReader {
  readonly #input: LocalInput;
  readonly #faults: LocalFault[] = [];
  readonly #lines: string[] = [];
  readonly #places: FileLine[] = [];

  constructor(input: LocalInput) {
    this.#input = input;
  }

  read(file: string, folder: string, text: string): PlacedNode | null {
    const { root, faults } = parseYaml(text);
    for (const fault of faults) this.#fault(file, fault.line, faultText(fault));
    return root === null ? null : { node: root, file, folder };
  }

  finish(roots: readonly PlacedNode[]): LocalDocument | readonly LocalFault[] {
    const [first] = roots;
    if (first !== undefined && this.#faults.length === 0) {
      if (roots.length === 1) this.#write(first.node, first, "");
      else this.#writeMerged(roots);
    }
    if (this.#faults.length > 0) return this.#faults;
    return { text: this.#lines.join("\n"), placeOf: (line) => this.#places[line - 1] };
  }

  /** Sections of several files are one; a thing stands in one of them. */
  #writeMerged(roots: readonly PlacedNode[]): void {
    const sections = new Map<string, PlacedMember[]>();
    for (const { node, file, folder } of roots) {
      if (node.type !== "map") this.#fault(file, node.line, "A document is an object, such as sonde: 1.");
      else
        for (const [name, member] of node.members)
          sections.set(name, [...(sections.get(name) ?? []), { node: member.node, line: member.line, file, folder }]);
    }
    this.#open("{", roots[0]?.file ?? "", 1);
    const names = [...sections.keys()];
    for (const [index, name] of names.entries()) {
      this.#section(name, sections.get(name) ?? []);
      if (index < names.length - 1) this.#append(",");
    }
    this.#append("}");
  }

  #section(name: string, parts: readonly PlacedMember[]): void {
    const [first] = parts;
    if (first === undefined) return;
    this.#open(`${JSON.stringify(name)}:`, first.file, first.line);
    const isMap = parts.length > 1 && name !== "defaults" && parts.every(({ node }) => node.type === "map");
    if (parts.length > 1 && parts.every(({ node }) => node.type === "list")) this.#writeList(parts, name);
    else this.#write(isMap ? this.#mergedMap(parts, name) : this.#only(parts, first, name), first, name);
  }

  /** Of what cannot be merged there is one, or the same everywhere. */
  #only([, second]: readonly PlacedMember[], first: PlacedMember, name: string): TreeNode {
    const isSame = second === undefined || JSON.stringify(plainOf(first.node)) === JSON.stringify(plainOf(second.node));
    if (!isSame) this.#twice(name, first, second);
    return first.node;
  }

  /** The places of its members are kept beside them. */
  #mergedMap(parts: readonly PlacedMember[], section: string): TreeNode {
    const members = new Map<string, Member>();
    const placeOf = new Map<string, PlacedMember>();
    for (const part of parts) {
      if (part.node.type !== "map") continue;
      for (const [key, member] of part.node.members) {
        const here = { ...part, line: member.line, node: member.node };
        const other = placeOf.get(key);
        if (other !== undefined) this.#twice(pathOf(section, key), other, here);
        placeOf.set(key, here);
        members.set(key, member);
      }
    }
    const node: MapNode = { type: "map", members, line: parts[0]?.line ?? 1, size: members.size };
    this.#merged.set(node, placeOf);
    return node;
  }

  readonly #merged = new WeakMap<TreeNode, ReadonlyMap<string, PlacedMember>>();

  #writeList(parts: readonly PlacedMember[], path: string): void {
    this.#append("[");
    let count = 0;
    for (const part of parts) {
      for (const item of part.node.type === "list" ? part.node.items : []) {
        if (count > 0) this.#append(",");
        this.#open("", part.file, item.line);
        this.#write(item, part, pathOf(path, count));
        count += 1;
      }
    }
    this.#append("]");
  }

  #write(node: TreeNode, { file, folder }: Omit<PlacedNode, "node">, path: string): void {
    if (this.#lines.length === 0) this.#open("", file, node.line);
    if (node.type === "scalar") {
      const { value } = node;
      this.#append(jsonText(typeof value === "string" ? this.#filled(value, file, folder, node.line, path) : value));
    } else if (node.type === "list") this.#writeList([{ node, file, folder, line: node.line }], path);
    else this.#writeMap(node, { file, folder }, path);
  }

  #writeMap(node: MapNode, { file, folder }: Omit<PlacedNode, "node">, path: string): void {
    const places = this.#merged.get(node);
    this.#append("{");
    let count = 0;
    for (const [name, member] of node.members) {
      if (count > 0) this.#append(",");
      count += 1;
      const at = places?.get(name) ?? { file, folder };
      this.#open(`${jsonText(name)}:`, at.file, member.line);
      this.#write(member.node, at, pathOf(path, name));
    }
    this.#append("}");
  }

  #filled(text: string, file: string, folder: string, line: number, path: string): string {
    return fillPlaceholders(text, (placeholder) => {
      const found = placeholder.source === "env" ? this.#environment(placeholder) : fileText(folder, placeholder.name);
      if ("text" in found) return found.text;
      this.#fault(file, line, `${path}: ${found.fault}`);
      return "";
    });
  }

  #environment({ name }: Placeholder): { readonly text: string } | { readonly fault: string } {
    const text = this.#input.environment[name];
    return text === undefined ? { fault: `the environment has no ${name}.` } : { text };
  }

  #twice(path: string, first: PlacedMember, second: PlacedMember): void {
    this.#fault(second.file, second.line, `${path} is there twice, first in ${first.file}:${first.line}.`);
  }

  #open(text: string, file: string, line: number): void {
    this.#lines.push(text);
    this.#places.push({ file, line });
  }

  #append(text: string): void {
    const last = this.#lines.length - 1;
    this.#lines[last] = (this.#lines[last] ?? "") + text;
  }

  #fault(file: string, line: number | null, message: string): void {
    this.#faults.push({ place: { file, line }, message });
  }
}

function faultText({ path, message }: DocumentFault): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** What YAML takes in no text as it is. */
const UNPRINTABLE = /[\u007f-\u009f\ufeff\ufffe\uffff]/g;

/** JSON that is YAML too. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Of a file beside the document or below it: nothing else of this machine gets into a document by its text. */
function fileText(folder: string, name: string): { readonly text: string } | { readonly fault: string } {
  if (isAbsolute(name) || name.split(/[/\\]/).includes(".."))
    return { fault: `\${file:${name}} must name a file in the document's folder.` };
  const path = join(folder, name);
  try {
    const inside = relative(realpathSync(folder), realpathSync(path));
    if (inside.startsWith(`..${sep}`) || inside === ".." || isAbsolute(inside))
      return { fault: `\${file:${name}} leads out of the document's folder.` };
    const found = lstatSync(realpathSync(path));
    if (!found.isFile()) return { fault: `\${file:${name}} is no file.` };
    if (found.size > MOST_FILE_BYTES) return { fault: `\${file:${name}} is longer than ${MOST_FILE_BYTES} bytes.` };
    return { text: readFileSync(path, "utf8") };
  } catch (error) {
    const { code = "an error" } = error as NodeJS.ErrnoException;
    return { fault: `\${file:${basename(name)}} cannot be read (${code}).` };
  }
}
