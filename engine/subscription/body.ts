/**
 * Reads a subscription's body of any format as a sequence of entries; the caller takes them one by one and decides when to yield the
 * thread. Bounds: size, entries, depth of base64 in base64, aliases of YAML.
 */
import { plainText } from "../net/classify.ts";
import { base64Text } from "../protocols/share-link/link.ts";
import { isProxyScheme, parseProxyLink, schemeOf } from "../protocols/share-link/proxy-link.ts";
import { BodyError, EntryError } from "./body-error.ts";
import { clashProxies, clashProxy } from "./clash.ts";
import { clashList } from "./clash-list.ts";
import { type Entry, entryOf, itemsOf, membersOf, type ProxyEntry, readProxy } from "./entry.ts";
import { singboxProxy, sip008Proxy, xrayProxy } from "./json.ts";

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
  const text = body.replace(/^\ufeff/, "").trim();
  if (text === "") throw new BodyError("The list is empty.");
  if (/^<(?:!doctype|html|\?xml|head|body)/i.test(text)) throw new BodyError("The answer is a web page, not a list.");
  if (text.includes("\0")) throw new BodyError("The answer is not text.");
  if (/^[[{]/.test(text)) return fromJson(text, mostLines);
  if (/^(?:proxies|Proxy):/m.test(text)) return fromProxies(clashList(text), clashProxyOf);
  if (LINK_AT_LINE_START.test(text)) return fromLines(body, mostLines);
  const inner = layer < MAX_LAYERS ? base64Text(text) : undefined;
  if (inner !== undefined) return sniffed(inner, mostLines, layer + 1);
  throw new BodyError("The answer is in no format that is known here.");
}

/** Blanks of one line only: with line ends among them every line start would be tried against all blank lines that follow it. */
const LINK_AT_LINE_START = /^(?:[^\S\r\n\u2028\u2029]|["'`])*[a-z][a-z0-9+.-]{1,30}:\/\//im;

/** A line may hold several links, and panels write `\n` as two letters. */
function* fromLines(text: string, mostLines: number): Generator<Entry> {
  const lines = text.replaceAll("\\r", "").replaceAll("\\n", "\n");
  // One after the other: a body of nothing but newlines would be millions of pieces at once.
  for (let from = 0, at = 1; from <= lines.length; at++) {
    const next = lines.indexOf("\n", from);
    const end = next < 0 ? lines.length : next;
    if (at > mostLines) throw new BodyError(`The list has more than ${mostLines} lines.`);
    yield* fromLine(lines.slice(from, end).trim(), at);
    from = end + 1;
  }
}

function* fromLine(line: string, at: number): Generator<Entry> {
  if (line === "" || line.startsWith("#") || line.startsWith("//")) return;
  if (line.indexOf("://") === line.lastIndexOf("://")) yield fromLink(line, at);
  else for (const link of line.split(LINKS_IN_LINE)) if (link.trim() !== "") yield fromLink(link, at);
}

/** Remarks can hold addresses: only after a blank or comma, and only schemes of proxies. */
const LINKS_IN_LINE = /(?<=[\s,])(?=(?:vless|vmess|trojan|ss|ssr|hysteria2?|hy2|tuic|anytls|wireguard):\/\/)/i;

function fromLink(link: string, at: number): Entry {
  const scheme = schemeOf(link);
  if (scheme === undefined) return { kind: "bad", at, reason: "this is no link" };
  return isProxyScheme(scheme) ? entryOf(at, () => parseProxyLink(link)) : { kind: "unsupported", at, what: scheme };
}

/** @throws EntryError */
function clashProxyOf(item: unknown): ProxyEntry | string {
  if (item instanceof EntryError) throw item;
  return clashProxy(item);
}

function* fromProxies(
  values: Iterable<unknown>,
  read: (value: unknown) => ProxyEntry | string | undefined,
): Generator<Entry> {
  let at = 0;
  for (const value of values) {
    at++;
    const proxy = unlessBad(() => read(value));
    if (proxy instanceof EntryError) yield { kind: "bad", at, reason: proxy.message };
    else if (typeof proxy === "string") yield unsupported(at, proxy);
    else if (proxy !== undefined) yield entryOf(at, () => readProxy(proxy));
  }
}

/** JSON and YAML that are nested without end run out of stack wherever they are looked into. */
function unlessBad<T>(look: () => T): T | EntryError {
  try {
    return look();
  } catch (error) {
    if (error instanceof RangeError) return new EntryError("it is nested too deep");
    if (error instanceof EntryError) return error;
    throw error;
  }
}

/** The word is untrusted: it is shown only when it is short and plain. */
function unsupported(at: number, word: string): Entry {
  return { kind: "unsupported", at, what: /^[a-z0-9. -]{1,32}$/i.test(word) ? word : "unknown" };
}

function fromJson(text: string, mostLines: number): Iterable<Entry> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BodyError("The list is JSON that cannot be read.");
  }
  return Array.isArray(value) ? fromJsonArray(value, mostLines) : fromJsonObject(membersOf(value));
}

function fromJsonArray(values: readonly unknown[], mostLines: number): Iterable<Entry> {
  const first = membersOf(values[0]);
  if (typeof values[0] === "string") {
    return fromLines(values.map(lineOf).join("\n"), mostLines);
  }
  if (first.outbounds !== undefined) return fromProfiles(values);
  if (first.protocol !== undefined) return fromProxies(values, (value) => xrayProxy(value, ""));
  if (first.type !== undefined) return fromProxies(values, singboxProxy);
  if (first.method !== undefined) return fromProxies(values, sip008Proxy);
  throw new BodyError("The list is JSON in no format that is known here.");
}

/** What is no text is no link either, and told by its number. */
function lineOf(value: unknown): string {
  return typeof value === "string" ? value : "no text";
}

function fromJsonObject(document: Readonly<Record<string, unknown>>): Iterable<Entry> {
  const outbounds = itemsOf(document.outbounds);
  if (outbounds.some((outbound) => membersOf(outbound).protocol !== undefined)) return fromProfiles([document]);
  if (document.outbounds !== undefined) return fromProxies(outbounds, singboxProxy);
  if (document.servers !== undefined) return fromProxies(itemsOf(document.servers), sip008Proxy);
  if (document.proxies !== undefined) return fromProxies(clashProxies(document), clashProxy);
  const words = [document.error, document.message, document.detail].find((word) => typeof word === "string");
  throw new BodyError(
    typeof words === "string" && words.trim() !== ""
      ? `The provider says: ${plainText(words)}`
      : "The list is JSON in no format that is known here.",
  );
}

/** xray's array of whole set-ups, each with a name. */
function* fromProfiles(profiles: readonly unknown[]): Generator<Entry> {
  let at = 0;
  for (const profile of profiles.map(membersOf)) {
    for (const entry of fromProxies(itemsOf(profile.outbounds), (value) => xrayProxy(value, profile.remarks))) {
      yield { ...entry, at: ++at };
    }
  }
}
