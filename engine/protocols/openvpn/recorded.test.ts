import { describe, expect, it } from "vitest";
import type { Compression } from "./control-text.ts";
import { DataChannel, type DataChannelOptions, dataCipherOf, digestOf } from "./data-channel.ts";
import { deriveKeyBlock } from "./key-method.ts";
import { decodeControl, OPCODE } from "./packet.ts";
import { createProtection, type ProtectionKeys } from "./protection.ts";
import { RECORDED } from "./recorded.suite.ts";
import { type KeyBlock, keyBlockOf } from "./static-key.ts";

interface Made {
  readonly isEpoch?: boolean;
  readonly compression?: Compression;
  readonly iv?: Buffer;
  readonly isServer?: boolean;
  readonly hasFragments?: boolean;
}

function channel(
  keyBlock: Buffer,
  cipher: string,
  { isEpoch = false, compression = "none", iv = Buffer.alloc(0), isServer = false, hasFragments = false }: Made = {},
): DataChannel {
  const [send, receive] = keyBlockOf(keyBlock);
  const keys: KeyBlock = isServer ? [receive, send] : [send, receive];
  const options: DataChannelOptions = {
    keys,
    cipher: dataCipherOf(cipher) ?? expect.fail(`no ${cipher}`),
    isEpoch,
    digest: digestOf("SHA256") ?? expect.fail("no digest"),
    peerId: 0,
    compression,
    hasFragments,
    randomBytes: () => iv,
  };
  return new DataChannel(options);
}

describe("recorded sessions", () => {
  it.each([RECORDED.gcm, RECORDED.cbc])("have the keys that follow from both sides' randoms", (session) => {
    const server = { random1: session.serverRandom1, random2: session.serverRandom2 };
    const secrets = { preMaster: session.preMaster, random1: session.clientRandom1, random2: session.clientRandom2 };
    const ids = { client: session.clientSessionId, server: session.serverSessionId };
    expect(deriveKeyBlock(secrets, server, ids)).toEqual(session.keyBlock);
  });

  it.each([
    { name: "AES-256-GCM", session: RECORDED.gcm, made: channel(RECORDED.gcm.keyBlock, "AES-256-GCM") },
    {
      name: "AES-256-GCM with epochs",
      session: RECORDED.epoch,
      made: channel(RECORDED.epoch.keyBlock, "AES-256-GCM", { isEpoch: true }),
    },
    {
      name: "AES-256-CBC under comp-lzo",
      session: RECORDED.cbc,
      made: channel(RECORDED.cbc.keyBlock, "AES-256-CBC", {
        compression: "lzo",
        iv: RECORDED.cbc.dataSent.subarray(4 + 32, 4 + 32 + 16),
      }),
    },
  ])("carry packets both ways: $name", ({ session, made }) => {
    expect(made.seal(session.innerSent)).toEqual(session.dataSent);
    expect(made.open(session.dataReceived)).toEqual({ kind: "packet", packet: session.innerReceived });
    expect(made.open(session.dataReceived).kind).toBe("replayed");
    const changed = Buffer.from(session.dataReceived);
    changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
    expect(made.open(changed).kind).toBe("not-authentic");
  });

  it.each<{ name: string; keys: ProtectionKeys; reset: Buffer; client: Buffer }>([
    {
      name: "tls-crypt",
      keys: { kind: "tls-crypt", key: keyBlockOf(RECORDED.tlsCrypt.staticKey) },
      reset: RECORDED.tlsCrypt.reset,
      client: RECORDED.tlsCrypt.clientSessionId,
    },
    {
      name: "tls-auth",
      keys: {
        kind: "tls-auth",
        key: keyBlockOf(RECORDED.tlsAuth.staticKey),
        digest: "sha256",
        digestBytes: 32,
        direction: 1,
      },
      reset: RECORDED.tlsAuth.reset,
      client: RECORDED.tlsAuth.clientSessionId,
    },
  ])("begin with a server's reset under $name", ({ keys, reset, client }) => {
    const opened = createProtection(keys).open(reset) ?? expect.fail("not opened");
    expect(decodeControl(opened.header, opened.body)).toMatchObject({
      opcode: OPCODE.serverReset,
      messageId: 0,
      acks: [0],
      remoteSessionId: client,
    });
    const changed = Buffer.from(reset);
    changed[0] = OPCODE.control << 3;
    expect(createProtection(keys).open(changed)).toBeUndefined();
  });
});

describe("the data channel", () => {
  const ciphers = ["AES-256-GCM", "AES-192-GCM", "AES-128-GCM", "CHACHA20-POLY1305", "AES-256-CBC", "AES-128-CBC"];
  const packet = Buffer.concat([Buffer.of(0x45), Buffer.alloc(59, 7)]);

  it.each(
    ciphers.flatMap((name) => (["none", "lzo", "swap", "v2"] as const).map((compression) => ({ name, compression }))),
  )("with $name and $compression brings a packet over", ({ name, compression }) => {
    for (const hasFragments of [false, true]) {
      const made = { compression, iv: Buffer.alloc(16, 3), hasFragments };
      const client = channel(RECORDED.gcm.keyBlock, name, made);
      const server = channel(RECORDED.gcm.keyBlock, name, { ...made, isServer: true });
      expect(server.open(client.seal(packet))).toEqual({ kind: "packet", packet });
      expect(server.open(client.sealExit())).toEqual({ kind: "in-band" });
      expect(client.open(server.seal(packet))).toEqual({ kind: "packet", packet });
    }
  });

  it("tells packets that are framed in another way from those under other keys", () => {
    const client = channel(RECORDED.gcm.keyBlock, "AES-256-GCM");
    const lzo = channel(RECORDED.gcm.keyBlock, "AES-256-GCM", { compression: "lzo", isServer: true });
    const other = channel(RECORDED.cbc.keyBlock, "AES-256-GCM", { isServer: true });
    expect(client.open(lzo.seal(packet))).toEqual({ kind: "odd" });
    expect(client.open(other.seal(packet))).toEqual({ kind: "not-authentic" });
  });
});
