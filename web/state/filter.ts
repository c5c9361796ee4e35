/**
 * The filter line: `status:down,degraded tag:prod -kind:ping "berlin 3"`. Words are and-ed, commas or-ed, `-` negates, quotes keep spaces and
 * commas together, and a word whose key is not known is text that the name must contain. Pure.
 */

export const FILTER_KEYS = ["status", "tag", "kind", "subscription", "family", "id"] as const;
export type FilterKey = (typeof FILTER_KEYS)[number];

/** One word of the line. */
export interface Term {
  readonly key: FilterKey | "text";
  /** Any of them; in lower case. */
  readonly values: readonly string[];
  readonly negated: boolean;
}

/** What the filter sees of a monitor; all texts but `id` in lower case. */
export interface Subject {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly kind: string;
  readonly family: string;
  readonly tags: readonly string[];
  readonly subscription: string | null;
}

/** A longer line is cut: it comes from the address, and each word is compared with each monitor. */
const LONGEST_LINE = 500;
const KEYS: ReadonlySet<string> = new Set(FILTER_KEYS);

/** @param line of any text; nothing in it is an error */
export function parseFilter(line: string): readonly Term[] {
  return wordsOf(line.slice(0, LONGEST_LINE)).flatMap((word) => termOf(word));
}

/** @returns a line that parses to the same terms */
export function writeFilter(terms: readonly Term[]): string {
  return terms.map(wordOf).join(" ");
}

/** @returns the line with this value of this key on, and every other value of the key off; with the value alone on already: off */
export function withValue(line: string, key: FilterKey, value: string): string {
  const terms = parseFilter(line);
  const rest = terms.filter((term) => term.key !== key);
  const wanted = value.toLowerCase();
  const isOn = terms.some(
    (term) => term.key === key && !term.negated && term.values.length === 1 && term.values[0] === wanted,
  );
  return writeFilter(isOn ? rest : [...rest, { key, values: [wanted], negated: false }]);
}

/** Whether the line asks for this value of the key, alone or beside others. */
export function isOn(terms: readonly Term[], key: FilterKey, value: string): boolean {
  return terms.some((term) => term.key === key && !term.negated && term.values.includes(value.toLowerCase()));
}

export function matches(terms: readonly Term[], subject: Subject): boolean {
  return terms.every((term) => term.values.some((value) => hasValue(term.key, value, subject)) !== term.negated);
}

function hasValue(key: Term["key"], value: string, subject: Subject): boolean {
  switch (key) {
    case "text":
      return subject.name.includes(value);
    case "tag":
      return subject.tags.includes(value);
    case "id":
      return subject.id === value || subject.id === `srv_${value}`;
    case "subscription":
      return subject.subscription?.includes(value) ?? false;
    default:
      return subject[key] === value;
  }
}

/** A piece of a word; what stood in quotes is never a sign. */
interface Piece {
  readonly text: string;
  readonly quoted: boolean;
}

/** Spaces end a word, but not within quotes. A quote that is not closed goes to the end of the line. */
function wordsOf(line: string): readonly (readonly Piece[])[] {
  const words: Piece[][] = [];
  let word: Piece[] = [];
  let text = "";
  let quoted = false;
  const endPiece = () => {
    if (text !== "" || quoted) word.push({ text, quoted });
    text = "";
  };
  for (const sign of line) {
    if (sign === '"') {
      endPiece();
      quoted = !quoted;
    } else if (!quoted && /\s/.test(sign)) {
      endPiece();
      if (word.length > 0) words.push(word);
      word = [];
    } else text += sign;
  }
  endPiece();
  if (word.length > 0) words.push(word);
  return words;
}

function termOf(word: readonly Piece[]): readonly Term[] {
  const [first, ...rest] = word;
  if (first === undefined) return [];
  const negated = !first.quoted && first.text.startsWith("-") && (first.text.length > 1 || rest.length > 0);
  const open = negated ? first.text.slice(1) : first.text;
  const colon = first.quoted ? -1 : open.indexOf(":");
  const name = open.slice(0, Math.max(colon, 0)).toLowerCase();
  const key = KEYS.has(name) ? (name as FilterKey) : "text";
  const head = { text: key === "text" ? open : open.slice(colon + 1), quoted: first.quoted };
  const values = valuesOf([head, ...rest]);
  return values.length === 0 ? [] : [{ key, values, negated }];
}

function valuesOf(pieces: readonly Piece[]): readonly string[] {
  const values = [""];
  for (const { text, quoted } of pieces) {
    const parts = quoted ? [text] : text.split(",");
    for (const [index, part] of parts.entries()) {
      if (index > 0) values.push("");
      values[values.length - 1] += part;
    }
  }
  return [...new Set(values.map((value) => value.toLowerCase()).filter((value) => value !== ""))];
}

function wordOf({ key, values, negated }: Term): string {
  const text = values.map((value) => (needsQuotes(value, key) ? `"${value}"` : value)).join(",");
  return `${negated ? "-" : ""}${key === "text" ? "" : `${key}:`}${text}`;
}

function needsQuotes(value: string, key: Term["key"]): boolean {
  return /[\s,]/.test(value) || (key === "text" && (value.startsWith("-") || value.includes(":")));
}
