/** Certificates of servers, read once: a check meets the same one as the check before, and reading it takes longer than all else that is done with it. */
import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";

/** Each some 10 kB. */
const KNOWN_LIMIT = 512;

/** By SHA-256 of their bytes; those met last are at the end. */
const known = new Map<string, X509Certificate>();

/** @returns undefined when the server has sent none */
export function peerCertificateOf(socket: TLSSocket): X509Certificate | undefined {
  const { raw, fingerprint256 } = socket.getPeerCertificate();
  if (raw === undefined) return undefined;
  const certificate = known.get(fingerprint256) ?? new X509Certificate(raw);
  known.delete(fingerprint256);
  known.set(fingerprint256, certificate);
  const [oldest] = known.keys();
  if (known.size > KNOWN_LIMIT && oldest !== undefined) known.delete(oldest);
  return certificate;
}
