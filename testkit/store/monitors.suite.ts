/** Monitors: made, found, deleted, and the settings that a host shares. */
import { describe, expect, it } from "vitest";
import {
  ADA,
  batch,
  EVERYTHING,
  type Ground,
  liveOf,
  make,
  NOW_MS,
  newHeartbeat,
  newMonitor,
  opening,
} from "./ground.suite.ts";

export function monitorTests(currentGround: () => Ground): void {
  describe("monitors", () => {
    it("gives back what was created, with ids and times", async () => {
      const ground = currentGround();
      const { nowMs, heartbeatToken, ...input } = newMonitor(ground);
      const monitor = await ground.plane.monitors.create({ ...input, nowMs, heartbeatToken }, ADA);
      expect(monitor).toEqual({
        ...input,
        id: monitor.id,
        maintenance: null,
        createdAtMs: NOW_MS,
        updatedAtMs: NOW_MS,
      });
      const found = await ground.plane.monitors.find(ground.projectId, monitor.id);
      expect(found?.monitor).toEqual(monitor);
      expect(found?.live).toMatchObject({
        monitorId: monitor.id,
        status: "unknown",
        seq: 0,
        locations: {},
        certificate: null,
      });
      expect(await ground.plane.monitors.find(ground.projectId + 1, monitor.id)).toBeUndefined();
      expect(await ground.plane.monitors.recall(monitor.id)).toEqual(found);
    });

    it("writes what it returns, also for text that a database refuses", async () => {
      const ground = currentGround();
      const name = "a\0b\ud800c 🚀";
      const { plane, projectId } = ground;
      const monitor = await plane.monitors.create(
        newMonitor(ground, { name, tags: ["t\0"], settings: { keyword: "\0\ud800" }, host: "h\0" }),
        ADA,
      );
      expect(monitor.name).toBe("a\ufffdb\ufffdc 🚀");
      expect((await plane.monitors.find(projectId, monitor.id))?.monitor).toEqual(monitor);
      const changed = await plane.monitors.update(projectId, monitor.id, NOW_MS, ADA, () => ({ name: "\0!" }));
      expect((await plane.monitors.find(projectId, monitor.id))?.monitor).toEqual(changed?.monitor);
      expect((await plane.monitors.list(projectId, { ...EVERYTHING, nameContains: "\0" })).total).toBe(1);
      expect((await plane.monitors.search([projectId], "t\0", null, 10, 0)).total).toBe(1);
    });

    it("never gives an id twice", async () => {
      const ground = currentGround();
      const first = await make(ground);
      await ground.plane.monitors.remove(ground.projectId, first, NOW_MS, ADA);
      expect(await make(ground)).toBeGreaterThan(first);
    });

    it("leaves a tombstone: gone for readers, its incidents with it, told as deleted", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const job = await plane.monitors.create(newHeartbeat(ground), ADA);
      await plane.heartbeats.record(job.id, NOW_MS, { up: true, message: null, pingMs: null });
      await plane.sink.apply(batch(1, { live: [liveOf(job.id)], incidents: [opening(job.id)] }));
      const [incident] = await plane.incidents.list(projectId, { monitorId: null, limit: 10 });
      expect(await plane.monitors.remove(projectId + 1, job.id, NOW_MS + 5, ADA)).toBe(false);
      expect(await plane.monitors.remove(projectId, job.id, NOW_MS + 5, ADA)).toBe(true);
      expect(await plane.monitors.remove(projectId, job.id, NOW_MS + 6, ADA)).toBe(false);
      expect(await plane.monitors.find(projectId, job.id)).toBeUndefined();
      expect(await plane.monitors.recall(job.id)).toBeUndefined();
      expect((await plane.monitors.list(projectId, EVERYTHING)).total).toBe(0);
      expect((await plane.monitors.search([projectId], "job", job.id, 10, 0)).total).toBe(0);
      expect((await plane.monitors.names(projectId)).size).toBe(0);
      expect(await plane.monitors.deletedSince(projectId, NOW_MS + 5)).toEqual([job.id]);
      expect(await plane.monitors.deletedSince(projectId, NOW_MS + 6)).toEqual([]);
      expect(await plane.heartbeats.byTokenHash("hash-job")).toBeUndefined();
      expect(await plane.heartbeats.sealedToken(job.id)).toBeUndefined();
      expect(await plane.heartbeats.inbox(10)).toEqual([]);
      expect(incident && (await plane.incidents.find(projectId, incident.id))).toBeUndefined();
      expect(incident && (await plane.incidents.events(incident.id, 10, 0)).total).toBe(0);
      expect(await plane.incidents.countOpen()).toBe(0);
      expect(await plane.monitors.update(projectId, job.id, NOW_MS, ADA, () => ({ name: "x" }))).toBeUndefined();
    });

    it("tells the latest check of each monitor since a time, newest first", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const [old, first, second, unchecked, gone] = await Promise.all([
        make(ground),
        make(ground),
        make(ground),
        make(ground),
        make(ground),
      ]);
      const at = (id: number, atMs: number, lastRowId: string | null) =>
        liveOf(id, { lastCheckedAtMs: atMs, lastRowId });
      const live = [
        at(old, NOW_MS, "1"),
        at(first, NOW_MS + 1, "2"),
        at(second, NOW_MS + 2, "3"),
        at(gone, NOW_MS + 3, "4"),
      ];
      await plane.sink.apply(batch(1, { live: [...live, at(unchecked, NOW_MS + 4, null)] }));
      await plane.monitors.remove(projectId, gone, NOW_MS + 5, ADA);
      const ids = async (limit: number) =>
        (await plane.monitors.latestChecks(projectId, NOW_MS, limit)).map(({ monitorId, lastRowId }) => [
          monitorId,
          lastRowId,
        ]);
      expect(await ids(10)).toEqual([
        [second, "3"],
        [first, "2"],
      ]);
      expect(await ids(1)).toEqual([[second, "3"]]);
      expect(await plane.monitors.latestChecks(projectId + 1, NOW_MS, 10)).toEqual([]);
      const found = await plane.monitors.findAll(projectId, [gone, second, old, 999_999]);
      expect(found.map(({ monitor }) => monitor.id).sort()).toEqual([old, second].sort());
      expect(found.find(({ monitor }) => monitor.id === second)).toEqual(await plane.monitors.find(projectId, second));
      const lives = await plane.monitors.lives(projectId, [gone, second, 999_999]);
      const names = ["seq", "status", "latencyMs", "region", "lastCheckedAtMs", "locations", "certificate"] as const;
      const own = (await plane.monitors.find(projectId, second))?.live;
      const shown = Object.fromEntries(names.map((name) => [name, own?.[name]]));
      expect(lives).toEqual([{ monitorId: second, ...shown }]);
      expect(await plane.monitors.lives(projectId + 1, [old])).toEqual([]);
      expect(await plane.monitors.findAll(projectId + 1, [old])).toEqual([]);
      expect(await plane.monitors.findAll(projectId, [])).toEqual([]);
      const checked = await plane.monitors.findChecked(projectId, [gone, second, 999_999]);
      const whole = await plane.monitors.find(projectId, second);
      expect(checked.map(({ id, name, createdAtMs, seq }) => [id, name, createdAtMs, seq])).toEqual([
        [second, whole?.monitor.name, whole?.monitor.createdAtMs, whole?.live.seq],
      ]);
      const [lastCheck] = await plane.monitors.latestChecks(projectId, NOW_MS, 1);
      expect(checked[0]?.latest).toEqual(lastCheck);
      expect(await plane.monitors.findChecked(projectId + 1, [old])).toEqual([]);
      expect(await plane.monitors.findChecked(projectId, [])).toEqual([]);
      const [{ kind, ...check } = { kind: "" }] = await plane.monitors.latestChecks(projectId, NOW_MS, 1);
      expect(kind).toBe((await plane.monitors.recall(second))?.monitor.kind);
      expect((await plane.monitors.recall(second))?.live).toMatchObject(check);
    });

    it("gives the figures of monitors that are not paused, the oldest first, and counts the others", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const before = await plane.monitors.figures(10_000);
      const [first, paused, second] = await Promise.all([make(ground), make(ground), make(ground)]);
      const certificate = { valid: true, expiresAtMs: NOW_MS + 5 };
      const live = [
        liveOf(first, { status: "down", certificate: null }),
        liveOf(second, { status: "healthy", latencyMs: 7, certificate }),
      ];
      await plane.sink.apply(batch(1, { live }));
      await plane.monitors.update(projectId, paused, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      const after = await plane.monitors.figures(10_000);
      expect(after.total).toBe(before.total + 2);
      const ours = after.rows.filter(({ id }) => [first, paused, second].includes(id)).sort((a, b) => a.id - b.id);
      const expected = [
        { id: first, projectId, status: "down", certificateExpiresAtMs: null },
        { id: second, projectId, status: "healthy", latencyMs: 7, certificateExpiresAtMs: NOW_MS + 5 },
      ].sort((a, b) => a.id - b.id);
      expect(ours).toMatchObject(expected);
      const [oldest] = (await plane.monitors.figures(1)).rows;
      expect([oldest?.id, (await plane.monitors.figures(1)).total]).toEqual([after.rows[0]?.id, after.total]);
    });

    it("shares expiry settings among the website checks of a host", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const host = "shop.test-site.org";
      expect(await plane.monitors.hostExpiry(projectId, host)).toBeNull();
      const https = await make(ground, { domainExpirationDays: 30 });
      const keyword = await make(ground, { kind: "keyword", settings: { url: "https://shop.test-site.org/b" } });
      const http = await make(ground, { settings: { url: "http://shop.test-site.org/" }, sslExpirationDays: null });
      const ping = await make(ground, { kind: "ping", settings: {}, sslExpirationDays: null });
      const elsewhere = await make(ground, { host: "other.test-site.org" });
      expect(await plane.monitors.hostExpiry(projectId, host)).toEqual({
        sslExpirationDays: 14,
        domainExpirationDays: 30,
      });
      await plane.monitors.setHostExpiry(
        projectId,
        host,
        { sslExpirationDays: 7, domainExpirationDays: 60 },
        NOW_MS + 9,
      );
      const expiryOf = async (id: number): Promise<unknown[]> => {
        const found = await plane.monitors.find(projectId, id);
        return [found?.monitor.sslExpirationDays, found?.monitor.domainExpirationDays];
      };
      expect(await expiryOf(https)).toEqual([7, 60]);
      expect(await expiryOf(keyword)).toEqual([7, 60]);
      expect(await expiryOf(http)).toEqual([null, 60]);
      expect(await expiryOf(ping)).toEqual([null, null]);
      expect(await expiryOf(elsewhere)).toEqual([14, null]);
      await plane.monitors.setHostExpiry(projectId, host, { sslExpirationDays: null }, NOW_MS + 9);
      expect(await expiryOf(https)).toEqual([null, 60]);
      expect(await plane.monitors.hostExpiry(projectId + 1, host)).toBeNull();
    });
  });
}
