import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { isDay, readSchedule, writeSchedule } from "./maintenance-schedule.ts";

describe("readSchedule", () => {
  it.each([
    [null, "schedule must be an object with a type: once, weekly or cron."],
    [{ type: "daily" }, "schedule.type must be once, weekly or cron."],
    [
      { type: "cron", cron: "0 2 * * *", minutes: 5, timezone: "Europe/Berlin" },
      "schedule has no timezone: timezone stands beside schedule.",
    ],
    [{ type: "once", starts_at: "x" }, "schedule.starts_at must be an ISO time."],
    [{ type: "once", starts_at: "2026-11-21T06:00:00Z" }, "schedule.ends_at must be an ISO time."],
    [
      { type: "once", starts_at: "2026-11-21T06:00:00Z", ends_at: "2026-11-21T06:00:00Z" },
      "schedule.ends_at must be after starts_at, at most a year.",
    ],
    [{ type: "weekly", days: [0] }, "schedule.days must be a list of days, from 1 (Monday) to 7 (Sunday)."],
    [{ type: "weekly", days: [] }, "schedule.days must be a list of days, from 1 (Monday) to 7 (Sunday)."],
    [{ type: "weekly", days: [1], from: "24:00" }, "schedule.from must be a local time, HH:MM."],
    [
      { type: "weekly", days: [1], from: "02:00", minutes: 4 },
      "schedule.minutes must be a whole number from 5 to 10080.",
    ],
    [
      { type: "cron", cron: "* * * *", minutes: 5 },
      "schedule.cron must be a pattern of five fields, at most 100 characters.",
    ],
  ])("refuses %j", (value, fault) => {
    expect(readSchedule(value)).toEqual({ fault });
  });

  it("takes names of days as documents write them", () => {
    expect(readSchedule({ type: "weekly", days: ["sun", "Mon", 1], from: "02:30", minutes: 90 })).toEqual({
      schedule: { type: "weekly", days: [1, 7], from: "02:30", minutes: 90 },
    });
  });

  property([fc.oneof(fc.jsonValue(), fc.record({ type: fc.constantFrom("once", "weekly", "cron"), ...ANY() }))], {
    numRuns: 200,
  })("ends in a schedule that is read again as it was written, or in a fault", (value) => {
    const read = readSchedule(value);
    if ("fault" in read) expect(read.fault).toMatch(/^schedule.*\.$/);
    else expect(readSchedule(writeSchedule(read.schedule))).toEqual(read);
  });
});

function ANY() {
  return {
    days: fc.oneof(fc.array(fc.oneof(fc.integer({ min: -1, max: 9 }), fc.constantFrom("mon", "x"))), fc.jsonValue()),
    from: fc.oneof(fc.constantFrom("02:00", "23:59", "2:00"), fc.string()),
    minutes: fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.double()),
    cron: fc.oneof(fc.constantFrom("0 2 * * *", "a b c d e"), fc.string()),
    starts_at: fc.constantFrom("2026-11-21T06:00:00Z", "2026-11-22", "x"),
    ends_at: fc.constantFrom("2026-11-22T06:00:00Z", "2029-11-22", ""),
  };
}

it("knows days of the calendar", () => {
  expect(["2026-02-28", "2028-02-29", "2026-02-29", "2026-13-01", "26-01-01"].map(isDay)).toEqual([
    ...[true, true, false, false, false],
  ]);
});
