/** What `sonde check` is given, and what is to be checked by it: a link, a file's text, a server with a login, or an address. Pure. */

import {
  type AnyUptime,
  type CheckFieldName,
  engineGap,
  fieldsOf,
  isAmneziaKey,
  kindNamed,
  type ParsedTunnel,
  parse,
  parseAmneziaKey,
  TunnelConfigError,
  type TunnelFields,
  tunnelOf,
  uptimeKinds,
} from "../../engine/contract/registry.ts";
import { AMNEZIA_KEYS } from "../../engine/protocols/amneziawg/params.ts";
import { isProxyScheme, parseProxyLink, schemeOf } from "../../engine/protocols/share-link/proxy-link.ts";
import { writeLink } from "../../engine/protocols/share-link/write-link.ts";
import { entriesOf } from "../../engine/subscription/body.ts";
import { BodyError } from "../../engine/subscription/body-error.ts";
import { type Kind, TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import type { Engine } from "../../model/subscription.ts";
import { before, linesOf } from "../../model/text.ts";
import { hostInUrl } from "../../model/url.ts";
import { usageError } from "../command.ts";
import { plain, shorten } from "../table.ts";

/** Of a word that is not known: it may be a whole file's. */
const SHOWN_COLUMNS = 40;

export interface CheckTarget {
  readonly kind: Kind;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Where it leads, as people write it. */
  readonly place: string;
  /** The name in its link; null for what has none. */
  readonly name: string | null;
}

/** Fields that come by options; a password never is one. */
export type LoginFields = Pick<TunnelFields, Exclude<CheckFieldName, "config">>;

/**
 * @param text of the file, of stdin, or the word itself
 * @throws CommandError of a wrong call
 */
export function targetOf(text: string, named: TunnelProtocol | null, login: LoginFields): CheckTarget {
  const trimmed = text.replace(/^\ufeff/, "").trim();
  if (trimmed === "") throw usageError("nothing to check: give a link, a file, an address, or - for stdin");
  if (named !== null) return namedTarget(named, trimmed, login);
  const scheme = isOneLine(trimmed) ? schemeOf(trimmed) : undefined;
  if (scheme !== undefined && isProxyScheme(scheme)) return linkTarget(trimmed);
  if (isAmneziaKey(trimmed)) return keyTarget(trimmed, login);
  const file = protocolOfFile(trimmed);
  if (file !== undefined) return tunnelTarget(file, { ...login, config: text });
  return (isOneLine(trimmed) ? addressTarget(trimmed, scheme) : undefined) ?? onlyEntry(trimmed);
}

export function protocolNamed(word: string): TunnelProtocol {
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === word.toLowerCase());
  if (protocol === undefined) throw usageError(`--protocol must be one of ${TUNNEL_PROTOCOLS.join(", ")}`);
  return protocol;
}

/** The settings of a share link that one core only may open. @throws CommandError when it cannot */
export async function withEngine({ kind, settings }: CheckTarget, engine: Engine): Promise<CheckTarget["settings"]> {
  const described = kindNamed(kind);
  if (described?.family !== "tunnel" || described.form.by !== "link") throw usageError("--engine is for share links");
  const { cores } = described.form;
  if (!cores.includes(engine)) throw usageError(`${engine} cannot run ${kind}: use --engine ${cores.join(" or ")}`);
  const gap = await engineGap(String(settings.url), engine);
  if (gap !== undefined) throw usageError(`${gap}: leave --engine out, or name the other one`);
  return { ...settings, engine };
}

/** By its own words: wg-quick's sections, AmneziaWG's keys in them, or OpenVPN's directives. */
export function protocolOfFile(text: string): "wireguard" | "amneziawg" | "openvpn" | undefined {
  const lines = linesOf(text).map((line) => line.trim());
  if (lines.some((line) => /^\[(?:Interface|Peer)\]/i.test(line))) {
    const isAmnezia = lines.some((line) => line.includes("=") && AMNEZIA.has(before(line, "=").trim().toLowerCase()));
    return isAmnezia ? "amneziawg" : "wireguard";
  }
  return lines.some((line) => DIRECTIVE.test(line)) ? "openvpn" : undefined;
}

const DIRECTIVE = /^(?:client$|remote\s+\S|dev\s+tun|auth-user-pass|<(?:ca|connection|tls-(?:auth|crypt)[^>]*)>)/i;

const AMNEZIA = new Set(AMNEZIA_KEYS.map((key) => key.toLowerCase()));

function isOneLine(text: string): boolean {
  return !/[\r\n]/.test(text);
}

