/**
 * IKEv2 gateways: no file, only fields. With a username EAP, by password or by certificate; without one a certificate or a pre-shared key
 * (docs/api-contract.md#tunnel-fields).
 */
import {
  identityOf,
  missing,
  type ParsedTunnel,
  presentFields,
  required,
  TunnelConfigError,
  type TunnelFields,
} from "../../contract/tunnel.ts";
import { requireCertificates } from "../certificates.ts";
import { endpointOfFields, withAddress } from "../endpoint.ts";
import { isDistinguishedName, readIdentity } from "./identity.ts";
import { type GivenCertificate, requireOwnCertificate } from "./own-certificate.ts";
import { sameName } from "./trust.ts";

const STANDARD_PORT = 500;
/** Where both sides go on once they know of address translation (RFC 7296 section 2.23). */
const NAT_PORT = 4_500;

/** @throws TunnelConfigError */
export function parseIkev2(fields: TunnelFields): ParsedTunnel {
  const host = required(fields, "host");
  const { username, password, psk, port, ip, remote_id, ca, local_id } = fields;
  const isEap = isGiven(username);
  const own = isGiven(fields.cert) || isGiven(fields.key) ? ownCertificateOf(fields) : null;
  if (own === null && isEap) required(fields, "password");
  else if (own === null && !isGiven(password) && !isGiven(psk)) throw missing("password");
  const server = endpointOfFields(fields, host, STANDARD_PORT);
  if (isGiven(ca)) requireCertificates(ca, "ca");
  if (isGiven(local_id)) requireIdentity(local_id, own);
  return {
    protocol: "ikev2",
    fields: presentFields({
      host,
      ...(isEap && { username }),
      ...(password !== undefined && { password }),
      ...(psk !== undefined && { psk }),
      ...(port !== undefined && { port }),
      ...(remote_id !== undefined && { remote_id }),
      ...(ip !== undefined && { ip }),
      ...(ca !== undefined && { ca }),
      ...(isGiven(local_id) && { local_id }),
      ...(own !== null && { cert: fields.cert, key: fields.key }),
    }),
    // Any other port takes everything, in the form of 4500.
    endpoints: withAddress(
      fields,
      server.port === STANDARD_PORT ? [server, { host: server.host, port: NAT_PORT }] : [server],
    ),
    identity: identityOf("ikev2", isEap ? username : accountOf(local_id, own), secretOf(fields, own), server),
  };
}

/** A gateway identifies clients without a username by their identity; with a pre-shared key and no identity that is our address, the same for all. */
function accountOf(localId: string | undefined, certificate: GivenCertificate | null): string {
  if (isGiven(localId)) return `id ${localId.trim()}`;
  return certificate === null ? "psk" : `id ${certificate.subject.toString("hex")}`;
}

/** Beside a certificate of ours a pre-shared key is the gateway's proof. */
function secretOf({ password, psk }: TunnelFields, certificate: GivenCertificate | null): string {
  if (certificate !== null) return certificate.keyPem;
  return (isGiven(password) ? password : psk) ?? "";
}

/** @throws TunnelConfigError */
function ownCertificateOf({ password, cert, key }: TunnelFields): GivenCertificate {
  if (!isGiven(cert) || !isGiven(key)) throw new TunnelConfigError("cert and key go together");
  if (isGiven(password)) {
    throw new TunnelConfigError("password has no use beside cert and key; a gateway's pre-shared key is psk");
  }
  return requireOwnCertificate(cert, key);
}

/** @throws TunnelConfigError */
function requireIdentity(text: string, certificate: GivenCertificate | null): void {
  if (isDistinguishedName(text)) {
    if (certificate !== null && sameName(certificate.subjectText, text)) return;
    throw new TunnelConfigError("local_id is a distinguished name, but not the subject of cert");
  }
  if (readIdentity(text) === undefined) {
    throw new TunnelConfigError("local_id is no identity: use a name, an address, an e-mail address, or @#hexadecimal");
  }
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}
