import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { type IncidentChange, incidentStep, type OpenIncident, severityOf } from "./incident.ts";
import { applyCheck, type JudgedMonitor, newLiveState } from "./live.ts";
import type { LiveState } from "./status.ts";
import { isOwnVerdict, VERDICTS, type Verdict } from "./verdict.ts";

const monitor: JudgedMonitor = { kind: "openvpn", maxRetries: 2, locations: ["any"], disabledLocations: [] };
const two: JudgedMonitor = { ...monitor, locations: ["de", "nl"] };

interface Told {
  readonly location?: string;
  readonly verdict: Verdict;
  readonly message?: string | null;
  readonly inMaintenance?: boolean;
}

/** A monitor with its incident, checked once a second. */
class Story {
  readonly monitor: JudgedMonitor;
  live: LiveState = newLiveState(7);
  open: OpenIncident | null = null;
  atMs = 0;

  constructor(monitor: JudgedMonitor) {
    this.monitor = monitor;
  }

  check({
    location = "any",
    verdict,
    message = `said ${verdict}`,
    inMaintenance = false,
  }: Told): readonly IncidentChange[] {
    this.atMs += 1_000;
    const outcome = {
      verdict,
      startedAtMs: this.atMs,
      latenessMs: 0,
      latencyMs: null,
      connectMs: null,
      peerAnswered: false,
      message: verdict === "ok" ? null : message,
      certificate: null,
    };
    const { live, row } = applyCheck(this.live, this.monitor, location, outcome, inMaintenance);
    const check = { location, outcome, errorCategory: row.error_category, inMaintenance };
    const step = incidentStep(this.open, this.monitor, this.live, live, check);
    this.live = live;
    this.open = step.open;
    return step.changes;
  }

  types(...verdicts: readonly Verdict[]): string[][] {
    return verdicts.map((verdict) => this.check({ verdict }).map((change) => change.type));
  }
}

