/**
 * A subscription's body, whatever format it is in, as entries one after the other: whoever takes them decides when to let others have
 * the thread. Bounds: size, entries, depth of base64 in base64, aliases of YAML.
 */
import { FAILSAFE_SCHEMA, load, mergeTag } from "js-yaml";
import { base64Text } from "../protocols/share-link/link.ts";
import { isProxyScheme, parseProxyLink, schemeOf } from "../protocols/share-link/proxy-link.ts";
import { clashProxies, clashProxy } from "./clash.ts";
import { type Entry, entryOf, itemsOf, membersOf, type ProxyEntry, readProxy, textOf } from "./entry.ts";
import { singboxProxy, sip008Proxy, xrayProxy } from "./json.ts";

/** Open-points 7.4: 5 MiB as fetched; entries as in the largest public lists. */
const LARGEST_CHARACTERS = 5 * 1024 * 1024;
export const MOST_ENTRIES = 20_000;
/** Base64 of base64 exists. */
const MOST_LAYERS = 2;
/** Providers share a block or two of settings among proxies; more is a bomb. */
const MOST_ALIASES = 50;

/** A body that is no list at all; the message is for people. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** @throws BodyError, also while entries are taken */
export function* entriesOf(body: string): Generator<Entry> {
  let count = 0;
  for (const entry of sniffed(body, 0)) {
    if (++count > MOST_ENTRIES) throw new BodyError(`The list has more than ${MOST_ENTRIES} entries.`);
    yield entry;
  }
}

function sniffed(body: string, layer: number): Iterable<Entry> {
  if (body.length > LARGEST_CHARACTERS) throw new BodyError("The list is larger than 5 MiB.");
  const text = body.replace(/^\ufeff/, "").trim();
  if (text === "") throw new BodyError("The list is empty.");
  if (/^<(?:!doctype|html|\?xml|head|body)/i.test(text)) throw new BodyError("The answer is a web page, not a list.");
  if (text.includes("\0")) throw new BodyError("The answer is not text.");
  if (/^[[{]/.test(text)) return fromJson(text);
  if (/^(?:proxies|Proxy):/m.test(text)) return fromClash(text);
  if (/^[\s"'`]*[a-z][a-z0-9+.-]{1,30}:\/\//im.test(text)) return fromLines(text);
  const inner = layer < MOST_LAYERS ? base64Text(text) : undefined;
  if (inner !== undefined) return sniffed(inner, layer + 1);
  throw new BodyError("The answer is in no format that is known here.");
}

/** A line may hold several links, and panels write `\n` as two letters. */
function* fromLines(text: string): Generator<Entry> {
  let at = 0;
  for (const line of text.replaceAll("\\r", "").replaceAll("\\n", "\n").split("\n")) {
    at++;
    const written = line.trim();
    if (written === "" || written.startsWith("#") || written.startsWith("//")) continue;
    for (const link of written.split(LINKS_IN_LINE)) if (link.trim() !== "") yield fromLink(link, at);
  }
}

/** Remarks can hold addresses: only after a blank or comma, and only schemes of proxies. */
const LINKS_IN_LINE = /(?<=[\s,])(?=(?:vless|vmess|trojan|ss|ssr|hysteria2?|hy2|tuic|anytls|wireguard):\/\/)/i;

function fromLink(link: string, at: number): Entry {
  const scheme = schemeOf(link);
  if (scheme === undefined) return { kind: "bad", at, reason: "this is no link" };
  return isProxyScheme(scheme) ? entryOf(at, () => parseProxyLink(link)) : { kind: "unsupported", at, what: scheme };
}

function fromClash(text: string): Iterable<Entry> {
  let document: unknown;
  try {
    // All scalars stay texts: `short-id: 6e10` and `password: 0123` are no numbers.
    document = load(text, { schema: FAILSAFE_SCHEMA.withTags(mergeTag), maxAliases: MOST_ALIASES });
  } catch {
    throw new BodyError("The list is YAML that cannot be read.");
  }
  return fromProxies(clashProxies(document), clashProxy);
}

function* fromProxies(
  values: readonly unknown[],
  read: (value: unknown) => ProxyEntry | string | undefined,
): Generator<Entry> {
  for (const [index, value] of values.entries()) {
    const proxy = read(value);
    if (proxy === undefined) continue;
    const at = index + 1;
    yield typeof proxy === "string" ? unsupported(at, proxy) : entryOf(at, () => readProxy(proxy));
  }
}

/** The word is a stranger's. */
function unsupported(at: number, word: string): Entry {
  return { kind: "unsupported", at, what: /^[a-z0-9. -]{1,32}$/i.test(word) ? word : "unknown" };
}

function fromJson(text: string): Iterable<Entry> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BodyError("The list is JSON that cannot be read.");
  }
  return Array.isArray(value) ? fromJsonArray(value) : fromJsonObject(membersOf(value));
}

function fromJsonArray(values: readonly unknown[]): Iterable<Entry> {
  const first = membersOf(values[0]);
  if (typeof values[0] === "string") return fromLines(values.map(textOf).join("\n"));
  if (first.outbounds !== undefined) return fromProfiles(values);
  if (first.protocol !== undefined) return fromProxies(values, (value) => xrayProxy(value, ""));
  if (first.type !== undefined) return fromProxies(values, singboxProxy);
  if (first.method !== undefined) return fromProxies(values, sip008Proxy);
  throw new BodyError("The list is JSON in no format that is known here.");
}

function fromJsonObject(document: Readonly<Record<string, unknown>>): Iterable<Entry> {
  const outbounds = itemsOf(document.outbounds);
  if (outbounds.some((outbound) => membersOf(outbound).protocol !== undefined)) return fromProfiles([document]);
  if (document.outbounds !== undefined) return fromProxies(outbounds, singboxProxy);
  if (document.servers !== undefined) return fromProxies(itemsOf(document.servers), sip008Proxy);
  if (document.proxies !== undefined) return fromProxies(clashProxies(document), clashProxy);
  throw new BodyError("The list is JSON in no format that is known here.");
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
