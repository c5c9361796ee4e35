/**
 * Share links as they circulate. Not WHATWG URLs: passwords hold raw `/ # ?`, ports are lists, IPv6 comes without brackets, so a cut is
 * made at the first `#` or `?` whose left side is already a whole address.
 */

import { isAscii, isUtf8 } from "node:buffer";
import type { TunnelProtocol } from "../../../model/kind.ts";
import { before, withoutTrailing } from "../../../model/text.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { parsePort, readHost, readPort, splitAuthority } from "../endpoint.ts";

export interface ShareLink {
  readonly protocol: TunnelProtocol;
  readonly host: string;
  /** The first one where a link lists several. */
  readonly port: number;
  /** All of them, from and to; hysteria2 hops between them. */
  readonly ports: readonly (readonly [from: number, to: number])[];
  /** By the protocol's own names: uuid, password, method. */
  readonly credential: Readonly<Record<string, string>>;
  /** By folded name (lowercase, without `-` and `_`), decoded. */
  readonly parameters: ReadonlyMap<string, string>;
  /** What people call it; null when it has no name. */
  readonly name: string | null;
}

/** A link that has the account in front of an `@`. */
export interface AddressLink {
  /** Decoded once, as a whole. */
  readonly user: string;
  readonly rawUser: string;
  readonly host: string;
  /** As written; null when there is none. */
  readonly port: string | null;
  readonly parameters: ReadonlyMap<string, string>;
  readonly name: string | null;
}

interface Cut {
  readonly left: string;
  readonly right: string | null;
}

