/** Subscriptions, the servers imported from them, and tunnels' slots and secrets. */
import { describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import type { ConfigResult } from "../../store/sql/monitors/imports-port.ts";
import { SlotsFullError } from "../../store/sql/monitors/port.ts";
import { type NewSubscription, UrlTakenError } from "../../store/sql/subscriptions/port.ts";
import {
  ADA,
  type Another,
  batch,
  EVERYTHING,
  type Ground,
  importServers,
  listedServer,
  make,
  NOW_MS,
  newMonitor,
  opening,
} from "./ground.suite.ts";

function newSubscription({ projectId, organizationId }: Ground, over: Partial<NewSubscription> = {}): NewSubscription {
  return {
    projectId,
    organizationId,
    name: "Provider",
    urlSealed: "sealed",
    urlHash: "hash",
    syncIntervalS: 300,
    timeoutS: 30,
    maxWorkers: 50,
    configAlertPercent: 50,
    enabled: true,
    nowMs: NOW_MS,
    ...over,
  };
}

async function imported(ground: Ground, subscriptionId: number, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index++) {
    ids.push(
      await make(ground, {
        kind: "vless",
        settings: {},
        subscriptionId,
        intervalS: 300,
        host: `s${index}.test-site.org`,
      }),
    );
  }
  return ids;
}

const passed: ConfigResult = {
  atMs: NOW_MS,
  success: true,
  totalMs: 81.5,
  error: "",
  errorCategory: "",
  publicIp: "9.9.9.9",
  engineUsed: "xray",
  exitCountry: "DE",
};

