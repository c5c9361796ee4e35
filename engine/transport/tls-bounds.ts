/** TLS parameters that a foreign server may choose: none whose computation would block the thread for other checks. */
import { constants } from "node:crypto";
import { DEFAULT_CIPHERS, type SecureContextOptions } from "node:tls";

/** Of a Diffie-Hellman group over a prime: 30 ms at this size, 0.7 s at the size that OpenSSL ends at (dh.h, OPENSSL_DH_MAX_MODULUS_BITS). */
export const DH_GROUP_BITS = 4_096;

/** OpenSSL's own list (t1_lib.c, supported_groups_default) without the groups above the bound, which take 0.1 s. */
const GROUPS = "X25519:P-256:X448:P-521:P-384:ffdhe2048:ffdhe3072:ffdhe4096";
const TOO_LARGE: ReadonlySet<string> = new Set(["ffdhe6144", "ffdhe8192"]);

/**
 * key-exchange.ts inspects each key exchange before OpenSSL does. A renegotiation comes within TLS and cannot be inspected, so
 * servers cannot ask for one; browsers refuse them too.
 */
export const WATCHED_TLS = {
  ecdhCurve: GROUPS,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const satisfies SecureContextOptions;

/**
 * For all others: up to TLS 1.2 without key exchanges over a prime of the server's choice, as in browsers. Servers that know nothing else are asked
 * again with WATCHED_TLS (connect-tls.ts).
 */
export const FOREIGN_TLS = {
  ...WATCHED_TLS,
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
} as const satisfies SecureContextOptions;

/** @param groups for OpenSSL. @returns them without those above the bound; a name that OpenSSL refuses when nothing is left */
export function boundedGroups(groups: string): string {
  const left = groups.split(":").filter((name) => !TOO_LARGE.has(name.trim().toLowerCase()));
  return left.length === 0 ? "none" : left.join(":");
}
