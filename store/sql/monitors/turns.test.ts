import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlannedTurns } from "../../../model/maintenance-schedule.ts";
import { property } from "../../../testkit/property.ts";
import { ScheduleError, Turns } from "./turns.ts";

const HOUR_MS = 3_600_000;
const NIGHTLY = { type: "weekly", days: [1, 2, 3, 4, 5, 6, 7], from: "02:30", minutes: 60 } as const;
const turnsOf = (over: Partial<PlannedTurns> = {}): Turns =>
  new Turns({ schedule: NIGHTLY, timezone: "Europe/Berlin", startsOn: null, endsOn: null, ...over });
const at = (text: string): number => Date.parse(text);
/** Starts of the turns that come after then. */
function starts(turns: Turns, from: string, count: number): readonly string[] {
  const found: string[] = [];
  for (let atMs = at(from); found.length < count; ) {
    const turn = turns.after(atMs);
    if (turn === null) break;
    found.push(new Date(turn.fromMs).toISOString().slice(0, 16));
    atMs = turn.fromMs;
  }
  return found;
}

describe("turns of a schedule", () => {
  it("keep the local time across a change of clocks; a time that does not exist is the change", () => {
    expect(starts(turnsOf(), "2026-03-27T12:00:00Z", 3)).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
  });

  it("are once a day where clocks go back and a time comes twice", () => {
    expect(starts(turnsOf(), "2026-10-23T12:00:00Z", 4)).toEqual([
      ...["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"],
    ]);
    const newYork = { timezone: "America/New_York", schedule: { ...NIGHTLY, days: [7], from: "01:30" } };
    expect(starts(turnsOf(newYork), "2026-10-26T00:00:00Z", 2)).toEqual(["2026-11-01T05:30", "2026-11-08T06:30"]);
    const listed = turnsOf({ schedule: { type: "cron", cron: "0,30 2,14 * * *", minutes: 10 } });
    expect(starts(listed, "2026-10-24T22:00:00Z", 4)).toEqual([
      ...["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T13:00", "2026-10-25T13:30"],
    ]);
    // By elapsed time.
    const steps = turnsOf({ schedule: { type: "cron", cron: "*/30 * * * *", minutes: 10 } });
    expect(starts(steps, "2026-10-24T23:59:00Z", 4)).toEqual([
      ...["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"],
    ]);
  });

  it("are on from their start until their end", () => {
    const turn = { fromMs: at("2026-06-01T00:30:00Z"), untilMs: at("2026-06-01T01:30:00Z") };
    const turns = turnsOf();
    expect([
      turns.at(turn.fromMs - 1),
      turns.at(turn.fromMs),
      turns.at(turn.untilMs - 1),
      turns.at(turn.untilMs),
    ]).toEqual([...[null, turn, turn, null]]);
  });

  it("are within whole days of the zone, both included", () => {
    const turns = turnsOf({ schedule: { ...NIGHTLY, from: "00:00" }, startsOn: "2026-06-03", endsOn: "2026-06-04" });
    expect(starts(turns, "2026-05-01T00:00:00Z", 9)).toEqual(["2026-06-02T22:00", "2026-06-03T22:00"]);
    expect(turns.at(at("2026-06-01T22:30:00Z"))).toBeNull();
    expect(turns.at(at("2026-06-02T22:30:00Z"))).not.toBeNull();
    expect(turns.at(at("2026-06-04T22:30:00Z"))).toBeNull();
  });

  it("are told at once to come never, or in decades", () => {
    const of = (cron: string) => turnsOf({ timezone: "UTC", schedule: { type: "cron", cron, minutes: 30 } });
    const nowMs = at("2026-11-28T12:00:00Z");
    expect(() => of("0 0 31 2,4,6,9,11 *").refuseUseless(nowMs)).toThrow("no turn that is still to come");
    expect(() => of("0 0 29 2 +1#5").refuseUseless(nowMs)).toThrow("no turn in the next ten years");
    expect(() => of("0 0 29 2 *").refuseUseless(nowMs)).not.toThrow();
    expect(of("0 0 29 2 *").at(at("2028-02-29T00:29:59Z"))).toEqual({
      fromMs: at("2028-02-29T00:00:00Z"),
      untilMs: at("2028-02-29T00:30:00Z"),
    });
  });

  it("by a cron pattern, or once", () => {
    const cron = turnsOf({ schedule: { type: "cron", cron: "15 4 1 * *", minutes: 30 }, timezone: "UTC" });
    expect(starts(cron, "2026-11-21T00:00:00Z", 2)).toEqual(["2026-12-01T04:15", "2027-01-01T04:15"]);
    const turn = { fromMs: at("2026-11-21T06:00:00Z"), untilMs: at("2026-11-21T07:00:00Z") };
    const once = turnsOf({ schedule: { type: "once", startsAtMs: turn.fromMs, endsAtMs: turn.untilMs } });
    expect([once.after(turn.fromMs - 1), once.at(turn.fromMs), once.at(turn.untilMs), once.after(turn.fromMs)]).toEqual(
      [...[turn, turn, null, null]],
    );
  });

  it.each([
    [{ timezone: "Mars/Olympus" }, "timezone must be a name of the IANA database, such as Europe/Berlin."],
    [{ timezone: "+02:00" }, "timezone must be a name of the IANA database, such as Europe/Berlin."],
    [{ schedule: { type: "cron", cron: "61 * * * *", minutes: 5 } }, "schedule.cron is no pattern that can be read."],
    [{ schedule: { type: "cron", cron: "0 0 31 2 *", minutes: 5 } }, "The schedule has no turn that is still to come."],
    [{ endsOn: "2026-06-01" }, "The schedule has no turn that is still to come."],
    [
      { schedule: { type: "cron", cron: "*/5 * * * *", minutes: 6 } },
      "A turn of the schedule begins before the one before it has ended: send fewer minutes.",
    ],
  ] as const)("refuse %j", (over, message) => {
    expect(() => turnsOf(over).refuseUseless(at("2026-11-21T06:00:00Z"))).toThrow(new ScheduleError(message));
  });

  const field = fc.oneof(
    fc.constantFrom("*", "*/7", "1", "0,30", "5-9", "L", "?", "MON", "1W", "2#1", "*/0", "99"),
    fc.string({ maxLength: 9 }),
  );
  property([fc.array(field, { minLength: 5, maxLength: 5 }), fc.integer({ min: 0, max: 4e12 })], { numRuns: 100 })(
    "of any pattern are refused, or are in order",
    (fields, nowMs) => {
      let turns: Turns;
      try {
        turns = turnsOf({ schedule: { type: "cron", cron: fields.join(" "), minutes: 5 } });
      } catch (error) {
        expect(error).toBeInstanceOf(ScheduleError);
        return;
      }
      const next = turns.after(nowMs);
      const current = turns.at(nowMs);
      if (next !== null) expect(next.fromMs).toBeGreaterThan(nowMs);
      if (current !== null) expect(nowMs - current.fromMs).toBeLessThan(HOUR_MS / 12);
    },
  );
});
