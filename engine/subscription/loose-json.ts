/**
 * JSON as people keep it: with comments, with commas too many or missing, cut off, or with an entry that cannot be read. What JSON.parse() takes
 * is read by it alone. Each step goes over the text once.
 */
import { NO_TEXT } from "../../model/decode-text.ts";
import { BodyError, EntryError } from "./body-error.ts";

/** Members of a document that list servers: an entry of theirs is read by itself. */
const LISTS: ReadonlySet<string> = new Set(["outbounds", "servers", "proxies"]);
/** Members that name it. */
const WORDS: ReadonlySet<string> = new Set(["remarks"]);
/** A member's name, up to the longest of those above. */
const NAME = /^"([a-z]{1,16})"\s*:/;
/** Of an object and of a text. */
const ENDS: ReadonlySet<string> = new Set(["{}", '""']);
const BETWEEN_OBJECTS = /(?<=\})\s*,\s*(?=\{)/;
/** Of brackets within an entry; real ones have ten. */
const MAX_DEPTH = 1_000;

/** The error of each entry that cannot be read; one object for all, because a hostile list has millions. */
const UNREADABLE = new EntryError("it is JSON that cannot be read");

/**
 * @returns of text that JSON.parse() does not take: an array's entries, or a document with its lists, read one by one as they are taken, with
 * EntryErrors in the places of those that cannot be read
 * @throws BodyError when it is neither
 */
export function parseLooseJson(text: string): unknown {
  const whole = parsed(text);
  if (whole !== undefined) return whole.value;
  const json = withoutComments(text).trim();
  const plain = parsed(json);
  if (plain !== undefined) return plain.value;
  const value = json.startsWith("[") ? entriesIn(json) : documentIn(json);
  if (value === undefined) throw new BodyError("The list is JSON that cannot be read.");
  return value;
}

/** In a box: null is JSON too. */
function parsed(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

/**
 * Each by itself; one that is a whole set-up with a list in it by that list's entries.
 *
 * @param behind the array: entries that a bracket too many shuts out of it
 */
function* entriesIn(json: string, behind: readonly string[] = []): Generator<unknown> {
  for (const piece of piecesOf(json)) yield* entriesOfPiece(piece);
  for (const piece of behind) yield* entriesOfPiece(piece);
}

/** One, or several where a quote that is missing hides the brackets between them. */
function* entriesOfPiece(piece: string): Generator<unknown> {
  const entry = entryIn(piece);
  if (entry !== undefined) yield entry;
  else for (const part of piece.split(BETWEEN_OBJECTS)) yield entryIn(part) ?? UNREADABLE;
}

/** @returns undefined when it cannot be read */
function entryIn(piece: string): unknown {
  // Most of what cannot be read is seen at its ends: an exception for each would cost far more.
  const isWhole = ENDS.has(piece.charAt(0) + piece.charAt(piece.length - 1));
  const entry = isWhole ? parsed(piece) : undefined;
  return entry === undefined ? documentIn(piece) : entry.value;
}

/** Its lists, and the members that say something of it. Undefined when it has no list: of a server every member counts, none may be left out. */
function documentIn(json: string): Readonly<Record<string, unknown>> | undefined {
  if (!json.startsWith("{")) return undefined;
  const document: Record<string, unknown> = Object.create(null);
  let hasList = false;
  let behind: string[] = [];
  for (const piece of piecesOf(json)) {
    const [, key = ""] = NAME.exec(piece) ?? [];
    const text = piece.slice(piece.indexOf(":") + 1).trimStart();
    const isList = LISTS.has(key) && text.startsWith("[");
    if (isList) {
      behind = [];
      document[key] = entriesIn(text, behind);
    } else if (piece.startsWith("{")) behind.push(piece);
    else if (WORDS.has(key)) document[key] = parsed(text)?.value;
    hasList ||= isList;
  }
  return hasList ? document : undefined;
}

/**
 * What stands between the commas of the outermost bracket, without the empty ones. A bracket that is missing or too many within an entry ends
 * with that entry: no object has another one behind a comma without a name before it.
 */
function* piecesOf(json: string): Generator<string> {
  const inner = new OpenBrackets();
  const end = json.startsWith("{") ? "}" : "]";
  let from = 1;
  let comma = 0;
  let before = "";
  for (let at = 1; at < json.length; at++) {
    const letter = json.charAt(at);
    if (letter === " " || letter === "\n" || letter === "\r" || letter === "\t") continue;
    const isEntry = letter === "{" && before === ",";
    if (isEntry && inner.closeObjects() && inner.isEmpty) {
      yield* trimmed(json.slice(from, comma));
      from = comma + 1;
    } else if (inner.isEmpty && (letter === "," || (letter === "{" && before === "}"))) {
      yield* trimmed(json.slice(from, at));
      from = letter === "," ? at + 1 : at;
    }
    if (letter === '"') at = endOfString(json, at) - 1;
    else if (letter === "{" || letter === "[") inner.open(letter);
    else if (letter === "}" || letter === "]") {
      if (inner.isEmpty && letter === end && !isComma(json, at + 1)) {
        yield* trimmed(json.slice(from, at));
        return;
      }
      inner.close(letter);
    } else if (letter === ",") comma = at;
    before = letter;
  }
  yield* trimmed(json.slice(from));
}

/** Then the bracket's end before it is one too many. */
function isComma(json: string, from: number): boolean {
  let at = from;
  while (at < json.length && json.charAt(at).trim() === "") at++;
  return json.charAt(at) === ",";
}

function trimmed(piece: string): readonly string[] {
  const text = piece.trim();
  return text === "" ? [] : [text];
}

/** Those within the outermost one. */
class OpenBrackets {
  readonly #open: ("{" | "[")[] = [];
  #objects = 0;

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  /** @throws BodyError */
  open(bracket: "{" | "["): void {
    if (this.#open.length === MAX_DEPTH) throw new BodyError("The list is JSON that cannot be read.");
    this.#open.push(bracket);
    if (bracket === "{") this.#objects++;
  }

  /** With those inside of it that are still open; nothing when none of its kind is. */
  close(bracket: "}" | "]"): void {
    const wanted = bracket === "}" ? "{" : "[";
    const count = wanted === "{" ? this.#objects : this.#open.length - this.#objects;
    if (count > 0) while (this.#pop() !== wanted);
  }

  /** Up to the innermost array. @returns whether there were any */
  closeObjects(): boolean {
    const before = this.#open.length;
    while (this.#open.at(-1) === "{") this.#pop();
    return this.#open.length < before;
  }

  #pop(): "{" | "[" | undefined {
    const bracket = this.#open.pop();
    if (bracket === "{") this.#objects--;
    return bracket;
  }
}

/** Behind its quote; a string without one ends with its line, because JSON has no line ends in strings. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const letter = json.charAt(at);
    if (letter === '"') return at + 1;
    if (letter === "\n") return at;
    if (letter === "\\") at++;
  }
  return json.length;
}

/** JSON without comments (behind `//` and `#`, and between `/*` and its end), characters between its words that are no text, and commas that nothing follows. */
function withoutComments(text: string): string {
  const kept = new Uint16Array(text.length);
  let length = 0;
  let comma = -1;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    const next = letter === '"' ? endOfString(text, at) : endOfComment(text, at);
    if (letter === '"') {
      for (let each = at; each < next; each++) kept[length++] = text.charCodeAt(each);
      comma = -1;
    } else if (next === at && letter !== NO_TEXT) {
      const isEnd = letter === "}" || letter === "]" || letter === ",";
      if (isEnd && comma >= 0) kept[comma] = BLANK;
      if (letter.trim() !== "") comma = letter === "," ? length : -1;
      kept[length++] = text.charCodeAt(at);
    }
    if (next > at) at = next - 1;
  }
  if (comma >= 0) kept[comma] = BLANK;
  return Buffer.from(kept.buffer, 0, 2 * length).toString("utf16le");
}

const BLANK = 0x20;

/** @returns the same place where none begins */
function endOfComment(text: string, at: number): number {
  const isBlock = text.startsWith("/*", at);
  if (!isBlock && text.charAt(at) !== "#" && !text.startsWith("//", at)) return at;
  const end = isBlock ? text.indexOf("*/", at + 2) : text.indexOf("\n", at);
  if (end < 0) return text.length;
  return isBlock ? end + 2 : end;
}
