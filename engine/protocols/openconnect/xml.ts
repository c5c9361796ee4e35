/**
 * The XML of login forms, read leniently because servers write it by hand: ocserv escapes nothing, so a lone `<` or `&` is text, tags may
 * stay open, and attributes may lack quotes. No entity is ever defined: a document type ends it. Bounded in every direction.
 */

/** Not XML, or more of it than any login form has. */
export class XmlError extends Error {
  override readonly name = "XmlError";
}

export interface XmlElement {
  /** In lower case, without a namespace's prefix. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Of this element and not of those inside of it, trimmed. */
  readonly text: string;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  text: string;
}

/** Texts longer than this are no login form, characters. */
export const XML_LIMIT = 128 * 1024;
const DEPTH_LIMIT = 32;
const ELEMENT_LIMIT = 4_000;
const ATTRIBUTE_LIMIT = 64;
/** One tag, characters. */
const TAG_LIMIT = 16 * 1024;

const NAME = /[A-Za-z_][\w.:-]*/y;
const ATTRIBUTE = /\s*([^\s=/>"'<]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/y;
const ENTITY = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi;
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** @returns the outermost element. @throws XmlError */
export function parseXml(source: string): XmlElement {
  if (source.length > XML_LIMIT) throw new XmlError("it is too long");
  const root: OpenElement = { name: "", attributes: new Map(), children: [], text: "" };
  const open: OpenElement[] = [root];
  let elements = 0;
  let at = 0;
  while (at < source.length) {
    const tag = source.indexOf("<", at);
    if (tag < 0) break;
    addText(open, unescaped(source.slice(at, tag)));
    const special = specialAt(source, tag, open);
    if (special !== undefined) {
      at = special;
      continue;
    }
    const end = tagAt(source, tag, open);
    if (end === undefined) {
      // A lone one is text.
      addText(open, "<");
      at = tag + 1;
      continue;
    }
    if (++elements > ELEMENT_LIMIT) throw new XmlError("it has too many elements");
    at = end;
  }
  addText(open, unescaped(source.slice(at)));
  while (open.length > 1) close(open);
  const [first] = root.children;
  if (first === undefined) throw new XmlError("it has no element");
  return first;
}

/** The first of that name anywhere below, in the order of the document. */
export function findElement(element: XmlElement, name: string): XmlElement | undefined {
  return findElements(element, name)[0];
}

export function findElements(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...findElements(child, name)]);
}

/** Text for between tags and for attributes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Comments, CDATA and instructions. @returns where it goes on; undefined when it is none of them */
function specialAt(source: string, tag: number, open: OpenElement[]): number | undefined {
  if (source.startsWith("<!--", tag)) return after(source, "-->", tag + 4);
  if (source.startsWith("<![CDATA[", tag)) {
    const end = after(source, "]]>", tag + 9);
    addText(open, source.slice(tag + 9, end).replace(/\]\]>$/, ""));
    return end;
  }
  if (source.startsWith("<?", tag)) return after(source, "?>", tag + 2);
  if (/^<!doctype/i.test(source.slice(tag, tag + 9))) throw new XmlError("it has a document type");
  return undefined;
}

function after(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at < 0 ? source.length : at + mark.length;
}

/** @returns the place behind the tag; undefined when this is none */
function tagAt(source: string, tag: number, open: OpenElement[]): number | undefined {
  const isEnd = source[tag + 1] === "/";
  NAME.lastIndex = tag + (isEnd ? 2 : 1);
  const written = NAME.exec(source)?.[0];
  if (written === undefined) return undefined;
  const name = written.slice(written.lastIndexOf(":") + 1).toLowerCase();
  if (isEnd) {
    const ending = /^\s*>/.exec(source.slice(NAME.lastIndex, NAME.lastIndex + 64))?.[0];
    if (ending === undefined) return undefined;
    closeNamed(open, name);
    return NAME.lastIndex + ending.length;
  }
  const attributes = new Map<string, string>();
  let at = NAME.lastIndex;
  for (let count = 0; ; count++) {
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(source);
    if (found === null) break;
    at = ATTRIBUTE.lastIndex;
    if (at - tag > TAG_LIMIT || count === ATTRIBUTE_LIMIT) throw new XmlError("a tag is too long");
    const [, key = "", double, single, bare] = found;
    attributes.set(key.toLowerCase(), unescaped(double ?? single ?? bare ?? ""));
  }
  const [ending, slash] = /^\s*(?:(\/)\s*)?>/.exec(source.slice(at, at + 64)) ?? [];
  if (ending === undefined) return undefined;
  if (open.length > DEPTH_LIMIT) throw new XmlError("its elements are nested too deeply");
  open.push({ name, attributes, children: [], text: "" });
  if (slash === "/") close(open);
  return at + ending.length;
}

/** What was opened inside of it and left open ends with it; an end of nothing is passed over. */
function closeNamed(open: OpenElement[], name: string): void {
  const at = open.findLastIndex((each) => each.name === name);
  if (at < 1) return;
  while (open.length > at) close(open);
}

function close(open: OpenElement[]): void {
  const done = open.pop();
  if (done !== undefined) open.at(-1)?.children.push({ ...done, text: done.text.trim() });
}

function addText(open: readonly OpenElement[], text: string): void {
  const innermost = open.at(-1);
  if (innermost !== undefined) innermost.text += text;
}

function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(ENTITY, (whole, named?: string, decimal?: string, hex?: string) => {
    if (named !== undefined) return NAMED[named.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
