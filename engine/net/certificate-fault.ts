/** What is wrong with a TLS server's certificate, found after a handshake that accepted any certificate. */
import type { TLSSocket } from "node:tls";
import { classifyCode } from "./classify.ts";
import { NetworkFault } from "./fault.ts";

/** @param socket one that is not `authorized` */
export function certificateFaultOf(socket: TLSSocket, host: string): NetworkFault {
  // Node's types say Error; what it sets is the error's code (lib/_tls_wrap.js, onConnectSecure).
  const code = String(socket.authorizationError);
  const words = classifyCode(code, "handshake")?.message ?? `The certificate is not valid (${code})`;
  const certificate = socket.getPeerX509Certificate();
  if (code === "CERT_HAS_EXPIRED") return new NetworkFault("cert-invalid", `${words}: ${certificate?.validTo}`);
  if (code === "CERT_NOT_YET_VALID") return new NetworkFault("cert-invalid", `${words}: ${certificate?.validFrom}`);
  if (code !== "ERR_TLS_CERT_ALTNAME_INVALID") return new NetworkFault("cert-invalid", words);
  return new NetworkFault("cert-invalid", `${words} than ${host}`, {
    peer: certificate?.subjectAltName ?? certificate?.subject ?? "",
  });
}