// biome-ignore lint/suspicious/noMisleadingCharacterClass: single characters that are invisible, none of them joined
const INVISIBLE = /[\ufeff\u200b\u200c\u200d\u2060\u00ad\r\n\t]/g;
/** All that pages and programs put around or into links; nearly every link has nothing of it. */
// biome-ignore lint/suspicious/noMisleadingCharacterClass: as above
const WRAPPING = /[\s\ufeff\u200b\u200c\u200d\u2060\u00ad"'`,]|&amp;/;

/** A link of a provider is a few hundred characters; ML-DSA and ML-KEM keys make it thousands. */
const MAX_LINK = 16_384;

/** Called before anything else of a link is read. @throws TunnelConfigError */
export function refuseLong(link: string): void {
  if (link.length > MAX_LINK) throw new TunnelConfigError(`the link is longer than ${MAX_LINK} characters`);
}

/** @throws TunnelConfigError when it is too long or begins with none of the schemes. @returns what follows the scheme */
export function bodyOf(link: string, schemes: readonly string[]): string {
  refuseLong(link);
  refuseSeveral(link);
  const text = WRAPPING.test(link) ? unquoted(unescaped(link.replace(INVISIBLE, "").trim())) : link;
  const colon = text.indexOf("://");
  const scheme = text.slice(0, Math.max(0, colon));
  if (!schemes.includes(scheme) && !schemes.includes(scheme.toLowerCase())) {
    throw new TunnelConfigError(`the link must begin with ${schemes.map((name) => `${name}://`).join(" or ")}`);
  }
  const body = text.slice(colon + 3);
  if (body === "") throw new TunnelConfigError("the link is empty");
  return body;
}

/** Before the name: in no other part of a link a scheme of a proxy stands as it is. `wss://` is none. */
const JOINED_LINK = /(?:vless|vmess|trojan|hysteria2?|hy2|tuic|anytls|(?<![a-z])ssr?):\/\//i;
/** A name may hold such words; a link of its own begins behind a blank, a mark or `\n` in letters. */
const NEXT_LINK = /(?:[\s\ufeff,;|"'`]|\\[nr])(?:vless|vmess|trojan|hysteria2?|hy2|tuic|anytls|ssr?):\/\//i;

/** Read as one, two links are a server with a password that is none. @throws TunnelConfigError */
function refuseSeveral(link: string): void {
  const from = link.indexOf("://") + 3;
  if (link.indexOf("://", from) < 0) return;
  const hash = link.indexOf("#", from);
  const isJoined = JOINED_LINK.test(hash < 0 ? link.slice(from) : link.slice(from, hash));
  if (isJoined || NEXT_LINK.test(link.slice(from))) {
    throw new TunnelConfigError("the text holds more than one link, and a monitor watches one");
  }
}

/** Pages escape `&` once or twice. */
function unescaped(text: string): string {
  return text.replaceAll("&amp;", "&").replaceAll("&amp;", "&");
}

/** As it stands in a list of a program's: quotes around it, commas after it. */
function unquoted(text: string): string {
  return withoutTrailing(QUOTES.includes(text.charAt(0)) ? text.slice(1) : text, `${QUOTES},`);
}

const QUOTES = "\"'`";

/** @param takesPorts whether a text can be the link's port. @throws TunnelConfigError */
export function splitAddress(body: string, takesPorts: (text: string) => boolean = isPort): AddressLink {
  const { whole, query, fragment } = cutLink(body, (text) => addressIn(text, takesPorts));
  if (whole === undefined) throw new TunnelConfigError(whyNoServer(body));
  const parameters = parametersOf(query ?? "");
  const { rawUser, host, port } = whole;
  // Field by field: a spread costs more than all the rest here.
  return { rawUser, user: decoded(rawUser), host, port, parameters, name: nameOf(fragment, parameters) };
}

/** Never with a word of it. */
function whyNoServer(body: string): string {
  const at = body.indexOf("@");
  const { port } = splitAuthority(before(body.slice(at + 1), "/?#"));
  if (at < 0 || port === null || !/^\d+$/.test(port) || isPort(port)) return "the link has no server after an @";
  return /^0+$/.test(port)
    ? "the link's port is 0, which no server has"
    : "the link's port must be a number from 1 to 65535";
}

/** Of the schemes whose links may be base64 as a whole. @throws TunnelConfigError */
export function requireReadable(body: string): void {
  if (!body.includes("@")) throw new TunnelConfigError("the link is neither an address nor base64 of text");
}

export interface CutLink<Whole> {
  /** What the left side was read as; undefined when no left side is whole. */
  readonly whole: Whole | undefined;
  readonly query: string | null;
  readonly fragment: string | null;
}

/** @param readWhole what a text is when it is complete; else undefined */
export function cutLink<Whole>(body: string, readWhole: (text: string) => Whole | undefined): CutLink<Whole> {
  // The first marks are the right ones in nearly every link; only a hostile or odd one is worth looking for others.
  const hash = body.indexOf("#");
  const left = hash < 0 ? body : body.slice(0, hash);
  const mark = left.indexOf("?");
  const whole = readWhole(mark < 0 ? left : left.slice(0, mark));
  if (whole !== undefined) {
    return { whole, query: mark < 0 ? null : left.slice(mark + 1), fragment: hash < 0 ? null : body.slice(hash + 1) };
  }
  return hash < 0 && mark < 0 ? { whole, query: null, fragment: null } : cutElsewhere(body, readWhole);
}

/** Left sides that are read in all: 64 marks of each sort would be 4,096, each of which costs what the link is long. */
const MOST_READS = 256;

function cutElsewhere<Whole>(body: string, readWhole: (text: string) => Whole | undefined): CutLink<Whole> {
  const read = lastRemembered(readWhole);
  let left = MOST_READS;
  const isWhole = (text: string): boolean => left-- > 0 && read(text) !== undefined;
  const fragment = cutAt(body, "#", (left) => isWhole(cutAt(left, "?", isWhole).left));
  const query = cutAt(fragment.left, "?", isWhole);
  return { whole: read(query.left), query: query.right, fragment: fragment.right };
}

/** Cuts at the first mark whose left side is whole; at none when no left side is. */
function cutAt(text: string, mark: string, isWhole: (left: string) => boolean): Cut {
  // A hostile link is all marks: only so many are tried.
  for (let index = text.indexOf(mark), tried = 0; index >= 0 && tried < 64; tried++) {
    const left = text.slice(0, index);
    if (isWhole(left)) return { left, right: text.slice(index + 1) };
    index = text.indexOf(mark, index + 1);
  }
  return { left: text, right: null };
}

/** Cuts ask about the same left side again and again: the last answer is kept. */
function lastRemembered<Value>(read: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, value: read(text) };
    return last.value;
  };
}

function addressIn(text: string, takesPorts: (text: string) => boolean) {
  const at = text.lastIndexOf("@");
  if (at < 0) return undefined;
  const slash = text.indexOf("/", at);
  const server = text.slice(at + 1, slash < 0 ? undefined : slash);
  const { host, port } = splitAuthority(server);
  const name = readHost(host);
  if (name === undefined || name === null || (port !== null && !takesPorts(port))) return undefined;
  return { rawUser: text.slice(0, at), host: name, port };
}

function isPort(text: string): boolean {
  return readPort(text) !== undefined;
}

/** Base64 has no blanks: in these a `+` is a letter. */
const BASE64_NAMES: ReadonlySet<string> = new Set(["encryption", "pbk", "publickey", "pqv", "ech", "v2rayplugin"]);
/** In these `%41` may be meant as it stands. */
const FREE_TEXTS: ReadonlySet<string> = new Set(
  "path wspath obfspath servicename seed extra plugin password obfspassword auth remarks remark ps name".split(" "),
);

/**
 * By hand, because keys have many spellings and values are encoded in several ways. `+` is a blank: panels write queries as forms do
 * (WHATWG URL, section 5.2). The last value that is not empty counts.
 */
export function parametersOf(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  // A plugin's options have `;` between them, which few writers encode.
  const mark = query.includes("&") || query.startsWith("plugin=") ? "&" : ";";
  let equals = query.indexOf("=");
  for (let from = 0; from < query.length; ) {
    const next = query.indexOf(mark, from);
    const end = next < 0 ? query.length : next;
    // After a search without a hit `=` is not searched again: with a hostile query of separators only this would be quadratic.
    if (equals >= 0 && equals < from) equals = query.indexOf("=", from);
    const keyEnd = equals < 0 || equals > end ? end : equals;
    const written = query.slice(from, keyEnd);
    const key = foldedName(decoded(written));
    const raw = query.slice(keyEnd + 1, end);
    const blanked = raw.includes("+") && !BASE64_NAMES.has(key) ? raw.replaceAll("+", " ") : raw;
    const once = decoded(blanked);
    const value = raw.includes("%25") && isEncodedAgain(key, once) ? decoded(once) : once;
    if (key !== "" && (value !== "" || !parameters.has(key))) parameters.set(key, value);
    from = end + 1;
  }
  return parameters;
}

/**
 * Converters encode whole queries a second time. Where a `%` may be meant, only the beginning of the value shows it: a path has a slash there,
 * `extra` a brace.
 *
 * @param value decoded once
 */
export function isEncodedAgain(name: string, value: string): boolean {
  return FREE_TEXTS.has(foldedName(name)) ? /^%(?:2f|7b)/i.test(value) : /%[0-9a-f]{2}/i.test(value);
}

/** As most exporters write them, and what they are here: looked up faster than folded. */
const USUAL_NAMES: ReadonlyMap<string, string> = new Map(
  (
    "encryption flow security sni fp pbk sid spx type headerType alpn host path mode serviceName authority allowInsecure insecure " +
    "obfs obfs-password mport plugin extra congestion_control udp_relay_mode allow_insecure v ps add port id aid scy net tls"
  )
    .split(" ")
    .map((name) => [name, name.toLowerCase().replace(/[-_]/g, "")]),
);

/** Lowercase, without `-` and `_`. */
export function foldedName(name: string): string {
  const usual = USUAL_NAMES.get(name);
  if (usual !== undefined) return usual;
  return /^[a-z0-9]*$/.test(name) ? name : name.toLowerCase().replace(/[-_]/g, "");
}

/** Percent-decoded; runs that are no UTF-8 stay as they are. */
export function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // Without an exception for each: a hostile text has thousands of such runs.
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      const bytes = Buffer.from(run.replaceAll("%", ""), "hex");
      return isUtf8(bytes) ? bytes.toString() : run;
    });
  }
}

