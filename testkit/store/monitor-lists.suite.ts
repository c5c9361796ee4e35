/** Lists and searches of monitors, and what the plan asks. */
import { describe, expect, it } from "vitest";
import type { MonitorFilter } from "../../store/sql/monitors/port.ts";
import { ADA, batch, EVERYTHING, type Ground, liveOf, make, NOW_MS, opening } from "./ground.suite.ts";

export function listTests(currentGround: () => Ground): void {
  describe("lists and searches", () => {
    const names = ["Zebra", "apple", "Äpfel", "äpfel", "Банан", "банан", "100%_sure", "100 xsure", "İstanbul", "Ω"];

    it("sorts by name without case, then id, the same in every database", async () => {
      const ground = currentGround();
      for (const name of names) await make(ground, { name });
      const { rows, total } = await ground.plane.monitors.list(ground.projectId, EVERYTHING);
      const key = (name: string): string => name.normalize("NFC").toLowerCase();
      const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(key(a)), Buffer.from(key(b)));
      expect(rows.map((row) => row.monitor.name)).toEqual([...names].sort(byCodePoint));
      expect(total).toBe(names.length);
    });

    it.each([
      ["APP", ["apple"]],
      ["ÄPF", ["Äpfel", "äpfel"]],
      ["БАН", ["Банан", "банан"]],
      ["%", ["100%_sure"]],
      ["_", ["100%_sure"]],
      ["A\u0308pf", ["Äpfel", "äpfel"]],
      ["\\", []],
      ["'", []],
    ])("finds names that contain %s", async (text, expected) => {
      const ground = currentGround();
      for (const name of names) await make(ground, { name });
      const listed = await ground.plane.monitors.list(ground.projectId, { ...EVERYTHING, nameContains: text });
      expect(listed.rows.map((row) => row.monitor.name).sort()).toEqual([...expected].sort());
      const searched = await ground.plane.monitors.search([ground.projectId], text, null, 100, 0);
      const inName = searched.rows.filter((row) => row.monitor.host === "shop.test-site.org");
      expect(inName.map((row) => row.monitor.name).sort()).toEqual([...expected].sort());
    });

    it("pages with the total of all matches", async () => {
      const ground = currentGround();
      for (let index = 0; index < 7; index++) await make(ground, { name: `m${index}` });
      const { plane, projectId } = ground;
      const page = (limit: number, offset: number) => plane.monitors.list(projectId, { ...EVERYTHING, limit, offset });
      expect((await page(3, 0)).rows.map((row) => row.monitor.name)).toEqual(["m0", "m1", "m2"]);
      expect((await page(3, 6)).rows.map((row) => row.monitor.name)).toEqual(["m6"]);
      for (const [limit, offset] of [
        [3, 0],
        [3, 6],
        [7, 0],
        [3, 7],
        [3, 100],
        [100, 0],
      ] as const) {
        expect((await page(limit, offset)).total).toBe(7);
      }
      const all = (await page(100, 0)).rows.map((row) => row.monitor.id);
      expect(await plane.monitors.ids(projectId, { ...EVERYTHING, limit: 2, offset: 3 })).toEqual(all);
      expect(await plane.monitors.ids(projectId, { ...EVERYTHING, protocol: "ping" })).toEqual([]);
    });

    it("filters by family, kind, activity, and status over live and paused", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const up = await make(ground, { name: "up" });
      const down = await make(ground, { name: "down", kind: "ping" });
      const paused = await make(ground, { name: "paused", pauseReasons: ["user"], pausedAtMs: NOW_MS });
      await make(ground, { name: "tunnel", kind: "wireguard" });
      await plane.sink.apply(
        batch(1, { live: [liveOf(up), liveOf(down, { status: "down" }), liveOf(paused, { status: "down" })] }),
      );
      const found = async (filter: Partial<MonitorFilter>): Promise<string[]> => {
        const { rows, total } = await plane.monitors.list(projectId, { ...EVERYTHING, ...filter });
        expect(total).toBe(rows.length);
        const firstPage = await plane.monitors.list(projectId, { ...EVERYTHING, ...filter, limit: 1 });
        expect(firstPage.total).toBe(rows.length);
        return rows.map((row) => row.monitor.name);
      };
      expect(await found({ family: "uptime" })).toEqual(["down", "paused", "up"]);
      expect(await found({ family: "tunnel" })).toEqual(["tunnel"]);
      expect(await found({ activeOnly: true })).toEqual(["down", "tunnel", "up"]);
      expect(await found({ status: "paused" })).toEqual(["paused"]);
      expect(await found({ status: "down" })).toEqual(["down"]);
      expect(await found({ status: "healthy" })).toEqual(["up"]);
      expect(await found({ status: "unknown" })).toEqual(["tunnel"]);
      expect(await found({ status: "partial" })).toEqual([]);
      expect(await found({ protocol: "ping" })).toEqual(["down"]);
      for (const protocol of ["carrier-pigeon", "\0"]) expect(await found({ protocol })).toEqual([]);
      expect(await found({ family: "uptime", protocol: "ping", status: "down", nameContains: "OW" })).toEqual(["down"]);
    });

    it("searches name, host, tags and id across projects, and nothing else", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const a = await make(ground, { name: "Alpha", host: "one.test-site.org", tags: ["prod", "eu"] });
      const b = await make(ground, { name: "beta", host: null, tags: [] });
      const found = async (text: string, id: number | null = null, projects = [projectId]): Promise<number[]> => {
        const { rows, total } = await plane.monitors.search(projects, text, id, 10, 0);
        expect(total).toBe(rows.length);
        return rows.map((row) => row.monitor.id);
      };
      expect(await found("ALPHA")).toEqual([a]);
      expect(await found("one.test")).toEqual([a]);
      expect(await found("PROD")).toEqual([a]);
      expect(await found("a")).toEqual([a, b]);
      expect(await found("https:")).toEqual([]);
      expect(await found("alphaone")).toEqual([]);
      expect(await found('"')).toEqual([]);
      expect(await found("zzz", b)).toEqual([b]);
      expect(await found("a", null, [])).toEqual([]);
      expect(await found("a", null, [projectId + 1])).toEqual([]);
      const { rows } = await plane.monitors.search([projectId], "alpha", null, 10, 0);
      expect(rows[0]?.project).toEqual(await plane.accounts.project(projectId));
      await plane.monitors.update(projectId, a, NOW_MS, ADA, () => ({ tags: ["new"], host: "two.test-site.org" }));
      expect(await found("prod")).toEqual([]);
      expect(await found("two.test")).toEqual([a]);
    });
  });
}

