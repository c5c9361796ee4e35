import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../testkit/property.ts";
import { nextDue, phaseOf } from "./phase.ts";

const MONITORS = 5_000;
const BUCKETS = 100;

/** Turns per hundredth of the interval. */
function histogram(ids: readonly number[], location: string, intervalMs: number): number[] {
  const counts = new Array<number>(BUCKETS).fill(0);
  for (const id of ids) {
    const bucket = Math.floor((phaseOf(id, location, intervalMs) / intervalMs) * BUCKETS);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

function chiSquare(counts: readonly number[], total: number): number {
  const expected = total / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

const runOf = (length: number, first = 1, stride = 1): number[] => Array.from({ length }, (_, i) => first + i * stride);

/** Neighbours that are due in the same ms. */
function perMs(monitors: number, intervalMs: number): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const id of runOf(monitors)) {
    const phaseMs = phaseOf(id, "any", intervalMs);
    counts.set(phaseMs, (counts.get(phaseMs) ?? 0) + 1);
  }
  return counts;
}

describe("phaseOf", () => {
  it.each([1, 5, 30, 60, 180, 300, 3_600, 86_400])("spreads 5,000 neighbours evenly over %i s", (intervalS) => {
    for (const location of ["any", "de", "us"]) {
      for (const first of [1, 4_711, 1_000_000]) {
        const counts = histogram(runOf(MONITORS, first), location, intervalS * 1_000);
        // 50 each; random numbers would give about 25 to 78.
        expect(Math.max(...counts)).toBeLessThanOrEqual(62);
        expect(Math.min(...counts)).toBeGreaterThanOrEqual(38);
      }
    }
  });

  it.each([1_000, 60_000, 86_400_000])(
    "lets 128 neighbours share 33 moments of %i ms, at most five one of them",
    (intervalMs) => {
      const perMoment = perMs(128, intervalMs);
      expect(perMoment.size).toBe(33);
      expect(Math.max(...perMoment.values())).toBeLessThanOrEqual(5);
    },
  );

  it("leaves no long time of a day without one of 5,000 neighbours", () => {
    const phases = [...perMs(MONITORS, 86_400_000).keys()].sort((a, b) => a - b);
    const gaps = phases.map((phase, i) => (phases[i + 1] ?? (phases[0] ?? 0) + 86_400_000) - phase);
    // Five at the same moment are five times the mean distance apart from the next five.
    expect(Math.max(...gaps)).toBeLessThan((86_400_000 / MONITORS) * 6);
  });

  it("at 1 s starts few within one millisecond", () => {
    const started = perMs(MONITORS, 1_000);
    expect(Math.max(...started.values())).toBeLessThanOrEqual(10);
    expect(started.size).toBeGreaterThan(950);
  });

  it.each([2, 3, 4, 5, 7, 8, 10, 13, 16, 32, 64, 100, 1_000])(
    "stays even when only every %ith id is left",
    (stride) => {
      const counts = histogram(runOf(MONITORS, 1, stride), "any", 60_000);
      // The value that random numbers exceed once in ten thousand times, 99 degrees of freedom.
      expect(chiSquare(counts, MONITORS)).toBeLessThan(160);
    },
  );

  it("stays even for ids without any order", () => {
    // A full-period generator (Numerical Recipes): the same ids in each run.
    let seed = 1;
    const ids = runOf(MONITORS).map(() => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed;
    });
    expect(chiSquare(histogram(ids, "any", 60_000), MONITORS)).toBeLessThan(160);
  });

  it("keeps the locations of one monitor apart", () => {
    const codes = ["any", "de", "nl", "us", "fr", "gb", "sg", "jp"];
    const phases = codes.map((code) => phaseOf(17, code, 60_000)).sort((a, b) => a - b);
    phases.forEach((phase, i) => {
      if (i > 0) expect(phase - (phases[i - 1] ?? 0)).toBeGreaterThan(100);
    });
  });

  it("is a whole number within the interval, always the same", () => {
    const monitor = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    assertProperty(
      fc.property(monitor, fc.string(), fc.integer({ min: 1, max: 604_800_000 }), (id, location, intervalMs) => {
        const phaseMs = phaseOf(id, location, intervalMs);
        if (!Number.isInteger(phaseMs) || phaseMs < 0 || phaseMs >= intervalMs) throw new Error(`${phaseMs}`);
        if (phaseMs !== phaseOf(id, location, intervalMs)) throw new Error("not the same");
      }),
      { numRuns: 100_000 },
    );
  });
});

describe("nextDue", () => {
  it.each([
    [1_000, 1_000, 250, 1_250],
    [1_249, 1_000, 250, 1_250],
    [1_250, 1_000, 250, 2_250],
    [0, 60_000, 0, 60_000],
    [0, 60_000, 59_999, 59_999],
    [1_763_700_000_123, 86_400_000, 0, 1_763_769_600_000],
  ])("after %i, every %i from %i, comes %i", (afterMs, intervalMs, phaseMs, wanted) => {
    expect(nextDue(afterMs, intervalMs, phaseMs)).toBe(wanted);
  });

  it("is the first time of the pattern that is later, whenever it is asked", () => {
    const interval = fc.integer({ min: 1, max: 604_800_000 });
    assertProperty(
      fc.property(fc.integer({ min: 0, max: 4e12 }), interval, fc.nat(604_800_000), (afterMs, intervalMs, phase) => {
        const phaseMs = phase % intervalMs;
        const dueMs = nextDue(afterMs, intervalMs, phaseMs);
        if (!(dueMs > afterMs && dueMs <= afterMs + intervalMs)) throw new Error(`${dueMs} is not the first`);
        if ((dueMs - phaseMs) % intervalMs !== 0) throw new Error(`${dueMs} is not of the pattern`);
        if (nextDue(dueMs, intervalMs, phaseMs) !== dueMs + intervalMs) throw new Error("drifts");
      }),
      { numRuns: 100_000 },
    );
  });
});
