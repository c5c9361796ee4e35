import { describe, expect, it } from "vitest";
import { BeatWatch } from "./lease.ts";

describe("BeatWatch", () => {
  it("counts from the look that first showed the beat as it is", () => {
    const watch = new BeatWatch();
    expect(watch.stillMs("a", 0)).toBeUndefined();
    watch.look([{ id: "a", beat: 1 }], 100);
    expect(watch.stillMs("a", 100)).toBe(0);
    expect(watch.stillMs("a", 350)).toBe(250);
    watch.look([{ id: "a", beat: 1 }], 400);
    expect(watch.stillMs("a", 400)).toBe(300);
    watch.look([{ id: "a", beat: 2 }], 500);
    expect(watch.stillMs("a", 500)).toBe(0);
    // A lower one is another one too: the row was made anew.
    watch.look([{ id: "a", beat: 1 }], 900);
    expect(watch.stillMs("a", 900)).toBe(0);
  });

  it("forgets a beat that is gone, and counts anew when it comes back", () => {
    const watch = new BeatWatch();
    const both = [
      { id: "a", beat: 1 },
      { id: "b", beat: 1 },
    ];
    watch.look(both, 0);
    watch.look(both.slice(0, 1), 100);
    expect([watch.stillMs("a", 100), watch.stillMs("b", 100)]).toEqual([100, undefined]);
    watch.look(both, 200);
    expect([watch.stillMs("a", 200), watch.stillMs("b", 200)]).toEqual([200, 0]);
  });

  it("counts anew after looks that were too far apart, and not without a bound", () => {
    const [bounded, unbounded] = [new BeatWatch(300), new BeatWatch()];
    const still = [{ id: "a", beat: 1 }];
    for (const watch of [bounded, unbounded]) for (const nowMs of [0, 300, 601]) watch.look(still, nowMs);
    expect(bounded.stillMs("a", 601)).toBe(0);
    expect(unbounded.stillMs("a", 601)).toBe(601);
  });
});
