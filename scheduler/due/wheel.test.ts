import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../testkit/property.ts";
import { createWheel, type Wheel } from "./wheel.ts";

const ORIGIN_MS = 1_763_700_000_000;

function advance(wheel: Wheel, nowMs: number): [id: number, dueAtMs: number][] {
  const due: [number, number][] = [];
  const count = wheel.advance(nowMs, (id, dueAtMs) => due.push([id, dueAtMs]));
  expect(count).toBe(due.length);
  return due;
}

describe("wheel", () => {
  it("reports a timer at its time, not before, and once", () => {
    const wheel = createWheel(ORIGIN_MS);
    wheel.insert(3, ORIGIN_MS + 1_000);
    expect(wheel.size).toBe(1);
    expect(advance(wheel, ORIGIN_MS + 999.9)).toEqual([]);
    expect(advance(wheel, ORIGIN_MS + 1_000)).toEqual([[3, ORIGIN_MS + 1_000]]);
    expect(advance(wheel, ORIGIN_MS + 9_000)).toEqual([]);
    expect(wheel.size).toBe(0);
  });

  it("is never early by a fraction, and reports the time as it was given", () => {
    const wheel = createWheel(ORIGIN_MS + 0.7);
    wheel.insert(0, ORIGIN_MS + 10.25);
    expect(advance(wheel, ORIGIN_MS + 10.2)).toEqual([]);
    expect(advance(wheel, ORIGIN_MS + 11)).toEqual([[0, ORIGIN_MS + 10.25]]);
  });

  it("reports what is overdue with the next advance, also when the time stands still", () => {
    const wheel = createWheel(ORIGIN_MS);
    advance(wheel, ORIGIN_MS + 500);
    wheel.insert(0, ORIGIN_MS + 100);
    wheel.insert(1, ORIGIN_MS - 100);
    expect(wheel.nextMs()).toBe(ORIGIN_MS + 500);
    expect(advance(wheel, ORIGIN_MS + 500)).toEqual([
      [0, ORIGIN_MS + 100],
      [1, ORIGIN_MS - 100],
    ]);
  });

  it("takes a time before the latest for the latest", () => {
    const wheel = createWheel(ORIGIN_MS);
    advance(wheel, ORIGIN_MS + 5_000);
    wheel.insert(0, ORIGIN_MS + 5_000);
    wheel.insert(1, ORIGIN_MS + 5_001);
    expect(advance(wheel, ORIGIN_MS)).toEqual([[0, ORIGIN_MS + 5_000]]);
  });

  it("moves a timer that is set again", () => {
    const wheel = createWheel(ORIGIN_MS);
    wheel.insert(0, ORIGIN_MS + 10);
    wheel.insert(0, ORIGIN_MS + 86_400_000);
    expect(wheel.size).toBe(1);
    expect(advance(wheel, ORIGIN_MS + 86_399_999)).toEqual([]);
    expect(advance(wheel, ORIGIN_MS + 86_400_000)).toEqual([[0, ORIGIN_MS + 86_400_000]]);
  });

  it("forgets a timer that is removed", () => {
    const wheel = createWheel(ORIGIN_MS);
    wheel.insert(0, ORIGIN_MS + 10);
    expect(wheel.remove(0)).toBe(true);
    expect(wheel.remove(0)).toBe(false);
    expect(wheel.remove(999_999)).toBe(false);
    expect(wheel.nextMs()).toBe(Number.POSITIVE_INFINITY);
    expect(advance(wheel, ORIGIN_MS + 10)).toEqual([]);
  });

  it("keeps the order of insertion among thousands at one tick, through every level", () => {
    for (const delayMs of [1, 31, 32, 1_023, 1_024, 32_768, 86_400_000, 30 * 86_400_000, 10 * 365 * 86_400_000]) {
      const wheel = createWheel(ORIGIN_MS);
      const ids = Array.from({ length: 5_000 }, (_, i) => (i * 7) % 5_000);
      for (const id of ids.slice(0, 2_500)) wheel.insert(id, ORIGIN_MS + delayMs);
      advance(wheel, ORIGIN_MS + delayMs - 1);
      for (const id of ids.slice(2_500)) wheel.insert(id, ORIGIN_MS + delayMs);
      expect(advance(wheel, ORIGIN_MS + delayMs).map(([id]) => id)).toEqual(ids);
    }
  });

  it("leaves to a later advance what its listener inserts, and does not report what it removes", () => {
    const wheel = createWheel(ORIGIN_MS);
    for (const id of [0, 1, 2]) wheel.insert(id, ORIGIN_MS + 5);
    const reported: number[] = [];
    const count = wheel.advance(ORIGIN_MS + 5, (id) => {
      reported.push(id);
      if (id !== 0) return;
      expect(wheel.remove(1)).toBe(true);
      wheel.insert(2, ORIGIN_MS + 5);
      wheel.insert(0, ORIGIN_MS);
    });
    expect(count).toBe(1);
    expect(reported).toEqual([0]);
    expect(wheel.size).toBe(2);
    expect(advance(wheel, ORIGIN_MS + 5).map(([id]) => id)).toEqual([2, 0]);
  });

  it("reports the rest later when its listener throws", () => {
    const wheel = createWheel(ORIGIN_MS);
    for (const id of [0, 1, 2]) wheel.insert(id, ORIGIN_MS + 5);
    const fail = (id: number): void => {
      if (id === 1) throw new Error("listener");
    };
    expect(() => wheel.advance(ORIGIN_MS + 5, fail)).toThrow("listener");
    expect(wheel.size).toBe(1);
    expect(advance(wheel, ORIGIN_MS + 5)).toEqual([[2, ORIGIN_MS + 5]]);
  });

  it("refuses an advance within an advance", () => {
    const wheel = createWheel(ORIGIN_MS);
    wheel.insert(0, ORIGIN_MS);
    expect(() => wheel.advance(ORIGIN_MS, () => wheel.advance(ORIGIN_MS, () => {}))).toThrow("its own listener");
  });

  it("does not drift: a period of a second over a day, however late each advance is", () => {
    const wheel = createWheel(ORIGIN_MS);
    const times: number[] = [];
    wheel.insert(0, ORIGIN_MS + 1_000);
    for (let nowMs = ORIGIN_MS; nowMs < ORIGIN_MS + 86_400_000; nowMs += 1 + ((nowMs * 31) % 900)) {
      wheel.advance(nowMs, (id, dueAtMs) => {
        times.push(dueAtMs);
        wheel.insert(id, dueAtMs + 1_000);
      });
    }
    expect(times.length).toBeGreaterThan(86_000);
    expect(times.every((dueAtMs, i) => dueAtMs === ORIGIN_MS + 1_000 * (i + 1))).toBe(true);
  });

  it("crosses decades of empty time at once", () => {
    const wheel = createWheel(ORIGIN_MS);
    const atMs = ORIGIN_MS + 2 ** 40 - 1;
    wheel.insert(0, atMs);
    expect(advance(wheel, atMs - 1)).toEqual([]);
    expect(advance(wheel, atMs)).toEqual([[0, atMs]]);
    wheel.insert(1, atMs);
    expect(advance(wheel, atMs + 1e12)).toEqual([[1, atMs]]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, ORIGIN_MS + 2 ** 40])(
    "refuses time %s",
    (atMs) => {
      const wheel = createWheel(ORIGIN_MS);
      expect(() => wheel.insert(0, atMs)).toThrow(RangeError);
      if (!Number.isFinite(atMs)) expect(() => wheel.advance(atMs, () => {})).toThrow(RangeError);
      if (!Number.isFinite(atMs)) expect(() => createWheel(atMs)).toThrow(RangeError);
      expect(wheel.size).toBe(0);
    },
  );

  it.each([-1, 0.5, Number.NaN])("refuses id %s", (id) => {
    expect(() => createWheel(ORIGIN_MS).insert(id, ORIGIN_MS)).toThrow(RangeError);
  });
});

/** What a wheel must do, written the slow way: a list that is sorted at every advance. */
class SlowWheel {
  #nowMs: number;
  #timers: { id: number; atMs: number; tickMs: number; turn: number }[] = [];
  #turn = 0;

  constructor(nowMs: number) {
    this.#nowMs = Math.floor(nowMs);
  }
  insert(id: number, atMs: number): void {
    this.remove(id);
    this.#timers.push({ id, atMs, tickMs: Math.max(Math.ceil(atMs), this.#nowMs), turn: this.#turn++ });
  }
  remove(id: number): boolean {
    const before = this.#timers.length;
    this.#timers = this.#timers.filter((timer) => timer.id !== id);
    return this.#timers.length < before;
  }
  advance(nowMs: number): [id: number, atMs: number][] {
    this.#nowMs = Math.max(this.#nowMs, Math.floor(nowMs));
    const due = this.#timers.filter((timer) => timer.tickMs <= this.#nowMs);
    this.#timers = this.#timers.filter((timer) => timer.tickMs > this.#nowMs);
    return due.sort((a, b) => a.tickMs - b.tickMs || a.turn - b.turn).map((timer) => [timer.id, timer.atMs]);
  }
  get firstMs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#timers.map((timer) => timer.tickMs));
  }
  get size(): number {
    return this.#timers.length;
  }
}

