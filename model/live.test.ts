import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { applyCheck, type JudgedMonitor, type JudgedOutcome, newLiveState, withAvailability } from "./live.ts";
import { mergeLocations } from "./merge.ts";
import { enabledLocations } from "./monitor.ts";
import type { LiveState } from "./status.ts";
import { VERDICTS, type Verdict } from "./verdict.ts";

const monitor: JudgedMonitor = { kind: "http", maxRetries: 2, locations: ["any"], disabledLocations: [] };
const three: JudgedMonitor = { ...monitor, locations: ["de", "nl", "us"] };

function outcome(verdict: Verdict, more: Partial<JudgedOutcome> = {}): JudgedOutcome {
  return {
    verdict,
    startedAtMs: 1_000,
    latenessMs: 3,
    latencyMs: 41,
    connectMs: 7,
    peerAnswered: false,
    message: verdict === "ok" ? null : `said ${verdict}`,
    certificate: null,
    ...more,
  };
}

describe("applyCheck", () => {
  it("makes the first check of a new monitor", () => {
    const applied = applyCheck(newLiveState(12), monitor, "any", outcome("ok"), false);
    expect(applied.row).toEqual({
      seq: 1,
      status: "healthy",
      changed: 1,
      latency_ms: 41,
      connect_ms: 7,
      error_category: null,
      error_message: null,
    });
    expect(applied.live).toEqual({
      monitorId: 12,
      status: "healthy",
      statusSinceMs: 1_000,
      lastCheckedAtMs: 1_000,
      latencyMs: 41,
      connectMs: 7,
      region: "any",
      latenessMs: 3,
      seq: 1,
      lastRowStatus: "healthy",
      lastRowId: null,
      certificate: null,
      locations: {
        any: {
          status: "up",
          confirmed: "up",
          notPassed: 0,
          failingSinceMs: null,
          lastCheckAtMs: 1_000,
          pingMs: 41,
          errorCategory: null,
        },
      },
      errorMessage: null,
    });
  });

  it("goes healthy, retrying, down, healthy, and flags each change of the row", () => {
    const verdicts: Verdict[] = ["ok", "ok", "refused", "refused", "refused", "unfit", "ok"];
    let live = newLiveState(1);
    const seen = verdicts.map((verdict) => {
      const applied = applyCheck(live, monitor, "any", outcome(verdict), false);
      const before = live.status;
      live = applied.live;
      return [applied.row.seq, before, live.status, applied.row.status, applied.row.changed];
    });
    expect(seen).toEqual([
      [1, "unknown", "healthy", "healthy", 1],
      [2, "healthy", "healthy", "healthy", 0],
      [3, "healthy", "degraded", "degraded", 1],
      [4, "degraded", "down", "down", 1],
      [5, "down", "down", "down", 0],
      [6, "down", "down", "degraded", 1],
      [7, "down", "healthy", "healthy", 1],
    ]);
  });

  it("keeps since when the status is what it is", () => {
    const at = (startedAtMs: number, verdict: Verdict) => outcome(verdict, { startedAtMs });
    let live = newLiveState(1);
    const since = ([1_000, 2_000, 3_000, 4_000, 5_000] as const).map((atMs) => {
      live = applyCheck(live, monitor, "any", at(atMs, atMs < 3_000 ? "ok" : "refused"), false).live;
      return [live.status, live.statusSinceMs];
    });
    expect(since).toEqual([
      ["healthy", 1_000],
      ["healthy", 1_000],
      ["degraded", 3_000],
      ["down", 4_000],
      ["down", 4_000],
    ]);
  });

  it("has no latency when the check failed, whatever was measured", () => {
    const { live, row } = applyCheck(newLiveState(1), monitor, "any", outcome("rejected"), false);
    expect([live.latencyMs, live.connectMs, row.latency_ms, row.connect_ms]).toEqual([null, null, null, null]);
    expect(live.locations.any?.pingMs).toBeNull();
    expect([live.errorMessage, row.error_message]).toEqual(["said rejected", "said rejected"]);
  });

  it("has no message when the check passed, whatever the probe said", () => {
    const failed = applyCheck(newLiveState(1), monitor, "any", outcome("rejected"), false).live;
    const { live, row } = applyCheck(failed, monitor, "any", outcome("ok", { message: "all well" }), false);
    expect([live.errorMessage, row.error_message]).toEqual([null, null]);
  });

  it("keeps the latest certificate", () => {
    const certificate = { valid: true, expiresAtMs: 5_000 };
    const seen = applyCheck(newLiveState(1), monitor, "any", outcome("ok", { certificate }), false).live;
    const later = applyCheck(seen, monitor, "any", outcome("timeout"), false).live;
    expect(later.certificate).toEqual(certificate);
    const invalid = { valid: false, expiresAtMs: 1_000 };
    expect(
      applyCheck(later, monitor, "any", outcome("cert-invalid", { certificate: invalid }), false).live.certificate,
    ).toBe(invalid);
  });

  it("changes no status inside a maintenance window", () => {
    const healthy = applyCheck(newLiveState(1), monitor, "any", outcome("ok"), false).live;
    const { live, row } = applyCheck(healthy, { ...monitor, maxRetries: 1 }, "any", outcome("refused"), true);
    expect([row.status, row.changed, row.error_category]).toEqual(["unknown", 1, "server_not_connected"]);
    expect([live.status, live.seq, live.lastCheckedAtMs]).toEqual(["healthy", 2, 1_000]);
    // Not even when the monitor's locations were changed since.
    const partial = [
      ["de", "refused"],
      ["nl", "ok"],
      ["de", "refused"],
    ] as const;
    const before = partial.reduce(
      (now, [at, said]) => applyCheck(now, three, at, outcome(said), false).live,
      newLiveState(3),
    );
    const onlyUp = { ...three, disabledLocations: ["de", "us"] };
    expect([before.status, applyCheck(before, onlyUp, "nl", outcome("ok"), true).live.status]).toEqual([
      "partial",
      "partial",
    ]);
    const first = applyCheck(newLiveState(2), monitor, "any", outcome("ok"), true).live;
    expect(first.status).toBe("unknown");
  });

  it("merges the locations", () => {
    let live = newLiveState(1);
    const run = (location: string, verdict: Verdict): string => {
      live = applyCheck(live, three, location, outcome(verdict), false).live;
      return live.status;
    };
    expect(run("de", "refused")).toBe("degraded");
    expect(run("nl", "ok")).toBe("healthy");
    expect(run("de", "refused")).toBe("partial");
    expect(run("nl", "refused")).toBe("partial");
    expect(run("nl", "refused")).toBe("down");
    expect(run("us", "auth-failed")).toBe("down");
    expect(run("us", "ok")).toBe("partial");
    expect(live.region).toBe("us");
    expect(Object.keys(live.locations).sort()).toEqual(["de", "nl", "us"]);
  });

  it("gives a row but no status to a location that is not enabled", () => {
    const healthy = applyCheck(newLiveState(1), three, "de", outcome("ok"), false).live;
    const changed = { ...three, maxRetries: 1, disabledLocations: ["nl"] };
    for (const location of ["nl", "fr"]) {
      const { live, row } = applyCheck(healthy, changed, location, outcome("refused"), false);
      expect([live.status, row.status, row.seq]).toEqual(["healthy", "down", 2]);
      expect(live.locations).toBe(healthy.locations);
    }
  });

  it("leaves the state it was given as it was", () => {
    const live = applyCheck(newLiveState(1), three, "de", outcome("ok"), false).live;
    const copy = structuredClone(live);
    applyCheck(live, three, "de", outcome("refused"), false);
    expect(live).toEqual(copy);
  });
});

