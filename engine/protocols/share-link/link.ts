/**
 * Share links as they circulate. Not WHATWG URLs: passwords hold raw `/ # ?`, ports are lists, IPv6 comes without brackets, so a cut is
 * made at the first `#` or `?` whose left side is already a whole address.
 */
import type { TunnelProtocol } from "../../../model/kind.ts";
import { TunnelConfigError } from "../../tunnel.ts";
import { parseHost, parsePort, splitAuthority } from "../endpoint.ts";

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

/** A link in which whoever is at the server stands in front of an `@`. */
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

/** @throws TunnelConfigError when it begins with none of the schemes. @returns what follows the scheme */
export function bodyOf(link: string, schemes: readonly string[]): string {
  const text = unescaped(link.replace(INVISIBLE, "").trim()).replace(/^["'`]|["'`,]+$/g, "");
  const [, scheme = "", body = ""] = /^([a-z0-9+.-]+):\/\/(.*)$/is.exec(text) ?? [];
  if (!schemes.includes(scheme.toLowerCase())) {
    throw new TunnelConfigError(`the link must begin with ${schemes.map((name) => `${name}://`).join(" or ")}`);
  }
  if (body === "") throw new TunnelConfigError("the link is empty");
  return body;
}

/** Pages escape `&` once or twice. */
function unescaped(text: string): string {
  return text.replaceAll("&amp;", "&").replaceAll("&amp;", "&");
}

/** @param takesPorts whether a text can be the link's port. @throws TunnelConfigError */
export function splitAddress(body: string, takesPorts: (text: string) => boolean = isPort): AddressLink {
  const isWhole = (text: string): boolean => addressIn(text, takesPorts) !== undefined;
  const fragment = cutAt(body, "#", (left) => isWhole(cutAt(left, "?", isWhole).left));
  const query = cutAt(fragment.left, "?", isWhole);
  const address = addressIn(query.left, takesPorts);
  if (address === undefined) throw new TunnelConfigError("the link has no server after an @");
  const parameters = parametersOf(query.right ?? "");
  return {
    ...address,
    user: decoded(address.rawUser),
    parameters,
    name: nameOf(fragment.right, parameters),
  };
}

/** Cuts at the first mark whose left side is whole; at none when no left side is. */
export function cutAt(text: string, mark: string, isWhole: (left: string) => boolean): Cut {
  // A hostile link is all marks: only so many are tried.
  for (let index = text.indexOf(mark), tried = 0; index >= 0 && tried < 64; tried++) {
    const left = text.slice(0, index);
    if (isWhole(left)) return { left, right: text.slice(index + 1) };
    index = text.indexOf(mark, index + 1);
  }
  return { left: text, right: null };
}

function addressIn(text: string, takesPorts: (text: string) => boolean) {
  const at = text.lastIndexOf("@");
  if (at < 0) return undefined;
  const server = text.slice(at + 1).replace(/\/.*$/s, "");
  const { host, port } = splitAuthority(server);
  const name = hostIn(host);
  if (name === undefined || (port !== null && !takesPorts(port))) return undefined;
  return { rawUser: text.slice(0, at), host: name, port };
}

function hostIn(text: string): string | undefined {
  try {
    return text === "" ? undefined : parseHost(text) || undefined;
  } catch {
    return undefined;
  }
}

export function isPort(text: string): boolean {
  try {
    return parsePort(text) > 0;
  } catch {
    return false;
  }
}

/** By hand: `+` is no blank here, and a value that was encoded twice is decoded twice. The last value that is not empty counts. */
export function parametersOf(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split(query.includes("&") ? "&" : /[&;]/)) {
    const equals = part.indexOf("=");
    const key = foldedName(decoded(equals < 0 ? part : part.slice(0, equals)));
    const raw = equals < 0 ? "" : part.slice(equals + 1);
    const once = decoded(raw);
    const value = raw.includes("%25") && /%[0-9a-f]{2}/i.test(once) ? decoded(once) : once;
    if (key !== "" && (value !== "" || !parameters.has(key))) parameters.set(key, value);
  }
  return parameters;
}

export function foldedName(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

/** Percent-decoded; runs that are no UTF-8 stay as they are. */
export function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      try {
        return decodeURIComponent(run);
      } catch {
        return run;
      }
    });
  }
}

export function nameOf(fragment: string | null, parameters: ReadonlyMap<string, string>): string | null {
  const candidates = [
    fragment === null ? "" : decoded(fragment),
    ...["remarks", "remark", "ps", "name"].map((key) => parameters.get(key) ?? ""),
  ];
  const name = candidates.map((text) => text.trim()).find((text) => text !== "");
  return name ?? null;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Standard and URL-safe letters mixed, with or without padding, `%3D` included. @returns undefined when it is not base64 of UTF-8 text */
export function base64Text(text: string): string | undefined {
  const letters = decoded(text).replace(/\s/g, "");
  if (letters === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(letters)) return undefined;
  const bytes = Buffer.from(letters.replaceAll("-", "+").replaceAll("_", "/"), "base64");
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The port of an ordinary link; a standard one where clients assume it. @throws TunnelConfigError when there is neither */
export function portOf(port: string | null, standard: number | null): number {
  if (port !== null) return parsePort(port, "the link's port");
  if (standard === null) throw new TunnelConfigError("the link has no port");
  return standard;
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
