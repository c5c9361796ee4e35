import { describe, expect, it } from "vitest";
import { ReadingWatch } from "./reading-watch.ts";

const START = { beats: 1, cpuMs: 500, nowMs: 10_000 };

describe("the reading of a list", () => {
  it("may take two seconds of computing at a stretch", () => {
    const watch = new ReadingWatch(START);
    expect(watch.look({ beats: 1, cpuMs: 2_500, nowMs: 12_000 })).toBeUndefined();
    expect(watch.look({ beats: 1, cpuMs: 2_510, nowMs: 12_010 })).toBe("2 s of computing at a stretch");
  });

  it("may take as long as a busy machine makes it, up to a minute", () => {
    const watch = new ReadingWatch(START);
    expect(watch.look({ beats: 1, cpuMs: 1_500, nowMs: 69_000 })).toBeUndefined();
    expect(watch.look({ beats: 1, cpuMs: 1_500, nowMs: 70_001 })).toBe("60 s");
  });

  it("may pause as often as it likes, and take ten seconds in all", () => {
    const watch = new ReadingWatch(START);
    for (let beats = 2; beats < 12; beats++)
      expect(watch.look({ beats, cpuMs: 500 + (beats - 1) * 990, nowMs: 10_000 + beats * 1_000 })).toBeUndefined();
    expect(watch.look({ beats: 13, cpuMs: 10_510, nowMs: 25_000 })).toBe("10 s of computing");
  });

  it("is judged by elapsed time where the system does not tell the processor's", () => {
    const watch = new ReadingWatch({ ...START, cpuMs: null });
    expect(watch.look({ beats: 1, cpuMs: null, nowMs: 60_000 })).toBeUndefined();
    expect(watch.look({ beats: 1, cpuMs: null, nowMs: 70_010 })).toBe("60 s");
  });
});
