/** What a table shows, as a file for other programs. Pure. */

export type Cell = string | number | boolean | null;

export interface Sheet {
  /** The same in each language: programs read them. */
  readonly heads: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** RFC 4180. */
export function csvOf({ heads, rows }: Sheet): string {
  return [heads, ...rows].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

/** What spreadsheets take for a formula's beginning, full-width forms included (OWASP, CSV injection). */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;

function csvCell(value: Cell): string {
  if (typeof value !== "string") return String(value ?? "");
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",'\r\n\t;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function jsonOf({ heads, rows }: Sheet): string {
  const records = rows.map((row) => Object.fromEntries(heads.map((head, at) => [head, row[at] ?? null])));
  return `${JSON.stringify(records, null, 2)}\n`;
}
