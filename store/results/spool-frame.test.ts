import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import {
  decodeFrames,
  encodeFrame,
  FrameLines,
  isChange,
  joinPayloads,
  keepRows,
  linesOf,
  numberFrame,
} from "./spool-frame.ts";

/** Batches of lines as the sink writes them, with consecutive numbers from 1. */
const batches = fc.array(fc.array(fc.json({ maxDepth: 1 }), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 4,
});

function fileOf(list: readonly (readonly string[])[]): { bytes: Buffer; ends: number[] } {
  const frames: Buffer[] = [];
  const ends: number[] = [];
  let seq = 1;
  let end = 0;
  for (const lines of list) {
    const frame = encodeFrame(seq, lines);
    frames.push(frame);
    seq += lines.length;
    end += frame.length;
    ends.push(end);
  }
  return { bytes: Buffer.concat(frames), ends };
}

const readBack = (bytes: Buffer) => decodeFrames(bytes).frames.map(linesOf);

describe("frames of a spool segment", () => {
  it("give back what was written, with its numbers", () => {
    const { bytes } = fileOf([["1", '"ü\\n"'], ["{}"]]);
    expect(readBack(bytes)).toEqual([["1", '"ü\\n"'], ["{}"]]);
    expect(decodeFrames(bytes).frames.map(({ firstSeq, rows }) => [firstSeq, rows])).toEqual([
      [1, 2],
      [3, 1],
    ]);
    expect(decodeFrames(bytes)).toMatchObject({ isDamaged: false, validBytes: bytes.length });
  });

  it("become one text of all lines, whatever lies between them", () => {
    assertProperty(
      fc.property(batches, fc.uint8Array({ maxLength: 40 }), (list, between) => {
        const { bytes, ends } = fileOf(list);
        const cut = ends[0] ?? 0;
        const damaged = Buffer.concat([bytes.subarray(0, cut), between, bytes.subarray(cut)]);
        const frames = decodeFrames(damaged).frames;
        const wanted = Buffer.concat(frames.map(({ payload }) => payload)).toString();
        mustEqual(joinPayloads(frames).toString(), wanted);
      }),
    );
    expect(joinPayloads([])).toHaveLength(0);
  });

  it("lose no whole batch and yield no broken line, wherever the file is cut and whatever follows", {
    timeout: 60_000,
  }, () => {
    assertProperty(
      fc.property(batches, fc.nat(), fc.uint8Array({ maxLength: 64 }), (list, cut, garbage) => {
        const { bytes, ends } = fileOf(list);
        const kept = cut % (bytes.length + 1);
        const whole = ends.filter((end) => end <= kept).length;
        const found = readBack(Buffer.concat([bytes.subarray(0, kept), garbage]));
        // Bytes that go on exactly as the cut frame did make it whole again: then it is what was written.
        mustEqual(found, list.slice(0, found.length));
        must(found.length >= whole, "a whole batch is lost");
      }),
      { numRuns: 100_000 },
    );
  });

  it("behind damage the next whole batch is found; the damaged one is not believed", () => {
    assertProperty(
      fc.property(batches, fc.nat(), fc.integer({ min: 1, max: 255 }), (list, at, flip) => {
        const { bytes, ends } = fileOf(list);
        const position = at % bytes.length;
        bytes[position] = (bytes[position] ?? 0) ^ flip;
        const hit = ends.findIndex((end) => position < end);
        mustEqual(
          readBack(bytes),
          list.filter((_, index) => index !== hit),
        );
      }),
      { numRuns: 20_000 },
    );
  });

  it("thinned, keep the changes and every number", () => {
    const row = (changed: 0 | 1, message: string) => JSON.stringify({ changed, error_message: message });
    const lines = [row(0, "a"), row(1, 'says "changed":0'), row(1, "b"), row(0, "c"), row(1, "d"), row(0, "e")];
    const { frames } = decodeFrames(encodeFrame(11, lines));
    const thinned = keepRows(frames, isChange);
    expect(thinned.rows).toBe(3);
    expect(decodeFrames(thinned.bytes).frames.map((frame) => [frame.firstSeq, linesOf(frame)])).toEqual([
      [12, [lines[1], lines[2]]],
      [15, [lines[4]]],
    ]);
  });
});

describe("lines that wait for their frame", () => {
  const lines = fc.array(fc.oneof(fc.json(), fc.string({ unit: "binary", maxLength: 9_000 })), { minLength: 1 });

  it("are the frame of their texts, and leave nothing behind when they are cleared", () => {
    const waiting = new FrameLines();
    assertProperty(
      fc.property(lines, (some) => {
        const added = some.map((line) => line.replaceAll("\n", " ").toWellFormed());
        for (const line of added) waiting.add(line);
        mustEqual(waiting.count, added.length);
        mustEqual(waiting.texts(), added);
        const [frame] = decodeFrames(Buffer.from(numberFrame(waiting.frame(), 7))).frames;
        mustEqual(frame?.firstSeq, 7);
        if (frame !== undefined) mustEqual(linesOf(frame), added);
        waiting.clear();
        mustEqual(waiting.texts(), []);
      }),
    );
  });

  it("give back what they grew to", () => {
    const waiting = new FrameLines();
    for (let n = 0; n < 50; n++) waiting.add("x".repeat(200_000));
    const large = waiting.frame().buffer.byteLength;
    waiting.clear();
    waiting.add("{}");
    expect(large).toBeGreaterThan(10_000_000);
    expect(waiting.frame().buffer.byteLength).toBeLessThan(100_000);
    expect(waiting.texts()).toEqual(["{}"]);
  });
});
