import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TICK_MS, Ticks } from "./ticks.ts";

// Its own: the thread's may have work that a test of another file has left.
let onTicks: Ticks["on"];

beforeEach(() => {
  vi.useFakeTimers();
  onTicks = new Ticks().on;
});
afterEach(() => {
  vi.useRealTimers();
});

it("runs each work in its rhythm, with one timer for all, until each is ended", () => {
  const runs: string[] = [];
  const ends = [
    onTicks(TICK_MS, () => runs.push("often")),
    onTicks(4 * TICK_MS, () => runs.push("a")),
    onTicks(4 * TICK_MS, () => runs.push("b")),
  ];
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(8 * TICK_MS);
  expect(runs.filter((run) => run === "often")).toHaveLength(8);
  // What has the same rhythm runs in the same moment.
  expect(runs.join(" ").match(/a b/g)).toHaveLength(2);
  ends[0]?.();
  runs.length = 0;
  vi.advanceTimersByTime(4 * TICK_MS);
  expect(runs).toEqual(["a", "b"]);
  for (const end of ends) end();
  expect(vi.getTimerCount()).toBe(0);
});

it("goes on with the others when a work ends itself or another", () => {
  const runs: string[] = [];
  const first = onTicks(TICK_MS, () => {
    runs.push("first");
    first();
    second();
  });
  const second = onTicks(TICK_MS, () => runs.push("second"));
  const third = onTicks(TICK_MS, () => runs.push("third"));
  vi.advanceTimersByTime(2 * TICK_MS);
  third();
  expect(runs).toEqual(["first", "third", "third"]);
});

it("wakes up as often as the rhythms need that there are at the time", () => {
  const runs: string[] = [];
  const ends = [onTicks(4 * TICK_MS, () => runs.push("4")), onTicks(20 * TICK_MS, () => runs.push("20"))];
  vi.advanceTimersToNextTimer();
  expect(runs).toEqual(["4"]);
  vi.advanceTimersByTime(2 * TICK_MS);
  const end = onTicks(3 * TICK_MS, () => runs.push("3"));
  vi.advanceTimersByTime(12 * TICK_MS);
  expect(runs.filter((run) => run === "3")).toHaveLength(4);
  expect(runs.filter((run) => run === "4").length).toBeGreaterThanOrEqual(3);
  end();
  runs.length = 0;
  vi.advanceTimersByTime(20 * TICK_MS);
  expect(runs.filter((run) => run === "4")).toHaveLength(5);
  expect(runs.filter((run) => run === "20")).toHaveLength(1);
  for (const each of ends) each();
  expect(vi.getTimerCount()).toBe(0);
});

it("refuses a rhythm that is no multiple of the tick", () => {
  for (const wrong of [0, 100, 375, -250, Number.NaN]) expect(() => onTicks(wrong, () => {})).toThrow(RangeError);
});
