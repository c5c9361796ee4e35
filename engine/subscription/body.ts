/**
 * Reads a subscription's body of any format as a sequence of entries; the caller takes them one by one and decides when to yield the
 * thread. Bounds: size, entries, depth of base64 in base64, aliases of YAML.
 */
import { NO_TEXT, withoutStray } from "../../model/decode-text.ts";
import { decodeBase64List } from "./base64-list.ts";
import { BodyError } from "./body-error.ts";
import { clashProxy } from "./clash.ts";
import { clashList } from "./clash-list.ts";
import type { Entry } from "./entry.ts";
import { fromJson } from "./json-list.ts";
import { fromLines } from "./lines.ts";
import { fromProxies } from "./proxies.ts";

/** As in the largest public lists. */
export const MAX_CONFIGS_LISTED = 20_000;

/** How much of a body is taken. */
export interface BodyBounds {
  readonly mebibytes: number;
  /** Junk is passed over, and counted, as far as this. */
  readonly entries: number;
  readonly configs: number;
}

/** docs/api-contract.md#subscriptions. */
const OF_SUBSCRIPTION: BodyBounds = { mebibytes: 5, entries: 200_000, configs: MAX_CONFIGS_LISTED };
/** Base64 of base64 exists. */
const MAX_LAYERS = 2;

/** @throws BodyError, also while entries are taken */
export function* entriesOf(body: string, most: BodyBounds = OF_SUBSCRIPTION): Generator<Entry> {
  if (body.length > most.mebibytes * 1024 * 1024) throw new BodyError(`The list is larger than ${most.mebibytes} MiB.`);
  let entries = 0;
  let configs = 0;
  for (const entry of sniffed(body, most.entries, 0)) {
    if (++entries > most.entries) throw new BodyError(`The list has more than ${most.entries} entries.`);
    if (entry.kind === "config" && ++configs > most.configs) {
      throw new BodyError(`The list has more than ${most.configs} servers.`);
    }
    yield entry;
  }
}

/** @param mostLines blank ones and remarks among them, which are no entries and would be passed over in one go */
function sniffed(body: string, mostLines: number, layer: number): Iterable<Entry> {
  const clean = withoutStray(body.replace(/^\ufeff/, ""));
  const text = clean.trim();
  if (text === "") throw new BodyError("The list is empty.");
  if (/^<(?:!doctype|html|\?xml|head|body)/i.test(text)) throw new BodyError("The answer is a web page, not a list.");
  const start = startOf(text);
  if (text.startsWith("{", start) || text.startsWith("[", start)) return fromJson(text.slice(start), mostLines);
  if (/^(?:proxies|Proxy):/m.test(text)) return fromProxies(clashList(text), clashProxy);
  if (LINK_AT_LINE_START.test(text)) return fromLines(clean, mostLines);
  const inner = layer < MAX_LAYERS ? decodeBase64List(text) : undefined;
  if (inner !== undefined) return sniffed(inner, mostLines, layer + 1);
  throw new BodyError("The list is in no format that is known here.");
}

/** Behind remarks and stray bytes, as they stand above some JSON. */
function startOf(text: string): number {
  for (let at = 0; ; ) {
    while (text.charAt(at) === NO_TEXT || (at < text.length && text.charAt(at).trim() === "")) at++;
    const isRemark = text.startsWith("#", at) || text.startsWith("//", at);
    const end = isRemark ? text.indexOf("\n", at) : text.startsWith("/*", at) ? text.indexOf("*/", at) + 1 : 0;
    if (end <= 0) return at;
    at = end + 1;
  }
}

/** Blanks of one line only: with line ends among them every line start would be tried against all blank lines that follow it. */
const LINK_AT_LINE_START = /^(?:[^\S\r\n\u2028\u2029]|["'`\ufffd])*[a-z][a-z0-9+.-]{1,30}:\/\//im;
