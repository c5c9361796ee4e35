/** Identities of IKE as people write them, with strongSwan's and libreswan's signs for those whose type a text does not show. Pure. */
import { addressBytes } from "../inner/packet.ts";
import { IDENTITY, type Identity } from "./bodies.ts";

/** As strongSwan writes a type before the text (ipsec.conf(5), leftid). */
const NAMED_TYPES: ReadonlyMap<string, number> = new Map([
  ["fqdn", IDENTITY.fqdn],
  ["dns", IDENTITY.fqdn],
  ["email", IDENTITY.email],
  ["rfc822", IDENTITY.email],
  ["keyid", IDENTITY.keyId],
]);
const HEX = /^(?:[0-9a-f]{2})+$/i;

/**
 * An address, an e-mail address or a name, by its form. `@name` is a name, `@@name` an e-mail address, `@#0a1b` a key id in hexadecimal;
 * `fqdn:`, `email:` and `keyid:` say it in words.
 *
 * @returns undefined for what is none: an empty text, and a key id that is not hexadecimal
 */
export function readIdentity(written: string): Identity | undefined {
  const text = written.trim();
  const colon = text.indexOf(":");
  const type = colon < 0 ? undefined : NAMED_TYPES.get(text.slice(0, colon).toLowerCase());
  if (type !== undefined) return ofType(type, text.slice(colon + 1));
  if (text.startsWith("@#")) return HEX.test(text.slice(2)) ? keyId(text.slice(2)) : undefined;
  if (text.startsWith("@@")) return ofType(IDENTITY.email, text.slice(2));
  if (text.startsWith("@")) return ofType(IDENTITY.fqdn, text.slice(1));
  return text === "" ? undefined : plainIdentity(text);
}

/** `CN=ada, O=Example`: the subject of a certificate. */
export function isDistinguishedName(text: string): boolean {
  return /^\s*[A-Za-z][A-Za-z0-9.]{0,30}\s?=/.test(text);
}

/** Of a text without signs: the type that gateways expect for its form. */
export function plainIdentity(text: string): Identity {
  const address = addressBytes(text);
  if (address !== undefined) {
    return { type: address.length === 4 ? IDENTITY.ipv4 : IDENTITY.ipv6, data: Buffer.from(address) };
  }
  return { type: text.includes("@") ? IDENTITY.email : IDENTITY.fqdn, data: Buffer.from(text) };
}

function ofType(type: number, text: string): Identity | undefined {
  return text === "" ? undefined : { type, data: Buffer.from(text) };
}

function keyId(hex: string): Identity {
  return { type: IDENTITY.keyId, data: Buffer.from(hex, "hex") };
}
