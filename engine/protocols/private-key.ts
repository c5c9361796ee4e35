/** Private keys in configurations: PEM, bounded before OpenSSL reads it; OpenSSL gets what was parsed, encoded anew. Pure. */
import { TunnelConfigError } from "../contract/tunnel.ts";
import { withinBounds } from "./certificates.ts";
import { boundPrivateKey, KEY_LIMITS, type KeyFacts, type KeyForm } from "./keys/key-bounds.ts";
import { type PemBlock, readPem, writePem } from "./keys/pem.ts";

const KEY_FORMS: ReadonlySet<string> = new Set<KeyForm>([
  "PRIVATE KEY",
  "RSA PRIVATE KEY",
  "EC PRIVATE KEY",
  "DSA PRIVATE KEY",
]);

export interface PrivateKeyText {
  readonly pem: string;
  /** Its use may cost more than its size suggests: another process opens and tries it first. */
  readonly isUntried: boolean;
}

/** The first of the text, as OpenSSL takes it. @throws TunnelConfigError naming the field */
export function requirePrivateKey(text: string, field: string): PrivateKeyText {
  refuseEncryptedKey(text, field);
  const [block] = privateKeysIn(text);
  if (block === undefined) throw new TunnelConfigError(`${field} cannot be read`);
  let facts: KeyFacts | undefined;
  withinBounds(field, () => {
    facts = boundPrivateKey(block.der, block.label as KeyForm);
  });
  if (facts === undefined) throw new TunnelConfigError(`${field} cannot be read`);
  return { pem: writePem(block.label, block.der), isUntried: facts.modulusBits > KEY_LIMITS.untriedModulusBits };
}

/** @throws TunnelConfigError naming the field */
export function refuseEncryptedKey(text: string, field: string): void {
  if (readPem(text).some(({ label, isEncrypted }) => isEncrypted || label === "ENCRYPTED PRIVATE KEY")) {
    throw new TunnelConfigError(`${field} is encrypted; a checker cannot be asked for its password`);
  }
}

/** Those that are not encrypted. */
export function privateKeysIn(pem: string): readonly PemBlock[] {
  return readPem(pem).filter(({ label, isEncrypted }) => KEY_FORMS.has(label) && !isEncrypted);
}
