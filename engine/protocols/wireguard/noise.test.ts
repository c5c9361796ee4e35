import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Responder } from "../../../demo/tunnels/wireguard-responder.ts";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { nodeCrypto } from "./crypto-node.ts";
import { portableCrypto } from "./crypto-portable.ts";
import { DataSession, ReplayWindow } from "./data.ts";
import { COOKIE_REPLY, INITIATION, RESPONSE } from "./message.ts";
import {
  createInitiation,
  createPeerKeys,
  type InitiationParts,
  type PeerKeys,
  readCookie,
  readResponse,
} from "./noise.ts";
import { encodeTai64n, nextTimestampNs } from "./tai64n.ts";

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Recorded from wireguard-go with keys made for the recording; the initiator's ephemeral was fixed. */
const RECORDED = {
  privateKey: "a8510d299a6ac4ae03610dcb66e0601487d9c67d9d62cfb6d5170c860d0a4f54",
  serverKey: "2e0492b92b99476c5bc8ff2e2b80d8cc5a9f9dc0c56e8c13e97edd501cb5c465",
  presharedKey: "98e43b97b19e5324ef8db23fa2fdb36bae7779a5fa924625920c3e9a83832e0b",
  ephemeralSeed: "c0de76016a1469e69554de363095474c1f38df0581006dea2bb7f32c2d97f865",
  timestamp: "400000006b013e002c770e80",
  hash: "57dbe5d0cf4e4bc299279ec37462469262fbb2b14a9504aee9f3a5e90b43dbaf",
  chainingKey: "ae075ebac5bd3fc1c9b30f7f3d669768f252da23f05f7207229e3c66fe63120b",
  initiation:
    "010000007856341227804467b753c7d5fb45e1c103a85393d223bace7a95f570ac7a27a0a5ce134e1ad7b7c1ec46a35ccdc34dbd344975ed853e5f3dbf77dff18a3be261c3d3dbc64861e82d7cc56d2aa8ddfa78ab5f9e71926aa51bdea62c06ed0d8d3d91513388f94c3e43d869aaad16e971414bf589c0f3021eb42ccc38dc77fac65400000000000000000000000000000000",
  response:
    "02000000357ddbf678563412d8b811bb9d444e75a0976f1d081c37eca03165fe6c2d982386f42848d28d481de56c2c8ccba107ed2fa26c315393ff7300f5987c43f900898f74762e77898b5200000000000000000000000000000000",
  send: "fe3ac5a2d138af02975a976883f0e64140468361a9df5d00067c3eb50213fa41",
  receive: "97e3761281074d13adb6068cd91ca668589567237453f354ea0bbafde46e863a",
  packet:
    "4500003ce9a74000400144d40a420002010101010800cfb4123400016161616161616161616161616161616161616161616161616161616161616161",
  sent: "04000000357ddbf60000000000000000346190f11567ef716228da584a9137aa6a58ef767f96e54839619f5baf61d4c9b072bcddde024f77240acf6008a634ae033fca263b8a361987f9d39a0afd484d0b2b5025c4dd192519e261c438b49eb5",
  received:
    "04000000785634120000000000000000a945682bcaad122e3c701c6d9b1faa8f735f397b81103756895e9aed20161a6da9567dea3edfb9e829b0bfd7357a585c4a7c5e11181847c418d1e1c89f3357b92c949e0c971a128cff8823dee07f723e",
  reply:
    "4500003c61de00003f010d9e010101010a4200020000d7b412340001616161616161616161616161616161616161616161616161616161616161616100000000",
};

const PARTS: InitiationParts = {
  ephemeralSeed: hex(RECORDED.ephemeralSeed),
  index: 0x12345678,
  timestamp: hex(RECORDED.timestamp),
  header: 1,
  cookie: null,
};

