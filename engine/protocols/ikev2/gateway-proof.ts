/** Whether the gateway is the one that is meant: by its certificate or the pre-shared key (RFC 7296 section 2.15). Pure. */
import { NetworkFault } from "../../net/fault.ts";
import { AUTH_METHOD, isSharedKeyAuth, isSignature, signedOctets, type TakenSignatures } from "./auth.ts";
import {
  type Auth,
  decodeAuth,
  decodeCertificate,
  decodeIdentity,
  encodeIdentity,
  IDENTITY,
  type Identity,
} from "./bodies.ts";
import type { IkeSa } from "./ike-sa.ts";
import { bodyOf, PAYLOAD, type Payload, requiredBody } from "./message.ts";
import type { IkeSuite } from "./proposals.ts";
import { type Anchors, trustedKey } from "./trust.ts";

/** What both sides have said in IKE_SA_INIT, and prove in IKE_AUTH. */
export interface Agreed {
  readonly sa: IkeSa;
  readonly suite: IkeSuite;
  readonly request: Buffer;
  readonly response: Buffer;
  readonly initiatorNonce: Buffer;
  readonly responderNonce: Buffer;
  readonly taken: TakenSignatures;
}

export interface Expected {
  /** Asked for by name; null: whichever it has. */
  readonly wantedIdentity: Identity | null;
  /** What its certificate must be for. */
  readonly gateway: string;
  readonly sharedKey: string | null;
  readonly anchors: () => Anchors;
  /** Unix ms. */
  readonly nowMs: number;
}

/** Encoding "X.509 Certificate - Signature", section 3.6. */
export const CERTIFICATE_X509 = 4;

/**
 * @returns the gateway's identity payload, which it has proven
 * @throws NetworkFault `cert-invalid`, `misconfigured`
 */
export function requireGateway(agreed: Agreed, payloads: readonly Payload[], expected: Expected): Buffer {
  const proof = bodyOf(payloads, PAYLOAD.auth);
  if (proof === undefined) {
    throw new NetworkFault("cert-invalid", "The gateway does not prove who it is before it asks for the password", {
      hint: "Gateways without a certificate (EAP-only) are not trusted with a password",
    });
  }
  const identity = requiredBody(payloads, PAYLOAD.idResponder, "identity");
  requireWanted(identity, expected);
  const octets = gatewayOctets(agreed, identity);
  const auth = decodeAuth(proof);
  if (auth.method === AUTH_METHOD.sharedKey) requireSharedKey(agreed, octets, auth, expected);
  else requireCertificate(payloads, octets, auth, expected);
  return identity;
}

/** The identity of a gateway that will prove itself at the end, by the login alone (RFC 5998). @throws NetworkFault `cert-invalid` */
export function claimedIdentity(payloads: readonly Payload[], expected: Expected): Buffer {
  const identity = requiredBody(payloads, PAYLOAD.idResponder, "identity");
  requireWanted(identity, expected);
  return identity;
}

/**
 * Whether TLS within the login was with who is meant: a gateway that has proven itself may have a login server of any name behind it; one that
 * has not must have a certificate of its own name there.
 *
 * @throws NetworkFault `cert-invalid`
 */
export function requireLoginServer(
  certificates: readonly Buffer[],
  isGatewayProven: boolean,
  expected: Expected,
): void {
  const identity = isGatewayProven ? null : expected.gateway;
  trustedKey(certificates, expected.anchors(), identity, expected.nowMs, "login server");
}

export function gatewayOctets({ suite, response, initiatorNonce, sa }: Agreed, identity: Buffer): Buffer {
  return signedOctets(response, initiatorNonce, suite.prf, sa.keys.responderProof, identity);
}

function requireWanted(identity: Buffer, { wantedIdentity }: Expected): void {
  if (wantedIdentity === null || encodeIdentity(wantedIdentity).equals(identity)) return;
  const { type, data } = decodeIdentity(identity);
  // Names know no upper and lower case, and a gateway may say the same in another type.
  if (data.toString("latin1").toLowerCase() === wantedIdentity.data.toString("latin1").toLowerCase()) return;
  throw new NetworkFault("cert-invalid", "The gateway is another one than remote_id says", {
    peer: type === IDENTITY.ipv4 ? data.join(".") : data.toString("utf8"),
  });
}

function requireSharedKey({ suite }: Agreed, octets: Buffer, auth: Auth, { sharedKey }: Expected): void {
  if (sharedKey === null) {
    throw new NetworkFault("misconfigured", "The gateway proves itself with a pre-shared key, and none is given");
  }
  if (!isSharedKeyAuth(suite.prf, Buffer.from(sharedKey), octets, auth)) {
    throw new NetworkFault("cert-invalid", "The gateway does not know the pre-shared key");
  }
}

function requireCertificate(payloads: readonly Payload[], octets: Buffer, auth: Auth, expected: Expected): void {
  const certificates = payloads
    .filter(({ type }) => type === PAYLOAD.cert)
    .map(({ body }) => decodeCertificate(body))
    .filter(({ encoding }) => encoding === CERTIFICATE_X509)
    .map(({ data }) => data);
  if (certificates.length === 0) throw new NetworkFault("cert-invalid", "The gateway sent no certificate");
  const key = trustedKey(certificates, expected.anchors(), expected.gateway, expected.nowMs);
  if (!isSignature(auth, octets, key)) {
    throw new NetworkFault("cert-invalid", "The gateway's signature does not fit its certificate");
  }
}
