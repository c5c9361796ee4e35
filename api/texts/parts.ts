/** A document as JSON in parts, each of which is read in some milliseconds: it comes from another thread, and is made whole in turns. */
import type { Document } from "../../model/document/document.ts";
import type { Slices } from "../../store/slices.ts";

export interface DocumentPart {
  readonly section: string;
  /** of: names and values in turn (entries), items, or the section itself (value) */
  readonly type: "entries" | "items" | "value";
  /** JSON */
  readonly text: string;
}

/** Things of a part: some tens of kilobytes. */
const OF_A_PART = 100;

export function* partsOf(document: Document): Generator<DocumentPart> {
  for (const [section, value] of Object.entries(document)) {
    if (typeof value !== "object" || value === null) {
      yield { section, type: "value", text: JSON.stringify(value) };
      continue;
    }
    const type = Array.isArray(value) ? "items" : "entries";
    const all: readonly unknown[] = Array.isArray(value) ? value : Object.entries(value);
    // An empty section is there, too.
    for (let start = 0; start === 0 || start < all.length; start += OF_A_PART)
      yield { section, type, text: JSON.stringify(all.slice(start, start + OF_A_PART)) };
  }
}

export async function documentOf(parts: readonly DocumentPart[], slices: Slices): Promise<Document> {
  const sections = new Map<string, unknown>();
  const lists = new Map<string, unknown[]>();
  const isObject = new Set<string>();
  for (const { section, type, text } of parts) {
    const value: unknown = JSON.parse(text);
    if (type === "value") sections.set(section, value);
    else {
      const list = lists.get(section) ?? [];
      list.push(...(value as unknown[]));
      lists.set(section, list);
      sections.set(section, list);
    }
    if (type === "entries") isObject.add(section);
    await slices.rest();
  }
  for (const section of isObject) {
    sections.set(section, Object.fromEntries((lists.get(section) ?? []) as [string, unknown][]));
    await slices.rest();
  }
  return Object.fromEntries(sections) as unknown as Document;
}