function peerOf(
  crypto = nodeCrypto,
  changes: Partial<Record<"privateKey" | "serverKey" | "presharedKey", string>> = {},
): PeerKeys {
  const keys = { ...RECORDED, ...changes };
  const peer = createPeerKeys(crypto, {
    privateKey: hex(keys.privateKey),
    serverKey: hex(keys.serverKey),
    presharedKey: hex(keys.presharedKey),
  });
  if (peer === null) throw new Error("the keys are of low order");
  return peer;
}

function initiationOf(peer: PeerKeys, parts: Partial<InitiationParts> = {}) {
  const initiation = createInitiation(peer, { ...PARTS, ...parts });
  if (initiation === null) throw new Error("the ephemeral key is of low order");
  return initiation;
}

describe.each([
  ["node", nodeCrypto],
  ["portable", portableCrypto],
])("a handshake with wireguard-go, as recorded, on the %s backend", (_name, crypto) => {
  it("is the same byte for byte", () => {
    const initiation = initiationOf(peerOf(crypto));
    expect(text(initiation.message)).toBe(RECORDED.initiation);
    expect(text(initiation.asked.hash)).toBe(RECORDED.hash);
    expect(text(initiation.asked.chainingKey)).toBe(RECORDED.chainingKey);
    const read = readResponse(peerOf(crypto), initiation.asked, hex(RECORDED.response));
    if (read.kind !== "accepted") throw new Error(read.kind);
    expect(text(read.keys.send)).toBe(RECORDED.send);
    expect(text(read.keys.receive)).toBe(RECORDED.receive);
    const data = new DataSession(crypto, read.keys);
    expect(text(data.seal(hex(RECORDED.packet), 4, 1_420))).toBe(RECORDED.sent);
    const opened = data.open(hex(RECORDED.received));
    expect(opened.kind === "packet" ? text(opened.packet) : opened.kind).toBe(RECORDED.reply);
    expect(data.open(hex(RECORDED.received)).kind).toBe("replayed");
  });
});

describe("a response", () => {
  const response = hex(RECORDED.response);

  it("under another preshared key, or none, says so", () => {
    const other = peerOf(nodeCrypto, { presharedKey: "00".repeat(32) });
    expect(readResponse(other, initiationOf(other).asked, response)).toEqual({ kind: "preshared-key-differs" });
  });

  it("whose mac1 is wrong concludes nothing", () => {
    const peer = peerOf();
    for (let bit = 0; bit < RESPONSE.mac2 * 8; bit++) {
      const changed = Uint8Array.from(response);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(readResponse(peer, initiationOf(peer).asked, changed)).toEqual({ kind: "not-authentic" });
    }
  }, 60_000);

  it("with an ephemeral key of low order under a right mac1 concludes nothing", () => {
    const peer = peerOf();
    const forged = Uint8Array.from(response);
    forged.fill(0, RESPONSE.ephemeral, RESPONSE.nothing);
    forged.set(peer.crypto.mac(peer.ownMac1Key, forged.subarray(0, RESPONSE.mac1)), RESPONSE.mac1);
    expect(readResponse(peer, initiationOf(peer).asked, forged)).toEqual({ kind: "void" });
  });

  it("of any bytes and length never throws and never gives keys", () => {
    const peer = peerOf();
    const initiation = initiationOf(peer).asked;
    assertProperty(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ minLength: 92, maxLength: 92 }), (one, other) => {
        must(readResponse(peer, initiation, one).kind === "not-authentic", "any bytes are a response");
        must(readResponse(peer, initiation, other).kind === "not-authentic", "any bytes are a response");
        must(readCookie(peer, initiation, one) === null, "any bytes are a cookie");
      }),
      { numRuns: 100_000 },
    );
  }, 120_000);
});

