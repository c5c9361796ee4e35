import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Refused } from "../../model/plain-values.ts";
import { outcomeOf } from "../../scheduler/fixtures.suite.ts";
import { property } from "../../testkit/property.ts";
import { CHECK, measured } from "./checks.suite.ts";
import { parseBatch, parseOneOffCheck, parseOutcomes, parseReply, parseReport } from "./message-readers.ts";

const NOW_MS = 1_760_000_000_000;
const REPORT = {
  location: "de",
  id: "0a.b",
  name: "box",
  version: "1",
  atMs: NOW_MS,
  clockOffsetMs: -3,
  room: 4_096,
  inFlight: 0,
  isFit: false,
  reasons: ["cut"],
  isLeaving: false,
};
const RUN = { checkId: 1, specKey: 2, dueAtMs: 3, startByMs: 4, alone: false, host: "a.test", wasHealthy: true };
const read = (value: unknown): unknown => value;

describe("what comes over Redis", () => {
  it("outcomes: one that is none stands alone, and is counted", () => {
    const list = [outcomeOf(1), { ...outcomeOf(2), latencyMs: "5" }, { ...outcomeOf(3), withheld: true }, 7];
    const { outcomes, refused, reason } = parseOutcomes(JSON.stringify(list));
    expect(outcomes).toEqual([outcomeOf(1), { ...outcomeOf(3), withheld: true }]);
    expect([refused, reason]).toEqual([2, "outcome is no object"]);
  });

  it("outcomes: more than an entry has are none at all", () => {
    const { outcomes, refused } = parseOutcomes(JSON.stringify(new Array(1_000_000).fill(0)));
    expect([outcomes, refused]).toEqual([[], 1]);
    expect(parseOutcomes(`${"[".repeat(500_000)}${"]".repeat(500_000)}`).refused).toBe(1);
    expect(parseOutcomes("sealed garbage").refused).toBe(1);
  });

  it("reports: those of the location, of now, within bounds", () => {
    const said = (over: object): string => JSON.stringify({ ...REPORT, ...over });
    expect(parseReport(said({ further: 1 }), "de", NOW_MS)).toEqual(REPORT);
    const poison = [
      { location: "nl" },
      { atMs: NOW_MS + 3_600_000 },
      { room: 1e9 },
      { name: "x".repeat(9_999) },
      { reasons: "cut" },
    ];
    for (const over of poison) expect(() => parseReport(said(over), "de", NOW_MS)).toThrow(Refused);
  });

  it("answers of one-off checks", () => {
    expect(parseReply(JSON.stringify({ type: "busy", further: 1 }))).toEqual({ type: "busy" });
    expect(parseReply(JSON.stringify(measured(3)))).toEqual(measured(3));
    const poison = [
      { verdict: "fine" },
      { latencyMs: "3" },
      { startedAtMs: 8.64e15 },
      { message: "\0" },
      { tunnel: 1 },
    ];
    for (const over of poison) {
      const { result } = measured(3) as Extract<ReturnType<typeof measured>, { type: "measured" }>;
      expect(() => parseReply(JSON.stringify({ type: "measured", result: { ...result, ...over } }))).toThrow(Refused);
    }
  });

  it("one-off checks and runs, as a checker takes them", () => {
    expect(parseOneOffCheck(JSON.stringify({ ...CHECK, further: 1 }))).toEqual(CHECK);
    expect(() => parseOneOffCheck(JSON.stringify({ ...CHECK, kind: "other" }))).toThrow(Refused);
    expect(parseBatch(JSON.stringify({ specs: [1], runs: [RUN] }), read)).toEqual({ specs: [1], runs: [RUN] });
    for (const runs of [[{ ...RUN, dueAtMs: "3" }], new Array(100_000).fill(RUN), {}]) {
      expect(() => parseBatch(JSON.stringify({ specs: [], runs }), read)).toThrow(Refused);
    }
  });

  property([fc.oneof(fc.string(), fc.json())])("is read or refused, and nothing else", (text) => {
    expect(parseOutcomes(text).outcomes).toEqual([]);
    const readers = [
      () => parseReport(text, "de", NOW_MS),
      () => parseReply(text),
      () => parseOneOffCheck(text),
      () => parseBatch(text, read),
    ];
    for (const reader of readers) expect(reader).toThrow(Refused);
  });
});