describe("one location", () => {
  it("opens down when down is confirmed, and closes with the check that passes", () => {
    const story = new Story(monitor);
    expect(story.types("ok", "refused")).toEqual([[], []]);
    expect(story.check({ verdict: "refused" })).toEqual([
      {
        type: "open",
        monitorId: 7,
        atMs: 3_000,
        startedAtMs: 2_000,
        level: "down",
        message: "said refused",
        category: "server_not_connected",
        locations: ["any"],
      },
    ]);
    expect(story.types("refused")).toEqual([[]]);
    expect(story.check({ verdict: "ok" })).toEqual([{ type: "close", monitorId: 7, atMs: 5_000 }]);
    expect(story.open).toBeNull();
  });

  it("begins with the first of the failures, and not before a maintenance window", () => {
    const story = new Story({ ...monitor, maxRetries: 3 });
    expect(story.types("timeout", "ok", "timeout", "unfit", "refused").flat()).toEqual([]);
    expect(story.check({ verdict: "timeout" })).toMatchObject([{ type: "open", atMs: 6_000, startedAtMs: 3_000 }]);

    const maintained = new Story({ ...monitor, maxRetries: 3 });
    maintained.types("ok", "timeout");
    maintained.check({ verdict: "ok", inMaintenance: true });
    maintained.types("timeout");
    expect(maintained.check({ verdict: "timeout" })).toMatchObject([{ type: "open", atMs: 5_000, startedAtMs: 4_000 }]);
  });

  it("begins when the location that failed last began to fail", () => {
    const story = new Story({ ...monitor, locations: ["de", "nl"] });
    const at = (location: string, verdict: Verdict) => story.check({ location, verdict });
    for (const location of ["de", "nl", "de", "de", "de"]) at(location, location === "de" ? "timeout" : "ok");
    expect(at("nl", "timeout").map(({ type }) => type)).not.toContain("open");
    expect(at("nl", "timeout")).toMatchObject([{ type: "open", atMs: 7_000, startedAtMs: 6_000 }]);
  });

  it("opens degraded only when refused credentials are confirmed", () => {
    const story = new Story(monitor);
    expect(story.types("ok", "auth-failed")).toEqual([[], []]);
    expect(story.check({ verdict: "auth-failed" })).toMatchObject([
      { type: "open", level: "degraded", category: "auth_failed" },
    ]);
  });

  it("raises degraded to down, and never lowers it", () => {
    const story = new Story(monitor);
    story.types("auth-failed", "auth-failed");
    expect(story.check({ verdict: "timeout" })).toEqual([
      {
        type: "raise",
        monitorId: 7,
        atMs: 3_000,
        message: "said timeout",
        category: "server_not_connected",
        locations: ["any"],
      },
    ]);
    expect(story.types("auth-failed", "timeout")).toEqual([["message"], ["message"]]);
    expect(story.open?.level).toBe("down");
  });

  it("opens nothing while retrying, for faults of ours, and in maintenance", () => {
    const story = new Story({ ...monitor, maxRetries: 3 });
    expect(story.types("ok", "refused", "unfit", "internal-error", "refused", "cancelled", "ok").flat()).toEqual([]);
    for (let i = 0; i < 5; i++) expect(story.check({ verdict: "refused", inMaintenance: true })).toEqual([]);
  });

  it("is left alone by faults of ours and by maintenance while open", () => {
    const story = new Story(monitor);
    story.types("refused", "refused");
    const { open } = story;
    expect(story.types("unfit", "cancelled").flat()).toEqual([]);
    expect(story.check({ verdict: "ok", inMaintenance: true })).toEqual([]);
    expect(story.check({ verdict: "timeout", inMaintenance: true })).toEqual([]);
    expect(story.open).toBe(open);
  });

  it("tells of a message only when it is another one", () => {
    const story = new Story(monitor);
    story.types("refused", "refused");
    expect(story.check({ verdict: "refused", message: "said refused" })).toEqual([]);
    expect(story.check({ verdict: "refused", message: "other words" })).toMatchObject([
      { type: "message", message: "other words" },
    ]);
    expect(story.check({ verdict: "refused", message: "other words" })).toEqual([]);
  });

  it("says the verdict when the probe had no words", () => {
    const story = new Story({ ...monitor, maxRetries: 1 });
    expect(story.check({ verdict: "closed", message: null })).toMatchObject([{ type: "open", message: "closed" }]);
  });

  it("learns the failure anew after a restart, once", () => {
    const story = new Story(monitor);
    story.types("refused", "refused");
    story.open = { level: "down", failure: null };
    expect(story.types("refused", "refused")).toEqual([["message"], []]);
  });

  it("opens at once for a heartbeat", () => {
    const story = new Story({ ...monitor, kind: "push", maxRetries: 10 });
    expect(story.check({ verdict: "timeout" })).toMatchObject([{ type: "open", level: "down" }]);
  });
});

describe("several locations", () => {
  it("opens nothing for partial, opens when all are down, and stays open through partial", () => {
    const story = new Story({ ...two, maxRetries: 1 });
    expect(story.check({ location: "nl", verdict: "ok" })).toEqual([]);
    expect(story.check({ location: "de", verdict: "refused" })).toEqual([]);
    expect(story.live.status).toBe("partial");
    expect(story.check({ location: "nl", verdict: "refused" })).toMatchObject([
      { type: "open", level: "down", locations: ["de", "nl"] },
    ]);
    expect(story.check({ location: "de", verdict: "ok" })).toEqual([
      { type: "location", monitorId: 7, atMs: 4_000, location: "de", status: "up", message: null },
    ]);
    expect(story.live.status).toBe("partial");
    expect(story.open?.level).toBe("down");
    expect(story.check({ location: "nl", verdict: "refused" })).toMatchObject([{ type: "message", locations: ["nl"] }]);
    expect(story.check({ location: "nl", verdict: "ok" }).map((change) => change.type)).toEqual(["location", "close"]);
  });

  it("tells of a location that goes down or is refused while the incident is open", () => {
    const story = new Story({ ...two, maxRetries: 1 });
    story.check({ location: "de", verdict: "refused" });
    expect(story.check({ location: "nl", verdict: "auth-failed" })).toMatchObject([
      { type: "location", location: "nl", status: "degraded", message: "said auth-failed" },
      { type: "message", locations: ["de", "nl"] },
    ]);
  });

  it("never tells of the location any", () => {
    const story = new Story({ ...monitor, maxRetries: 1 });
    expect(story.types("refused", "auth-failed", "ok")).toEqual([["open"], ["message"], ["close"]]);
  });

  it("opens degraded when credentials are refused everywhere that was judged", () => {
    const story = new Story({ ...two, maxRetries: 1 });
    expect(story.check({ location: "de", verdict: "auth-failed" })).toMatchObject([
      { type: "open", level: "degraded" },
    ]);
    expect(story.check({ location: "nl", verdict: "ok" }).map((change) => change.type)).toEqual(["location", "close"]);
  });

  it("takes no notice of a location that is not enabled", () => {
    const story = new Story({ ...two, maxRetries: 1 });
    story.check({ location: "de", verdict: "refused" });
    expect(story.check({ location: "fr", verdict: "timeout" })).toEqual([]);
  });
});

