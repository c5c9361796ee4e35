/**
 * Keys and certificates in a profile: their size is bounded before OpenSSL reads them, and OpenSSL gets what was parsed, encoded anew. Pure.
 */
import { TunnelConfigError, type TunnelFields } from "../../contract/tunnel.ts";
import { boundCertificates, requireCertificates, withinBounds } from "../certificates.ts";
import { boundCrl, boundPrivateKey, type KeyForm } from "../keys/key-bounds.ts";
import { type PemBlock, readPem, writePem } from "../keys/pem.ts";
import { boundPkcs12 } from "../keys/pkcs12.ts";
import { privateKeysIn, refuseEncryptedKey, requirePrivateKey } from "../private-key.ts";
import { type Profile, parseProfile, type Scope } from "./profile.ts";
import type { TlsSettings } from "./settings.ts";

/** What OpenSSL may be given as it is, and what has to be opened or tried out elsewhere first. */
export interface KeyFiles {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  readonly crl: string | null;
  /** PKCS #12 in bytes, or a key in PEM whose use may cost more than its size suggests. */
  readonly untried:
    | { readonly kind: "pkcs12"; readonly bytes: Buffer }
    | { readonly kind: "key"; readonly pem: string }
    | null;
}

/** Of one client: its own and those between it and an authority. */
const MAX_OWN = 32;

/** What a profile's files would cost; what cannot be read passes, and fails in the check. @throws TunnelConfigError */
export function boundKeyFiles({ connections, ...outside }: Profile): void {
  for (const scope of [outside, ...connections]) boundScope(scope);
}

/** Whether it carries a PKCS #12 file, which takes a derivation of a key to open. False also for what is no profile. */
export function hasPkcs12({ config }: Pick<TunnelFields, "config">): boolean {
  try {
    const { connections, ...outside } = parseProfile(config ?? "");
    return [outside, ...connections].some(({ inline }) => inline.has("pkcs12"));
  } catch (error) {
    if (error instanceof TunnelConfigError) return false;
    throw error;
  }
}

/** @throws TunnelConfigError naming the file that cannot be read, or would cost too much */
export function keyFilesOf({ ca, cert, key, crl, pfx }: TlsSettings): KeyFiles {
  const ready = {
    ca: ca === null ? null : requireCertificates(ca, "<ca>"),
    cert: cert === null ? null : ownChain(cert),
    crl: crl === null ? null : revocations(crl),
  };
  if (pfx !== null) {
    withinBounds("<pkcs12>", () => boundPkcs12(pfx));
    return { ...ready, key: null, untried: { kind: "pkcs12", bytes: pfx } };
  }
  if (key === null) return { ...ready, key: null, untried: null };
  const { pem, isUntried } = requirePrivateKey(key, "<key>");
  return { ...ready, key: isUntried ? null : pem, untried: isUntried ? { kind: "key", pem } : null };
}

/** Its certificates and those of extra-certs. */
function ownChain(pem: string): string {
  const chain = requireCertificates(pem, "<cert>");
  if (readPem(chain).length > MAX_OWN) throw new TunnelConfigError(`<cert> holds more than ${MAX_OWN} certificates`);
  return chain;
}

function boundScope({ inline }: Scope): void {
  for (const tag of ["ca", "cert", "extra-certs"]) boundCertificates(inline.get(tag) ?? "", `<${tag}>`);
  for (const { der } of revocationsIn(inline.get("crl-verify") ?? "")) {
    withinBounds("<crl-verify>", () => boundCrl(der));
  }
  refuseEncryptedKey(inline.get("key") ?? "", "<key>");
  for (const { der, label } of privateKeysIn(inline.get("key") ?? "")) {
    withinBounds("<key>", () => boundPrivateKey(der, label as KeyForm));
  }
  const pkcs12 = inline.get("pkcs12");
  if (pkcs12 !== undefined) withinBounds("<pkcs12>", () => boundPkcs12(bytesOfPkcs12(pkcs12)));
}

export function bytesOfPkcs12(text: string): Buffer {
  return Buffer.from(text, "base64");
}

function revocations(pem: string): string {
  const lists = revocationsIn(pem);
  for (const { der } of lists) withinBounds("<crl-verify>", () => boundCrl(der));
  if (lists.length === 0) throw new TunnelConfigError("<crl-verify> cannot be read");
  return lists.map(({ der }) => writePem("X509 CRL", der)).join("");
}

function revocationsIn(pem: string): readonly PemBlock[] {
  return readPem(pem).filter(({ label }) => label === "X509 CRL");
}