describe("wheel against a slow obvious model", () => {
  /** Short, around the borders of slots and blocks, and far. */
  const delayMs = fc.oneof(
    fc.integer({ min: -50, max: 100 }),
    fc.double({ min: 0, max: 2_000, noNaN: true }),
    fc.constantFrom(1, 31, 32, 33, 1_023, 1_024, 1_025, 32_767, 32_768, 60_000, 1_048_576, 86_400_000),
    fc.integer({ min: 0, max: 604_800_000 }),
    fc.integer({ min: 0, max: 2 ** 38 }),
  );
  const id = fc.oneof(fc.nat(8), fc.nat(3_000));
  const operation = fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant("insert" as const), id, delayMs }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant("remove" as const), id }) },
    { weight: 4, arbitrary: fc.record({ type: fc.constant("advance" as const), delayMs }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("next" as const) }) },
  );

  it("agrees in what is reported, when, and in which order", () => {
    let operations = 0;
    const originMs = fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 4e12 }),
      fc.double({ min: 0, max: 4e12, noNaN: true }),
    );
    assertProperty(
      fc.property(originMs, fc.array(operation, { minLength: 50, maxLength: 400, size: "max" }), (originMs, steps) => {
        const wheel = createWheel(originMs);
        const model = new SlowWheel(originMs);
        let nowMs = originMs;
        for (const step of steps) {
          operations += 1;
          if (step.type === "insert") {
            wheel.insert(step.id, nowMs + step.delayMs);
            model.insert(step.id, nowMs + step.delayMs);
          } else if (step.type === "remove") {
            expect(wheel.remove(step.id)).toBe(model.remove(step.id));
          } else if (step.type === "next") {
            expect(wheel.nextMs()).toBeLessThanOrEqual(model.firstMs);
          } else {
            // Time to the wheel's end is finite: far steps are taken within it.
            nowMs = Math.min(nowMs + step.delayMs, originMs + 2 ** 39);
            expect(advance(wheel, nowMs)).toEqual(model.advance(nowMs));
          }
          if (wheel.size !== model.size) throw new Error(`size ${wheel.size}, should be ${model.size}`);
        }
        // Everything left comes in the model's order when the time is followed by nextMs alone.
        const left: [number, number][] = [];
        while (wheel.size > 0) left.push(...advance(wheel, wheel.nextMs()));
        expect(left).toEqual(model.advance(originMs + 2 ** 40));
      }),
      { numRuns: 1_500 },
    );
    expect(operations).toBeGreaterThan(100_000);
  });
});
