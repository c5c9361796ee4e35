/** Servers as configurations write them: `host:port`, `[v6]:port`, names in any script. */

import { isIP } from "node:net";
import { withoutBrackets } from "../../model/url.ts";
import { TunnelConfigError, type TunnelEndpoint, type TunnelFields } from "../contract/tunnel.ts";
import { literalOf } from "../net/literal.ts";
import { toAsciiName } from "./dns/name.ts";

const PORT = /^[0-9]{1,5}$/;

/** A name as it stands in nearly every configuration: nothing to convert, and its last label cannot be a number. */
const PLAIN_NAME = /^(?:[a-z0-9_-]{1,63}\.){1,32}[a-z][a-z0-9_-]{0,62}$/;
/** RFC 1035 section 2.3.4, as text. */
const MAX_NAME = 253;

/** @throws TunnelConfigError naming what it is for, never the text, which may be a misplaced secret */
export function parseHost(text: string, what = "host"): string {
  const host = readHost(text);
  if (host === null) throw new TunnelConfigError(`${what} names an interface of this machine`);
  if (host === undefined) throw new TunnelConfigError(`${what} is neither a name nor an address`);
  return host;
}

/** For callers that try several ways to parse a text. @returns undefined when it is no host, null when it names an interface of this machine */
export function readHost(text: string): string | null | undefined {
  if (text.length <= MAX_NAME && PLAIN_NAME.test(text)) return text;
  const plain = withoutBrackets(text.trim());
  const literal = literalOf(plain);
  if (literal !== undefined) return literal.hasZone ? null : literal.ip;
  // xray reads an address of the form env:NAME from its environment; a colon is in no name.
  const name = toAsciiName(plain)?.toLowerCase().replace(/\.$/, "");
  return name === "" ? undefined : name;
}

/** @throws TunnelConfigError */
export function parsePort(text: string, what = "port"): number {
  const port = readPort(text);
  if (port === undefined) throw new TunnelConfigError(`${what} must be a number from 1 to 65535`);
  return port;
}

/** @returns undefined when it is none */
export function readPort(text: string): number | undefined {
  const trimmed = text.trim();
  const port = PORT.test(trimmed) ? Number(trimmed) : 0;
  return port < 1 || port > 65_535 ? undefined : port;
}

/** Host and port as text, split at the last colon that can be one; a bare IPv6 address has no port. */
export function splitAuthority(text: string): { readonly host: string; readonly port: string | null } {
  const trimmed = text.trim();
  const bracketed = trimmed.startsWith("[") ? /^\[([^\]]*)\](?::(.*))?$/s.exec(trimmed) : null;
  if (bracketed !== null) return { host: bracketed[1] ?? "", port: bracketed[2] ?? null };
  const colon = trimmed.lastIndexOf(":");
  if (colon < 0) return { host: trimmed, port: null };
  const host = trimmed.slice(0, colon);
  // `2001:db8::1:443` can only be read by a rule: the last group is the port when it is decimal and the rest is an address.
  if (host.includes(":") && (literalOf(host) === undefined || !PORT.test(trimmed.slice(colon + 1)))) {
    return { host: trimmed, port: null };
  }
  return { host, port: trimmed.slice(colon + 1) };
}

/** @param standardPort used when the text has none; null: it must have one. @throws TunnelConfigError */
export function parseEndpoint(text: string, standardPort: number | null, what: string): TunnelEndpoint {
  const { host, port } = splitAuthority(text);
  if (port === null && standardPort === null) throw new TunnelConfigError(`${what} needs a port`);
  return {
    host: parseHost(host, what),
    port: port === null ? (standardPort ?? 0) : parsePort(port, `the port of ${what}`),
  };
}

/** Host and port of the fields, for protocols whose configuration is nothing else. `host:port` is accepted in host. */
export function endpointOfFields(fields: TunnelFields, host: string, standardPort: number): TunnelEndpoint {
  const written = parseEndpoint(host, standardPort, "host");
  return fields.port === undefined ? written : { host: written.host, port: fields.port };
}

/** The endpoints with the address that is dialled instead of the first one's, when one was given. */
export function withAddress(fields: TunnelFields, endpoints: readonly TunnelEndpoint[]): readonly TunnelEndpoint[] {
  const first = endpoints[0];
  const address = addressOf(fields);
  if (address === undefined || first === undefined || address === first.host) return endpoints;
  return [first, { host: address, port: first.port }, ...endpoints.slice(1)];
}

/** @throws TunnelConfigError when `ip` is not an address in its usual form */
function addressOf(fields: TunnelFields): string | undefined {
  if (fields.ip === undefined || fields.ip.trim() === "") return undefined;
  // `1.2.3` is an address to inet_aton(3), and a typing error to its writer.
  const literal = isIP(withoutBrackets(fields.ip.trim())) === 0 ? undefined : literalOf(fields.ip);
  if (literal === undefined || literal.hasZone) throw new TunnelConfigError("ip must be an IPv4 or IPv6 address");
  return literal.ip;
}
