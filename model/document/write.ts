/** A document as YAML: what `sonde export` prints and importers write. Reading it gives the same document again. */
import { DUMP_SCHEMA, dump } from "js-yaml";
import type { Document } from "./document.ts";

/** Sections in the order in which people read them. */
const ORDER: readonly (keyof Document)[] = [
  "sonde",
  "name",
  "defaults",
  "monitors",
  "subscriptions",
  "channels",
  "alert_rules",
  "quiet_hours",
  "maintenance",
  "status_pages",
];
/** A text that only another version of YAML reads as a number is quoted, too. */
const LAYOUT = { schema: DUMP_SCHEMA, noRefs: true, lineWidth: 120 } as const;

/** What is empty or undefined is left out. @param comment lines above it */
export function writeDocument(document: Document, comment: readonly string[] = []): string {
  const written = Object.fromEntries(
    ORDER.filter((section) => !isEmpty(document[section])).map((section) => [section, present(document[section])]),
  );
  const head = comment.map((line) => `# ${line.replace(/[\r\n]+/g, " ")}\n`).join("");
  return head + dump(written, LAYOUT);
}

function isEmpty(section: unknown): boolean {
  if (section === undefined) return true;
  return typeof section === "object" && section !== null && Object.keys(section).length === 0;
}

/** Without members that are undefined. */
function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name, present(inner)]),
  );
}
