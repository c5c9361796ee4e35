/** Lists in JSON: whole set-ups of sing-box and xray, arrays of servers, SIP008, Outline's server, links in an array. */
import { plainText } from "../net/classify.ts";
import { BodyError, EntryError } from "./body-error.ts";
import { clashProxy } from "./clash.ts";
import { type Entry, type Fields, membersOf } from "./entry.ts";
import { singboxProxy, sip008Proxy, xrayProxy } from "./json.ts";
import { fromLines } from "./lines.ts";
import { parseLooseJson } from "./loose-json.ts";
import { fromProxies, type ProxyLook } from "./proxies.ts";

const UNKNOWN = "The list is JSON in no format that is known here.";

/** @throws BodyError, also while entries are taken */
export function fromJson(text: string, mostLines: number): Iterable<Entry> {
  const value = parseLooseJson(text);
  const values = listOf(value);
  return values === undefined ? fromDocument(membersOf(value)) : fromArray(values, mostLines);
}

/** What stands one behind the other, also where it is read as it is taken. */
function listOf(value: unknown): Iterable<unknown> | undefined {
  return typeof value === "object" && value !== null && Symbol.iterator in value
    ? (value as Iterable<unknown>)
    : undefined;
}

function fromDocument(document: Fields): Iterable<Entry> {
  const entries = fromSetUp(document) ?? fromLists(document);
  if (entries !== undefined) return entries;
  // One server alone, as Outline hands it out. A provider's error has a type or a method too, but no server.
  const look = document.server === undefined && document.settings === undefined ? undefined : lookOf(document);
  if (look !== undefined) return fromProxies([document], look);
  const words = [document.error, document.message, document.detail].find((word) => typeof word === "string");
  throw new BodyError(
    typeof words === "string" && words.trim() !== "" ? `The provider says: ${plainText(words)}` : UNKNOWN,
  );
}

/** A client's whole set-up, of either core. */
function fromSetUp({ outbounds, remarks }: Fields): Iterable<Entry> | undefined {
  const values = listOf(outbounds);
  return values && fromProxies(values, (value) => (isXray(value) ? xrayProxy(value, remarks) : singboxProxy(value)));
}

function isXray(value: unknown): boolean {
  return membersOf(value).protocol !== undefined;
}

function fromLists({ servers, proxies }: Fields): Iterable<Entry> | undefined {
  const own = listOf(servers);
  if (own !== undefined) return fromProxies(own, sip008Proxy);
  const clash = listOf(proxies);
  return clash && fromProxies(clash, clashProxy);
}

/** What a server alone is read as, by the name that only its format has. */
function lookOf(server: Fields): ProxyLook | undefined {
  if (server.protocol !== undefined) return (value) => xrayProxy(value, "");
  if (server.type !== undefined) return singboxProxy;
  return server.method === undefined ? undefined : sip008Proxy;
}

/** Each value says by itself what it is: a first one that says nothing hides no other. @throws BodyError at the end, when none said it */
function* fromArray(values: Iterable<unknown>, mostLines: number): Generator<Entry> {
  let at = 0;
  let isKnown = false;
  for (const value of values) {
    if (++at > mostLines) throw new BodyError(`The list has more than ${mostLines} entries.`);
    const entries = entriesOfValue(value, mostLines);
    isKnown ||= entries !== undefined;
    for (const entry of entries ?? fromProxies([value], nothing)) yield { ...entry, at };
  }
  if (!isKnown) throw new BodyError(UNKNOWN);
}

function entriesOfValue(value: unknown, mostLines: number): Iterable<Entry> | undefined {
  if (typeof value === "string") return fromLines(value, mostLines);
  if (value instanceof EntryError) return undefined;
  const members = membersOf(value);
  const look = lookOf(members);
  return fromSetUp(members) ?? (look && fromProxies([value], look));
}

function nothing(): never {
  throw new EntryError("it is no server");
}