export function nameOf(fragment: string | null, parameters: ReadonlyMap<string, string>): string | null {
  const written = fragment === null ? "" : decoded(fragment).trim();
  if (written !== "") return written;
  const inside = ["remarks", "remark", "ps", "name"].map((key) => parameters.get(key)?.trim() ?? "");
  return inside.find((text) => text !== "") ?? null;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Standard and URL-safe letters mixed, with or without padding, `%3D` included. @returns undefined when it is not base64 of UTF-8 text */
export function base64Text(text: string): string | undefined {
  // What stands for no character of ASCII is no letter of base64, decoded or not.
  if (/%(?![0-7][0-9a-f])/i.test(text)) return undefined;
  let letters = decoded(text);
  if (!BASE64.test(letters)) {
    letters = letters.replace(/\s/g, "");
    if (!BASE64.test(letters)) return undefined;
  }
  const bytes = Buffer.from(letters, "base64");
  if (isAscii(bytes)) return bytes.toString("latin1");
  return isUtf8(bytes) ? bytes.toString().replace(/^\ufeff/, "") : undefined;
}

/** The port of an ordinary link; a standard one where clients assume it. @throws TunnelConfigError when there is neither */
export function portOf(port: string | null, fallback: number | null): number {
  if (port !== null) return parsePort(port, "the link's port");
  if (fallback === null) throw new TunnelConfigError("the link has no port");
  return fallback;
}

/** For links whose credential is one text. @throws TunnelConfigError */
export function requireCredential(text: string, what: string): string {
  if (text.trim() === "") throw new TunnelConfigError(`the link has no ${what}`);
  return text;
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** A UUID, or the 1 to 30 bytes that xray turns into one. @throws TunnelConfigError */
export function requireUserId(text: string): string {
  const id = requireCredential(text, "user id").trim();
  if (!UUID.test(id) && Buffer.byteLength(id) > 30) throw new TunnelConfigError("the link's user id is not a UUID");
  return id;
}
