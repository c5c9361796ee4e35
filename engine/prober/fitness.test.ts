import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VERDICTS } from "../../model/verdict.ts";
import { mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { Fitness, STALL_MS, TICK_MS } from "./fitness.ts";

function ticking(fitness: Fitness, fromMs: number, toMs: number, everyMs = TICK_MS): void {
  for (let nowMs = fromMs + everyMs; nowMs <= toMs; nowMs += everyMs) fitness.tick(nowMs);
}

describe("Fitness", () => {
  test("a steady loop excuses nothing", () => {
    const fitness = new Fitness(0);
    ticking(fitness, 0, 20_000);
    for (const verdict of VERDICTS) expect(fitness.excuse(verdict, 0, 20_000)).toBeUndefined();
    expect(fitness.report(20_000, 3, 0.25)).toMatchObject({
      fit: true,
      reasons: [],
      inFlight: 3,
      loopUtilization: 0.25,
    });
  });

  test("a freeze of 5 s excuses every failure it overlaps, and no other", () => {
    const fitness = new Fitness(0);
    ticking(fitness, 0, 10_000);
    expect(fitness.turn(15_000)).toBe(5_000);
    ticking(fitness, 15_000, 30_000);
    expect(fitness.excuse("timeout", 9_000, 19_000)).toMatch(/nothing ran for 5000 ms/);
    expect(fitness.excuse("refused", 14_999, 15_001)).toBeDefined();
    expect(fitness.excuse("ok", 9_000, 19_000)).toBeUndefined();
    expect(fitness.excuse("timeout", 15_000, 25_000)).toBeUndefined();
    expect(fitness.excuse("refused", 9_000, 10_000)).toBeUndefined();
    expect(fitness.report(30_000, 0, 0)).toMatchObject({ fit: false, maxLoopGapMs: 5_000 });
    expect(fitness.report(30_050, 0, 0)).toMatchObject({ fit: true, maxLoopGapMs: 50 });
  });

  test("a short stall does not excuse a long silence", () => {
    const fitness = new Fitness(0);
    ticking(fitness, 0, 1_000);
    fitness.tick(1_600);
    ticking(fitness, 1_600, 12_000);
    expect(fitness.excuse("timeout", 0, 10_000)).toBeUndefined();
    expect(fitness.excuse("closed", 0, 10_000)).toBeDefined();
    expect(fitness.excuse("timeout", 0, 2_000)).toBeDefined();
  });

  test("two busy loops beside it (turns late by tens of ms) leave it fit", () => {
    const fitness = new Fitness(0);
    ticking(fitness, 0, 30_000, TICK_MS + 60);
    expect(fitness.report(30_000, 0, 0.4).fit).toBe(true);
    expect(fitness.excuse("timeout", 0, 10_000)).toBeUndefined();
  });

  test("a loop that is always far behind is unfit although no single gap is a stall", () => {
    const fitness = new Fitness(0);
    ticking(fitness, 0, 1_600, 400);
    expect(fitness.report(1_600, 0, 1)).toMatchObject({ fit: false });
    expect(fitness.excuse("timeout", 0, 1_600)).toMatch(/behind/);
  });

  test("local refusals: five, and a fifth of what ended", () => {
    const few = new Fitness(0);
    for (let each = 0; each < 100; each++) few.ended(each < 10);
    ticking(few, 0, 1_000);
    expect(few.report(1_000, 0, 0)).toMatchObject({ fit: true, localRefusals: 10 });
    const many = new Fitness(0);
    for (let each = 0; each < 20; each++) many.ended(each < 5);
    ticking(many, 0, 1_000);
    expect(many.report(1_000, 0, 0).fit).toBe(false);
    expect(many.excuse("unreachable", 500, 900)).toMatch(/refused 5 of 20/);
  });

  test("lateness is told but excuses nothing", () => {
    const fitness = new Fitness(0);
    fitness.started(9_000);
    ticking(fitness, 0, 1_000);
    expect(fitness.report(1_000, 0, 0).reasons).toEqual(["checks start 9000 ms late"]);
    expect(fitness.excuse("timeout", 0, 1_000)).toBeUndefined();
  });

  test("excuses agree with a plain count of stalled milliseconds", { timeout: 120_000 }, () => {
    const gap = fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: STALL_MS - 5, max: 6_000 }));
    assertProperty(
      fc.property(
        fc.array(gap, { minLength: 1, maxLength: 40 }),
        fc.nat(20_000),
        fc.nat(20_000),
        (gaps, startMs, lifeMs) => {
          const fitness = new Fitness(0);
          const stalls: [number, number][] = [];
          let nowMs = 0;
          for (const gapMs of gaps) {
            if (gapMs >= STALL_MS) stalls.push([nowMs, nowMs + gapMs]);
            nowMs += gapMs;
            fitness.turn(nowMs);
          }
          const endMs = startMs + lifeMs;
          let stalledMs = 0;
          for (const [from, to] of stalls) stalledMs += Math.max(0, Math.min(to, endMs) - Math.max(from, startMs));
          mustEqual(fitness.excuse("closed", startMs, endMs) !== undefined, stalledMs > 0);
          mustEqual(
            fitness.excuse("timeout", startMs, endMs) !== undefined,
            stalledMs > 0 && stalledMs >= 0.2 * lifeMs,
          );
          mustEqual(fitness.excuse("ok", startMs, endMs), undefined);
          mustEqual(fitness.excuse("unfit", startMs, endMs), undefined);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("remembers no more than the longest check needs", () => {
    const fitness = new Fitness(0);
    for (let nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) fitness.turn(nowMs);
    expect(fitness.excuse("closed", 0, 60_000)).toBeUndefined();
    expect(fitness.excuse("closed", 3_500_000, 3_590_000)).toBeDefined();
  });
});
