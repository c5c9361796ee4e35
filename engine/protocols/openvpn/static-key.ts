/** OpenVPN's key files: the static key of tls-auth and tls-crypt, and the client key of tls-crypt-v2 (openvpn crypto.c, doc/tls-crypt-v2.txt). Pure. */

/** What one direction of a 256-byte key block has. */
export interface KeyHalf {
  readonly cipher: Buffer;
  readonly hmac: Buffer;
}

/** Two of them; which one sends is the user's business. */
export type KeyBlock = readonly [KeyHalf, KeyHalf];

const PART_BYTES = 64;
export const KEY_BLOCK_BYTES = 4 * PART_BYTES;
/** tls_crypt.h: TLS_CRYPT_V2_MAX_WKC_LEN. */
const MAX_WRAPPED_BYTES = 1_024;

export interface ClientKeyV2 {
  readonly key: KeyBlock;
  /** Sent to the server as it is; only it can read it. */
  readonly wrapped: Buffer;
}

/** A key file that cannot be read; the message never repeats it. */
export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

export function keyBlockOf(bytes: Buffer): KeyBlock {
  const part = (index: number): Buffer => bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES);
  return [
    { cipher: part(0), hmac: part(1) },
    { cipher: part(2), hmac: part(3) },
  ];
}

/** @throws KeyFileError */
export function parseStaticKey(text: string): KeyBlock {
  const body = between(text, "OpenVPN Static key V1");
  const hex = body?.replace(/\s/g, "") ?? "";
  if (!/^[0-9a-f]+$/i.test(hex) || hex.length !== 2 * KEY_BLOCK_BYTES) {
    throw new KeyFileError("is no OpenVPN static key of 2048 bits");
  }
  return keyBlockOf(Buffer.from(hex, "hex"));
}

/** @throws KeyFileError */
export function parseClientKeyV2(text: string): ClientKeyV2 {
  const body = between(text, "OpenVPN tls-crypt-v2 client key");
  const bytes = Buffer.from(body?.replace(/\s/g, "") ?? "", "base64");
  const wrapped = bytes.subarray(KEY_BLOCK_BYTES);
  const isWhole =
    wrapped.length > 2 &&
    wrapped.length <= MAX_WRAPPED_BYTES &&
    wrapped.readUInt16BE(wrapped.length - 2) === wrapped.length;
  if (!isWhole) throw new KeyFileError("is no client key of tls-crypt-v2");
  return { key: keyBlockOf(bytes.subarray(0, KEY_BLOCK_BYTES)), wrapped };
}

function between(text: string, label: string): string | undefined {
  const begin = `-----BEGIN ${label}-----`;
  const start = text.indexOf(begin);
  const end = text.indexOf(`-----END ${label}-----`, start + begin.length);
  return start < 0 || end < 0 ? undefined : text.slice(start + begin.length, end);
}
