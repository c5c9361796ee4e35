/** Key method 2: what both sides say first inside TLS, and the keys that follow from it (openvpn ssl.c key_method_2_write, generate_key_expansion). Pure. */
import { createHash, createHmac } from "node:crypto";
import { KEY_BLOCK_BYTES } from "./static-key.ts";

const HEAD = Buffer.of(0, 0, 0, 0, 2);
export const PRE_MASTER_BYTES = 48;
export const RANDOM_BYTES = 32;
/** Longer texts are not read: a server's options are a line. */
const MAX_STRING_BYTES = 8_192;

export interface ClientSecrets {
  readonly preMaster: Buffer;
  readonly random1: Buffer;
  readonly random2: Buffer;
}

export interface ServerHello {
  readonly random1: Buffer;
  readonly random2: Buffer;
  readonly options: string;
  /** Where the control messages begin, in the bytes that were read. */
  readonly sizeBytes: number;
}

/** openvpn ssl.h IV_PROTO_*: DATA_V2, REQUEST_PUSH, TLS_KEY_EXPORT, AUTH_PENDING_KW, CC_EXIT_NOTIFY, AUTH_FAIL_TEMP, DATA_EPOCH. */
const PROTO_BITS = [1, 2, 3, 4, 7, 8, 10] as const;

/** What we can do, as servers of 2.4 and later are told. */
export function peerInfo(ciphers: readonly string[]): string {
  return [
    "IV_VER=2.6.14",
    "IV_PLAT=linux",
    "IV_TCPNL=1",
    "IV_MTU=1600",
    "IV_NCP=2",
    `IV_CIPHERS=${ciphers.join(":")}`,
    `IV_PROTO=${PROTO_BITS.reduce((bits, bit) => bits + 2 ** bit, 0)}`,
    "IV_LZO_STUB=1",
    "IV_COMP_STUB=1",
    "IV_COMP_STUBv2=1",
    // Otherwise a server with a web login does not say what it waits for (ways that we could not go).
    "IV_SSO=webauth,openurl,crtext",
    "",
  ].join("\n");
}

export interface KeyMethodTexts {
  readonly options: string;
  readonly username: string;
  readonly password: string;
  readonly peerInfo: string;
}

export function encodeKeyMethod(
  { preMaster, random1, random2 }: ClientSecrets,
  { options, username, password, peerInfo: info }: KeyMethodTexts,
): Buffer {
  const texts = [options, username, password, info].map(encodeString);
  return Buffer.concat([HEAD, preMaster, random1, random2, ...texts]);
}

/** With its NUL; one that is empty is only that. */
function encodeString(text: string): Buffer {
  const bytes = Buffer.concat([Buffer.from(text), Buffer.of(0)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The server's answer cannot be read. */
export class KeyMethodError extends Error {
  override readonly name = "KeyMethodError";
}

/**
 * @returns undefined while more is to come
 * @throws KeyMethodError
 */
export function decodeKeyMethod(bytes: Buffer): ServerHello | undefined {
  const fixed = HEAD.length + 2 * RANDOM_BYTES;
  if (!HEAD.subarray(0, bytes.length).equals(bytes.subarray(0, HEAD.length))) {
    throw new KeyMethodError("the server does not speak key method 2");
  }
  if (bytes.length < fixed + 2) return undefined;
  const length = bytes.readUInt16BE(fixed);
  if (length > MAX_STRING_BYTES) throw new KeyMethodError("the server's options are too long");
  const optionsEnd = fixed + 2 + length;
  if (bytes.length < optionsEnd) return undefined;
  return {
    random1: Buffer.from(bytes.subarray(HEAD.length, HEAD.length + RANDOM_BYTES)),
    random2: Buffer.from(bytes.subarray(HEAD.length + RANDOM_BYTES, fixed)),
    options: bytes.toString("latin1", fixed + 2, optionsEnd).split("\0")[0] ?? "",
    sizeBytes: optionsEnd + restBytes(bytes.subarray(optionsEnd)),
  };
}

/** User, password and peer info, which a server leaves empty or out; a control message begins with a letter, never with so small a length. */
function restBytes(bytes: Buffer): number {
  let at = 0;
  for (let strings = 0; strings < 3 && at + 2 <= bytes.length; strings++) {
    const length = bytes.readUInt16BE(at);
    if (length > MAX_STRING_BYTES || at + 2 + length > bytes.length) break;
    at += 2 + length;
  }
  return at;
}

export interface SessionIds {
  readonly client: Buffer;
  readonly server: Buffer;
}

/** The 256 bytes of data keys where both sides have not agreed on TLS's own exporter. */
export function deriveKeyBlock(
  { preMaster, random1, random2 }: ClientSecrets,
  server: Pick<ServerHello, "random1" | "random2">,
  ids: SessionIds,
): Buffer {
  const master = tls1Prf(
    preMaster,
    Buffer.concat([Buffer.from("OpenVPN master secret"), random1, server.random1]),
    PRE_MASTER_BYTES,
  );
  const seed = [Buffer.from("OpenVPN key expansion"), random2, server.random2, ids.client, ids.server];
  return tls1Prf(master, Buffer.concat(seed), KEY_BLOCK_BYTES);
}

/** RFC 2246 section 5. */
function tls1Prf(secret: Buffer, seed: Buffer, sizeBytes: number): Buffer {
  const half = Math.ceil(secret.length / 2);
  const md5 = pHash("md5", secret.subarray(0, half), seed, sizeBytes);
  const sha1 = pHash("sha1", secret.subarray(secret.length - half), seed, sizeBytes);
  return Buffer.from(md5.map((byte, index) => byte ^ (sha1[index] ?? 0)));
}

function pHash(digest: string, secret: Buffer, seed: Buffer, sizeBytes: number): Buffer {
  const parts: Buffer[] = [];
  const hmac = (data: Buffer): Buffer => createHmac(digest, secret).update(data).digest();
  const blockBytes = createHash(digest).digest().length;
  for (let a = hmac(seed); parts.length * blockBytes < sizeBytes; a = hmac(a))
    parts.push(hmac(Buffer.concat([a, seed])));
  return Buffer.concat(parts).subarray(0, sizeBytes);
}
