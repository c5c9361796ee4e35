import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Responder, type ResponderOptions } from "../../../demo/tunnels/wireguard-responder.ts";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import type { WireguardCrypto } from "./crypto.ts";
import { nodeCrypto } from "./crypto-node.ts";
import { type Framing, plainFraming, RESPONSE, setUint32, uint32At } from "./message.ts";
import { createPeerKeys, type PeerKeys } from "./noise.ts";
import { WireguardSession } from "./session.ts";
import { encodeTai64n } from "./tai64n.ts";

const CLIENT_SEED = new Uint8Array(32).fill(1);
const CLIENT_KEY = nodeCrypto.privateKey(CLIENT_SEED).publicBytes;
const PACKET = Uint8Array.from({ length: 28 }, (_, index) => index);

function serverOf(options: Partial<ResponderOptions> = {}): Responder {
  return new Responder({
    privateKey: new Uint8Array(32).fill(2),
    clients: [{ publicKey: CLIENT_KEY }],
    ephemeralSeed: new Uint8Array(32).fill(3),
    ...options,
  });
}

function sessionWith(
  server: Responder,
  framing: Framing = plainFraming(),
  seed = 0,
  crypto: WireguardCrypto = nodeCrypto,
): WireguardSession {
  let random = seed;
  let atNs = 1_000_000_000n;
  return new WireguardSession(peerOf(server, crypto), {
    framing,
    randomBytes: (size) => Uint8Array.from({ length: size }, () => (random = (random * 73 + 41) % 251)),
    timestamp: () => encodeTai64n(++atNs),
    mtuBytes: 1_420,
  });
}

function peerOf(server: Responder, crypto: WireguardCrypto): PeerKeys {
  const peer = createPeerKeys(crypto, { privateKey: CLIENT_SEED, serverKey: server.publicKey, presharedKey: null });
  if (peer === null) throw new Error("low order");
  return peer;
}

const last = (datagrams: readonly Uint8Array[]): Uint8Array => datagrams.at(-1) ?? new Uint8Array(0);
const some = (bytes: Uint8Array | undefined): Uint8Array => bytes ?? new Uint8Array(0);

