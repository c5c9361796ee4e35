/** Opens a foreign key and tries it out: what the opener's process does for each. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify, X509Certificate } from "node:crypto";
import { boundCertificate, boundPrivateKey, KeyBoundError, type KeyForm } from "../protocols/keys/key-bounds.ts";
import { readPem, writePem } from "../protocols/keys/pem.ts";
import { openPkcs12 } from "../protocols/keys/pkcs12.ts";
import type { ForeignKey, KeyAnswer, OpenedKey } from "./key-opener.ts";

const TRIED = Buffer.from("a signature that is thrown away");

/** Has no time limit: it runs in a process that can be killed. */
export function openKey(key: ForeignKey): KeyAnswer {
  try {
    return { type: "opened", opened: key.kind === "pkcs12" ? opened(Buffer.from(key.bytes)) : tried(key.pem) };
  } catch (error) {
    const words = error instanceof KeyBoundError ? `holds ${error.message}` : "cannot be read";
    return { type: "refused", refusal: { verdict: "misconfigured", words } };
  }
}

function opened(bytes: Buffer): OpenedKey {
  const { keys, certificates } = openPkcs12(bytes);
  const [der] = keys;
  if (der === undefined || certificates.length === 0) throw new KeyBoundError("no key with a certificate");
  for (const certificate of certificates) boundCertificate(certificate);
  const { key, pem } = readKey(der, "PRIVATE KEY");
  const read = certificates.map((certificate) => new X509Certificate(certificate));
  const leaf = read.find((certificate) => certificate.checkPrivateKey(key));
  if (leaf === undefined) throw new KeyBoundError("a key that belongs to none of its certificates");
  const ordered = [leaf, ...read.filter((certificate) => certificate !== leaf)];
  return { keyPem: pem, certificatePems: ordered.map(({ raw }) => writePem("CERTIFICATE", raw)) };
}

function tried(text: string): OpenedKey {
  const [block] = readPem(text);
  if (block === undefined) throw new KeyBoundError("no key", true);
  return { keyPem: readKey(block.der, block.label as KeyForm).pem, certificatePems: [] };
}

/** A key that signs what its public half does not accept costs several times as much at each signature, and is of no use. */
function readKey(der: Buffer, form: KeyForm): { readonly key: KeyObject; readonly pem: string } {
  boundPrivateKey(der, form);
  const key = createPrivateKey(writePem(form, der));
  const digest = key.asymmetricKeyType === "ed25519" || key.asymmetricKeyType === "ed448" ? null : "sha256";
  if (!verify(digest, TRIED, createPublicKey(key), sign(digest, TRIED, key))) {
    throw new KeyBoundError("a key whose parts do not belong together");
  }
  return { key, pem: key.export({ type: "pkcs8", format: "pem" }).toString() };
}
