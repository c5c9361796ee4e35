/** Tables for people: columns that fit the terminal, foreign text made harmless. */
import { styleText } from "node:util";
import Table from "cli-table3";

/** Control and bidirectional formatting characters: they would move the cursor or turn the reading order (docs/decisions/0004-address-guard.md). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Foreign text (names, messages, peers' words) as it may be shown. */
export function plain(text: string): string {
  return text.toWellFormed().replace(UNSAFE, "�");
}

/** The same of words of several lines of our own. */
export function plainLines(words: string): string {
  return words.split("\n").map(plain).join("\n");
}

/** JSON in one line that says the same and is as harmless. */
export function plainJson(value: unknown): string {
  const escaped = (unsafe: string): string => `\\u${(unsafe.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(UNSAFE, escaped);
}

export type Cell = string | number | null | undefined;

export interface Column {
  readonly head: string;
  /** It may be cut to so many columns of the terminal. */
  readonly least?: number;
  /** Where the table is still too wide, columns are left out: the one with the lowest number first; absent: it stays. */
  readonly dropped?: number;
}

/** Colours of the statuses that want attention. */
const STATUS_COLORS: ReadonlyMap<string, Color> = new Map([
  ["down", "red"],
  ["degraded", "yellow"],
  ["partial", "yellow"],
]);

export interface TableOptions {
  /** Of the terminal; null: as wide as the table is. */
  readonly columns: number | null;
  readonly paint: Paint;
}

/** For standard output: what is no terminal has neither a width nor colours. */
export function tableOptions(): TableOptions {
  const { isTTY, columns } = process.stdout;
  return { columns: isTTY ? columns || STANDARD_COLUMNS : null, paint: painter(process.stdout) };
}

/** Of a terminal that does not report its width. */
const STANDARD_COLUMNS = 80;
const PLAIN: TableOptions = { columns: null, paint: (_color, text) => text };
/** Of each cell: a blank on both sides. */
const PADDING = 2;

/** @returns lines without a trailing newline; an empty table is its head */
export function renderTable(
  columns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
  { columns: most, paint }: TableOptions = PLAIN,
): string {
  const all = columns.map((column) => (typeof column === "string" ? { head: column } : column));
  const texts = rows.map((row) => row.map((cell) => (cell === null || cell === undefined ? "–" : plain(String(cell)))));
  const natural = all.map(({ head }, at) =>
    texts.reduce((widest, row) => Math.max(widest, widthOf(row[at] ?? "")), widthOf(head)),
  );
  const shown = most === null ? natural.map((width, at) => ({ at, width })) : fitted(all, natural, most);
  const table = new Table({
    head: shown.map(({ at }) => all[at]?.head ?? ""),
    colWidths: shown.map(({ width }) => width + PADDING),
    style: { head: [], border: [], compact: true },
    chars: { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" },
  });
  for (const row of texts)
    table.push(shown.map(({ at, width }) => painted(row[at] ?? "", all[at]?.head === "status", width, paint)));
  return table.toString();
}

function painted(text: string, isStatus: boolean, width: number, paint: Paint): string {
  const color = isStatus ? STATUS_COLORS.get(text) : undefined;
  const shown = widthOf(text) > width ? shorten(text, width) : text;
  return color === undefined ? shown : paint(color, shown);
}

/** Cuts what may be cut, the widest first; then leaves columns out. A table of what must stay may still be too wide. */
export function fitted(columns: readonly Column[], natural: readonly number[], most: number) {
  const shown = natural.map((width, at) => ({ at, width, least: Math.min(columns[at]?.least ?? width, width) }));
  const tooMany = () => shown.reduce((sum, { width }) => sum + width + PADDING + 1, 1) - most;
  const leastOf = () => shown.reduce((sum, { least }) => sum + least + PADDING + 1, 1);
  const order = [...shown]
    .filter(({ at }) => columns[at]?.dropped !== undefined)
    .sort((one, other) => (columns[one.at]?.dropped ?? 0) - (columns[other.at]?.dropped ?? 0));
  while (leastOf() > most && order.length > 0) {
    const next = order.shift();
    shown.splice(
      shown.findIndex(({ at }) => at === next?.at),
      1,
    );
  }
  for (let left = tooMany(); left > 0; left = tooMany()) {
    const [widest] = shown.filter(({ width, least }) => width > least).sort((one, other) => other.width - one.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return shown;
}

/** Letters of East Asia and pictures take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

const letters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A letter with its marks is one. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of letters.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

export type Color = "green" | "red" | "yellow" | "dim";
export type Paint = (color: Color, text: string) => string;

/** Colours on a terminal, unless the user forbids them (NO_COLOR, TERM=dumb). */
export function painter(stream: NodeJS.WriteStream): Paint {
  const isColoured = stream.isTTY === true && stream.hasColors();
  return (color, text) => (isColoured ? styleText(color, text) : text);
}

/** Cut in code points to a number of columns, with an ellipsis. */
export function shorten(text: string, columns: number): string {
  const points = [...text];
  return points.length <= columns ? text : `${points.slice(0, Math.max(0, columns - 1)).join("")}…`;
}
