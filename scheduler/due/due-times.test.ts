import { describe, expect, it } from "vitest";
import { monitorOf, plannedOf } from "../fixtures.suite.ts";
import { DueTimes } from "./due-times.ts";

const START_MS = 1_000_000_000;

function scene(isFree = true) {
  const planned = { ...plannedOf(0), intervalMs: 1_000, phaseMs: 250 };
  const begun: number[] = [];
  const missed: number[] = [];
  const dueTimes = new DueTimes(
    START_MS,
    (id) => (id === 0 ? planned : undefined),
    () => {},
  );
  const advance = (nowMs: number): number =>
    dueTimes.advance(nowMs, ({ spec }, dueAtMs) => {
      (spec === null ? missed : begun).push(dueAtMs - START_MS);
      return isFree ? "taken" : "busy";
    });
  return { planned, begun, missed, dueTimes, advance };
}

describe("DueTimes", () => {
  it("keeps the phase however late it is asked: periods do not drift", () => {
    const { planned, begun, dueTimes, advance } = scene();
    dueTimes.settle(planned, START_MS);
    for (const nowMs of [260, 1_251, 2_900, 3_250]) advance(START_MS + nowMs);
    expect(begun).toEqual([250, 1_250, 2_250, 3_250]);
    expect(dueTimes.skipped).toBe(0);
  });

  it("counts the turns that a freeze swallowed, and makes up for one only", () => {
    const { planned, begun, dueTimes, advance } = scene();
    dueTimes.settle(planned, START_MS);
    advance(START_MS + 5_300);
    expect(begun).toEqual([5_250]);
    expect(dueTimes.skipped).toBe(5);
    advance(START_MS + 6_250);
    expect(begun).toEqual([5_250, 6_250]);
  });

  it("counts a turn that could not begin because the one before still runs", () => {
    const { planned, dueTimes, advance } = scene(false);
    dueTimes.settle(planned, START_MS);
    advance(START_MS + 250);
    expect(dueTimes.skipped).toBe(1);
  });

  it("takes the turn of the phase that came while a hastened one was late", () => {
    const { planned, begun, dueTimes, advance } = scene();
    dueTimes.set(planned, START_MS + 245);
    advance(START_MS + 255);
    expect([begun, dueTimes.skipped]).toEqual([[250], 1]);
    dueTimes.set(planned, START_MS + 600);
    advance(START_MS + 3_300);
    expect([begun, dueTimes.skipped]).toEqual([[250, 3_250], 4]);
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
      // By a clock that was ten minutes ahead.
      [600_000, 5_000, [1_250, 2_250, 3_250, 4_250], 0],
    ] as const) {
      const { planned, begun, dueTimes, advance } = scene();
      dueTimes.resume(planned, START_MS + lastMs, START_MS + 500, latestMs);
      for (let nowMs = 500; nowMs < 5_000; nowMs += 50) advance(START_MS + nowMs);
      expect([begun, dueTimes.skipped]).toEqual([begins, skipped]);
    }
  });

  it("hastens a turn, never delays it", () => {
    const { planned, begun, dueTimes, advance } = scene();
    dueTimes.settle(planned, START_MS);
    dueTimes.hasten(planned, START_MS + 900);
    dueTimes.hasten(planned, START_MS + 100);
    advance(START_MS + 100);
    advance(START_MS + 250);
    expect(begun).toEqual([100, 250]);
  });

  it("goes to its phase anew, without a burst, when the clock was set back", () => {
    const { planned, begun, dueTimes, advance } = scene();
    dueTimes.settle(planned, START_MS);
    dueTimes.restart([planned], START_MS - 3_600_000);
    advance(START_MS - 3_600_000 + 100);
    expect(begun).toEqual([]);
    advance(START_MS - 3_600_000 + 250);
    expect(begun).toEqual([-3_600_000 + 250]);
  });

  it("reports a heartbeat's deadline, and gives it its whole patience after the clock was set", () => {
    const { planned, missed, dueTimes, advance } = scene();
    planned.spec = null;
    planned.monitor = monitorOf({ kind: "push", intervalS: 60, graceS: 30 });
    dueTimes.set(planned, START_MS + 10_000);
    dueTimes.restart([planned], START_MS + 7_200_000);
    advance(START_MS + 7_200_000 + 89_999);
    expect(missed).toEqual([]);
    advance(START_MS + 7_200_000 + 90_000);
    expect(missed).toEqual([7_290_000]);
  });

  it("tells who waits for the next due time of one that is sooner, and of no other", () => {
    const { planned, dueTimes, advance } = scene();
    let told = 0;
    dueTimes.onSooner(() => {
      told += 1;
      dueTimes.nextMs();
    });
    expect(dueTimes.nextMs()).toBe(Number.POSITIVE_INFINITY);
    dueTimes.settle(planned, START_MS);
    expect([told, dueTimes.nextMs()]).toEqual([1, START_MS + 250]);
    dueTimes.hasten(planned, START_MS + 900);
    expect(told).toBe(1);
    dueTimes.hasten(planned, START_MS + 100);
    expect([told, dueTimes.nextMs()]).toEqual([2, START_MS + 100]);
    // The next turn's time is asked for after an advance.
    advance(START_MS + 100);
    expect(told).toBe(2);
    expect(dueTimes.nextMs()).toBe(START_MS + 250);
    // After a step of the clock whatever is due is sooner.
    dueTimes.restart([planned], START_MS - 60_000);
    expect([told, dueTimes.nextMs()]).toEqual([3, START_MS - 59_750]);
  });
});
