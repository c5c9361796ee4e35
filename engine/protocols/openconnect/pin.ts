/** Pins of a server's public key (SPKI): `pin-sha256:` in base64 (RFC 7469 section 2.4), `sha256:` and `sha1:` in hex. Pure. */
import { createHash, type X509Certificate } from "node:crypto";

const PIN = /^(?:pin-sha256:[A-Za-z0-9+/]{43}=|sha256:[0-9a-f]{64}|sha1:[0-9a-f]{40})$/i;

export function isPin(text: string): boolean {
  return PIN.test(text);
}

/** @param pin of the form that isPin() takes */
export function isPinned(pin: string, certificate: X509Certificate): boolean {
  return pinsOf(certificate).some((known) => sameText(known, pin));
}

/** What a pin of this certificate's key would be, the first for people. */
export function pinsOf({ publicKey }: X509Certificate): readonly string[] {
  const spki = publicKey.export({ type: "spki", format: "der" });
  const hash = (name: "sha256" | "sha1", encoding: "base64" | "hex"): string =>
    createHash(name).update(spki).digest(encoding);
  return [`pin-sha256:${hash("sha256", "base64")}`, `sha256:${hash("sha256", "hex")}`, `sha1:${hash("sha1", "hex")}`];
}

/** Hex has no case, base64 has. */
function sameText(known: string, pin: string): boolean {
  const colon = pin.indexOf(":");
  const kind = pin.slice(0, colon).toLowerCase();
  const value = pin.slice(colon + 1);
  return known === `${kind}:${kind === "pin-sha256" ? value : value.toLowerCase()}`;
}
