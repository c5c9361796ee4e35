/** CSV of other programs (RFC 4180), with whatever stands between cells. Pure. */

const DELIMITERS = [",", ";", "\t", "|"] as const;
const MOST_ROWS = 50_000;
const MOST_CELLS = 100;

/** Rows by the names of the first; names are lower case. */
export function readCsv(text: string): readonly Readonly<Record<string, string>>[] {
  const first = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  const delimiter = DELIMITERS.reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best));
  const [head = [], ...rows] = rowsIn(text, delimiter);
  const names = head.map((name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/^\ufeff/, ""),
  );
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]?.trim() ?? ""] as const)));
}

function rowsIn(text: string, delimiter: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at <= text.length && rows.length < MOST_ROWS) {
    const [cell, end] = cellAt(text, at, delimiter);
    if (row.length < MOST_CELLS) row.push(cell);
    const sign = text.charAt(end);
    at = end + 1;
    if (sign === delimiter) continue;
    if (sign === "\r" && text.charAt(at) === "\n") at += 1;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

/** @returns the cell, and where it ends */
function cellAt(text: string, start: number, delimiter: string): readonly [string, number] {
  let cell = "";
  let at = start;
  if (text.charAt(at) === '"') {
    for (at += 1; at < text.length; at += 1) {
      const close = text.indexOf('"', at);
      const end = close < 0 ? text.length : close;
      cell += text.slice(at, end);
      at = end;
      if (text.charAt(at + 1) !== '"') break;
      cell += '"';
      at += 1;
    }
    at += 1;
  }
  const from = at;
  while (at < text.length && !["\r", "\n", delimiter].includes(text.charAt(at))) at += 1;
  return [cell + text.slice(from, at), at];
}
