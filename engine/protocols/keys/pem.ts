/** PEM (RFC 7468) as configurations carry it: blocks with any text around them. What OpenSSL is given is written anew from what was read here. Pure. */

export interface PemBlock {
  /** `CERTIFICATE`, `RSA PRIVATE KEY` and so on. */
  readonly label: string;
  readonly der: Buffer;
  /** By a password, in the older way: a header says so and the content is no DER (RFC 1421 section 4.6.1.1). */
  readonly isEncrypted: boolean;
}

const BEGIN = "-----BEGIN ";
const DASHES = "-----";
const LABEL = /^[A-Z0-9 ]{1,40}$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;
/** Ours: four bundles of every public authority. */
const MAX_BLOCKS = 1_024;

/** @returns at most 1,024; reading ends at the first that has no end, and what holds other than base64 is left out */
export function readPem(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let at = text.indexOf(BEGIN);
  while (at >= 0 && blocks.length < MAX_BLOCKS) {
    const labelAt = at + BEGIN.length;
    const labelEnd = text.indexOf(DASHES, labelAt);
    if (labelEnd < 0) break;
    const label = text.slice(labelAt, labelEnd);
    if (!LABEL.test(label)) {
      at = text.indexOf(BEGIN, labelAt);
      continue;
    }
    const end = `-----END ${label}-----`;
    const bodyAt = labelEnd + DASHES.length;
    const endAt = text.indexOf(end, bodyAt);
    if (endAt < 0) break;
    const block = blockOf(label, text.slice(bodyAt, endAt));
    if (block !== undefined) blocks.push(block);
    at = text.indexOf(BEGIN, endAt + end.length);
  }
  return blocks;
}

export function writePem(label: string, der: Buffer): string {
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return `${BEGIN}${label}${DASHES}\n${lines}\n-----END ${label}-----\n`;
}

/** Lines with a colon are headers: `Proc-Type: 4,ENCRYPTED`, `DEK-Info: …`. */
function blockOf(label: string, text: string): PemBlock | undefined {
  const lines = text.trimStart().split("\n");
  const first = lines.findIndex((line) => !line.includes(":"));
  const body = lines.slice(Math.max(0, first)).join("\n");
  if (!BASE64.test(body)) return undefined;
  const isEncrypted = lines.slice(0, first).some((line) => line.startsWith("Proc-Type:") && line.includes("ENCRYPTED"));
  return { label, der: Buffer.from(body, "base64"), isEncrypted };
}
