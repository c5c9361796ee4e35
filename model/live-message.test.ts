import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { INCIDENT_TURNS, readLiveMessage, writeLiveMessage } from "./live-message.ts";

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const whole = fc.option(fc.integer({ min: 0, max: 1e13 }));
const check = fc.record({
  monitorId: id,
  letter: fc.constantFrom("h", "d", "g", "p", "z", "u"),
  latencyMs: whole,
  checkedAtMs: whole,
  isChanged: fc.boolean(),
});
const turn = fc.record({ monitorId: id, incidentId: fc.option(id), what: fc.constantFrom(...INCIDENT_TURNS) });

describe("live messages", () => {
  property([fc.array(check), fc.array(turn)])("are read as they were written", (checks, turns) => {
    expect(readLiveMessage(writeLiveMessage({ checks, turns }))).toEqual({ checks, turns });
  });

  property([fc.oneof(fc.json(), fc.string())])("of any text are a message or nothing", (text) => {
    const read = readLiveMessage(text);
    expect(read === undefined || Array.isArray(read.checks)).toBe(true);
  });

  it.each([
    ["{"],
    ["null"],
    ['{"c":[]}'],
    ['{"c":[[0,"h",1,1,1]],"t":[]}'],
    ['{"c":[[1,"x",1,1,1]],"t":[]}'],
    ['{"c":[[1,"h","1",1,1]],"t":[]}'],
    ['{"c":[null],"t":[]}'],
    ['{"c":[],"t":[[1,null,9]]}'],
    ['{"c":[],"t":[[1,-1,0]]}'],
    ['{"c":[],"t":[7]}'],
  ])("refuses %s", (text) => {
    expect(readLiveMessage(text)).toBeUndefined();
  });
});
