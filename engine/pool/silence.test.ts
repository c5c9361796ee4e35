import { describe, expect, test } from "vitest";
import { LOOK_EVERY_MS, SilenceWatch } from "./silence.ts";

/** Looks for `forMs` at the usual pace and gives what was reported, with the time of each report. */
function watch(silence: SilenceWatch, beatsOf: (id: number, nowMs: number) => number, fromMs: number, forMs: number) {
  const reports: { id: number; atMs: number }[] = [];
  for (let nowMs = fromMs + LOOK_EVERY_MS; nowMs <= fromMs + forMs; nowMs += LOOK_EVERY_MS) {
    for (const id of silence.look((each) => beatsOf(each, nowMs), nowMs)) reports.push({ id, atMs: nowMs - fromMs });
  }
  return reports;
}

describe("SilenceWatch", () => {
  test("reports the silent one after two seconds, once", () => {
    const silence = new SilenceWatch(0);
    silence.add(1, 0);
    silence.add(2, 0);
    const reports = watch(silence, (id, nowMs) => (id === 1 ? nowMs : 0), 0, 10_000);
    expect(reports).toEqual([{ id: 2, atMs: 2_000 }]);
  });

  test("a freeze of the whole process gives everybody a fresh two seconds", () => {
    const silence = new SilenceWatch(0);
    silence.add(1, 0);
    expect(watch(silence, () => 0, 0, 1_500)).toEqual([]);
    expect(silence.look(() => 0, 1_500 + 5_000)).toEqual([]);
    expect(watch(silence, () => 0, 6_500, 1_500)).toEqual([]);
    expect(watch(silence, () => 0, 8_000, 500)).toEqual([{ id: 1, atMs: 500 }]);
  });

  test("a beat now and then is enough; a removed one is not watched", () => {
    const silence = new SilenceWatch(0);
    silence.add(1, 0);
    silence.add(2, 0);
    silence.remove(2);
    expect(watch(silence, (_, nowMs) => Math.floor(nowMs / 1_900), 0, 60_000)).toEqual([]);
  });
});
