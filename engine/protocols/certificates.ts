/** Certificates as configurations carry them: PEM, one or more. Whether they fit anything is found out by the check. */

import { X509Certificate } from "node:crypto";
import { TunnelConfigError } from "../contract/tunnel.ts";
import { boundCertificate, KeyBoundError } from "./keys/key-bounds.ts";
import { readPem, writePem } from "./keys/pem.ts";

/** As OpenSSL names them (pem.h): the second by older programs, the third with notes of the owner behind it, which are left out. */
const LABELS: ReadonlySet<string> = new Set(["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]);
/** A bundle of every public authority has about 150. */
const MOST = 256;

/**
 * @returns the certificates, encoded again, so that a later reader finds only what was checked here
 * @throws TunnelConfigError naming the field when it holds no certificate, one that cannot be read, or one that would cost too much
 */
export function requireCertificates(pem: string, field: string): string {
  boundCertificates(pem, field);
  const ders = certificatesIn(pem);
  if (ders.length === 0) throw new TunnelConfigError(`${field} holds no certificate in PEM`);
  for (const der of ders) {
    try {
      boundCertificate(der);
      new X509Certificate(der);
    } catch {
      throw new TunnelConfigError(`${field} holds a certificate that cannot be read`);
    }
  }
  return ders.map((der) => writePem("CERTIFICATE", der)).join("");
}

/** A line for each part of the name; empty for an empty one, of which node:crypto says undefined, although its types do not. */
export function subjectOf({ subject }: X509Certificate): string {
  return (subject as string | undefined) ?? "";
}

/** Only what they would cost, without reading them: what is no certificate passes. @throws TunnelConfigError */
export function boundCertificates(pem: string, field: string): void {
  const ders = certificatesIn(pem);
  if (ders.length > MOST) throw new TunnelConfigError(`${field} holds more than ${MOST} certificates`);
  for (const der of ders) withinBounds(field, () => boundCertificate(der));
}

/** @throws TunnelConfigError naming the field, what was found and the limit; what cannot be read passes */
export function withinBounds(field: string, bound: () => unknown): void {
  try {
    bound();
  } catch (error) {
    if (!(error instanceof KeyBoundError)) throw error;
    if (!error.isUnreadable) throw new TunnelConfigError(`${field} holds ${error.message}`);
  }
}

function certificatesIn(pem: string): readonly Buffer[] {
  return readPem(pem)
    .filter(({ label }) => LABELS.has(label))
    .map(({ der }) => der);
}
