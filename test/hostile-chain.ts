/** Chains of certificates that cost OpenSSL much. */
import { generateKeyPairSync } from "node:crypto";
import type { TlsOptions } from "node:tls";
import { certificatePem } from "../engine/protocols/keys/hostile-keys.suite.ts";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = ec.privateKey.export({ type: "pkcs8", format: "pem" });
/** Of the server that a chain is for: its subjectPublicKeyInfo, DER. */
export const LEAF_KEY = ec.publicKey.export({ type: "spki", format: "der" });

/** A leaf and authorities above it with invented signatures: they are read all the same. */
export function chain(count: number, keyOf: () => Buffer, looksLike: "rsa" | "dsa", signatureBits: number): TlsOptions {
  const links = Array.from({ length: count }, (_, index) =>
    certificatePem({ spki: keyOf(), subject: `c${index}`, issuer: `c${index + 1}`, looksLike, signatureBits }),
  );
  const leaf = certificatePem({ spki: LEAF_KEY, issuer: "c0", isAuthority: false, looksLike, signatureBits });
  return { cert: [leaf, ...links].join(""), key, ciphers: "DEFAULT@SECLEVEL=0" };
}