describe("applyCheck, whatever comes", () => {
  const step = fc.record({
    verdict: fc.oneof(fc.constantFrom(...VERDICTS), fc.constantFrom<Verdict>("ok", "ok", "timeout", "auth-failed")),
    location: fc.constantFrom("de", "nl", "us", "fr"),
    inMaintenance: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    latencyMs: fc.option(fc.nat(60_000)),
  });
  const story = fc.array(step, { maxLength: 60, size: "max" });

  it("counts without gaps, flags changes, keeps to the merge, and replays to the same", () => {
    let steps = 0;
    const monitors = fc.record({
      kind: fc.constantFrom("http" as const, "wireguard" as const, "push" as const),
      maxRetries: fc.integer({ min: 1, max: 4 }),
      locations: fc.subarray(["de", "nl", "us"], { minLength: 1 }),
      disabledLocations: fc.subarray(["nl"]),
    });
    assertProperty(
      fc.property(monitors, story, (monitor, checks) => {
        const tell = (): { live: LiveState; rows: unknown[] } => {
          let live = newLiveState(1);
          const rows: unknown[] = [];
          checks.forEach(({ verdict, location, inMaintenance, latencyMs }, i) => {
            steps += 1;
            const before = live;
            const applied = applyCheck(
              live,
              monitor,
              location,
              outcome(verdict, { latencyMs, startedAtMs: i }),
              inMaintenance,
            );
            live = applied.live;
            rows.push(applied.row);
            expectStep(before, applied, monitor, verdict, inMaintenance);
          });
          return { live, rows };
        };
        const first = tell();
        const copy = JSON.parse(JSON.stringify(first)) as unknown;
        expect(tell()).toEqual(copy);
      }),
      { numRuns: 3_000 },
    );
    expect(steps).toBeGreaterThan(100_000);
  });

  function expectStep(
    before: LiveState,
    { live, row }: ReturnType<typeof applyCheck>,
    monitor: JudgedMonitor,
    verdict: Verdict,
    inMaintenance: boolean,
  ): void {
    if (row.seq !== before.seq + 1 || live.seq !== row.seq) throw new Error("gap in seq");
    if ((row.changed === 1) !== (before.lastRowStatus !== row.status)) throw new Error("changed flag");
    if (verdict !== "ok" && row.latency_ms !== null) throw new Error("latency of a failure");
    if (inMaintenance && live.status !== before.status) throw new Error("maintenance moved the status");
    const states = enabledLocations(monitor).flatMap((location) => live.locations[location] ?? []);
    if (states.length === enabledLocations(monitor).length && live.status !== mergeLocations(states))
      throw new Error("merge");
    if (Object.keys(live.locations).some((location) => !enabledLocations(monitor).includes(location))) {
      throw new Error("state of a location that is not enabled");
    }
  }
});

