/**
 * Whether a gateway's certificate is to be trusted: the part of RFC 5280 section 6 that a client needs, because node:crypto verifies single
 * signatures and no chains. Pure: roots and time come in as arguments.
 */

import { createHash, type KeyObject, type X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { pemBlocks } from "../../../model/text.ts";
import { NetworkFault } from "../../net/fault.ts";
import { subjectOf } from "../certificates.ts";
import { type Certificate, namesOf, readCertificate } from "./certificate.ts";

/** Authorities that are trusted. */
export interface Anchors {
  /** DER by the name that they sign with; read when one is needed, because all public ones together take 100 ms. */
  readonly bySubject: ReadonlyMap<string, readonly Buffer[]>;
  /** SHA-1 of the first ones' SubjectPublicKeyInfo, as CERTREQ names authorities (RFC 7296 section 3.7). */
  readonly keyHashes: readonly Buffer[];
}

/** Authorities named in a request: a gateway wants one at least before it sends a certificate, and all would be 3 kB. */
const NAMED_LIMIT = 16;
/** Ours: what a gateway may send, and how long a chain may be. */
const CERTIFICATE_LIMIT = 16;
const CHAIN_LIMIT = 8;
const SIGNATURE_LIMIT = 64;

/** Any of these lets a certificate stand for a gateway (RFC 4945 section 5.1.3.12); libreswan and Windows want the first or second. */
const GATEWAY_PURPOSES = new Set([
  "1.3.6.1.5.5.7.3.1", // serverAuth
  "1.3.6.1.5.5.8.2.2", // ikeIntermediate
  "1.3.6.1.5.5.7.3.17", // ipsecIKE
  "2.5.29.37.0", // any
]);

/** An unreadable certificate is left out: the PEM of the operator and of the user was checked before. */
export function createAnchors(pems: readonly string[]): Anchors {
  const bySubject = new Map<string, Buffer[]>();
  const keyHashes: Buffer[] = [];
  for (const block of pems.flatMap((pem) => pemBlocks(pem, "CERTIFICATE"))) {
    const der = Buffer.from(block.replace(/-----[^-]*-----|\s/g, ""), "base64");
    const names = namesOf(der);
    if (names === undefined) continue;
    bySubject.set(names.subject, [...(bySubject.get(names.subject) ?? []), der]);
    if (keyHashes.length < NAMED_LIMIT) keyHashes.push(createHash("sha1").update(names.key).digest());
  }
  return { bySubject, keyHashes };
}

/**
 * @param certificates DER as the gateway sent them, its own first
 * @param identity name, address, e-mail address or distinguished name that its own must be for; null: any
 * @param owner whose it is, for words
 * @throws NetworkFault `cert-invalid`
 */
export function trustedKey(
  certificates: readonly Buffer[],
  anchors: Anchors,
  identity: string | null,
  nowMs: number,
  owner: "gateway" | "login server" = "gateway",
): KeyObject {
  const [leaf, ...others] = certificates.slice(0, CERTIFICATE_LIMIT).map(readCertificate);
  const what = `The ${owner}'s certificate`;
  if (leaf === undefined) throw refused(`${what} cannot be read`);
  if (identity !== null) requireIdentity(leaf, identity, what);
  const problem = timeProblem(leaf, nowMs, what);
  if (problem !== undefined) throw problem;
  const { keyUsage } = leaf.x509;
  if (keyUsage !== undefined && !keyUsage.some((purpose) => GATEWAY_PURPOSES.has(purpose))) {
    throw refused(`${what} is not for servers`);
  }
  if (leaf.limits === undefined) throw refused(`${what} has rules that are not understood here`);
  const intermediates = others.filter((each) => each !== undefined);
  const search = new ChainSearch(anchors, nowMs);
  if (!search.isAnchored(leaf, intermediates, 0)) {
    throw search.problem ?? refused(`${what} is signed by an unknown authority`, leaf);
  }
  return keyOf(leaf, what);
}

/** OpenSSL parses the key at this access. @throws NetworkFault */
function keyOf({ x509 }: Certificate, what: string): KeyObject {
  try {
    return x509.publicKey;
  } catch {
    throw refused(`${what} cannot be read`);
  }
}

class ChainSearch {
  readonly #anchors: Anchors;
  readonly #nowMs: number;
  /** Certificates that all sign each other would be tried in every order. */
  #signaturesLeft = SIGNATURE_LIMIT;
  /** What stood in the way of the first chain that could have been. */
  problem: NetworkFault | undefined;

  constructor(anchors: Anchors, nowMs: number) {
    this.#anchors = anchors;
    this.#nowMs = nowMs;
  }

  isAnchored(certificate: Certificate, intermediates: readonly Certificate[], authoritiesBelow: number): boolean {
    const { bySubject } = this.#anchors;
    if ((bySubject.get(certificate.subject) ?? []).some((der) => der.equals(certificate.x509.raw))) return true;
    const roots = (bySubject.get(certificate.issuer) ?? []).map(readCertificate).filter((root) => root !== undefined);
    if (roots.some((root) => this.#mayHaveSigned(root, certificate, authoritiesBelow))) return true;
    if (authoritiesBelow >= CHAIN_LIMIT) return false;
    return intermediates.some((each) => {
      if (!this.#mayHaveSigned(each, certificate, authoritiesBelow)) return false;
      const others = intermediates.filter((other) => other !== each);
      return this.isAnchored(each, others, authoritiesBelow + 1);
    });
  }

  #mayHaveSigned(issuer: Certificate, certificate: Certificate, authoritiesBelow: number): boolean {
    // checkIssued() compares names and key identifiers, and looks whether the issuer's key may sign certificates.
    if (!issuer.x509.ca || !certificate.x509.checkIssued(issuer.x509) || this.#signaturesLeft-- <= 0) return false;
    if (!verifies(certificate, issuer)) return false;
    const problem =
      timeProblem(issuer, this.#nowMs, "An authority's certificate") ?? limitProblem(issuer, authoritiesBelow);
    this.problem ??= problem;
    return problem === undefined;
  }
}

function limitProblem(issuer: Certificate, authoritiesBelow: number): NetworkFault | undefined {
  const { limits } = issuer;
  if (limits !== undefined && (limits.pathLength === null || limits.pathLength >= authoritiesBelow)) return undefined;
  return refused("An authority's certificate does not allow this chain");
}

function verifies(certificate: Certificate, issuer: Certificate): boolean {
  try {
    return certificate.x509.verify(issuer.x509.publicKey);
  } catch {
    return false;
  }
}

function requireIdentity({ x509 }: Certificate, identity: string, what: string): void {
  if (isFor(x509, identity)) return;
  const names = x509.subjectAltName ?? subjectOf(x509).replaceAll("\n", ", ");
  throw new NetworkFault("cert-invalid", `${what} is for another name than ${identity}`, {
    peer: names,
    hint: "remote_id names the identity that the gateway has",
  });
}

function isFor(certificate: X509Certificate, identity: string): boolean {
  if (identity.includes("=")) return sameName(subjectOf(certificate), identity);
  try {
    if (isIP(identity) !== 0) return certificate.checkIP(identity) !== undefined;
    if (identity.includes("@")) return certificate.checkEmail(identity) !== undefined;
    return certificate.checkHost(identity) !== undefined;
  } catch {
    // OpenSSL fails at a name that is no text of its own type.
    return false;
  }
}

/** Distinguished names as people write them, `C=CH, O=Example, CN=gw`, in either order. */
export function sameName(subject: string, written: string): boolean {
  const parts = (text: string, separator: RegExp): string[] =>
    text
      .split(separator)
      .map((part) => part.trim())
      .filter((part) => part !== "");
  const leaf = parts(subject, /\n/);
  const wanted = parts(written, /[,/]/);
  return leaf.join("\n") === wanted.join("\n") || leaf.join("\n") === wanted.reverse().join("\n");
}

function timeProblem(
  { validFromMs, validToMs, x509 }: Certificate,
  nowMs: number,
  what: string,
): NetworkFault | undefined {
  if (validFromMs > nowMs) return refused(`${what} is not valid yet: ${x509.validFrom}`);
  return validToMs < nowMs ? refused(`${what} has expired: ${x509.validTo}`) : undefined;
}

function refused(message: string, certificate?: Certificate): NetworkFault {
  return new NetworkFault(
    "cert-invalid",
    message,
    // Of an issuer without a name node:crypto says undefined.
    certificate?.x509.issuer === undefined ? {} : { peer: `issued by ${certificate.x509.issuer}` },
  );
}
