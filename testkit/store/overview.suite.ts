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
      const none = { subscriptionId: null, intervalS: 60, isPaused: false, pausedAtMs: null, maintenance: null };
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

    it("tells which certificates end, the soonest first, and of no monitor that is paused or deleted", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const ids: number[] = [];
      for (const name of ["a", "b", "c", "d", "e"]) ids.push(await make(ground, { name }));
      const [a = 0, b = 0, c = 0, d = 0, e = 0] = ids;
      const paused = await make(ground, { name: "paused", pauseReasons: ["user"], pausedAtMs: NOW_MS });
      const endsIn = (id: number, ms: number) =>
        liveOf(id, { certificate: { valid: ms > 0, expiresAtMs: NOW_MS + ms } });
      const live = [endsIn(a, 7_000), endsIn(b, -5_000), endsIn(c, 9_000), endsIn(d, 1), endsIn(paused, 1), liveOf(e)];
      await plane.sink.apply(batch(1, { live }));
      await plane.monitors.remove(projectId, d, NOW_MS, ADA);
      const soonest = [
        { monitorId: b, expiresAtMs: NOW_MS - 5_000 },
        { monitorId: a, expiresAtMs: NOW_MS + 7_000 },
      ];
      expect(await plane.overview.expiring(projectId, NOW_MS + 9_000, 9)).toEqual(soonest);
      expect(await plane.overview.expiring(projectId, NOW_MS + 9_000, 1)).toEqual(soonest.slice(0, 1));
      expect(await plane.overview.expiring(projectId + 99, NOW_MS + 9_000, 9)).toEqual([]);
    });

    it("names the subscriptions", async () => {
      const { plane, projectId, organizationId } = currentGround();
      const made = await plane.subscriptions.create({ ...SUBSCRIPTION, projectId, organizationId, name: "Provider" });
      await importServers(plane, made, [listedServer("one.test-site.org", "One", ["a"])]);
      expect(await plane.overview.subscriptions(projectId)).toEqual([{ id: made.id, name: "Provider" }]);
      expect(await plane.overview.monitors(projectId)).toMatchObject([{ name: "One", subscriptionId: made.id }]);
    });
  });

  describe("what open pages read", () => {
    it("tells which monitors of which project were changed or deleted since a generation", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const since = await plane.generation();
      expect(await plane.liveReads.changedSince(since, 9)).toEqual({ generation: since, changes: [] });
      const [a, b] = [await make(ground), await make(ground)];
      await plane.monitors.remove(projectId, a, NOW_MS, ADA);
      const { generation, changes } = await plane.liveReads.changedSince(since, 9);
      expect(generation).toBe(await plane.generation());
      expect([...changes].sort((one, two) => one.id - two.id)).toEqual([
        { id: a, projectId, isGone: true },
        { id: b, projectId, isGone: false },
      ]);
      expect((await plane.liveReads.changedSince(since, 1)).changes).toHaveLength(1);
      expect(await plane.liveReads.changedSince(Number.MAX_SAFE_INTEGER, 0)).toEqual({ generation, changes: [] });
    });

    it("tells how subscriptions are, and which tests ended", async () => {
      const ground = currentGround();
      const { plane, projectId, organizationId } = ground;
      const made = await plane.subscriptions.create({ ...SUBSCRIPTION, projectId, organizationId, name: "P" });
      const state = { id: made.id, projectId, lastSyncStatus: "pending", lastSyncedAtMs: null, lastServerCount: null };
      expect(await plane.liveReads.subscriptions([projectId])).toEqual([{ ...state, isSyncing: true }]);
      await importServers(plane, made, [listedServer("one.test-site.org", "One", ["a"])]);
      expect(await plane.liveReads.subscriptions([projectId])).toMatchObject([
        { lastSyncStatus: "success", lastServerCount: 1, isSyncing: false },
      ]);
      expect([await plane.liveReads.subscriptions([]), await plane.liveReads.subscriptions([projectId + 9])]).toEqual([
        [],
        [],
      ]);

      const monitorId = await make(ground);
      const job = { kind: "test", projectId, monitorId, location: "any", incidentId: null } as const;
      const jobs = ["tst_a", "tst_b"].map((testId) => ({
        ...job,
        testId,
        atMs: NOW_MS,
        expiresAtMs: NOW_MS + 600_000,
      }));
      const order = { organizationId, month: "2026-11", quota: null, actor: ADA, jobs };
      const ordered = await plane.jobs.order(order);
      const [first = 0] = ordered.type === "queued" ? ordered.jobIds : [];
      const end = {
        reason: "ran",
        status: "healthy",
        latencyMs: 3.5,
        connectMs: null,
        message: null,
        testedAtMs: NOW_MS,
      } as const;
      await plane.jobs.endTests([{ jobId: first, end, atMs: NOW_MS + 5 }]);
      const ended = (sinceMs: number, projects = [projectId]) => plane.jobs.endedTests(projects, sinceMs, 9);
      expect(await ended(NOW_MS + 5)).toEqual([{ id: first, projectId, monitorId, testId: "tst_a", result: end }]);
      expect([await ended(NOW_MS + 6), await ended(0, []), await ended(0, [projectId + 9])]).toEqual([[], [], []]);
    });

    it("finds incidents by id and by monitor, the newest first", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const [a, b] = [await make(ground), await make(ground)];
      await plane.sink.apply(
        batch(1, {
          incidents: [
            opening(a, NOW_MS),
            { type: "close", monitorId: a, atMs: NOW_MS + 10 },
            opening(a, NOW_MS + 20),
            opening(b, NOW_MS + 30),
            { type: "close", monitorId: b, atMs: NOW_MS + 40 },
          ],
        }),
      );
      const all = await plane.incidents.list(projectId, { monitorId: a, limit: 9 });
      const oldest = all.at(-1)?.id ?? 0;
      const find = async (over: Partial<Parameters<typeof plane.incidents.named>[1]>, project = projectId) =>
        (await plane.incidents.named(project, { incidentIds: [], monitorIds: [], sinceMs: 0, limit: 9, ...over })).map(
          ({ monitorId, startedAtMs }) => [monitorId, startedAtMs - NOW_MS],
        );
      expect(await find({ monitorIds: [a, b] })).toEqual([
        [b, 30],
        [a, 20],
        [a, 0],
      ]);
      expect(await find({ monitorIds: [a, b], sinceMs: NOW_MS + 11, limit: 2 })).toEqual([
        [b, 30],
        [a, 20],
      ]);
      expect(await find({ monitorIds: [a], sinceMs: NOW_MS + 11, incidentIds: [oldest] })).toEqual([
        [a, 20],
        [a, 0],
      ]);
      expect([await find({}), await find({ monitorIds: [a], incidentIds: [oldest] }, projectId + 9)]).toEqual([[], []]);
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
