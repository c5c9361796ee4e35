/** What `sonde check` is given, and what is to be checked by it: a link, a file's text, a server with a login, or an address. Pure. */

import { AMNEZIA_KEYS } from "../../engine/protocols/amneziawg/params.ts";
import { isProxyScheme, parseProxyLink, schemeOf } from "../../engine/protocols/share-link/proxy-link.ts";
import { writeLink } from "../../engine/protocols/share-link/write-link.ts";
import { entriesOf } from "../../engine/subscription/body.ts";
import { BodyError } from "../../engine/subscription/body-error.ts";
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../engine/tunnel.ts";
import { tunnelParsers } from "../../engine/tunnel-parsers.ts";
import { type Kind, TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import { before, linesOf } from "../../model/text.ts";
import { usageError } from "../command.ts";

export interface CheckTarget {
  readonly kind: Kind;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Where it leads, as people write it. */
  readonly place: string;
  /** The name in its link; null for what has none. */
  readonly name: string | null;
}

/** Fields that come by options; a password never is one. */
export type LoginFields = Pick<
  TunnelFields,
  "host" | "username" | "password" | "port" | "remote_id" | "group" | "ca" | "pin" | "psk"
>;

/** Protocols that have no file: what is given names the server. */
export const WITHOUT_FILE: ReadonlySet<Kind> = new Set(["openconnect", "ikev2"]);

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
  const file = protocolOfFile(trimmed);
  if (file !== undefined) return tunnelTarget(file, { ...login, config: text });
  return (isOneLine(trimmed) ? addressTarget(trimmed, scheme) : undefined) ?? onlyEntry(trimmed);
}

export function protocolNamed(word: string): TunnelProtocol {
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === word.toLowerCase());
  if (protocol === undefined) throw usageError(`--protocol must be one of ${TUNNEL_PROTOCOLS.join(", ")}`);
  return protocol;
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
  if (WITHOUT_FILE.has(protocol)) return tunnelTarget(protocol, { ...login, host: login.host ?? text });
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
    return { kind: account.protocol, settings: { url: text }, place: placeOf(host, port), name: named.name };
  });
}

function tunnelTarget(protocol: TunnelProtocol, fields: TunnelFields): CheckTarget {
  return checked(() => ofParsed(tunnelParsers[protocol](fields)));
}

function ofParsed({ protocol, fields, endpoints }: ParsedTunnel): CheckTarget {
  const [first] = endpoints;
  const place = first === undefined ? "" : placeOf(first.host, first.port);
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

/** `https://…`, `tcp://host:port`, `host:port`, or a name or address alone, which is pinged. */
function addressTarget(text: string, scheme: string | undefined): CheckTarget | undefined {
  if (scheme === "http" || scheme === "https") return uptimeTarget("http", { url: text }, text);
  if (scheme === "icmp" || scheme === "ping") return pingTarget(text.replace(/^[a-z]+:\/\//i, ""));
  if (scheme !== undefined && scheme !== "tcp") return undefined;
  const address = text.replace(/^tcp:\/\//i, "");
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([^\s/:@?#[\]]+)):(\d{1,5})$/i.exec(address) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined) return uptimeTarget("port", { host, port: Number(port) }, address);
  return scheme === "tcp" ? undefined : pingTarget(address);
}

function pingTarget(host: string): CheckTarget | undefined {
  const isName = /^[^\s/:@?#]+$/.test(host) && /^.+\../.test(host);
  const isAddress = /^[0-9a-f:.]+$/i.test(host) && host.includes(":");
  return isName || isAddress || /^localhost$/i.test(host) ? uptimeTarget("ping", { host }, host) : undefined;
}

/** What its fields must be is for its probe to say. */
function uptimeTarget(kind: Kind, settings: CheckTarget["settings"], place: string): CheckTarget {
  return { kind, settings, place, name: null };
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
      "this is no link, configuration or address that is known here (a missing file? a protocol that --protocol must name?)",
    );
  }
  const [only] = found;
  if (only === undefined) throw usageError(`there is no configuration in it that can be used${reason}`);
  return only;
}

export function placeOf(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
