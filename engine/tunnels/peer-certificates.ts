/** Certificates of servers, parsed once: the next check of a server gets the same one, and parsing costs more than everything else done with it. */
import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { BoundedMap } from "../../model/bounded-map.ts";

/** Each some 10 kB. */
const KNOWN_LIMIT = 512;

/** By SHA-256 of their bytes. */
const known = new BoundedMap<string, X509Certificate>(KNOWN_LIMIT);

/** @returns undefined when the server has sent none */
export function peerCertificateOf(socket: TLSSocket): X509Certificate | undefined {
  const { raw, fingerprint256 } = socket.getPeerCertificate();
  if (raw === undefined) return undefined;
  const certificate = known.get(fingerprint256) ?? new X509Certificate(raw);
  known.set(fingerprint256, certificate);
  return certificate;
}