describe("a session", () => {
  it("comes up, carries packets both ways and keepalives", () => {
    const server = serverOf();
    const session = sessionWith(server);
    expect(session.seal(PACKET)).toBeUndefined();
    const response = some(server.answer(last(session.initiate())));
    expect(session.receive(response)).toEqual({ kind: "established", attempt: 0 });
    expect(session.receive(response)).toEqual({ kind: "ignored" });
    const sent = some(session.seal(PACKET));
    expect(sent.length).toBe(16 + 32 + 16);
    expect(server.open(sent)?.subarray(0, 28)).toEqual(PACKET);
    const back = session.receive(some(server.seal(sent, PACKET)));
    expect(back.kind === "packet" && Uint8Array.from(back.packet.subarray(0, 28))).toEqual(PACKET);
    expect(session.receive(some(server.seal(sent, new Uint8Array(0))))).toEqual({ kind: "keepalive" });
  });

  it("takes the answer to an earlier attempt, and moves to the newest that was answered", () => {
    const server = serverOf();
    const session = sessionWith(server);
    const [first, second] = [last(session.initiate()), last(session.initiate())];
    const answers = [some(server.answer(first)), some(server.answer(second))];
    expect(session.receive(some(answers[1]))).toEqual({ kind: "established", attempt: 1 });
    const underNewest = uint32At(some(session.seal(PACKET)), 4);
    expect(session.receive(some(answers[0]))).toEqual({ kind: "established", attempt: 0 });
    expect(uint32At(some(session.seal(PACKET)), 4)).toBe(underNewest);
  });

  it("answers a cookie with a proof of its address, and is not led on by cookies without end", () => {
    const server = serverOf({ cookie: new Uint8Array(16).fill(9) });
    const session = sessionWith(server);
    const first = last(session.initiate());
    const cookie = some(server.answer(first));
    expect(session.receive(cookie)).toEqual({ kind: "cookie" });
    expect(session.hasCookie).toBe(true);
    expect(session.receive(cookie)).toEqual({ kind: "ignored" });
    expect(session.receive(some(server.answer(last(session.initiate()))))).toEqual({ kind: "established", attempt: 1 });

    const asking = serverOf({ cookie: new Uint8Array(16).fill(9) });
    const led = sessionWith(asking);
    let taken = 0;
    for (let each = 0; each < 20; each++) {
      const initiation = last(led.initiate());
      initiation.fill(0, 132); // its mac2 is lost on the way
      if (led.receive(some(asking.answer(initiation))).kind === "cookie") taken++;
    }
    expect(taken).toBe(4);
  });

  it("says when the preshared key is another", () => {
    const server = serverOf({ clients: [{ publicKey: CLIENT_KEY, presharedKey: new Uint8Array(32).fill(8) }] });
    const session = sessionWith(server);
    const response = some(server.answer(last(session.initiate())));
    expect(session.receive(response)).toEqual({ kind: "preshared-key-differs" });
  });

  it("agrees on keys once for each attempt, however many wrong answers come under a right mac1", () => {
    const server = serverOf();
    let agreed = 0;
    const counting: WireguardCrypto = {
      ...nodeCrypto,
      privateKey(seed) {
        const key = nodeCrypto.privateKey(seed);
        return {
          publicBytes: key.publicBytes,
          agree(peer) {
            agreed++;
            return key.agree(peer);
          },
        };
      },
    };
    const session = sessionWith(server, plainFraming(), 0, counting);
    const forged = some(server.answer(last(session.initiate())));
    forged.fill(0, RESPONSE.ephemeral, RESPONSE.nothing);
    const key = nodeCrypto.hash(new TextEncoder().encode("mac1----"), CLIENT_KEY);
    forged.set(nodeCrypto.mac(key, forged.subarray(0, RESPONSE.mac1)), RESPONSE.mac1);
    agreed = 0;
    for (let each = 0; each < 50; each++) expect(session.receive(forged)).toEqual({ kind: "ignored" });
    expect(agreed).toBe(2);
    const next = some(server.answer(last(session.initiate())));
    expect(session.receive(next)).toEqual({ kind: "established", attempt: 1 });
  });

  it("ignores what is for another index, replayed, of another type or another's", () => {
    const server = serverOf();
    const session = sessionWith(server);
    const response = some(server.answer(last(session.initiate())));
    const strange = Uint8Array.from(response);
    setUint32(strange, 8, 77);
    expect(session.receive(strange)).toEqual({ kind: "ignored" });
    session.receive(response);
    const sent = some(session.seal(PACKET));
    const back = some(server.seal(sent, PACKET));
    expect(session.receive(back).kind).toBe("packet");
    expect(session.receive(back)).toEqual({ kind: "ignored" });
    expect(session.receive(last(session.initiate()))).toEqual({ kind: "ignored" });
    expect(session.strays).toEqual([]);
  });

  it("remembers what cannot be read, until an answer came, and which of it is an answer after all", () => {
    const server = serverOf();
    const session = sessionWith(server);
    const response = some(server.answer(last(session.initiate())));
    const forged = Uint8Array.from(response).fill(1, 20);
    const padded = Uint8Array.of(1, 2, 3, ...response);
    for (const stray of [new Uint8Array(104), forged, Uint8Array.of(9), padded]) {
      expect(session.receive(stray)).toEqual({ kind: "ignored" });
    }
    session.receive(response);
    session.receive(new Uint8Array(50));
    expect(session.strays).toEqual([
      { sizeBytes: 104, answer: null },
      { sizeBytes: 1, answer: null },
      { sizeBytes: 95, answer: "response" },
    ]);
  });

  it("puts reserved bytes on the wire and takes them off", () => {
    const server = serverOf();
    const session = sessionWith(server, plainFraming(Uint8Array.of(7, 8, 9)));
    const initiation = last(session.initiate());
    expect([...initiation.subarray(0, 4)]).toEqual([1, 7, 8, 9]);
    initiation.fill(0, 1, 4);
    const response = some(server.answer(initiation));
    response.set([7, 8, 9], 1);
    expect(session.receive(response)).toEqual({ kind: "established", attempt: 0 });
  });

  it("survives any datagram, of any size, before and after it is up", () => {
    const server = serverOf();
    const fresh = sessionWith(server);
    fresh.initiate();
    const up = sessionWith(server, plainFraming(), 100);
    const response = some(server.answer(last(up.initiate())));
    up.receive(response);
    const good = [response, some(server.seal(some(up.seal(PACKET)), PACKET))];
    const types = fc
      .constantFrom(1, 2, 3, 4)
      .chain((type) => fc.uint8Array({ maxLength: 160 }).map((rest) => Uint8Array.of(type, 0, 0, 0, ...rest)));
    const changed = fc
      .tuple(fc.constantFrom(...good), fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(120))
      .map(([datagram, at, by, length]) => {
        const copy = Uint8Array.from(datagram);
        copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ by;
        return copy.subarray(0, Math.max(length, copy.length - length));
      });
    assertProperty(
      fc.property(fc.oneof(types, changed, fc.uint8Array({ maxLength: 2_000 })), (datagram) => {
        must(fresh.receive(datagram).kind === "ignored", "an answer that was not made");
        const { kind } = up.receive(datagram);
        must(kind === "ignored" || kind === "packet", "another kind");
      }),
      { numRuns: 100_000 },
    );
    expect(fresh.strays.length).toBe(8);
  }, 120_000);
});
