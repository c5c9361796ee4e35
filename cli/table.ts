/** Tables for people: columns that fit the terminal, foreign text made harmless. */
import Table from "cli-table3";

/** Control and bidirectional formatting characters: they would move the cursor or turn the reading order (docs/decisions/0004-address-guard.md). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Foreign text (names, messages, peers' words) as it may be shown. */
export function plain(text: string): string {
  return text.toWellFormed().replace(UNSAFE, "�");
}

/** JSON in one line that says the same and is as harmless. */
export function plainJson(value: unknown): string {
  const escaped = (unsafe: string): string => `\\u${(unsafe.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(UNSAFE, escaped);
}

export type Cell = string | number | null | undefined;

/** @returns lines without a trailing newline; an empty table is its head */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    chars: { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" },
  });
  for (const row of rows)
    table.push(row.map((cell) => (cell === null || cell === undefined ? "–" : plain(String(cell)))));
  return table.toString();
}

/** Cut in code points to a number of columns, with an ellipsis. */
export function shorten(text: string, columns: number): string {
  const points = [...text];
  return points.length <= columns ? text : `${points.slice(0, Math.max(0, columns - 1)).join("")}…`;
}
