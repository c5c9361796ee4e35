import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../testkit/property.ts";
import { HandshakeGate, MOST_HELD_BYTES } from "./handshake-gate.ts";

function gate() {
  const turns: (() => void)[] = [];
  const passed: Buffer[] = [];
  const made = new HandshakeGate(
    (read) => void turns.push(read),
    (bytes) => void passed.push(bytes),
  );
  return { made, turns, passed: () => Buffer.concat(passed).toString("latin1") };
}
const record = (type: number, bytes: number): Buffer => {
  const head = Buffer.from([type, 3, 3, 0, 0]);
  head.writeUInt16BE(bytes, 3);
  return Buffer.concat([head, Buffer.alloc(bytes, type)]);
};
const HELLO = record(22, 300);
const text = (words: string): Buffer => Buffer.from(words, "latin1");

describe("what a server sends", () => {
  it("passes at once in the clear, and once application data went out", () => {
    const { made, turns, passed } = gate();
    made.sent(text("EHLO test-site.org\r\n"));
    made.heard(text("250 "));
    expect(passed()).toBe("250 ");
    made.sent(HELLO);
    made.heard(text("flight"));
    expect(passed()).toBe("250 ");
    turns.shift()?.();
    made.sent(Buffer.concat([record(20, 1), record(23, 40)]));
    made.heard(text(" data"));
    expect(passed()).toBe("250 flight data");
    expect(turns).toEqual([]);
  });

  it("waits for one turn, together with what came meanwhile, and its end waits too", () => {
    const { made, turns, passed } = gate();
    made.sent(HELLO);
    made.heard(text("a"));
    made.heard(text("b"));
    let hasEnded = false;
    made.afterwards(() => {
      hasEnded = true;
    });
    expect([turns.length, passed(), hasEnded]).toEqual([1, "", false]);
    turns.shift()?.();
    expect([passed(), hasEnded]).toEqual(["ab", true]);
    made.heard(text("c"));
    expect(turns).toHaveLength(1);
  });

  it("waits after a second hello, however our records are cut", () => {
    const ours = Buffer.concat([HELLO, record(20, 1), record(22, 400), record(20, 1), record(22, 60)]);
    assertProperty(
      fc.property(fc.integer({ min: 1, max: ours.length }), fc.boolean(), (pieceBytes, isOver) => {
        const { made, turns, passed } = gate();
        const all = isOver ? Buffer.concat([ours, record(23, 5)]) : ours;
        for (let at = 0; at < all.length; at += pieceBytes) made.sent(all.subarray(at, at + pieceBytes));
        made.heard(text("x"));
        expect([turns.length, passed()]).toEqual(isOver ? [0, "x"] : [1, ""]);
      }),
    );
  });

  it("is refused beyond its bound, and not behind the handshake", () => {
    const { made } = gate();
    made.sent(HELLO);
    expect(made.heard(Buffer.alloc(MOST_HELD_BYTES))).toBeNull();
    expect(made.heard(Buffer.alloc(1))?.message).toContain("before TLS is there");
    const other = gate();
    other.made.sent(HELLO);
    other.made.sent(record(23, 1));
    expect(other.made.heard(Buffer.alloc(10 * MOST_HELD_BYTES))).toBeNull();
  });
});
