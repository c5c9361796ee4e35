/** Whether an output is the one that a page shows: the same words, whatever the figures and colours are. Pure. */
import { stripVTControlCharacters } from "node:util";

/** @returns what differs; undefined when nothing does */
export function differs(shown: string, output: string): string | undefined {
  const [wanted, seen] = [jsonOf(shown), jsonOf(output)];
  if (wanted !== undefined) {
    if (seen === undefined) return `no JSON: ${output.slice(0, 500)}`;
    return shapeOf(wanted) === shapeOf(seen) ? undefined : `${shapeOf(seen)} instead of ${shapeOf(wanted)}`;
  }
  const lines = linesOf(output);
  let from = 0;
  for (const line of linesOf(shown)) {
    if (line === "…") continue;
    const at = lines.indexOf(line, from);
    if (at === -1) return `no line "${line}" in\n${lines.join("\n")}`;
    from = at + 1;
  }
  return undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Names and types. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().join("|")}]`;
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const fields = Object.entries(value).map(([name, field]) => `${name}:${shapeOf(field)}`);
  return `{${fields.sort().join(",")}}`;
}

/** Figures, the widths that follow from them, and colours are alike. */
function linesOf(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .replaceAll("\r", "")
    .split("\n")
    .map((line) =>
      line
        .replace(/\d+(?:[.,]\d+)*/g, "0")
        .replace(/─+/g, "─")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((line) => line !== "");
}
