import type { TLSSocket } from "node:tls";

/**
 * Node makes objects of a peer's whole chain to compare one name with the first certificate in it (lib/_tls_wrap.js, onConnectSecure),
 * 0.3 ms of a handshake of 2 ms. So until the connection is secure only the first certificate is read; later calls get what they ask for.
 */
export function readLeafOnly(secure: TLSSocket): void {
  const leaf = (): unknown => Object.getPrototypeOf(secure).getPeerCertificate.call(secure, false);
  Object.defineProperty(secure, "getPeerCertificate", { value: leaf, configurable: true });
  secure.once("secureConnect", () => Reflect.deleteProperty(secure, "getPeerCertificate"));
}
