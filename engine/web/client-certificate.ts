/**
 * The certificate that a website check shows of itself. It is a foreign key like those of tunnels: bounded before OpenSSL sees it, and given to it as
 * what was parsed, encoded anew. A key that another process would have to try first, RSA above 4,096 bits, is refused.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { HIDDEN } from "../../model/web-address.ts";
import { TunnelConfigError } from "../contract/tunnel.ts";
import { requireCertificates } from "../protocols/certificates.ts";
import { requirePrivateKey } from "../protocols/private-key.ts";

/** PEM. */
export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
}

export interface ClientSettings {
  readonly url: string;
  readonly client_certificate?: string | null | undefined;
  readonly client_key?: string | null | undefined;
}

export interface ClientFault {
  readonly field: "client_certificate" | "client_key";
  readonly message: string;
}

/** @returns why they cannot be used; undefined: they can, or there are none. Masked values are not checked. */
export function clientFault({
  url,
  client_certificate: cert,
  client_key: key,
}: ClientSettings): ClientFault | undefined {
  if (typeof cert !== "string" && typeof key !== "string") return undefined;
  if (typeof cert !== "string") return { field: "client_key", message: "client_key needs client_certificate." };
  if (typeof key !== "string") return { field: "client_certificate", message: "client_certificate needs client_key." };
  if (!/^https:/i.test(url)) {
    return { field: "client_certificate", message: "client_certificate needs an https URL." };
  }
  return (
    faultOf("client_certificate", () => cert !== HIDDEN && requireCertificates(cert, "client_certificate")) ??
    faultOf("client_key", () => key !== HIDDEN && usableKey(key)) ??
    faultOf("client_key", () => cert !== HIDDEN && key !== HIDDEN && requirePair(cert, key))
  );
}

/** @param settings without a fault */
export function clientIdentityOf({ client_certificate: cert, client_key: key }: ClientSettings): ClientIdentity | null {
  if (typeof cert !== "string" || typeof key !== "string") return null;
  return { cert: requireCertificates(cert, "client_certificate"), key: usableKey(key) };
}

function usableKey(text: string): string {
  const { pem, isUntried } = requirePrivateKey(text, "client_key");
  if (isUntried) throw new TunnelConfigError("client_key holds an RSA key of more than 4,096 bits");
  return pem;
}

function requirePair(cert: string, key: string): void {
  const own = new X509Certificate(requireCertificates(cert, "client_certificate"));
  if (!own.checkPrivateKey(createPrivateKey(usableKey(key)))) {
    throw new TunnelConfigError("client_key does not belong to client_certificate");
  }
}

function faultOf(field: ClientFault["field"], look: () => unknown): ClientFault | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    const message = error instanceof TunnelConfigError ? `${error.message}.` : `${field} cannot be read.`;
    return { field, message };
  }
}
