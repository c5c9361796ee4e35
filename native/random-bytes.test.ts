import { describe, expect, it } from "vitest";
import { createRandomBytes } from "./random-bytes.ts";

/** Fills with ascending 32-bit numbers, so that no four bytes at a multiple of four are the same twice. */
function counting() {
  let count = 0;
  return (bytes: Uint8Array): void => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at + 4 <= bytes.length; at += 4) view.setUint32(at, ++count);
  };
}

describe("random bytes", () => {
  it("are as many as asked for, each given out once, whatever the sizes", () => {
    const randomBytes = createRandomBytes(counting());
    const sizes = Array.from({ length: 3_000 }, (_, index) => [4, 32, 12, 1_024, 8, 2_000][index % 6] ?? 4);
    const seen = new Set<number>();
    let words = 0;
    for (const size of sizes) {
      const bytes = randomBytes(size);
      expect(bytes.length).toBe(size);
      expect(bytes.byteOffset).toBe(0);
      const view = new DataView(bytes.buffer);
      for (let at = 0; at < size; at += 4) {
        seen.add(view.getUint32(at));
        words++;
      }
    }
    expect(seen.size).toBe(words);
    expect(seen.has(0)).toBe(false);
  });

  it("come from the system unless told otherwise", () => {
    const randomBytes = createRandomBytes();
    const texts = new Set(Array.from({ length: 1_000 }, () => Buffer.from(randomBytes(16)).toString("hex")));
    expect(texts.size).toBe(1_000);
    expect(randomBytes(0).length).toBe(0);
  });
});