function namedTarget(protocol: TunnelProtocol, text: string, login: LoginFields): CheckTarget {
  if (tunnelOf(protocol).form.by === "server") return tunnelTarget(protocol, { ...login, host: login.host ?? text });
  const linked = isOneLine(text) ? schemeOf(text) : undefined;
  if (linked === undefined) return tunnelTarget(protocol, { ...login, config: text });
  const target = linkTarget(text);
  if (target.kind !== protocol) throw usageError(`the link is ${target.kind}, --protocol says ${protocol}`);
  return target;
}

function linkTarget(text: string): CheckTarget {
  return checked(() => {
    const named = parseProxyLink(text);
    const { account, host, port } = named.config;
    return { kind: account.protocol, settings: { url: text }, place: endpointText(host, port), name: named.name };
  });
}

function keyTarget(text: string, login: LoginFields): CheckTarget {
  return checked(() => {
    const { protocol, config } = parseAmneziaKey(text);
    return ofParsed(parse(protocol, { ...login, config }));
  });
}

function tunnelTarget(protocol: TunnelProtocol, fields: TunnelFields): CheckTarget {
  return checked(() => ofParsed(parse(protocol, fields)));
}

function ofParsed({ protocol, fields, endpoints }: ParsedTunnel): CheckTarget {
  const [first] = endpoints;
  const place = first === undefined ? "" : endpointText(first.host, first.port);
  return { kind: protocol, settings: { ...fields }, place, name: null };
}

function checked(read: () => CheckTarget): CheckTarget {
  try {
    return read();
  } catch (error) {
    if (error instanceof TunnelConfigError) throw usageError(`the configuration cannot be used: ${error.message}`);
    throw error;
  }
}

type Addressed = Extract<AnyUptime, { readonly isPassive: false }>;

const ACTIVE = uptimeKinds.filter((one): one is Addressed => !one.isPassive);

/** What an address without a scheme may be, in this order: `host:port`, or a name or address alone. */
const WITHOUT_SCHEME = ["port", "ping"].flatMap((kind) => ACTIVE.filter((one) => one.kind === kind));

/** An address whose scheme a kind takes, as `https://…` or `tcp://host:port`; what its fields must be is for its probe to say. */
function addressTarget(text: string, scheme: string | undefined): CheckTarget | undefined {
  const kinds =
    scheme === undefined ? WITHOUT_SCHEME : ACTIVE.filter(({ address }) => address?.schemes.includes(scheme));
  for (const described of kinds) {
    // A web address has its own query; after another's `?` come further fields of the kind.
    const [plain, query] = scheme === undefined || hasUrl(described) ? [text, ""] : splitQuery(text);
    const read = described.address?.read(plain);
    if (read === undefined) continue;
    const settings = { ...read.settings, ...fieldsIn(query, described) };
    return { kind: described.kind, settings, place: read.place, name: null };
  }
  return undefined;
}

function hasUrl(described: AnyUptime): boolean {
  return Object.hasOwn(fieldsOf(described), "url");
}

function splitQuery(text: string): readonly [plain: string, query: string] {
  const mark = text.indexOf("?");
  return mark < 0 ? [text, ""] : [text.slice(0, mark), text.slice(mark + 1)];
}

/** @throws CommandError for a field that the kind does not have */
function fieldsIn(query: string, described: AnyUptime): Readonly<Record<string, unknown>> {
  const known = Object.keys(fieldsOf(described));
  const entries = [...new URLSearchParams(query)].map(([field, value]) => {
    if (!known.includes(field))
      throw usageError(
        `${described.kind} checks have no ${shorten(plain(field), SHOWN_COLUMNS)}: they have ${known.join(", ")}`,
      );
    return [field, wordValue(value)] as const;
  });
  return Object.fromEntries(entries);
}

/** `true`, `false` and whole numbers are what they look like. */
function wordValue(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

/** A list or a client's file with one server in it. */
function onlyEntry(text: string): CheckTarget {
  const found: CheckTarget[] = [];
  let reason = "";
  try {
    for (const entry of entriesOf(text)) {
      if (entry.kind === "bad") reason ||= `: ${entry.reason}`;
      if (entry.kind === "unsupported") reason ||= `: ${entry.what} is not supported`;
      if (entry.kind !== "config") continue;
      if (found.length > 0) throw usageError("there is more than one configuration in it: use sonde bulk");
      found.push(linkTarget(writeLink(entry.read)));
    }
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw usageError(
      "this is no link, configuration or address that is known here (a missing file? a kind that must be named? --help shows how)",
    );
  }
  const [only] = found;
  if (only === undefined)
    throw usageError(`there is no configuration in it that can be used${reason} (--help shows what is taken)`);
  return only;
}

export function endpointText(host: string, port: number): string {
  return `${hostInUrl(host)}:${port}`;
}
