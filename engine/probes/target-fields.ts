/** Fields that checks of a host share, with the contract's messages (docs/api-contract.md#conventions, #uptime-fields). */
import { z } from "zod";
import type { AddressRead } from "../contract/kind.ts";
import { literalOf } from "../net/literal.ts";
import { toAsciiName } from "../protocols/dns/name.ts";

/** The contract's words, and for a value that was sent what it must be. @param bounds as a sentence goes on after the field's name */
export function refusalOf(field: string, bounds: string): (issue: { readonly input?: unknown }) => string {
  const missing = `Missing or invalid ${field}`;
  return ({ input }) => (input === undefined ? missing : `${missing}: ${field} ${bounds}.`);
}

const hostError = refusalOf("host", "must be a name or an address, without a scheme, a port or a path");
const portError = refusalOf("port", "must be a whole number from 1 to 65535");

/** A name or an address in any spelling; whether it may be reached is the guard's question, not this one's. */
export const hostField = z
  .string({ error: hostError })
  .trim()
  .refine((text) => toAsciiName(text) !== undefined || literalOf(text) !== undefined, { error: hostError });

export const portField = z.int({ error: portError }).min(1, { error: portError }).max(65_535, { error: portError });

export const ipVersionField = z
  .enum(["ipv4", "ipv6"], { error: "ip_version must be ipv4, ipv6 or null." })
  .nullable()
  .default(null)
  .describe("Address family to use; null for both");

/** Code points (docs/api-contract.md#lengths). */
const KEYWORD_LENGTH = 255;

export const keywordField = z
  .string({ error: "Missing or invalid keyword" })
  .refine((text) => [...text].length <= KEYWORD_LENGTH, `keyword must be at most ${KEYWORD_LENGTH} characters.`)
  .nullable()
  .default(null)
  .transform((text) => (text === "" ? null : text));

/**
 * `host:port` or `scheme://host:port`, with [ ] around an IPv6 address, as `sonde check` takes it.
 * @param standardPort where none is named; null: one must be
 */
export function readHostAndPort(address: string, standardPort: number | null): AddressRead | undefined {
  const [, withScheme] = /^[a-z][a-z0-9+.-]*:\/\/(.*?)\/?$/i.exec(address) ?? [];
  const plain = withScheme ?? address;
  const [, bracketed, name, digits] = /^(?:\[([0-9a-f:.]+)\]|([^\s/:@?#[\]]+))(?::(\d{1,5}))?$/i.exec(plain) ?? [];
  const host = bracketed ?? name;
  const port = digits === undefined ? standardPort : Number(digits);
  return host === undefined || port === null ? undefined : { settings: { host, port }, place: plain };
}
