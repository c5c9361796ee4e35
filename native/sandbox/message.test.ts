import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HEADER_BYTES, IOVEC_BYTES, isHarmlessControl, MAX_DATA_BYTES, parseHeader, parseVector } from "./message.ts";
import {
  NOTIF_ADDFD,
  NOTIF_ID_VALID,
  NOTIF_RECV,
  NOTIF_SEND,
  Notification,
  Numbers,
  writeAddFd,
  writeResponse,
} from "./notification.ts";

function header({ name = 0n, nameBytes = 0, pieces = 1n, control = 0n, controlBytes = 0n }): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeBigUInt64LE(name, 0);
  bytes.writeInt32LE(nameBytes, 8);
  bytes.writeBigUInt64LE(0x1000n, 16);
  bytes.writeBigUInt64LE(pieces, 24);
  bytes.writeBigUInt64LE(control, 32);
  bytes.writeBigUInt64LE(controlBytes, 40);
  return bytes;
}

function control(...entries: readonly (readonly [level: number, type: number, bytes: number])[]): Buffer {
  return Buffer.concat(
    entries.map(([level, type, bytes]) => {
      const entry = Buffer.alloc(16 + Math.ceil(bytes / 8) * 8);
      entry.writeBigUInt64LE(BigInt(16 + bytes), 0);
      entry.writeInt32LE(level, 8);
      entry.writeInt32LE(type, 12);
      return entry;
    }),
  );
}

describe("what sendmsg is given", () => {
  it("is read as the kernel reads it", () => {
    expect(parseHeader(header({}))).toEqual({ name: null, vector: { at: 0x1000n, bytes: 16 }, control: null });
    expect(parseHeader(header({ name: 7n, nameBytes: 16, control: 9n, controlBytes: 24n, pieces: 2n }))).toEqual({
      name: { at: 7n, bytes: 16 },
      vector: { at: 0x1000n, bytes: 32 },
      control: { at: 9n, bytes: 24 },
    });
    // A name of more bytes is read as far as there are addresses; a negative one and too many pieces are none.
    expect(parseHeader(header({ name: 7n, nameBytes: 4_000 }))?.name?.bytes).toBe(128);
    for (const bad of [{ nameBytes: -1 }, { pieces: 65n }, { pieces: 1n << 63n }, { controlBytes: 513n }])
      expect(parseHeader(header(bad))).toBeNull();
  });

  it("is no longer than a datagram", () => {
    const vector = (...lengths: readonly bigint[]): Buffer => {
      const bytes = Buffer.alloc(lengths.length * IOVEC_BYTES);
      lengths.forEach((length, index) => {
        bytes.writeBigUInt64LE(length, index * IOVEC_BYTES + 8);
      });
      return bytes;
    };
    expect(parseVector(vector(1n, 2n))?.map(({ bytes }) => bytes)).toEqual([1, 2]);
    expect(parseVector(vector(BigInt(MAX_DATA_BYTES)))).toHaveLength(1);
    for (const lengths of [[BigInt(MAX_DATA_BYTES), 1n], [1n << 63n], [(1n << 64n) - 1n, 2n]])
      expect(parseVector(vector(...lengths))).toBeNull();
  });

  it("carries nothing that turns it elsewhere", () => {
    expect(isHarmlessControl(Buffer.alloc(0))).toBe(true);
    expect(isHarmlessControl(control([0, 1, 4], [17, 103, 2], [41, 67, 4]))).toBe(true);
    // IP_RETOPTS, IP_PKTINFO, IPV6_PKTINFO, IPV6_RTHDR, SO_MARK, SCM_RIGHTS; also behind one that is allowed.
    for (const [level, type] of [
      [0, 7],
      [0, 8],
      [41, 50],
      [41, 57],
      [1, 36],
      [1, 1],
    ] as const) {
      expect(isHarmlessControl(control([level, type, 12]))).toBe(false);
      expect(isHarmlessControl(control([0, 1, 4], [level, type, 12]))).toBe(false);
    }
    const short = control([0, 1, 4]);
    short.writeBigUInt64LE(15n, 0);
    expect(isHarmlessControl(short)).toBe(false);
    short.writeBigUInt64LE(1n << 40n, 0);
    expect(isHarmlessControl(short)).toBe(false);
  });

  it("is read of any bytes without a fault, and without end", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(typeof isHarmlessControl(Buffer.from(bytes))).toBe("boolean");
        parseVector(Buffer.from(bytes));
        if (bytes.length >= HEADER_BYTES) parseHeader(Buffer.from(bytes));
      }),
    );
  });
});

describe("a notification and its answers", () => {
  it("lie as linux/seccomp.h has them", () => {
    const told = new Notification();
    told.bytes.writeBigUInt64LE(0x1122_3344_5566_7788n, 0);
    told.bytes.writeUInt32LE(4_711, 8);
    told.bytes.writeInt32LE(42, 16);
    told.bytes.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, 32);
    told.bytes.writeBigUInt64LE(0x7fff_0000_1000n, 40);
    expect([told.pid, told.call, told.int(0), told.word(1)]).toEqual([4_711, 42, -1, 0x7fff_0000_1000n]);
    expect(told.high(1)).toBe(0x7fff);
    const out = new Numbers(24);
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
    expect(hex(writeResponse(out, told, -13))).toBe(`8877665544332211${"00".repeat(8)}f3ffffff00000000`);
    expect(hex(writeResponse(out, told, 7))).toBe(`88776655443322110700000000000000${"00".repeat(8)}`);
    expect(hex(writeAddFd(out, told, 9, 5, 0x8_0000))).toBe("887766554433221101000000090000000500000000000800");
    expect(hex(writeAddFd(out, told, 9, null, 0)).slice(16)).toBe("00000000090000000000000000000000");
    // As a C compiler says of SECCOMP_IOCTL_NOTIF_RECV, _SEND, _ID_VALID and _ADDFD.
    expect([NOTIF_RECV, NOTIF_SEND, NOTIF_ID_VALID, NOTIF_ADDFD]).toEqual([
      3_226_476_800, 3_222_806_785, 1_074_274_562, 1_075_323_139,
    ]);
  });
});