export function subscriptionTests(currentGround: () => Ground, another: Another): void {
  const reasons = async (ids: readonly number[]) =>
    Promise.all(
      ids.map(async (id) => (await currentGround().plane.monitors.recall(id))?.monitor.pauseReasons.join("+")),
    );

  describe("subscriptions", () => {
    it("are kept with their first sync queued, unless they are off", async () => {
      const ground = currentGround();
      const { subscriptions, jobs } = ground.plane;
      const on = await subscriptions.create(newSubscription(ground));
      expect(on).toEqual({
        id: on.id,
        projectId: ground.projectId,
        organizationId: ground.organizationId,
        name: "Provider",
        urlSealed: "sealed",
        syncIntervalS: 300,
        timeoutS: 30,
        maxWorkers: 50,
        configAlertPercent: 50,
        engine: "both",
        enabled: true,
        lastSyncedAtMs: null,
        lastServerCount: null,
        lastSyncStatus: "pending",
        syncErrorMessage: null,
        failures: 0,
        createdAtMs: NOW_MS,
        updatedAtMs: NOW_MS,
      });
      const off = await subscriptions.create(newSubscription(ground, { urlHash: "other", enabled: false, name: null }));
      expect((await jobs.openSyncs(9)).map((job) => job.subscriptionId)).toEqual([on.id]);
      expect(await subscriptions.find(ground.projectId, off.id)).toEqual(off);
      expect(await subscriptions.find(ground.projectId + 1, off.id)).toBeUndefined();
      expect([await subscriptions.recall(off.id), await subscriptions.recall(99_999)]).toEqual([off, undefined]);
      const page = await subscriptions.list(ground.projectId, 1, 1);
      expect([page.rows.map((row) => row.id), page.total]).toEqual([[off.id], 2]);
    });

    it("have an address of their own within the project, also when several processes write at once", async () => {
      const ground = currentGround();
      const { subscriptions } = ground.plane;
      const others = await Promise.all([another("api"), another("api")]);
      const attempts = await Promise.allSettled(
        [ground.plane, ...others].map((plane) => plane.subscriptions.create(newSubscription(ground))),
      );
      expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const one of attempts) if (one.status === "rejected") expect(one.reason).toBeInstanceOf(UrlTakenError);
      const [first] = (await subscriptions.list(ground.projectId, 9, 0)).rows;
      const second = await subscriptions.create(
        newSubscription(ground, { urlHash: "b", urlSealed: "b", enabled: false }),
      );
      const third = await subscriptions.create(
        newSubscription(ground, { urlHash: "c", urlSealed: "c", enabled: false }),
      );
      const move = (plane: typeof ground.plane, id: number) =>
        plane.subscriptions.update(ground.projectId, id, { url: { sealed: "d", hash: "d" } }, NOW_MS);
      await expect(
        subscriptions.update(ground.projectId, second.id, { url: { sealed: "x", hash: "hash" } }, NOW_MS),
      ).rejects.toBeInstanceOf(UrlTakenError);
      const moves = await Promise.allSettled([
        move(ground.plane, second.id),
        move(others[0] ?? ground.plane, third.id),
      ]);
      expect(moves.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      for (const one of moves) if (one.status === "rejected") expect(one.reason).toBeInstanceOf(UrlTakenError);
      // Its own address again changes nothing.
      expect(
        await subscriptions.update(
          ground.projectId,
          first?.id ?? 0,
          { url: { sealed: "again", hash: "hash" } },
          NOW_MS + 1,
        ),
      ).toEqual(first);
      await Promise.all(others.map((plane) => plane.close()));
    });

    it("switched off pause every monitor, switched on resume those that have no other reason to be paused", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.subscriptions.create(newSubscription(ground));
      const ids = await imported(ground, id, 5);
      const [a = 0, b = 0, c = 0, d = 0] = ids;
      const own = await make(ground, { kind: "vless", settings: {} });
      await plane.monitors.update(projectId, b, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      await plane.monitors.update(projectId, c, NOW_MS, ADA, () => ({ addPauseReason: "provider" }));
      await plane.monitors.update(projectId, d, NOW_MS, ADA, () => ({ addPauseReason: "plan" }));
      await plane.sink.apply(batch(1, { incidents: [opening(a)] }));
      const { generation } = await plane.monitors.changedSince(Number.POSITIVE_INFINITY);

      const off = await plane.subscriptions.update(projectId, id, { enabled: false }, NOW_MS + 5);
      expect(off).toMatchObject({ enabled: false, updatedAtMs: NOW_MS + 5 });
      expect(await reasons([...ids, own])).toEqual([
        "subscription",
        "user+subscription",
        "subscription+provider",
        "subscription+plan",
        "subscription",
        "",
      ]);
      expect((await plane.monitors.changedSince(generation)).removedIds).toEqual(ids);
      expect((await plane.history.list(a, 1, 0)).rows[0]).toMatchObject({
        type: "paused",
        message: "Monitoring paused",
        actor: SYSTEM_ACTOR,
        atMs: NOW_MS + 5,
      });
      expect((await plane.history.list(b, 1, 0)).rows[0]).toMatchObject({ atMs: NOW_MS });
      expect((await plane.monitors.recall(a))?.monitor.pausedAtMs).toBe(NOW_MS + 5);

      const on = await plane.subscriptions.update(projectId, id, { enabled: true }, NOW_MS + 9);
      expect(on).toMatchObject({ enabled: true, lastSyncStatus: "pending" });
      expect(await reasons([...ids, own])).toEqual(["", "", "provider", "plan", "", ""]);
      expect((await plane.monitors.changedSince(generation)).changed.map(({ monitor }) => monitor.id)).toEqual([
        a,
        b,
        ids[4],
      ]);
      const [incident] = await plane.incidents.list(projectId, { monitorId: a, limit: 5 });
      const events = (await plane.incidents.events(incident?.id ?? 0, 9, 0)).rows;
      expect(events.map(({ type }) => type)).toEqual(["opened", "monitor_paused", "monitor_resumed"]);
      expect(incident?.eventCount).toBe(3);
    });

    it("give their interval and timeout to their monitors, with history", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.subscriptions.create(newSubscription(ground));
      const [a = 0] = await imported(ground, id, 1);
      await plane.subscriptions.update(
        projectId,
        id,
        { syncIntervalS: 600, timeoutS: 40, maxWorkers: 7, name: null, engine: "xray" },
        NOW_MS + 1,
      );
      expect((await plane.monitors.recall(a))?.monitor).toMatchObject({ intervalS: 600, timeoutS: 40 });
      expect((await plane.history.list(a, 1, 0)).rows[0]).toMatchObject({ message: "Updated interval, timeout" });
      expect(await plane.subscriptions.find(projectId, id)).toMatchObject({
        syncIntervalS: 600,
        timeoutS: 40,
        maxWorkers: 7,
        name: null,
        engine: "xray",
      });
      expect(await plane.subscriptions.update(projectId, id + 1, { name: "x" }, NOW_MS)).toBeUndefined();
    });

    it("tell the plan how many of their monitors may be checked at once", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.subscriptions.create(newSubscription(ground, { maxWorkers: 3 }));
      const [a = 0] = await imported(ground, id, 1);
      const own = await make(ground, { kind: "vless", settings: {} });
      const { generation, changed } = await plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      expect(changed.map(({ monitor }) => [monitor.id, monitor.subscriptionWorkers])).toEqual([
        [a, 3],
        [own, undefined],
      ]);
      await plane.subscriptions.update(projectId, id, { maxWorkers: 7 }, NOW_MS + 1);
      const after = await plane.monitors.changedSince(generation);
      expect(after.changed.map(({ monitor }) => [monitor.id, monitor.subscriptionWorkers])).toEqual([[a, 7]]);
      expect((await plane.monitors.recall(a))?.monitor.subscriptionWorkers).toBe(7);
      expect((await plane.history.list(a, 9, 0)).total).toBe(1);
    });

    it("are synchronised once at a time, and switched on for it", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.subscriptions.create(newSubscription(ground, { enabled: false }));
      const [a = 0] = await imported(ground, id, 1);
      await plane.monitors.update(projectId, a, NOW_MS, ADA, () => ({ addPauseReason: "subscription" }));
      const first = await plane.subscriptions.requestSync(projectId, id, NOW_MS);
      expect(first).toMatchObject({ isNew: true, subscription: { enabled: true, lastSyncStatus: "pending" } });
      expect(await reasons([a])).toEqual([""]);
      expect(await plane.subscriptions.requestSync(projectId, id, NOW_MS)).toMatchObject({ isNew: false });
      const [job] = await plane.jobs.openSyncs(9);
      await plane.jobs.endSync(job?.id ?? 0, NOW_MS);
      expect(await plane.subscriptions.requestSync(projectId, id, NOW_MS)).toMatchObject({ isNew: true });
      expect(await plane.subscriptions.requestSync(projectId + 1, id, NOW_MS)).toBeUndefined();
    });

    it("deleted leave their monitors paused and free", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.subscriptions.create(newSubscription(ground));
      await importServers(plane, { id, projectId }, [listedServer("a.test-site.org", null, ["A"])]);
      const [listed] = (await plane.monitors.list(projectId, EVERYTHING)).rows;
      const [b = 0, c = 0] = await imported(ground, id, 2);
      const a = listed?.monitor.id ?? 0;
      const ids = [a, b, c];
      await plane.monitors.update(projectId, b, NOW_MS, ADA, () => ({ addPauseReason: "provider" }));
      await plane.monitors.update(projectId, c, NOW_MS, ADA, () => ({ addPauseReason: "plan" }));
      expect(await plane.subscriptions.remove(projectId, id, NOW_MS + 1)).toBe(3);
      expect(await plane.subscriptions.remove(projectId, id, NOW_MS + 1)).toBeUndefined();
      expect(await reasons(ids)).toEqual(["user", "user", "user+plan"]);
      expect((await plane.monitors.recall(a))?.monitor.subscriptionId).toBeNull();
      expect((await plane.imports.of(ids)).get(a)?.configs).toHaveLength(1);
      expect(await plane.jobs.openSyncs(9)).toEqual([]);
      // The address is free again.
      expect((await plane.subscriptions.create(newSubscription(ground))).id).toBeGreaterThan(id);
    });

    it("keep one key for the hashes of addresses, also when two processes ask at once", async () => {
      const { plane } = currentGround();
      const other = await another("api");
      const keys = await Promise.all([
        plane.subscriptions.hashKey(() => "one"),
        other.subscriptions.hashKey(() => "two"),
        plane.subscriptions.hashKey(() => "three"),
      ]);
      expect(new Set(keys).size).toBe(1);
      await other.close();
    });
  });

  describe("imported servers", () => {
    /** Of one server, as a first sync lists it. */
    async function oneServer(ground: Ground, tags: readonly string[]) {
      const { plane, projectId } = ground;
      const subscription = await plane.subscriptions.create(newSubscription(ground));
      await importServers(plane, subscription, [listedServer("s0.test-site.org", "Berlin", tags)]);
      const [row] = (await plane.monitors.list(projectId, EVERYTHING)).rows;
      return { subscription, monitorId: row?.monitor.id ?? 0 };
    }

    it("keep their configs, 256 of them, with the latest result of each location", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const tags = Array.from({ length: 300 }, (_, index) => `C${index}`);
      const { monitorId, subscription } = await oneServer(ground, tags);
      const [b = 0] = await imported(ground, subscription.id, 1);
      const read = async () => (await plane.imports.of([monitorId, b])).get(monitorId);
      const before = await read();
      expect(before).toMatchObject({ serverAddress: "s0.test-site.org", serverName: "Berlin", configCount: 300 });
      expect(before?.configs.map(({ tag }) => tag)).toEqual(tags.slice(0, 256));
      const [first, second] = before?.configs ?? [];
      const failed = {
        ...passed,
        success: false,
        error: "closed",
        errorCategory: "server_not_connected",
        publicIp: "",
        atMs: NOW_MS + 5,
      };
      const configResults = [
        { ...passed, configId: first?.id ?? 0, location: "de" },
        { ...passed, configId: first?.id ?? 0, location: "nl" },
        { ...passed, configId: second?.id ?? 0, location: "de" },
        { ...passed, configId: 999_999, location: "de" },
      ];
      await plane.sink.apply(batch(1, { configResults }));
      await plane.sink.apply(
        batch(2, {
          configResults: [
            { ...passed, configId: first?.id ?? 0, location: "de" },
            { ...failed, configId: first?.id ?? 0, location: "de" },
          ],
        }),
      );
      expect((await read())?.configs[0]?.results).toEqual({ de: failed, nl: passed });
      expect((await plane.imports.of([monitorId, b])).has(b)).toBe(false);

      await importServers(plane, subscription, [listedServer("s0.test-site.org", "Berlin", ["D", "C0"])], NOW_MS + 9);
      const after = await read();
      expect(after?.configs.map(({ tag }) => tag)).toEqual(["D", "C0"]);
      expect(after?.configs[0]?.results).toEqual({});
      expect(Object.keys(after?.configs[1]?.results ?? {})).toEqual(["de", "nl"]);
    });

    it("do not come back once their monitor was deleted, until the subscription goes", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { monitorId, subscription } = await oneServer(ground, ["A"]);
      expect(await plane.monitors.remove(projectId, monitorId, NOW_MS, ADA)).toBe(true);
      expect(await plane.subscriptions.excluded(subscription.id)).toEqual(["s0.test-site.org"]);
      expect((await plane.imports.of([monitorId])).size).toBe(0);
      await plane.subscriptions.remove(projectId, subscription.id, NOW_MS);
      expect(await plane.subscriptions.excluded(subscription.id)).toEqual([]);
    });

    it("are forgotten when the monitor gets a configuration of its own", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { monitorId } = await oneServer(ground, ["A"]);
      await plane.monitors.update(projectId, monitorId, NOW_MS, ADA, () => ({ sealed: "own", sealedFields: ["url"] }));
      expect((await plane.imports.of([monitorId])).size).toBe(0);
      expect((await plane.monitors.recall(monitorId))?.monitor.configs).toBeUndefined();
    });
  });

  describe("tunnels", () => {
    const tunnel = (over = {}) =>
      newMonitor(currentGround(), { kind: "wireguard", settings: {}, sealed: "secret", host: "a", ...over });

    it("take slots of the workspace, and never more at once than there are", async () => {
      const { plane, projectId } = currentGround();
      const others = await Promise.all([another("api"), another("api")]);
      const planes = [plane, ...others];
      const attempts = await Promise.allSettled(
        Array.from({ length: 9 }, (_, index) =>
          planes[index % 3]?.monitors.create(tunnel({ name: `t${index}` }), ADA, 4),
        ),
      );
      const refused = attempts.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
      expect(refused).toHaveLength(5);
      for (const reason of refused) expect(reason).toMatchObject({ name: "SlotsFullError", used: 4, slots: 4 });
      // Uptime checks need none.
      await plane.monitors.create(newMonitor(currentGround()), ADA, 0);
      const [first] = (await plane.monitors.list(projectId, { ...EVERYTHING, family: "tunnel" })).rows;
      const id = first?.monitor.id ?? 0;
      const change = (wanted: object, slots: number) =>
        plane.monitors.update(projectId, id, NOW_MS, ADA, () => wanted, slots);
      await change({ addPauseReason: "user" }, 4);
      await expect(plane.monitors.create(tunnel(), ADA, 4)).rejects.toBeInstanceOf(SlotsFullError);
      await change({ removePauseReasons: ["user"] }, 0);
      await change({ addPauseReason: "plan" }, 4);
      await plane.monitors.create(tunnel(), ADA, 4);
      await expect(change({ removePauseReasons: ["plan"] }, 4)).rejects.toMatchObject({ used: 4, slots: 4 });
      await change({ removePauseReasons: ["plan"] }, 5);
      expect(await reasons([id])).toEqual([""]);
      await Promise.all(others.map((one) => one.close()));
    });

    it("keep their secrets out of lists and through changes that do not touch them", async () => {
      const { plane, projectId, organizationId } = currentGround();
      const { id } = await plane.monitors.create(tunnel(), ADA);
      const seen = await plane.monitors.find(projectId, id);
      expect(JSON.stringify(seen)).not.toContain("secret");
      expect((await plane.monitors.recall(id))?.monitor.sealed).toBe("secret");
      expect((await plane.monitors.changedSince(-1)).changed[0]?.monitor.sealed).toBe("secret");
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ name: "Renamed" }));
      await plane.accounts.setProjectActive(projectId, false);
      await plane.accounts.setProjectActive(projectId, true);
      expect((await plane.monitors.recall(id))?.monitor).toMatchObject({
        sealed: "secret",
        name: "Renamed",
        organizationId,
      });
      await plane.monitors.update(projectId, id, NOW_MS, ADA, (now) => {
        expect(now.monitor.sealed).toBe("secret");
        return { kind: "vless", sealed: "other", sealedFields: ["url", "config"] };
      });
      expect((await plane.monitors.recall(id))?.monitor).toMatchObject({ sealed: "other", kind: "vless" });
      expect((await plane.history.list(id, 1, 0)).rows[0]?.message).toBe("Updated protocol, url, config");
      await plane.monitors.remove(projectId, id, NOW_MS, ADA);
    });
  });
}