export function planTests(currentGround: () => Ground): void {
  describe("changes for the plan", () => {
    it("tells the whole set, then only what changed", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const a = await make(ground, { name: "a" });
      const b = await make(ground, { name: "b" });
      const paused = await make(ground, { name: "c", pauseReasons: ["user"], pausedAtMs: NOW_MS });
      const all = await plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      expect(all.changed.map((row) => row.monitor.id)).toEqual([a, b]);
      expect(all.removedIds).toEqual([]);
      expect(all.generation).toBe(await plane.generation());

      const none = await plane.monitors.changedSince(all.generation);
      expect(none).toEqual({ generation: all.generation, changed: [], removedIds: [] });

      await plane.monitors.update(projectId, a, NOW_MS, ADA, () => ({ intervalS: 30 }));
      await plane.monitors.update(projectId, paused, NOW_MS, ADA, () => ({ removePauseReasons: ["user"] }));
      await plane.monitors.remove(projectId, b, NOW_MS, ADA);
      const some = await plane.monitors.changedSince(all.generation);
      expect(some.changed.map((row) => [row.monitor.id, row.monitor.intervalS])).toEqual([
        [a, 30],
        [paused, 60],
      ]);
      expect(some.removedIds).toEqual([b]);
      expect(some.generation).toBeGreaterThan(all.generation);

      await plane.monitors.update(projectId, a, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      const last = await plane.monitors.changedSince(some.generation);
      expect(last.changed).toEqual([]);
      expect(last.removedIds).toEqual([a]);
    });

    it("is not moved by live states", async () => {
      const ground = currentGround();
      const id = await make(ground);
      const before = await ground.plane.generation();
      await ground.plane.sink.apply(batch(1, { live: [liveOf(id, { status: "down" })], incidents: [opening(id)] }));
      expect(await ground.plane.generation()).toBe(before);
      const { changed } = await ground.plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      expect(changed[0]?.live.status).toBe("down");
    });
  });
}
