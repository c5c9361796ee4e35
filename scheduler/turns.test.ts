import { describe, expect, it } from "vitest";
import { entryOf, monitorOf } from "./fixtures.suite.ts";
import { createTurns } from "./turns.ts";

const START_MS = 1_000_000_000;

function scene(begin = (): boolean => true) {
  const entry = { ...entryOf(0), intervalMs: 1_000, phaseMs: 250 };
  const begun: number[] = [];
  const missed: number[] = [];
  const turns = createTurns({
    nowMs: START_MS,
    entry: (id) => (id === 0 ? entry : undefined),
    begin: (_entry, turnAtMs) => {
      begun.push(turnAtMs - START_MS);
      return begin();
    },
    onSkipped: () => {},
    missed: (_entry, deadlineAtMs) => missed.push(deadlineAtMs - START_MS),
  });
  return { entry, begun, missed, turns };
}

describe("createTurns", () => {
  it("keeps the phase however late it is asked: periods do not drift", () => {
    const { entry, begun, turns } = scene();
    turns.settle(entry, START_MS);
    for (const nowMs of [260, 1_251, 2_900, 3_250]) turns.advance(START_MS + nowMs);
    expect(begun).toEqual([250, 1_250, 2_250, 3_250]);
    expect(turns.skipped).toBe(0);
  });

  it("counts the turns that a freeze swallowed, and makes up for one only", () => {
    const { entry, begun, turns } = scene();
    turns.settle(entry, START_MS);
    turns.advance(START_MS + 5_300);
    expect(begun).toEqual([5_250]);
    expect(turns.skipped).toBe(5);
    turns.advance(START_MS + 6_250);
    expect(begun).toEqual([5_250, 6_250]);
  });

  it("counts a turn that could not begin because the one before still runs", () => {
    const { entry, turns } = scene(() => false);
    turns.settle(entry, START_MS);
    turns.advance(START_MS + 250);
    expect(turns.skipped).toBe(1);
  });

  it("goes on where another ended: the last turn of a short silence is taken late, and every other is counted", () => {
    for (const [lastMs, latestMs, begins, skipped] of [
      // The next turn is still to come.
      [300, 5_000, [1_250, 2_250, 3_250, 4_250], 0],
      [-900, 5_000, [250, 1_250, 2_250, 3_250, 4_250], 1],
      [-3_000, 5_000, [250, 1_250, 2_250, 3_250, 4_250], 3],
      // After a longer one nothing is made up for.
      [-9_000, 5_000, [1_250, 2_250, 3_250, 4_250], 10],
      [-900, 0, [1_250, 2_250, 3_250, 4_250], 2],
    ] as const) {
      const { entry, begun, turns } = scene();
      turns.resume(entry, START_MS + lastMs, START_MS + 500, latestMs);
      for (let nowMs = 500; nowMs < 5_000; nowMs += 50) turns.advance(START_MS + nowMs);
      expect([begun, turns.skipped]).toEqual([begins, skipped]);
    }
  });

  it("hastens a turn, never delays it", () => {
    const { entry, begun, turns } = scene();
    turns.settle(entry, START_MS);
    turns.hasten(entry, START_MS + 900);
    turns.hasten(entry, START_MS + 100);
    turns.advance(START_MS + 100);
    turns.advance(START_MS + 250);
    expect(begun).toEqual([100, 250]);
  });

  it("goes to its phase anew, without a burst, when the clock was set back", () => {
    const { entry, begun, turns } = scene();
    turns.settle(entry, START_MS);
    turns.restart([entry], START_MS - 3_600_000);
    turns.advance(START_MS - 3_600_000 + 100);
    expect(begun).toEqual([]);
    turns.advance(START_MS - 3_600_000 + 250);
    expect(begun).toEqual([-3_600_000 + 250]);
  });

  it("reports a heartbeat's deadline, and gives it its whole patience after the clock was set", () => {
    const { entry, missed, turns } = scene();
    entry.spec = null;
    entry.monitor = monitorOf({ kind: "push", intervalS: 60, graceS: 30 });
    turns.set(entry, START_MS + 10_000);
    turns.restart([entry], START_MS + 7_200_000);
    turns.advance(START_MS + 7_200_000 + 89_999);
    expect(missed).toEqual([]);
    turns.advance(START_MS + 7_200_000 + 90_000);
    expect(missed).toEqual([7_290_000]);
  });
});
