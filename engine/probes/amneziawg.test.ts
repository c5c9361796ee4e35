import { createCipheriv } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { openWireguardServer, type ServerOptions, type WireguardServer } from "../../demo/tunnels/wireguard-server.ts";
import { FAULTY_PATHS, openDatagramRelay } from "../../testkit/datagram-relay.ts";
import type { Outcome } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { nodeCrypto } from "../protocols/wireguard/crypto-node.ts";
import { createTransport } from "../transport/index.ts";
import { makeCheck, openMirror } from "../transport/peers.suite.ts";
import { amneziawg } from "./amneziawg.ts";

const probe = await amneziawg.load();

const CLIENT = new Uint8Array(32).fill(0x41);
const CLIENT_KEY = nodeCrypto.privateKey(CLIENT).publicBytes;
const PROTECTION = Buffer.from("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "hex");
/** S1 to S4 of all servers here: one size, so that what strips and dresses datagrams need not know their kind. */
const PADDING = 16;
const SHARED = `S1 = ${PADDING}\nS2 = ${PADDING}\nS3 = ${PADDING}\nS4 = ${PADDING}\n`;

let servers: WireguardServer[] = [];
afterEach(async () => {
  for (const server of servers) await server.close();
  servers = [];
});

async function serverWith(options: Partial<ServerOptions> = {}): Promise<WireguardServer> {
  const server = await openWireguardServer({
    privateKey: new Uint8Array(32).fill(0x61),
    clients: [{ publicKey: CLIENT_KEY }],
    ephemeralSeed: new Uint8Array(32).fill(0x71),
    strip: (datagram) => (datagram.length > PADDING ? datagram.subarray(PADDING) : undefined),
    dress: (message) => Uint8Array.from([...new Uint8Array(PADDING), ...message]),
    ...options,
  });
  servers.push(server);
  return server;
}

/** Head covered as 3.x does, by OpenSSL. */
function covered(datagram: Uint8Array, bytes: number): Uint8Array {
  const nonce = Buffer.concat([Buffer.alloc(4), datagram.subarray(0, 12)]);
  const cipher = createCipheriv("chacha20", PROTECTION, nonce);
  const copy = Uint8Array.from(datagram);
  copy.set(cipher.update(datagram.subarray(PADDING, PADDING + bytes)), PADDING);
  return copy;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

function configOf(server: Pick<WireguardServer, "port" | "publicKey">, lines: string): string {
  return `[Interface]\nPrivateKey = ${base64(CLIENT)}\nAddress = 10.66.0.2/32\n${lines}[Peer]\nPublicKey = ${base64(server.publicKey)}\nEndpoint = 127.0.0.1:${server.port}\nAllowedIPs = 0.0.0.0/0\n`;
}

async function check(config: string, isAnonymous = false, withinMs = 10_000): Promise<Outcome> {
  const transport = createTransport(
    {
      allowNets: ["127.0.0.0/8"],
      ownEndpoints: [],
      resolvers: ["127.0.0.1:1"],
      extraCaPem: null,
      rdapBootstrapUrl: null,
      canaries: null,
    },
    { isAnonymous },
  );
  try {
    const context = { ...makeCheck(transport).context, deadlineAtMs: Date.now() + withinMs };
    return await probe.run(amneziawg.settings.parse({ config }), context);
  } catch (error) {
    return classify(error, "handshake");
  }
}

describe("an AmneziaWG tunnel", () => {
  it("sends signatures, junk and its disguise, and comes up; its own address is not the public one", async () => {
    const server = await serverWith({ responseHeader: 250, transportHeader: 450 });
    const lines = `${SHARED}H1 = 100-199\nH2 = 200-299\nH3 = 300-399\nH4 = 400-499\nJc = 3\nJmin = 5\nJmax = 9\nI1 = <b 0xfeedface>\n`;
    const outcome = await check(configOf(server, lines));
    expect(outcome).toMatchObject({ verdict: "ok", tunnel: { assignedIp: null, connectionTimeMs: outcome.connectMs } });
    expect(server.received.slice(0, 5).map(({ length }) => length)).toEqual([
      4,
      expect.toSatisfy((length: number) => length >= 5 && length <= 9),
      expect.any(Number),
      expect.any(Number),
      148 + PADDING,
    ]);
    expect(server.received[0]?.toString()).toBe(Buffer.from("feedface", "hex").toString());
  });

  it("of 3.x covers its heads, and reads covered answers with trailers", async () => {
    const server = await serverWith({
      strip: (datagram) => {
        const isHandshake = datagram.length === PADDING + 148;
        return covered(datagram, isHandshake ? 148 : 16).subarray(PADDING);
      },
      dress: (message) => {
        const datagram = Uint8Array.from([...new Uint8Array(PADDING).fill(9), ...message]);
        if (message.length !== 92) return covered(datagram, 16);
        return Uint8Array.from([...covered(datagram, 92), 1, 2, 3]);
      },
    });
    const lines = `${SHARED}HeaderProtectionKey = ${PROTECTION.toString("base64")}\nRandomTrailers = on\nContentPaddingAddition = 3-40\n`;
    expect(await check(configOf(server, lines))).toMatchObject({ verdict: "ok" });
  });

  it("tells which of S2 and H2 is another at the server", async () => {
    const server = await serverWith({ responseHeader: 7 });
    expect(await check(configOf(server, SHARED))).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining("H2"),
      hint: "Settings read as AmneziaWG 2.0",
    });
    const other = await serverWith();
    const outcome = await check(configOf(other, SHARED.replace("S2 = 16", "S2 = 30")));
    expect(outcome).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining("S2 is 16 there, and 30 here"),
    });
  }, 20_000);

  it("tells S2 of covered answers too", async () => {
    const server = await serverWith({
      strip: (datagram) => covered(datagram, 148).subarray(PADDING),
      dress: (message) => covered(Uint8Array.from([...new Uint8Array(PADDING).fill(9), ...message]), message.length),
    });
    const key = `HeaderProtectionKey = ${PROTECTION.toString("base64")}\n`;
    const outcome = await check(configOf(server, SHARED.replace("S2 = 16", "S2 = 30") + key), false, 1_200);
    expect(outcome).toMatchObject({
      verdict: "misconfigured",
      message: expect.stringContaining("S2 is 16 there, and 30 here"),
    });
  });

  it("to another service on its port does not blame its settings", async () => {
    const server = await serverWith({ dress: () => new Uint8Array(1_200) });
    expect(await check(configOf(server, SHARED), false, 1_200)).toMatchObject({
      verdict: "protocol-error",
      message: "The server answered with 1200 bytes that this configuration cannot read",
      hint: "Another service may be on this port, or S2 or H2 may be other than there",
      peerAnswered: true,
    });
  });

  it("names S1 and H1 among the reasons of silence", async () => {
    const server = await serverWith({ clients: [] });
    expect(await check(configOf(server, SHARED), false, 1_200)).toMatchObject({
      verdict: "timeout",
      message: expect.stringContaining("client key not registered there, S1 or H1 other than there, or clock behind"),
    });
  });

  it.each(["", `HeaderProtectionKey = ${base64(PROTECTION)}\nRandomTrailers = on\n`])(
    "whose datagrams come back to it is not connected, and nothing is said of its settings: %j",
    async (newer) => {
      const mirror = await openMirror();
      const publicKey = nodeCrypto.privateKey(new Uint8Array(32).fill(0x61)).publicBytes;
      const lines = `${SHARED}${newer}Jc = 4\nJmin = 60\nJmax = 120\nI1 = <r 108>\nI2 = <r 200>\n`;
      const outcome = await check(configOf({ port: mirror.port, publicKey }, lines), false, 1_200);
      await mirror.close();
      expect(outcome).toMatchObject({
        verdict: "timeout",
        peerAnswered: false,
        hint: "2 initiations were sent, and only this checker's own datagrams came back: something on the way mirrors them",
      });
    },
  );

  it.each(Object.entries(FAULTY_PATHS))(
    "to a server under load comes up through a path that %s",
    async (_name, faults) => {
      const server = await serverWith({ cookie: new Uint8Array(16).fill(7) });
      const relay = await openDatagramRelay({ server: { host: "127.0.0.1", port: server.port }, faults });
      const lines = `${SHARED}Jc = 3\nJmin = 108\nJmax = 164\nI1 = <r 108>\n`;
      const outcome = await check(configOf({ ...server, port: relay.port }, lines));
      await relay.close();
      expect(outcome).toMatchObject({ verdict: "ok" });
    },
  );

  it("sends no junk for an anonymous caller", async () => {
    const server = await serverWith();
    const junk = await check(configOf(server, `${SHARED}Jc = 1\nJmin = 5\nJmax = 9\n`), true);
    expect(junk).toMatchObject({ verdict: "misconfigured", message: expect.stringContaining("without an account") });
    expect(server.received.length).toBe(0);
    expect((await check(configOf(server, SHARED), true)).verdict).toBe("ok");
  });
});
