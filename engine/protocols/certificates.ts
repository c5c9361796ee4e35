/** Certificates as configurations carry them: PEM, one or more. Whether they fit anything is found out by the check. */

import { X509Certificate } from "node:crypto";
import { pemBlocks } from "../../model/text.ts";
import { TunnelConfigError } from "../tunnel.ts";

/** A bundle of every public authority has about 150. */
const MOST = 256;

/** @throws TunnelConfigError naming the field when it holds no certificate, or one that cannot be read */
export function requireCertificates(pem: string, field: string): void {
  const blocks = pemBlocks(pem, "CERTIFICATE");
  if (blocks.length === 0) throw new TunnelConfigError(`${field} holds no certificate in PEM`);
  if (blocks.length > MOST) throw new TunnelConfigError(`${field} holds more than ${MOST} certificates`);
  for (const block of blocks) {
    try {
      new X509Certificate(block);
    } catch {
      throw new TunnelConfigError(`${field} holds a certificate that cannot be read`);
    }
  }
}
