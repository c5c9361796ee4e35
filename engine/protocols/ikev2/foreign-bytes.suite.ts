/** What tests of foreign bytes share (hostile.test.ts, test/fuzz/targets/vpn.ts): recorded messages as seeds, keys of both forms, and an initiator that waits. */
import { AES_128_CBC, AES_256_GCM, HMAC_SHA256_128 } from "./algorithms.ts";
import { Initiator } from "./initiator.ts";
import type { DirectionKeys } from "./keys.ts";
import { RECORDED } from "./recorded.suite.ts";
import { createAnchors } from "./trust.ts";

export const SEEDS: readonly Buffer[] = [
  RECORDED.initRequest,
  RECORDED.initResponse,
  RECORDED.authRequest,
  RECORDED.authResponse,
  RECORDED.authRequestInner,
  RECORDED.authResponseInner,
  RECORDED.espReceived,
];

export const GCM_KEYS: DirectionKeys = {
  encryption: AES_256_GCM,
  integrity: null,
  key: Buffer.alloc(32, 1),
  salt: Buffer.alloc(4, 2),
  integrityKey: Buffer.alloc(0),
};
export const CBC_KEYS: DirectionKeys = {
  encryption: AES_128_CBC,
  integrity: HMAC_SHA256_128,
  key: Buffer.alloc(16, 1),
  salt: Buffer.alloc(0),
  integrityKey: Buffer.alloc(32, 3),
};

export function sameBytes(sizeBytes: number): Uint8Array {
  return Buffer.alloc(sizeBytes, 7);
}

/** No authority is trusted. */
export const NO_ANCHORS = createAnchors([]);

/** An initiator that has sent its first message and waits for the answer. Its key share costs most of it: one that ignored an answer can take the next. */
export function waitingInitiator() {
  const initiator = new Initiator(
    {
      identity: () => ({ type: 2, data: Buffer.from("u") }),
      wantedIdentity: null,
      gateway: "gw",
      login: null,
      certificate: null,
      sharedKey: "k",
      anchors: () => NO_ANCHORS,
      remote: { address: Buffer.alloc(4), port: 500 },
    },
    { randomBytes: (sizeBytes) => RECORDED.authRequest.subarray(0, sizeBytes), wallNowMs: () => 0 },
  );
  const talk = initiator.open();
  talk.next();
  return { initiator, talk };
}