describe("withAvailability", () => {
  const here =
    (...locations: string[]) =>
    (location: string) =>
      locations.includes(location);

  it("leaves a location without a checker out of the status, and takes it back as it stood", () => {
    let live = newLiveState(1);
    for (const [location, verdict] of [
      ["de", "ok"],
      ["nl", "refused"],
      ["nl", "refused"],
    ] as const) {
      live = applyCheck(live, three, location, outcome(verdict), false).live;
    }
    expect(live.status).toBe("partial");
    const away = withAvailability(live, three, here("de"), 7_000);
    expect([live.statusSinceMs, away.status, away.statusSinceMs]).toEqual([1_000, "healthy", 7_000]);
    expect(away.locations.nl).toMatchObject({ status: "unavailable", confirmed: "down", lastCheckAtMs: 1_000 });
    expect(away.locations.us).toMatchObject({ status: "unavailable", confirmed: null });
    expect(withAvailability(away, three, here("de"), 7_000)).toBe(away);
    const back = withAvailability(away, three, here("de", "nl", "us"), 7_000);
    expect(back.status).toBe("partial");
    expect([back.locations.nl?.status, back.locations.us?.status]).toEqual(["down", "unknown"]);
    expect(withAvailability(live, monitor, here("any"), 7_000)).toBe(live);
  });

  it("merges anew when other locations are chosen, as far as something is known of them", () => {
    let live = newLiveState(1);
    for (const [location, verdict] of [
      ["de", "ok"],
      ["nl", "refused"],
      ["nl", "refused"],
    ] as const) {
      live = applyCheck(live, three, location, outcome(verdict), false).live;
    }
    const everywhere = () => true;
    expect(withAvailability(live, { ...three, disabledLocations: ["nl"] }, everywhere, 7_000).status).toBe("healthy");
    expect(withAvailability(live, { ...three, locations: ["nl"] }, everywhere, 7_000).status).toBe("down");
    expect(withAvailability(live, { ...three, locations: ["jp"] }, everywhere, 7_000)).toBe(live);
    expect(withAvailability(live, { ...three, locations: ["jp"] }, here("de"), 7_000).status).toBe("unknown");
  });

  it("knows nothing of a monitor whose only location has no checker", () => {
    const only = { ...monitor, locations: ["de"] };
    const never = withAvailability(newLiveState(1), only, here("any"), 7_000);
    expect([never.status, never.locations.de?.status]).toEqual(["unknown", "unavailable"]);
    const checked = applyCheck(newLiveState(1), only, "de", outcome("ok"), false).live;
    expect(withAvailability(checked, only, here("any"), 7_000).status).toBe("degraded");
    const push = { ...monitor, kind: "push" as const };
    expect(withAvailability(newLiveState(1), push, here("de"), 7_000)).toMatchObject({
      status: "unknown",
      locations: {},
    });
  });
});
