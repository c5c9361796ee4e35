import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BudgetReading, FULL_RATE, LEAST_RATE, ReadBudget } from "./read-budget.ts";

const START: BudgetReading = { nowMs: 1_000, usedMs: 500, begun: 0, late: 0 };
const STEP_MS = 100;

/** A budget, and the clock and counts that it is told. */
class Rig {
  readonly budget: ReadBudget;
  #now: BudgetReading;

  constructor(leastRate?: number) {
    this.budget = new ReadBudget(START, leastRate);
    this.#now = START;
  }

  get now(): BudgetReading {
    return this.#now;
  }

  pass({
    ms = STEP_MS,
    usedMs = 0,
    begun = 500,
    late = 0,
  }: Partial<Record<"ms" | "usedMs" | "begun" | "late", number>>) {
    const { nowMs, usedMs: used, begun: sum, late: lateSum } = this.#now;
    this.#now = { nowMs: nowMs + ms, usedMs: used + usedMs, begun: sum + begun, late: lateSum + late };
    this.budget.look(this.#now);
  }

  /** A read that takes so long. */
  read(costMs: number): number | null {
    const waitMs = this.budget.enter(costMs);
    if (waitMs !== null) return waitMs;
    this.#now = { ...this.#now, usedMs: this.#now.usedMs + costMs };
    this.budget.leave(costMs, this.#now);
    return null;
  }

  /** Readers that take all they get, while a share of the checks is late. */
  crowd(looks: number, lateShare: number): void {
    for (let look = 0; look < looks; look++) {
      this.pass({ begun: 500, late: 500 * lateShare });
      for (let read = 0; read < 20 && this.read(5) === null; read++);
    }
  }
}

describe("the budget of reads", () => {
  it("counts what a read takes after its answer", () => {
    const rig = new Rig(400);
    rig.crowd(50, 0.3);
    let reads = 0;
    for (let look = 0; look < 50; look++) {
      rig.pass({ late: 150 });
      while (rig.read(1) === null) {
        rig.budget.charge(3);
        reads += 1;
      }
    }
    // 5 s at 400 ms a second, 4 ms each, and what was saved up.
    expect(reads).toBeGreaterThan(480);
    expect(reads).toBeLessThan(550);
  });

  it("refuses nothing while checks begin in time, however much reads use", () => {
    const rig = new Rig();
    for (let at = 0; at < 100; at++) {
      rig.pass({ late: 1 });
      expect(rig.read(300)).toBeNull();
    }
    expect(rig.budget.share).toBe(1);
  });

  it("goes down to its least while many checks are late, lets reads in at that rate, and refuses dear ones first", () => {
    const rig = new Rig();
    rig.crowd(50, 0.3);
    expect(rig.budget.share).toBe(LEAST_RATE / FULL_RATE);
    let usedMs = 0;
    for (let look = 0; look < 100; look++) {
      rig.pass({ late: 150 });
      while (rig.read(4) === null) usedMs += 4;
    }
    expect(usedMs / 10).toBeGreaterThan(LEAST_RATE * 0.8);
    expect(usedMs / 10).toBeLessThan(LEAST_RATE * 1.3);
    rig.pass({ ms: 300, late: 150 });
    expect(rig.budget.enter(60)).toBeGreaterThan(0);
    expect(rig.read(2)).toBeNull();
  });

  it("comes back to all within eleven seconds, and stays where it is between the two bounds", () => {
    const rig = new Rig();
    rig.crowd(50, 0.3);
    rig.crowd(20, 0.01);
    expect(rig.budget.share).toBe(LEAST_RATE / FULL_RATE);
    rig.crowd(110, 0);
    expect(rig.budget.share).toBe(1);
  });

  it("takes a part of what reads used, not of what they could have used", () => {
    const rig = new Rig();
    for (let look = 0; look < 10; look++) {
      rig.pass({});
      rig.read(20);
    }
    rig.pass({ late: 10 });
    expect(rig.budget.share).toBeCloseTo(0.14, 1);
  });

  it("charges nothing of what the thread does without reads", () => {
    const rig = new Rig();
    rig.crowd(50, 0.3);
    for (let look = 0; look < 40; look++) rig.pass({ usedMs: 100, late: 150 });
    expect(rig.read(90)).toBeNull();
  });

  it("goes no further down while reads use next to nothing: others make the checks late", () => {
    const rig = new Rig();
    for (let look = 0; look < 50; look++) {
      rig.pass({ late: 100 });
      rig.read(2);
    }
    expect(rig.budget.share).toBe(1);
  });

  it("says nothing of a few checks that are late", () => {
    const rig = new Rig();
    for (let look = 0; look < 100; look++) {
      const begun = look % 3 === 0 ? 1 : 0;
      rig.pass({ begun, late: begun });
      rig.read(50);
    }
    expect(rig.budget.share).toBe(1);
  });

  it("keeps its bounds whatever it is told, and recovers from all of it", () => {
    const step = fc.record({
      ms: fc.integer({ min: -5_000, max: 20_000 }),
      usedMs: fc.integer({ min: -100, max: 5_000 }),
      begun: fc.integer({ min: -10, max: 10_000 }),
      late: fc.integer({ min: -10, max: 12_000 }),
      costMs: fc.double({ min: -10, max: 10_000, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const rig = new Rig();
        for (const { costMs, ...passed } of steps) {
          rig.pass(passed);
          const waitMs = rig.read(costMs);
          expect(rig.budget.share).toBeGreaterThanOrEqual(LEAST_RATE / FULL_RATE);
          expect(rig.budget.share).toBeLessThanOrEqual(1);
          if (waitMs === null) continue;
          expect(waitMs).toBeGreaterThan(0);
          expect(waitMs).toBeLessThanOrEqual(10_000);
        }
        for (let look = 0; look < 250; look++) rig.pass({});
        expect(rig.budget.share).toBe(1);
        expect(rig.read(1_000)).toBeNull();
      }),
      { numRuns: 60 },
    );
  });

  it("leaves what it was told to leave, and says what reads use", () => {
    const budget = new ReadBudget(START, 300);
    let now = START;
    for (let step = 0; step < 100; step++) {
      now = { nowMs: now.nowMs + STEP_MS, usedMs: now.usedMs, begun: now.begun + 500, late: now.late + 250 };
      budget.look(now);
      for (let read = 0; read < 100 && budget.enter(1) === null; read++) {
        now = { ...now, usedMs: now.usedMs + 1 };
        budget.leave(1, now);
      }
    }
    expect(budget.share).toBe(0.3);
    expect(budget.usedRate).toBeGreaterThan(200);
    expect(budget.usedRate).toBeLessThan(400);
  });

  it("shares what the thread used among the reads that were under way", () => {
    const budget = new ReadBudget(START);
    const at = (usedMs: number): BudgetReading => ({ ...START, usedMs: START.usedMs + usedMs });
    expect(budget.enter(1)).toBeNull();
    budget.look(at(4));
    expect(budget.usedByEachMs).toBe(4);
    for (let more = 0; more < 3; more++) expect(budget.enter(1)).toBeNull();
    budget.leave(1, at(12));
    expect(budget.usedByEachMs).toBe(6);
    for (let more = 0; more < 3; more++) budget.leave(1, at(12));
    budget.look(at(100));
    expect(budget.usedByEachMs).toBe(6);
  });
});
