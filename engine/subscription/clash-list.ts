/** The list of proxies in a Clash document, which is YAML. */
import { FAILSAFE_SCHEMA, load, mergeTag } from "js-yaml";
import { BodyError, EntryError } from "./body-error.ts";
import { clashProxies } from "./clash.ts";
import { itemsOfClash } from "./clash-items.ts";
import { itemsOf } from "./entry.ts";

/** All scalars stay texts: `short-id: 6e10` and `password: 0123` are no numbers. */
const SCHEMA = FAILSAFE_SCHEMA.withTags(mergeTag);
/** Providers share a block or two of settings among proxies; more is a bomb. */
const MAX_ALIASES = 50;
const ALL_TEXTS = { schema: SCHEMA, maxAliases: MAX_ALIASES };
/** Where a document begins (YAML 1.2.2 section 9.1.2). */
const DOCUMENT = /^---(?=\s|$)/m;
/** Of an entry: the longest config of the contract is 102,400 bytes. */
const MAX_CHARACTERS = 102_400;
/** Entries read in one go: a call costs 40 µs, an entry 25. */
const AT_ONCE = 32;

/**
 * @returns what each entry is, or an EntryError that says why it is nothing
 * @throws BodyError when there is no list that can be read
 */
export function clashList(text: string): Iterable<unknown> {
  const items = itemsOfClash(text);
  if (items !== undefined) return readItems(items);
  const whole = wholeList(text);
  if (whole !== undefined) return whole;
  // An unreadable entry affects only entries that refer to it.
  const alone = itemsOfClash(text, true);
  if (alone === undefined) throw new BodyError("The list is YAML that cannot be read.");
  return readItems(alone);
}

/** Of a document in which entries may need what stands elsewhere; undefined when it cannot be read. */
function wholeList(text: string): readonly unknown[] | undefined {
  // load() refuses them as well, but only after it has read all of them, and a million of them are 4 MB.
  const first = text.search(DOCUMENT);
  if (first >= 0 && DOCUMENT.test(text.slice(first + 3))) return undefined;
  try {
    return clashProxies(load(text, ALL_TEXTS));
  } catch {
    return undefined;
  }
}

function* readItems(texts: Iterable<string>): Generator<unknown> {
  let together: string[] = [];
  for (const text of texts) {
    const isLong = text.length > MAX_CHARACTERS;
    if (!isLong) together.push(text);
    if (!isLong && together.length < AT_ONCE) continue;
    yield* readTogether(together);
    together = [];
    if (isLong) yield new EntryError("it is too long");
  }
  yield* readTogether(together);
}

function readTogether(texts: readonly string[]): readonly unknown[] {
  const values = sequenceIn(texts.join(""));
  if (values?.length === texts.length) return values;
  return texts.map((text) => sequenceIn(text)?.[0] ?? new EntryError("it is YAML that cannot be read"));
}

function sequenceIn(text: string): readonly unknown[] | undefined {
  try {
    return itemsOf(load(text, ALL_TEXTS));
  } catch {
    return undefined;
  }
}
