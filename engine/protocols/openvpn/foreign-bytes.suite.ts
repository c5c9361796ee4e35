/** What tests of foreign bytes share (hostile.test.ts, test/fuzz/targets/vpn.ts): recorded packets as seeds, and channels that receive them. */
import { ControlChannel } from "./control-channel.ts";
import type { Compression } from "./control-text.ts";
import { DataChannel, dataCipherOf, digestOf } from "./data-channel.ts";
import { encodeControlBody, encodeControlHeader, OPCODE } from "./packet.ts";
import { createProtection, type ProtectionKeys } from "./protection.ts";
import { RECORDED } from "./recorded.suite.ts";
import { keyBlockOf } from "./static-key.ts";

const SESSION_ID = RECORDED.tlsCrypt.clientSessionId;
const SERVER_ID = Buffer.alloc(8, 0x5e);

export function serverPacket(
  opcode: number,
  messageId: number | null,
  payload: Buffer,
  acks: readonly number[] = [],
): Buffer {
  const body = encodeControlBody({ acks, remoteSessionId: SESSION_ID, messageId, payload });
  return Buffer.concat([encodeControlHeader(opcode, SERVER_ID), body]);
}

/** A server's half of the key method, with its options. */
export const SERVER_HELLO = Buffer.concat([
  Buffer.of(0, 0, 0, 0, 2),
  Buffer.alloc(64, 1),
  Buffer.of(0, 4),
  Buffer.from("V4,\0"),
]);

export const SEEDS: readonly Buffer[] = [
  RECORDED.tlsCrypt.reset,
  RECORDED.tlsAuth.reset,
  RECORDED.gcm.dataReceived,
  RECORDED.cbc.dataReceived,
  RECORDED.epoch.dataReceived,
  serverPacket(OPCODE.serverReset, 0, Buffer.of(0, 1, 0, 2, 0, 1), [0]),
  serverPacket(OPCODE.control, 1, Buffer.alloc(30, 7), [0, 1]),
  serverPacket(OPCODE.ack, null, Buffer.alloc(0), [0, 1, 2]),
];

const PROTECTIONS: readonly ProtectionKeys[] = [
  { kind: "none" },
  { kind: "tls-crypt", key: keyBlockOf(RECORDED.tlsCrypt.staticKey) },
  { kind: "tls-auth", key: keyBlockOf(RECORDED.tlsAuth.staticKey), digest: "sha256", digestBytes: 32, direction: 1 },
];

/** A control channel under each protection, opened, that has received the packet twice. */
export function afterReceiving(packet: Buffer): readonly ControlChannel[] {
  return PROTECTIONS.map((keys) => {
    const channel = new ControlChannel({
      protection: createProtection(keys),
      sessionId: SESSION_ID,
      isStream: false,
    });
    channel.open();
    channel.due(0, 0);
    channel.receive(packet);
    channel.receive(packet);
    return channel;
  });
}

/** One of each cipher's form and compression. */
export const DATA_CHANNELS: readonly DataChannel[] = [
  { block: RECORDED.gcm.keyBlock, cipher: "AES-256-GCM", isEpoch: false },
  { block: RECORDED.epoch.keyBlock, cipher: "AES-256-GCM", isEpoch: true },
  { block: RECORDED.cbc.keyBlock, cipher: "AES-256-CBC", isEpoch: false },
].flatMap(({ block, cipher, isEpoch }) =>
  (["none", "lzo", "swap", "v2"] as const).map((compression: Compression) => {
    const known = dataCipherOf(cipher);
    const digest = digestOf("SHA256");
    if (known === undefined || digest === undefined) throw new Error("a cipher that is not known");
    return new DataChannel({
      keys: keyBlockOf(block),
      cipher: known,
      isEpoch,
      digest,
      peerId: 0,
      compression,
      hasFragments: compression === "swap",
      randomBytes: (size) => Buffer.alloc(size),
    });
  }),
);
