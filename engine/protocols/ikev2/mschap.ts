/** MSCHAPv2: RFC 2759, and the keys of RFC 3079 section 3. Pure. */
import { createCipheriv, createHash } from "node:crypto";
import { md4 } from "./md4.ts";

/** RFC 2759 section 8.7. */
const SIGNING_MAGIC = Buffer.from("Magic server to client signing constant");
const PADDING_MAGIC = Buffer.from("Pad to make it do more than one iteration");
/** RFC 3079 section 3.4. */
const MASTER_MAGIC = Buffer.from("This is the MPPE Master Key");
const CLIENT_SENDS_MAGIC = Buffer.from(
  "On the client side, this is the send key; on the server side, it is the receive key.",
);
const CLIENT_RECEIVES_MAGIC = Buffer.from(
  "On the client side, this is the receive key; on the server side, it is the send key.",
);
const SHA_PAD_1 = Buffer.alloc(40, 0x00);
const SHA_PAD_2 = Buffer.alloc(40, 0xf2);

export interface Challenges {
  /** 16 bytes each. */
  readonly peer: Buffer;
  readonly authenticator: Buffer;
}

export interface MschapProof {
  /** 24 bytes, proves that we know the password. */
  readonly response: Buffer;
  /** `S=` and 40 hexadecimal digits: what only a server that knows the password can say. */
  readonly expected: string;
  /** 64 bytes: MS-MPPE-Recv-Key, MS-MPPE-Send-Key, zeros (draft-kamath-pppext-eap-mschapv2-02 section 2.3). */
  readonly masterSessionKey: Buffer;
}

export function proveMschap(username: string, password: string, challenges: Challenges): MschapProof {
  const passwordHash = md4(Buffer.from(password, "utf16le"));
  const hashHash = md4(passwordHash);
  // A domain in front is no part of the name here (RFC 2759 section 4).
  const name = Buffer.from(username.slice(username.lastIndexOf("\\") + 1), "utf8");
  const challenge = sha1(challenges.peer, challenges.authenticator, name).subarray(0, 8);
  const response = challengeResponse(challenge, passwordHash);
  const signature = sha1(sha1(hashHash, response, SIGNING_MAGIC), challenge, PADDING_MAGIC);
  const masterKey = sha1(hashHash, response, MASTER_MAGIC).subarray(0, 16);
  const startKey = (magic: Buffer): Buffer => sha1(masterKey, SHA_PAD_1, magic, SHA_PAD_2).subarray(0, 16);
  return {
    response,
    expected: `S=${signature.toString("hex").toUpperCase()}`,
    masterSessionKey: Buffer.concat([startKey(CLIENT_SENDS_MAGIC), startKey(CLIENT_RECEIVES_MAGIC), Buffer.alloc(32)]),
  };
}

/** Three DES encryptions of the challenge under thirds of the hash (RFC 2759 section 8.5). */
function challengeResponse(challenge: Buffer, passwordHash: Buffer): Buffer {
  const key = Buffer.concat([passwordHash, Buffer.alloc(5)]);
  return Buffer.concat([0, 7, 14].map((at) => des(key.subarray(at, at + 7), challenge)));
}

/** Single DES, which OpenSSL 3 has no longer, is triple DES with one key three times. */
export function des(sevenBytes: Buffer, block: Buffer): Buffer {
  const key = withParityBits(sevenBytes);
  const cipher = createCipheriv("des-ede3", Buffer.concat([key, key, key]), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(block), cipher.final()]);
}

/** 56 bits spread over eight bytes; the lowest bit of each is ignored by DES. */
function withParityBits(sevenBytes: Buffer): Buffer {
  const bits = BigInt(`0x${sevenBytes.toString("hex")}`);
  return Buffer.from(Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(49 - 7 * index)) & 0x7fn) << 1));
}

function sha1(...parts: readonly Buffer[]): Buffer {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
