/**
 * Whether a gateway's certificate is to be trusted: the part of RFC 5280 section 6 that a client needs, because node:crypto verifies single
 * signatures and no chains. Pure: roots and time come in as arguments.
 */
import { createHash, type KeyObject, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { NetworkFault } from "../../transport/fault.ts";
import { DER, membersOf, oidText, readDer } from "./der.ts";

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

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Any of these lets a certificate stand for a gateway (RFC 4945 section 5.1.3.12); libreswan and Windows want the first or second. */
const GATEWAY_PURPOSES = new Set([
  "1.3.6.1.5.5.7.3.1", // serverAuth
  "1.3.6.1.5.5.8.2.2", // ikeIntermediate
  "1.3.6.1.5.5.7.3.17", // ipsecIKE
  "2.5.29.37.0", // any
]);

/** Critical extensions that are understood here or by node:crypto: basicConstraints, keyUsage, extKeyUsage, subjectAltName, policies. */
const UNDERSTOOD = new Set(["2.5.29.19", "2.5.29.15", "2.5.29.37", "2.5.29.17", "2.5.29.32"]);
const BASIC_CONSTRAINTS = "2.5.29.19";
/** [0] and [3] of TBSCertificate. */
const VERSION_TAG = 0xa0;
const EXTENSIONS_TAG = 0xa3;

/** What cannot be read is left out: the operator's and the user's PEM has been looked at before. */
export function createAnchors(pems: readonly string[]): Anchors {
  const bySubject = new Map<string, Buffer[]>();
  const keyHashes: Buffer[] = [];
  for (const block of pems.flatMap((pem) => pem.match(PEM_BLOCK) ?? [])) {
    const der = Buffer.from(block.replace(/-----[^-]*-----|\s/g, ""), "base64");
    const names = namesOf(der);
    if (names === undefined) continue;
    bySubject.set(names.subject, [...(bySubject.get(names.subject) ?? []), der]);
    if (keyHashes.length < NAMED_LIMIT) keyHashes.push(createHash("sha1").update(names.key).digest());
  }
  return { bySubject, keyHashes };
}

/** RFC 5280 section 4.1: version, serial number, algorithm, issuer, validity, subject, key. */
function namesOf(der: Buffer): { readonly issuer: string; readonly subject: string; readonly key: Buffer } | undefined {
  const fields = readDer(membersOf(der, DER.sequence)?.[0]?.content ?? Buffer.alloc(0)) ?? [];
  const [, , issuer, , subject, key] = fields[0]?.tag === VERSION_TAG ? fields.slice(1) : fields;
  if (issuer === undefined || subject === undefined || key === undefined) return undefined;
  return { issuer: issuer.content.toString("hex"), subject: subject.content.toString("hex"), key: key.whole };
}

/**
 * @param certificates DER as the gateway sent them, its own first
 * @param identity name, address, e-mail address or distinguished name that its own must be for
 * @throws NetworkFault `cert-invalid`
 */
export function trustedKey(
  certificates: readonly Buffer[],
  anchors: Anchors,
  identity: string,
  nowMs: number,
): KeyObject {
  const [own, ...others] = certificates.slice(0, CERTIFICATE_LIMIT).map(readCertificate);
  if (own === undefined) throw refused("The gateway's certificate cannot be read");
  requireIdentity(own, identity);
  requireTime(own, nowMs);
  if (own.keyUsage !== undefined && !own.keyUsage.some((purpose) => GATEWAY_PURPOSES.has(purpose))) {
    throw refused("The gateway's certificate is not for servers");
  }
  const intermediates = others.filter((each) => each !== undefined);
  const search = new ChainSearch(anchors, nowMs);
  if (!search.isAnchored(own, intermediates, 0)) {
    throw search.problem ?? refused("The gateway's certificate is signed by an unknown authority", own);
  }
  return own.publicKey;
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

  isAnchored(
    certificate: X509Certificate,
    intermediates: readonly X509Certificate[],
    authoritiesBelow: number,
  ): boolean {
    const { bySubject } = this.#anchors;
    const { subject = "", issuer = "" } = namesOf(certificate.raw) ?? {};
    if ((bySubject.get(subject) ?? []).some((der) => der.equals(certificate.raw))) return true;
    const roots = (bySubject.get(issuer) ?? []).map(readCertificate).filter((root) => root !== undefined);
    if (roots.some((root) => this.#mayHaveSigned(root, certificate, authoritiesBelow))) return true;
    if (authoritiesBelow >= CHAIN_LIMIT) return false;
    return intermediates.some((each) => {
      if (!this.#mayHaveSigned(each, certificate, authoritiesBelow)) return false;
      const others = intermediates.filter((other) => other !== each);
      return this.isAnchored(each, others, authoritiesBelow + 1);
    });
  }

  #mayHaveSigned(issuer: X509Certificate, certificate: X509Certificate, authoritiesBelow: number): boolean {
    // checkIssued() compares names and key identifiers, and looks whether the issuer's key may sign certificates.
    if (!issuer.ca || !certificate.checkIssued(issuer) || this.#signaturesLeft-- <= 0) return false;
    if (!verifies(certificate, issuer)) return false;
    const problem =
      timeProblem(issuer, this.#nowMs, "An authority's certificate") ?? limitProblem(issuer, authoritiesBelow);
    this.problem ??= problem;
    return problem === undefined;
  }
}

function limitProblem(issuer: X509Certificate, authoritiesBelow: number): NetworkFault | undefined {
  const limits = limitsOf(issuer);
  if (limits !== undefined && (limits.pathLength === null || limits.pathLength >= authoritiesBelow)) return undefined;
  return refused("An authority's certificate does not allow this chain");
}

function verifies(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

/** @returns undefined when the certificate has a critical extension that we do not understand (RFC 5280 section 4.2) */
function limitsOf({ raw }: X509Certificate): { readonly pathLength: number | null } | undefined {
  const [body] = membersOf(raw, DER.sequence) ?? [];
  const fields = body === undefined ? undefined : readDer(body.content);
  const list = fields?.find(({ tag }) => tag === EXTENSIONS_TAG);
  if (list === undefined) return fields === undefined ? undefined : { pathLength: null };
  let pathLength: number | null = null;
  for (const { content } of membersOf(list.content, DER.sequence) ?? []) {
    const [oid, ...others] = readDer(content) ?? [];
    const name = oid === undefined ? "" : oidText(oid.content);
    const isCritical = others.some(({ tag, content: flag }) => tag === DER.boolean && flag[0] !== 0);
    if (isCritical && !UNDERSTOOD.has(name)) return undefined;
    if (name !== BASIC_CONSTRAINTS) continue;
    const value = others.at(-1);
    const length = membersOf(value?.content ?? Buffer.alloc(0), DER.sequence)?.find(({ tag }) => tag === DER.integer);
    if (length !== undefined) pathLength = length.content.length === 1 ? length.content.readUInt8(0) : 255;
  }
  return { pathLength };
}

function requireIdentity(certificate: X509Certificate, identity: string): void {
  if (isFor(certificate, identity)) return;
  const names = certificate.subjectAltName ?? certificate.subject.replaceAll("\n", ", ");
  throw new NetworkFault("cert-invalid", `The gateway's certificate is for another name than ${identity}`, {
    peer: names,
    hint: "remote_id names the identity that the gateway has",
  });
}

function isFor(certificate: X509Certificate, identity: string): boolean {
  if (isIP(identity) !== 0) return certificate.checkIP(identity) !== undefined;
  if (identity.includes("=")) return sameName(certificate.subject, identity);
  if (identity.includes("@")) return certificate.checkEmail(identity) !== undefined;
  return certificate.checkHost(identity) !== undefined;
}

/** Distinguished names as people write them, `C=CH, O=Example, CN=gw`, in either order. */
function sameName(subject: string, written: string): boolean {
  const parts = (text: string, separator: RegExp): string[] =>
    text
      .split(separator)
      .map((part) => part.trim())
      .filter((part) => part !== "");
  const own = parts(subject, /\n/);
  const wanted = parts(written, /[,/]/);
  return own.join("\n") === wanted.join("\n") || own.join("\n") === wanted.reverse().join("\n");
}

function requireTime(certificate: X509Certificate, nowMs: number): void {
  const problem = timeProblem(certificate, nowMs, "The gateway's certificate");
  if (problem !== undefined) throw problem;
}

function timeProblem({ validFrom, validTo }: X509Certificate, nowMs: number, what: string): NetworkFault | undefined {
  if (Date.parse(validFrom) > nowMs) return refused(`${what} is not valid yet: ${validFrom}`);
  return Date.parse(validTo) < nowMs ? refused(`${what} has expired: ${validTo}`) : undefined;
}

function refused(message: string, certificate?: X509Certificate): NetworkFault {
  return new NetworkFault(
    "cert-invalid",
    message,
    certificate === undefined ? {} : { peer: `issued by ${certificate.issuer}` },
  );
}

function readCertificate(encoded: string | Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(encoded);
  } catch {
    return undefined;
  }
}
