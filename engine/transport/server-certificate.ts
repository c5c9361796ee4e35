/** The certificate of a TLS server whose handshake takes any: judged afterwards, so that an invalid one is seen as well. */
import type { X509Certificate } from "node:crypto";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { CertificateState } from "../../model/status.ts";
import type { Outcome } from "../contract/probe.ts";
import { certificateFaultOf } from "../net/certificate-fault.ts";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import { hostText } from "../net/host-text.ts";
import { literalOf } from "../net/literal.ts";
import { toAsciiName } from "../protocols/dns/name.ts";

/** @param host name or address in any spelling, which the certificate must have. An address is not sent (RFC 6066 section 3). */
export function tlsOptionsOf(host: string): ConnectionOptions {
  const literal = literalOf(host);
  return {
    rejectUnauthorized: false,
    ...(literal === undefined ? { servername: toAsciiName(host) ?? hostText(host) } : { host: literal.ip }),
  };
}

export function certificateOf(socket: TLSSocket, shown: X509Certificate | undefined): CertificateState | null {
  return shown === undefined ? null : { valid: socket.authorized, expiresAtMs: Date.parse(shown.validTo) };
}

/** What one check has seen. */
export interface CertificateSeen {
  certificate: CertificateState | null;
}

/**
 * Notes the certificate of a socket that was opened with tlsOptionsOf(host).
 * @param mustBeValid whether an invalid one ends the connection
 * @throws NetworkFault `cert-invalid`
 */
export function secured(socket: TLSSocket, host: string, seen: CertificateSeen, mustBeValid = true): TLSSocket {
  const shown = socket.getPeerX509Certificate();
  seen.certificate = certificateOf(socket, shown);
  if (socket.authorized || !mustBeValid) return socket;
  const problem = certificateFaultOf(socket, host, shown, Date.now());
  socket.destroy();
  throw problem;
}

/** Runs a check, and puts the certificate into its outcome also where it fails after the handshake. */
export async function withCertificate<Seen extends CertificateSeen>(
  seen: Seen,
  check: (seen: Seen) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return { ...(await check(seen)), certificate: seen.certificate };
  } catch (error) {
    if (seen.certificate === null || !(error instanceof NetworkFault)) throw error;
    return { ...classify(error, "request"), certificate: seen.certificate };
  }
}