it("gives each level its severity", () => {
  expect([severityOf("down"), severityOf("degraded")]).toEqual(["critical", "warning"]);
});

describe("incidentStep, whatever comes", () => {
  const told = fc.record({
    verdict: fc.oneof(fc.constantFrom(...VERDICTS), fc.constantFrom<Verdict>("ok", "timeout", "auth-failed", "unfit")),
    location: fc.constantFrom("de", "nl", "any", "fr"),
    message: fc.constantFrom("a", "b", null),
    inMaintenance: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });
  const monitors = fc.record({
    kind: fc.constantFrom("http" as const, "openvpn" as const, "push" as const),
    maxRetries: fc.integer({ min: 1, max: 4 }),
    locations: fc.constantFrom(["any"], ["de"], ["de", "nl"]),
    disabledLocations: fc.subarray(["nl"]),
  });

  it("keeps at most one open, at the level that the status asks for", () => {
    let steps = 0;
    assertProperty(
      fc.property(monitors, fc.array(told, { maxLength: 60, size: "max" }), (monitor, checks) => {
        const story = new Story(monitor);
        let failures = 0;
        for (const check of checks) {
          steps += 1;
          const before = { open: story.open, live: story.live };
          const changes = story.check(check);
          const counts = !check.inMaintenance && !isOwnVerdict(check.verdict);
          if (counts && check.verdict !== "ok") failures += 1;
          expectStep(before, story, changes, counts);
          const needed = monitor.kind === "push" ? 1 : monitor.maxRetries;
          if (story.open !== null && failures < needed) throw new Error("opened before maxretries failures");
        }
      }),
      { numRuns: 5_000 },
    );
    expect(steps).toBeGreaterThan(100_000);
  });

  function expectStep(
    before: { open: OpenIncident | null; live: LiveState },
    { open, live }: Story,
    changes: readonly IncidentChange[],
    counts: boolean,
  ): void {
    const types = changes.map((change) => change.type);
    if (!counts && (types.length > 0 || open !== before.open))
      throw new Error("a check that does not count changed it");
    if (live.status === "down" && open?.level !== "down") throw new Error("down without a down incident");
    if (live.status === "healthy" && counts && open !== null) throw new Error("healthy with an incident");
    if (live.status === "unknown" && open !== null) throw new Error("an incident of what was never judged");
    if (before.open === null && types.some((type) => type !== "open")) throw new Error(`${types} without an incident`);
    if (before.open !== null && types.includes("open")) throw new Error("a second incident");
    if (before.open?.level === "down" && open?.level === "degraded") throw new Error("lowered");
    if (types.includes("raise") !== (before.open?.level === "degraded" && open?.level === "down"))
      throw new Error("raise");
    if (types.includes("close") !== (before.open !== null && open === null)) throw new Error("close");
    if (types.length > 2 || new Set(types).size !== types.length) throw new Error(`${types} in one step`);
    if (types.includes("message") && JSON.stringify(open?.failure) === JSON.stringify(before.open?.failure)) {
      throw new Error("the same message again");
    }
  }
});
