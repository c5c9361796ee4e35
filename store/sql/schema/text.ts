/** Text as both databases keep it, and the lowercased keys that make sorting and searching the same in both. */
import { BoundedMap } from "../../../model/bounded-map.ts";

/** Between the parts of a search key; a question never contains it (searchable), so no match spans two parts. */
const SEPARATOR = "\u001f";

const UNSTORABLE = /\0|\p{Surrogate}/gu;

/**
 * PostgreSQL refuses U+0000 and both turn lone surrogates into U+FFFD on the way in: done here, so that what a writer
 * gets back is what a reader will see.
 */
export function storable(text: string): string {
  return text.replace(UNSTORABLE, "\ufffd");
}

export function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}

/** Sort and search key: neither database folds the case of letters outside ASCII without extensions. */
export function caseKey(text: string): string {
  return storable(text).normalize("NFC").toLowerCase();
}

/** What a search looks through: name, host and tags. */
export function searchKey(monitor: {
  readonly name: string;
  readonly host: string | null;
  readonly tags: readonly string[];
}): string {
  return [monitor.name, monitor.host ?? "", ...monitor.tags].map(searchable).join(SEPARATOR);
}

/** A text as it stands in a search key. */
export function searchable(text: string): string {
  return caseKey(text).replaceAll(SEPARATOR, "\ufffd");
}

/** JSON for a text column; escapes keep U+0000 and lone surrogates out of the column by themselves. */
export function toJson(value: unknown): string {
  return JSON.stringify(value);
}

export function fromJson<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** Longer lists are seldom the same. */
const MOST_SHARED_CHARACTERS = 64;
const sharedLists = new BoundedMap<string, readonly string[]>(1_000);

/**
 * A list as JSON: of equal short ones all callers get one, which cannot be changed. Most monitors have the same tags and locations, and four lists of its
 * own take a monitor 200 bytes.
 */
export function listFromJson<Word extends string>(text: string): readonly Word[] {
  if (text.length > MOST_SHARED_CHARACTERS) return fromJson<readonly Word[]>(text);
  const known = sharedLists.get(text);
  if (known !== undefined) return known as readonly Word[];
  const list = Object.freeze(fromJson<Word[]>(text));
  sharedLists.set(text, list);
  return list;
}
