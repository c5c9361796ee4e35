import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  copyIpv4,
  IPV6_BYTES,
  isIpv4,
  type Peer,
  packTargets,
  parseSockaddr,
  type Target,
  TargetList,
  unmapped,
  unpackTargets,
  writePeer,
} from "./peer.ts";

const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Buffer.from(bytes));
const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes));
const peers = fc.record({ ip: fc.oneof(ipv4, ipv6), port: fc.nat(65_535) });
const out = Buffer.alloc(IPV6_BYTES);

function written(peer: Peer, isIpv6: boolean): Buffer {
  return Buffer.from(out.subarray(0, writePeer(out, peer, isIpv6)));
}

describe("an address of a system call", () => {
  it("is what the kernel's headers say", () => {
    const ip = Buffer.from([192, 0, 2, 1]);
    expect(written({ ip, port: 443 }, false).toString("hex")).toBe("020001bbc00002010000000000000000");
    expect(written({ ip, port: 443 }, true).toString("hex")).toBe(
      "0a0001bb0000000000000000000000000000ffffc000020100000000",
    );
    expect(writePeer(out, { ip: Buffer.alloc(16, 1), port: 1 }, false)).toBe(0);
  });

  it("is read as it was written, in either family", () => {
    fc.assert(
      fc.property(peers, (peer) => {
        const plain = { ip: unmapped(peer.ip), port: peer.port };
        expect(parseSockaddr(written(peer, true))).toEqual(plain);
        const bytes = written(peer, peer.ip.length === 16);
        expect(isIpv4(bytes)).toBe(peer.ip.length === 4);
        if (!isIpv4(bytes)) return;
        expect(parseSockaddr(bytes)).toEqual(peer);
        const copy = Buffer.alloc(bytes.length);
        copyIpv4(copy, bytes);
        expect(copy).toEqual(bytes);
      }),
    );
  });

  it("is one of the internet, whole, and names no interface", () => {
    const whole = written({ ip: Buffer.alloc(16, 1), port: 1 }, true);
    expect(parseSockaddr(whole.subarray(0, 24))).not.toBeNull();
    expect(parseSockaddr(whole.subarray(0, 23))).toBeNull();
    expect(parseSockaddr(written({ ip: Buffer.alloc(4), port: 1 }, false).subarray(0, 15))).toBeNull();
    whole.writeUInt32LE(2, 24);
    expect(parseSockaddr(whole)).toBeNull();
    // AF_UNSPEC, AF_UNIX, AF_NETLINK.
    for (const family of [0, 1, 16]) {
      const other = Buffer.alloc(28);
      other.writeUInt16LE(family, 0);
      expect(parseSockaddr(other)).toBeNull();
    }
  });

  it("is read of any bytes without a fault", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 128 }), (bytes) => {
        const peer = parseSockaddr(Buffer.from(bytes));
        if (peer !== null) expect([4, 16]).toContain(peer.ip.length);
      }),
    );
  });
});

describe("a list of what may be reached", () => {
  const at = (text: string): Buffer => Buffer.from(text, "hex");
  const list = new TargetList([
    { ip: at("c0000201"), firstPort: 443, lastPort: 443, protocol: "tcp" },
    { ip: at("c0000201"), firstPort: 5_000, lastPort: 6_000, protocol: "udp" },
    { ip: at("00000000000000000000ffffc0000202"), firstPort: 80, lastPort: 80, protocol: "tcp" },
  ]);

  it("knows address, port and protocol together", () => {
    expect(list.has({ ip: at("c0000201"), port: 443 }, "tcp")).toBe(true);
    expect(list.has({ ip: at("c0000201"), port: 443 }, "udp")).toBe(false);
    expect(list.has({ ip: at("c0000202"), port: 443 }, "tcp")).toBe(false);
    expect(list.has({ ip: at("c0000202"), port: 80 }, "tcp")).toBe(true);
    expect([4_999, 5_000, 6_000, 6_001].map((port) => list.has({ ip: at("c0000201"), port }, "udp"))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it("has what it was given and nothing else", () => {
    const targets = fc.record({
      ip: fc.oneof(ipv4, ipv6),
      firstPort: fc.nat(65_535),
      protocol: fc.constantFrom("tcp" as const, "udp" as const),
    });
    fc.assert(
      fc.property(fc.array(targets, { maxLength: 8 }), peers, (list, other) => {
        const all = list.map((one): Target => ({ ...one, lastPort: one.firstPort }));
        expect(unpackTargets(packTargets(all))).toEqual(all);
        const made = new TargetList(all);
        for (const { ip, firstPort: port, protocol } of all)
          expect(made.has({ ip: unmapped(ip), port }, protocol)).toBe(true);
        const plain = other.ip.length === 4 ? written(other, false) : null;
        for (const protocol of ["tcp", "udp"] as const) {
          if (plain !== null) expect(made.hasIpv4(plain, protocol)).toBe(made.has(other, protocol));
        }
        const isGiven = all.some(({ ip, firstPort }) => unmapped(ip).equals(other.ip) && firstPort === other.port);
        if (!isGiven) expect(made.has(other, "tcp") || made.has(other, "udp")).toBe(false);
      }),
    );
  });
});