describe("cookies", () => {
  it("are opened for the initiation they answer, and prove our address in mac2", () => {
    const server = new Responder({
      privateKey: new Uint8Array(32).fill(3),
      clients: [{ publicKey: peerOf().privateKey.publicBytes, presharedKey: hex(RECORDED.presharedKey) }],
      ephemeralSeed: new Uint8Array(32).fill(4),
      cookie: new Uint8Array(16).fill(5),
    });
    const peer = peerOf(nodeCrypto, { serverKey: text(server.publicKey) });
    const first = initiationOf(peer);
    const reply = server.answer(first.message) ?? new Uint8Array(0);
    expect(reply.length).toBe(COOKIE_REPLY.bytes);
    expect(readCookie(peer, first.asked, reply)).toEqual(new Uint8Array(16).fill(5));
    expect(readCookie(peer, initiationOf(peer, { index: 9 }).asked, reply)).toBeNull();
    const second = initiationOf(peer, { cookie: readCookie(peer, first.asked, reply) });
    expect(text(second.message.subarray(INITIATION.mac2))).not.toBe("00".repeat(16));
    const response = server.answer(second.message) ?? new Uint8Array(0);
    expect(readResponse(peer, second.asked, response).kind).toBe("accepted");
  });
});

describe("server keys of low order", () => {
  it("are no keys", () => {
    const keys = { privateKey: hex(RECORDED.privateKey), serverKey: new Uint8Array(32), presharedKey: null };
    expect(createPeerKeys(nodeCrypto, keys)).toBeNull();
    expect(createPeerKeys(portableCrypto, keys)).toBeNull();
  });
});

describe("time stamps", () => {
  it("are encoded as TAI64N", () => {
    expect(text(encodeTai64n(0x6b013df6n * 1_000_000_000n + 0x2c770e80n))).toBe(RECORDED.timestamp);
  });

  it("grow within a millisecond, and never are ahead of it", () => {
    const at = 1_795_283_000_123;
    let last = nextTimestampNs(at, 0n);
    expect(last).toBe(BigInt(at) * 1_000_000n);
    for (let each = 0; each < 100; each++) {
      const next = nextTimestampNs(at, last);
      expect(next).toBe(last + 1n);
      last = next;
    }
    expect(nextTimestampNs(at + 1, last)).toBe(BigInt(at + 1) * 1_000_000n);
    expect(nextTimestampNs(at - 1, last)).toBe(BigInt(at - 1) * 1_000_000n);
    expect(nextTimestampNs(at, BigInt(at + 1) * 1_000_000n - 1n)).toBe(BigInt(at) * 1_000_000n);
  });
});

describe("the replay window", () => {
  // The order of cases is that of the kernel's selftest/counter.c, with our window of 2048.
  const WINDOW = 2_048;

  it("takes each counter once", () => {
    const window = new ReplayWindow();
    const cases: readonly (readonly [number, boolean])[] = [
      [0, true],
      [1, true],
      [1, false],
      [9, true],
      [8, true],
      [7, true],
      [7, false],
      [WINDOW, true],
      [WINDOW - 1, true],
      [WINDOW - 1, false],
      [WINDOW - 2, true],
      [2, true],
      [2, false],
      [WINDOW + 16, true],
      [3, false],
      [WINDOW + 16, false],
      [WINDOW * 4, true],
      [WINDOW * 4 - (WINDOW - 1), true],
      [10, false],
      [WINDOW * 4 - WINDOW, false],
      [WINDOW * 4 + 1, true],
      [2 ** 47, true],
      [2 ** 47 - 1, true],
      [0, false],
    ];
    for (const [counter, expected] of cases) expect([counter, window.accept(counter)]).toEqual([counter, expected]);
  });

  it("takes exactly what a set would, within its width", () => {
    assertProperty(
      fc.property(fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 80 }), (counters) => {
        const window = new ReplayWindow();
        const taken = new Set<number>();
        let greatest = -1;
        for (const counter of counters) {
          const expected = counter > greatest - WINDOW && !taken.has(counter);
          expect(window.accept(counter)).toBe(expected);
          if (expected) taken.add(counter);
          greatest = Math.max(greatest, counter);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
