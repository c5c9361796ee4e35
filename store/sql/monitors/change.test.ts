import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isActive, MONITOR_DEFAULTS, type Monitor, PAUSE_REASONS, type PauseReason } from "../../../model/monitor.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { changeMonitor } from "./change.ts";

const MONITOR: Monitor = {
  ...MONITOR_DEFAULTS,
  id: 1,
  projectId: 1,
  organizationId: 1,
  name: "Shop",
  kind: "http",
  settings: { url: "https://shop.test-site.org/", ip_version: null },
  intervalS: 60,
  timeoutS: 30,
  maxRetries: 2,
  tags: ["a"],
  host: "shop.test-site.org",
  sslExpirationDays: 14,
  maintenance: null,
  createdAtMs: 1,
  updatedAtMs: 1,
};

describe("changeMonitor", () => {
  it("gives back the very monitor when nothing differs", () => {
    const changed = changeMonitor(MONITOR, { name: "Shop", tags: ["a"], removePauseReasons: ["user"] }, 9);
    expect(changed).toEqual({ monitor: MONITOR, fields: [], turned: null, isChanged: false });
    expect(changed.monitor).toBe(MONITOR);
  });

  it("names fields as the API does", () => {
    const change = {
      name: "b",
      intervalS: 61,
      timeoutS: 31,
      timeoutFollowsInterval: true,
      maxRetries: 3,
      tags: [],
      locations: ["de"],
      disabledLocations: ["nl"],
      notifyOnPartial: true,
      sslExpirationDays: null,
      domainExpirationDays: 7,
      graceS: 1,
      settings: { ip_version: null, keyword: "x" },
    };
    const names =
      "name interval timeout timeout_follows_interval maxretries tags locations disabled_locations notify_on_partial ssl_expiration domain_expiration grace url keyword";
    expect(changeMonitor(MONITOR, change, 9).fields).toEqual(names.split(" "));
    expect(changeMonitor({ ...MONITOR, kind: "push" }, { intervalS: 61 }, 9).fields).toEqual(["period"]);
  });

  it("keeps what is undefined", () => {
    const change = { name: undefined, intervalS: 61 } as unknown as Parameters<typeof changeMonitor>[1];
    expect(changeMonitor(MONITOR, change, 9).monitor).toEqual({ ...MONITOR, intervalS: 61, updatedAtMs: 9 });
  });

  it("keeps the reasons a set, and the pause time that of the turn", () => {
    const reason = fc.constantFrom<PauseReason>(...PAUSE_REASONS);
    const step = fc.record({ add: fc.option(reason, { nil: undefined }), remove: fc.array(reason, { maxLength: 4 }) });
    assertProperty(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        let monitor = MONITOR;
        const set = new Set<PauseReason>();
        let pausedAtMs: number | null = null;
        steps.forEach(({ add, remove }, index) => {
          const atMs = 100 + index;
          const wasActive = set.size === 0;
          for (const gone of remove) set.delete(gone);
          if (add !== undefined) set.add(add);
          const turned = wasActive === (set.size === 0) ? null : wasActive ? "paused" : "resumed";
          if (turned !== null) pausedAtMs = turned === "paused" ? atMs : null;
          const change =
            add === undefined ? { removePauseReasons: remove } : { addPauseReason: add, removePauseReasons: remove };
          const changed = changeMonitor(monitor, change, atMs);
          monitor = changed.monitor;
          const seen = [
            [...monitor.pauseReasons].sort(),
            isActive(monitor),
            monitor.pausedAtMs,
            changed.turned,
            changed.fields,
          ];
          const wanted = [[...set].sort(), set.size === 0, pausedAtMs, turned, []];
          // Not expect: a hundred thousand of them take a minute.
          if (JSON.stringify(seen) !== JSON.stringify(wanted))
            throw new Error(`${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`);
        });
      }),
      { numRuns: 30_000 },
    );
  });
});
