import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../testkit/must.ts";
import { assertProperty } from "../testkit/property.ts";
import { newLocationState } from "./judge.ts";
import { mergeLocations } from "./merge.ts";
import { type LiveStatus, type LocationState, REGIONAL_STATUSES, type RegionalStatus } from "./status.ts";
import type { ConfirmedStatus } from "./verdict.ts";

function location(
  status: RegionalStatus,
  confirmed: ConfirmedStatus | null,
  lastCheckAtMs: number | null = 1,
): LocationState {
  return { ...newLocationState(), status, confirmed, lastCheckAtMs };
}

const up = location("up", "up");
const down = location("down", "down");
const refused = location("degraded", "degraded");
const retryingUp = location("pending", "up");
const retryingRefused = location("pending", "degraded");
const retryingNew = location("pending", null);
const unavailable = location("unavailable", "down");
const unavailableNew = location("unavailable", null, null);
const never = newLocationState();
const maintenanceOnly = location("unknown", null);

describe("one location: 6.1 as it stands", () => {
  it.each<[string, LocationState, LiveStatus]>([
    ["up", up, "healthy"],
    ["down", down, "down"],
    ["credentials refused", refused, "degraded"],
    ["retrying, was up", retryingUp, "degraded"],
    ["retrying, credentials were refused", retryingRefused, "degraded"],
    ["retrying, never judged", retryingNew, "degraded"],
    ["never checked", never, "unknown"],
    ["checked in maintenance only", maintenanceOnly, "unknown"],
    ["without a checker", unavailable, "degraded"],
    ["without a checker from the start", unavailableNew, "unknown"],
  ])("%s", (_name, state, status) => {
    expect(mergeLocations([state])).toBe(status);
  });
});

describe("several locations: 6.2 and 18.7.2", () => {
  it.each<[string, LocationState[], LiveStatus]>([
    ["all up", [up, up, up], "healthy"],
    ["all down", [down, down], "down"],
    ["some up, some down", [up, down, up], "partial"],
    ["up and refused credentials", [up, refused], "healthy"],
    ["down and refused credentials", [down, refused], "down"],
    ["up, down and refused credentials", [up, down, refused], "partial"],
    ["refused credentials everywhere", [refused, refused], "degraded"],
    ["up and retrying after up: counts as up", [up, retryingUp], "healthy"],
    ["all retrying after up: still healthy", [retryingUp, retryingUp], "healthy"],
    ["down and retrying after up", [down, retryingUp], "partial"],
    ["down and retrying for the first time: left out", [down, retryingNew], "down"],
    ["up and retrying for the first time: left out", [up, retryingNew], "healthy"],
    ["up and never checked", [up, never], "healthy"],
    ["down and never checked", [down, never], "down"],
    ["nothing but first retries", [retryingNew, retryingNew], "degraded"],
    ["a first retry and never checked", [retryingNew, never], "degraded"],
    ["refused credentials and never checked", [refused, never], "degraded"],
    ["never checked at all", [never, never], "unknown"],
    ["maintenance only", [maintenanceOnly, never], "unknown"],
    ["unavailable is left out though it was down", [up, unavailable], "healthy"],
    ["only unavailable is left", [unavailable, unavailable], "degraded"],
    ["unavailable from the start", [unavailableNew, never], "unknown"],
    ["none at all", [], "unknown"],
  ])("%s", (_name, states, status) => {
    expect(mergeLocations(states)).toBe(status);
  });

  const state = fc.tuple(
    fc.constantFrom(...REGIONAL_STATUSES),
    fc.constantFrom<ConfirmedStatus | null>("up", "down", "degraded", null),
    fc.constantFrom(null, 1),
  );

  it("depends on which verdicts there are, not on their order or number", () => {
    assertProperty(
      fc.property(fc.array(state, { minLength: 2, maxLength: 6 }), fc.nat(5), (parts, turn) => {
        const states = parts.map((part) => location(...part));
        const status = mergeLocations(states);
        const turned = [...states.slice(turn), ...states.slice(0, turn)];
        if (mergeLocations(turned) !== status) throw new Error("order matters");
        if (mergeLocations([...states, ...states]) !== status) throw new Error("number matters");
        const counted = states.filter((one) => one.status !== "unavailable").map((one) => one.confirmed);
        const isUp = counted.includes("up");
        const isDown = counted.includes("down");
        mustEqual(
          [status === "healthy" || status === "partial", status === "down" || status === "partial"],
          [isUp, isDown],
        );
      }),
      { numRuns: 100_000 },
    );
  });
});
