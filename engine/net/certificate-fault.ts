/** What is wrong with a TLS server's certificate, found after a handshake that accepted any certificate. */
import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { classifyCode } from "./classify.ts";
import { NetworkFault } from "./fault.ts";

/**
 * @param socket one that is not `authorized`
 * @param certificate the one that it showed. Not read from the socket here, because a second reading gives its issuer's
 *   or nothing (Node, crypto::GetPeerCert, which takes the first one off the chain).
 */
export function certificateFaultOf(
  socket: TLSSocket,
  host: string,
  certificate: X509Certificate | undefined,
  nowMs: number,
): NetworkFault {
  // Node's types say Error; what it sets is the error's code (lib/_tls_wrap.js, onConnectSecure).
  const code = String(socket.authorizationError);
  const words = classifyCode(code, "handshake")?.message ?? `The certificate is not valid (${code})`;
  if (code === "CERT_HAS_EXPIRED") return new NetworkFault("cert-invalid", expiredWords(words, certificate, nowMs));
  if (code === "CERT_NOT_YET_VALID") return new NetworkFault("cert-invalid", `${words}: ${certificate?.validFrom}`);
  if (code === "UNSPECIFIED") return new NetworkFault("cert-invalid", `${words}${reasonOf(socket)}`);
  if (code !== "ERR_TLS_CERT_ALTNAME_INVALID") return new NetworkFault("cert-invalid", words);
  return new NetworkFault("cert-invalid", `${words} than ${host}`, {
    peer: certificate?.subjectAltName ?? certificate?.subject ?? "",
  });
}

/** OpenSSL's own words for what Node has no code for, such as a digest that is too weak. Node keeps them where its types do not look. */
function reasonOf(socket: TLSSocket): string {
  const { ssl } = socket as unknown as { readonly ssl?: { verifyError?(): Error | null } | null };
  const reason = ssl?.verifyError?.()?.message;
  return reason === undefined ? "" : `: ${reason}`;
}

/** OpenSSL gives one code for the server's certificate and for those above it. */
function expiredWords(words: string, certificate: X509Certificate | undefined, nowMs: number): string {
  const validTo = certificate?.validTo;
  return validTo !== undefined && Date.parse(validTo) > nowMs
    ? `A certificate that the server's depends on has expired; the server's own is valid until ${validTo}`
    : `${words}: ${validTo}`;
}
