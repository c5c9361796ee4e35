/**
 * How control packets are protected before there is TLS: not at all, tls-auth (HMAC), tls-crypt (encrypted under a shared key) and tls-crypt-v2
 * (the same under a key of this client's, which comes along wrapped). openvpn ssl_pkt.c, tls_crypt.c; doc/tls-crypt-v2.txt. Pure.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { CONTROL_HEADER_BYTES, uint32 } from "./packet.ts";
import type { ClientKeyV2, KeyBlock } from "./static-key.ts";

/** Packet id and time. */
const STAMP_BYTES = 8;
const TAG_BYTES = 32;
const IV_BYTES = 16;
const KEY_BYTES = 32;
/** The first packet id of a client that can send its wrapped key once more (tls_crypt.h, EARLY_NEG_START). */
const EARLY_NEGOTIATION_START = 0x0f00_0000;

export interface Opened {
  readonly header: Buffer;
  readonly body: Buffer;
}

/** Of one session; each packet that goes out takes a packet id of its own, also when its message is sent again. */
export interface Protection {
  /** Sent at the end of the first packet, unencrypted; null: none. */
  readonly wrappedKey: Buffer | null;
  seal(header: Buffer, body: Buffer, wallNowMs: number): Buffer;
  /** @returns undefined when it is not the peer's */
  open(packet: Buffer): Opened | undefined;
}

export type ProtectionKeys =
  | { readonly kind: "none" }
  | {
      readonly kind: "tls-auth";
      readonly key: KeyBlock;
      readonly digest: string;
      readonly digestBytes: number;
      /** Of `key-direction`; null: one key both ways. */
      readonly direction: 0 | 1 | null;
    }
  | { readonly kind: "tls-crypt"; readonly key: KeyBlock }
  | { readonly kind: "tls-crypt-v2"; readonly client: ClientKeyV2 };

export function createProtection(keys: ProtectionKeys): Protection {
  switch (keys.kind) {
    case "none":
      return plain;
    case "tls-auth":
      return authenticated(keys.key, keys.digest, keys.digestBytes, keys.direction);
    case "tls-crypt":
      return encrypted(keys.key, null, 1);
    case "tls-crypt-v2":
      return encrypted(keys.client.key, keys.client.wrapped, EARLY_NEGOTIATION_START);
  }
}

const plain: Protection = {
  wrappedKey: null,
  seal: (header, body) => Buffer.concat([header, body]),
  open: (packet) =>
    packet.length < CONTROL_HEADER_BYTES
      ? undefined
      : { header: packet.subarray(0, CONTROL_HEADER_BYTES), body: packet.subarray(CONTROL_HEADER_BYTES) },
};

function authenticated(key: KeyBlock, digest: string, digestBytes: number, direction: 0 | 1 | null): Protection {
  const [send, receive] = direction === 1 ? [key[1], key[0]] : [key[0], direction === null ? key[0] : key[1]];
  const sign = ({ hmac }: KeyBlock[0], stamp: Buffer, header: Buffer, body: Buffer): Buffer =>
    createHmac(digest, hmac.subarray(0, digestBytes)).update(stamp).update(header).update(body).digest();
  let packetId = 0;
  return {
    wrappedKey: null,
    seal(header, body, wallNowMs) {
      const stamp = stampOf(++packetId, wallNowMs);
      return Buffer.concat([header, sign(send, stamp, header, body), stamp, body]);
    },
    open(packet) {
      const stampAt = CONTROL_HEADER_BYTES + digestBytes;
      if (packet.length < stampAt + STAMP_BYTES) return undefined;
      const header = packet.subarray(0, CONTROL_HEADER_BYTES);
      const stamp = packet.subarray(stampAt, stampAt + STAMP_BYTES);
      const body = packet.subarray(stampAt + STAMP_BYTES);
      const isTheirs = timingSafeEqual(
        sign(receive, stamp, header, body),
        packet.subarray(CONTROL_HEADER_BYTES, stampAt),
      );
      return isTheirs ? { header, body } : undefined;
    },
  };
}

function encrypted([server, client]: KeyBlock, wrappedKey: Buffer | null, firstId: number): Protection {
  const tagOf = ({ hmac }: KeyBlock[0], open: Buffer, body: Buffer): Buffer =>
    createHmac("sha256", hmac.subarray(0, KEY_BYTES)).update(open).update(body).digest();
  let nextId = firstId;
  return {
    wrappedKey,
    seal(header, body, wallNowMs) {
      const open = Buffer.concat([header, stampOf(nextId++, wallNowMs)]);
      const tag = tagOf(client, open, body);
      const cipher = createCipheriv("aes-256-ctr", client.cipher.subarray(0, KEY_BYTES), tag.subarray(0, IV_BYTES));
      return Buffer.concat([open, tag, cipher.update(body), cipher.final()]);
    },
    open(packet) {
      const tagAt = CONTROL_HEADER_BYTES + STAMP_BYTES;
      if (packet.length < tagAt + TAG_BYTES) return undefined;
      const tag = packet.subarray(tagAt, tagAt + TAG_BYTES);
      const decipher = createDecipheriv("aes-256-ctr", server.cipher.subarray(0, KEY_BYTES), tag.subarray(0, IV_BYTES));
      const body = Buffer.concat([decipher.update(packet.subarray(tagAt + TAG_BYTES)), decipher.final()]);
      if (!timingSafeEqual(tagOf(server, packet.subarray(0, tagAt), body), tag)) return undefined;
      return { header: packet.subarray(0, CONTROL_HEADER_BYTES), body };
    },
  };
}

function stampOf(packetId: number, wallNowMs: number): Buffer {
  return Buffer.concat([uint32(packetId), uint32(Math.floor(wallNowMs / 1_000))]);
}
