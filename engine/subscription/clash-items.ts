/**
 * The entries of a Clash document's list of proxies as texts, cut at their dashes (YAML 1.2.2 section 8.2.1), so that a list of megabytes is
 * not read in one go, one entry that cannot be read spoils no other, and rules and groups behind it are not read at all.
 */

import { NO_TEXT } from "../../model/decode-text.ts";

/** The key of the list, its entries on the lines below. */
const KEY = /^(?:proxies|Proxy):[ \t\r]*(?:#[^\n]*)?$/m;
const ANY_KEY = /^(?:proxies|Proxy):/m;
/** An anchor or an alias, or what looks like one: then an entry may need what stands elsewhere. */
const REFERENCE = /(?:^|[\s,[{])[&*]\S/m;
/** Also a directive decides over all of a document. */
const DIRECTIVE = /^%/m;
/** What may follow the list: another key, or the document's end. */
const AFTER = /(?:[^\s:\ufffd][^\n:]*:|---|\.\.\.)(?:\s|$)/y;
/** Of an entry, with blank ones and remarks; the longest real entries have a hundred. */
const MAX_LINES = 10_000;

/**
 * @param isAlone whether entries are cut that may need what stands elsewhere: those that do cannot be read then
 * @returns undefined when the list is written in another way, or its entries depend on each other
 */
export function itemsOfClash(text: string, isAlone = false): Iterable<string> | undefined {
  if (!isAlone && isEntangled(text)) return undefined;
  const key = KEY.exec(text);
  if (key === null) return undefined;
  let start = key.index + key[0].length + 1;
  for (let lines = 0; start < text.length && lines < MAX_LINES; lines++) {
    const content = contentOf(text, start);
    if (content !== undefined) return isEntry(text, content) ? cut(text, start, content - start) : undefined;
    start = nextLine(text, start);
  }
  return undefined;
}

function isEntangled(text: string): boolean {
  return ANY_KEY.test(text.slice(text.search(ANY_KEY) + 1)) || REFERENCE.test(text) || DIRECTIVE.test(text);
}

/**
 * A line that is neither an entry nor what may follow the list may be a line of the entry above it that is broken: it stays there, and that
 * entry cannot be read. The rest of an entry without end is a piece of its own.
 *
 * @param start of the first entry's line
 * @param indent of all their dashes
 */
function* cut(text: string, start: number, indent: number): Generator<string> {
  let from = start;
  let lines = 0;
  for (let line = nextLine(text, start); line < text.length; line = nextLine(text, line)) {
    const content = contentOf(text, line);
    const isWithin = content === undefined || content - line > indent;
    AFTER.lastIndex = line;
    const isEnd = !isWithin && !isEntry(text, content) && AFTER.test(text);
    if (!isEnd && (isWithin || !isEntry(text, content)) && ++lines < MAX_LINES) continue;
    yield text.slice(from, line);
    if (isEnd) return;
    from = line;
    lines = 0;
  }
  yield text.slice(from);
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

/** Where a line's first character is that is no blank; undefined when there is none, or a remark. */
function contentOf(text: string, start: number): number | undefined {
  let content = start;
  while (text[content] === " ") content++;
  // A tab indents nothing, but a line of them is as good as empty.
  let first = content;
  while (text[first] === "\t" || text[first] === " " || text[first] === "\r") first++;
  const character = text[first];
  return character === undefined || character === "\n" || character === "#" ? undefined : content;
}

/** A dash with a blank behind it, also when its indent is broken. */
function isEntry(text: string, content: number): boolean {
  let dash = content;
  while (text[dash] === "\t" || text[dash] === " " || text[dash] === NO_TEXT) dash++;
  return text[dash] === "-" && /^\s?$/.test(text.charAt(dash + 1));
}
