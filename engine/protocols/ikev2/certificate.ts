/** Certificates, read once: a gateway sends the same one at each check, and reading takes a millisecond. Pure but for that memory. */

import { createHash, X509Certificate } from "node:crypto";
import { BoundedMap } from "../../../model/bounded-map.ts";
import { boundCertificate } from "../keys/key-bounds.ts";
import { DER, membersOf, oidText, readDer } from "./der.ts";

export interface Certificate {
  readonly x509: X509Certificate;
  readonly validFromMs: number;
  readonly validToMs: number;
  /** DER of the names, as hexadecimal text: equal when they are. */
  readonly subject: string;
  readonly issuer: string;
  /** undefined: it has a critical extension that we do not understand (RFC 5280 section 4.2). */
  readonly limits: { /** null: any. */ readonly pathLength: number | null } | undefined;
}

/** Critical extensions that are understood here or by node:crypto: basicConstraints, keyUsage, extKeyUsage, subjectAltName, policies. */
const UNDERSTOOD = new Set(["2.5.29.19", "2.5.29.15", "2.5.29.37", "2.5.29.17", "2.5.29.32"]);
const BASIC_CONSTRAINTS = "2.5.29.19";
/** [0] and [3] of TBSCertificate. */
const VERSION_TAG = 0xa0;
const EXTENSIONS_TAG = 0xa3;
/** Of certificates that are remembered; larger ones than usual are read each time. */
const MEMORY = { certificates: 1_000, largestBytes: 8_192 } as const;

const known = new BoundedMap<string, Certificate>(MEMORY.certificates);

/** @returns undefined for bytes that are no certificate, or one whose key would cost too much to verify with */
export function readCertificate(der: Buffer): Certificate | undefined {
  const key = createHash("sha256").update(der).digest("base64");
  const remembered = known.get(key);
  if (remembered !== undefined) return remembered;
  const certificate = read(der);
  if (certificate === undefined || der.length > MEMORY.largestBytes) return certificate;
  known.set(key, certificate);
  return certificate;
}

function read(der: Buffer): Certificate | undefined {
  try {
    const names = namesOf(der);
    if (names === undefined) return undefined;
    boundCertificate(der);
    const x509 = new X509Certificate(der);
    const { subject, issuer } = names;
    const validFromMs = Date.parse(x509.validFrom);
    const validToMs = Date.parse(x509.validTo);
    // A time that is none would be neither too early nor too late.
    if (Number.isNaN(validFromMs) || Number.isNaN(validToMs)) return undefined;
    return { x509, validFromMs, validToMs, subject, issuer, limits: limitsOf(der) };
  } catch {
    return undefined;
  }
}

/** RFC 5280 section 4.1: version, serial number, algorithm, issuer, validity, subject, key. */
export function namesOf(
  der: Buffer,
): { readonly issuer: string; readonly subject: string; readonly key: Buffer } | undefined {
  const fields = fieldsOf(der);
  const [, , issuer, , subject, key] = fields[0]?.tag === VERSION_TAG ? fields.slice(1) : fields;
  if (issuer === undefined || subject === undefined || key === undefined) return undefined;
  return { issuer: issuer.content.toString("hex"), subject: subject.content.toString("hex"), key: key.whole };
}

function limitsOf(der: Buffer): Certificate["limits"] {
  const list = fieldsOf(der).find(({ tag }) => tag === EXTENSIONS_TAG);
  let pathLength: number | null = null;
  for (const { content } of membersOf(list?.content ?? Buffer.alloc(0), DER.sequence) ?? []) {
    const [oid, ...others] = readDer(content) ?? [];
    const name = oid === undefined ? "" : oidText(oid.content);
    const isCritical = others.some(({ tag, content: flag }) => tag === DER.boolean && flag[0] !== 0);
    if (isCritical && !UNDERSTOOD.has(name)) return undefined;
    if (name !== BASIC_CONSTRAINTS) continue;
    const value = others.at(-1)?.content ?? Buffer.alloc(0);
    const length = membersOf(value, DER.sequence)?.find(({ tag }) => tag === DER.integer);
    if (length !== undefined) pathLength = length.content.length === 1 ? length.content.readUInt8(0) : 255;
  }
  return { pathLength };
}

function fieldsOf(der: Buffer) {
  return readDer(membersOf(der, DER.sequence)?.[0]?.content ?? Buffer.alloc(0)) ?? [];
}
