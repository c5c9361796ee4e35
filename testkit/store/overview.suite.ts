/** What an overview is made of, and lists of what selectors select. */
import { describe, expect, it } from "vitest";
import type { Selector } from "../../model/selector.ts";
import type { MonitorFilter } from "../../store/sql/monitors/port.ts";
import {
  ADA,
  batch,
  EVERYTHING,
  type Ground,
  importServers,
  listedServer,
  liveOf,
  make,
  NOW_MS,
  opening,
} from "./ground.suite.ts";

const SUBSCRIPTION = {
  urlSealed: "sealed",
  urlHash: "hash",
  syncIntervalS: 300,
  timeoutS: 30,
  maxWorkers: 5,
  configAlertPercent: 50,
  enabled: true,
  nowMs: NOW_MS,
} as const;

export function overviewTests(currentGround: () => Ground): void {
  describe("overview", () => {
    it("reads every monitor by name with its state, and nothing of other projects or deleted ones", async () => {
      const ground = currentGround();
      const { plane, projectId, organizationId } = ground;
      const b = await make(ground, { name: "b", tags: ["prod", "blue"] });
      const a = await make(ground, { name: "A", kind: "ping", tags: [], pauseReasons: ["user"], pausedAtMs: NOW_MS });
      const gone = await make(ground, { name: "gone" });
      await plane.monitors.remove(projectId, gone, NOW_MS, ADA);
      const other = await plane.accounts.createProject(organizationId, "Other", NOW_MS);
      await make({ ...ground, projectId: other?.id ?? 0 }, { name: "elsewhere" });
      await plane.maintenance.create([b], { fromMs: NOW_MS, untilMs: NOW_MS + 5 }, NOW_MS);
      const live = liveOf(b, { status: "down", statusSinceMs: NOW_MS - 7, latencyMs: null });
      await plane.sink.apply(batch(1, { live: [live], incidents: [opening(b), opening(a)] }));
      const none = { subscriptionId: null, isPaused: false, pausedAtMs: null, maintenance: null };
      expect(await plane.overview.monitors(projectId)).toEqual([
        { ...none, id: a, name: "A", kind: "ping", tags: [], isPaused: true, pausedAtMs: NOW_MS },
        {
          ...none,
          id: b,
          name: "b",
          kind: "http",
          tags: ["prod", "blue"],
          maintenance: { fromMs: NOW_MS, untilMs: NOW_MS + 5 },
        },
      ]);
      const states = await plane.overview.states(projectId);
      expect([...states].sort((one, two) => one.monitorId - two.monitorId)).toEqual([
        {
          monitorId: b,
          status: "down",
          statusSinceMs: NOW_MS - 7,
          lastCheckedAtMs: NOW_MS,
          latencyMs: null,
          latenessMs: 0.25,
        },
        {
          monitorId: a,
          status: "unknown",
          statusSinceMs: null,
          lastCheckedAtMs: null,
          latencyMs: null,
          latenessMs: null,
        },
      ]);
      expect(await plane.overview.openIncidents(projectId)).toEqual({ active: 1, unacknowledged: 1 });
      const [incident] = await plane.incidents.list(projectId, { monitorId: b, limit: 1 });
      await plane.incidents.acknowledge(projectId, incident?.id ?? 0, NOW_MS, ADA, null);
      expect(await plane.overview.openIncidents(projectId)).toEqual({ active: 1, unacknowledged: 0 });
      expect(await plane.overview.monitors(projectId + 99)).toEqual([]);
      expect(await plane.overview.openIncidents(projectId + 99)).toEqual({ active: 0, unacknowledged: 0 });
    });

    it("names the subscriptions", async () => {
      const { plane, projectId, organizationId } = currentGround();
      const made = await plane.subscriptions.create({ ...SUBSCRIPTION, projectId, organizationId, name: "Provider" });
      await importServers(plane, made, [listedServer("one.test-site.org", "One", ["a"])]);
      expect(await plane.overview.subscriptions(projectId)).toEqual([{ id: made.id, name: "Provider" }]);
      expect(await plane.overview.monitors(projectId)).toMatchObject([{ name: "One", subscriptionId: made.id }]);
    });
  });

  describe("selectors", () => {
    it("select by every member, and-ed, and leave out what `not` selects", async () => {
      const ground = currentGround();
      const { plane, projectId, organizationId } = ground;
      const subscription = await plane.subscriptions.create({ ...SUBSCRIPTION, projectId, organizationId, name: "P" });
      await importServers(plane, subscription, [listedServer("one.test-site.org", "imported", ["a"])]);
      const ids: Record<string, number> = {};
      for (const [name, over] of Object.entries({
        both: { tags: ["prod", "blue"] },
        prod: { tags: ["prod"], kind: "ping" },
        odd: { tags: ['x,"y', "%", "pro"] },
        paused: { tags: ["blue"], pauseReasons: ["user"], pausedAtMs: NOW_MS },
      } as const)) {
        ids[name] = await make(ground, { name, ...over });
      }
      await plane.sink.apply(
        batch(1, { live: [liveOf(ids.both ?? 0, { status: "down" }), liveOf(ids.paused ?? 0, { status: "down" })] }),
      );
      const found = async (select: Selector, more: Partial<MonitorFilter> = {}): Promise<string> => {
        const { rows, total } = await plane.monitors.list(projectId, { ...EVERYTHING, ...more, select });
        expect(total).toBe(rows.length);
        expect((await plane.monitors.list(projectId, { ...EVERYTHING, ...more, select, limit: 1 })).total).toBe(total);
        return rows.map(({ monitor }) => monitor.name).join(" ");
      };
      expect(await found({ all: true })).toBe("both imported odd paused prod");
      expect(await found({ ids: [ids.prod ?? 0, ids.odd ?? 0, 999_999] })).toBe("odd prod");
      expect(await found({ tags: ["prod"] })).toBe("both prod");
      expect(await found({ tags: ["prod", "blue"] })).toBe("both");
      expect(await found({ tags: ["pr%"] })).toBe("");
      expect(await found({ tags: ['x,"y'] })).toBe("odd");
      expect(await found({ tags: [","] })).toBe("");
      expect(await found({ tags: ["\0"] })).toBe("");
      expect(await found({ anyTag: ["blue", "%"] })).toBe("both odd paused");
      expect(await found({ kinds: ["ping"] })).toBe("prod");
      expect(await found({ family: "tunnel" })).toBe("imported");
      expect(await found({ subscriptionIds: [subscription.id] })).toBe("imported");
      expect(await found({ all: true, not: { subscriptionIds: [subscription.id] } })).toBe("both odd paused prod");
      expect(await found({ name: "O" })).toBe("both imported odd prod");
      expect(await found({ status: ["down"] })).toBe("both");
      expect(await found({ status: ["down", "paused"] })).toBe("both paused");
      expect(await found({ tags: ["blue"], not: { status: ["paused"] } })).toBe("both");
      expect(await found({ all: true, not: { tags: ["prod"], kinds: ["ping"] } })).toBe("both imported odd paused");
      expect(await found({ tags: ["prod"] }, { activeOnly: true, protocol: "ping" })).toBe("prod");
    });

    it("are listed by name, status, latency and time, with what has no value last", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const ids: number[] = [];
      for (const name of ["a", "b", "c", "d"]) ids.push(await make(ground, { name }));
      const [a = 0, b = 0, c = 0] = ids;
      await plane.sink.apply(
        batch(1, {
          live: [
            liveOf(a, { status: "healthy", latencyMs: 9, lastCheckedAtMs: NOW_MS + 1 }),
            liveOf(b, { status: "down", latencyMs: null, lastCheckedAtMs: NOW_MS }),
            liveOf(c, { status: "degraded", latencyMs: 3, lastCheckedAtMs: NOW_MS + 2 }),
          ],
        }),
      );
      const order = async (sort: "name" | "status" | "latency" | "checked", way: "asc" | "desc") =>
        (await plane.monitors.list(projectId, { ...EVERYTHING, sort, order: way })).rows
          .map(({ monitor }) => monitor.name)
          .join("");
      expect([await order("name", "asc"), await order("name", "desc")]).toEqual(["abcd", "dcba"]);
      expect([await order("status", "asc"), await order("status", "desc")]).toEqual(["bcda", "adcb"]);
      expect([await order("latency", "asc"), await order("latency", "desc")]).toEqual(["cabd", "acbd"]);
      expect([await order("checked", "asc"), await order("checked", "desc")]).toEqual(["bacd", "cabd"]);
    });
  });
}
