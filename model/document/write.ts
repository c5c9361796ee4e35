/** A document as YAML: what `sonde export` prints and importers write. Reading it gives the same document again. */
import { DUMP_SCHEMA, dump } from "js-yaml";
import type { Document } from "./document.ts";
import { finished } from "./read.ts";

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

/** Things of a step: some milliseconds of work. */
const THINGS_OF_A_STEP = 100;

/** What is empty or undefined is left out. @param comment lines above it */
export function writeDocument(document: Document, comment: readonly string[] = []): string {
  return finished(writeDocumentInSteps(document, comment));
}

/** @returns the text, at the end of its steps */
export function* writeDocumentInSteps(document: Document, comment: readonly string[]): Generator<void, string> {
  const pieces = comment.map((line) => `# ${line.replace(/[\r\n]+/g, " ")}\n`);
  for (const section of ORDER.filter((name) => !isEmpty(document[name]))) {
    const name = `${section}:\n`;
    for (const part of partsOf(document[section])) {
      const text = dump({ [section]: present(part.value) }, LAYOUT);
      pieces.push(part.isFirst ? text : text.slice(name.length));
      yield;
    }
  }
  return pieces.join("");
}

/** What is written under a name stands there line by line, whatever comes before it: so a section is written in parts. */
function* partsOf(section: unknown): Generator<{ readonly value: unknown; readonly isFirst: boolean }> {
  if (typeof section !== "object" || section === null) {
    yield { value: section, isFirst: true };
    return;
  }
  const all: readonly unknown[] = Array.isArray(section) ? section : Object.entries(section);
  for (let start = 0; start < all.length; start += THINGS_OF_A_STEP) {
    const some = all.slice(start, start + THINGS_OF_A_STEP);
    const value = Array.isArray(section) ? some : Object.fromEntries(some as [string, unknown][]);
    yield { value, isFirst: start === 0 };
  }
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
