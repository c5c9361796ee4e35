/** What we prove ourselves by, as the fields `cert` and `key` hold it. Pure. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { requireCertificates, subjectOf } from "../certificates.ts";
import { readPem } from "../keys/pem.ts";
import { requirePrivateKey } from "../private-key.ts";
import { maySign } from "./auth.ts";
import { namesOf } from "./certificate.ts";
import { DER, encodeDer } from "./der.ts";

/** Ours: chains of clients have three at most. */
const CHAIN_LIMIT = 16;

export interface GivenCertificate {
  /** DER, ours first. */
  readonly chain: readonly Buffer[];
  /** Our subject in DER, as an identity has it. */
  readonly subject: Buffer;
  /** The same, a line for each part. */
  readonly subjectText: string;
  readonly keyPem: string;
  /** null: it has to be opened and tried out elsewhere. */
  readonly key: KeyObject | null;
}

/** @throws TunnelConfigError */
export function requireOwnCertificate(cert: string, key: string): GivenCertificate {
  const chain = readPem(requireCertificates(cert, "cert")).map(({ der }) => der);
  if (chain.length > CHAIN_LIMIT) throw new TunnelConfigError(`cert holds more than ${CHAIN_LIMIT} certificates`);
  const { pem, isUntried } = requirePrivateKey(key, "key");
  const opened = isUntried ? null : openKey(pem);
  const own = opened === null ? chain[0] : chain.find((der) => new X509Certificate(der).checkPrivateKey(opened));
  if (own === undefined) throw new TunnelConfigError("cert and key do not belong together");
  const subject = Buffer.from(namesOf(own)?.subject ?? "", "hex");
  return {
    chain: [own, ...chain.filter((der) => der !== own)],
    subject: encodeDer(DER.sequence, subject),
    subjectText: subjectOf(new X509Certificate(own)),
    keyPem: pem,
    key: opened,
  };
}

/** @param pem bounded before. @throws TunnelConfigError */
export function openKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new TunnelConfigError("key cannot be read");
  }
  if (!maySign(key))
    throw new TunnelConfigError("key is of a kind that IKEv2 does not sign with: use RSA, ECDSA or Ed25519");
  return key;
}
