/** Changes of monitors: history, pauses, transactions. */
import { describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { ADA, type Another, batch, type Ground, make, NOW_MS, opening } from "./ground.suite.ts";

export function changeTests(currentGround: () => Ground, another: Another): void {
  describe("changes", () => {
    it("writes only what differs, with the names of the fields", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const before = await plane.generation();
      const same = await plane.monitors.update(projectId, id, NOW_MS + 1, ADA, ({ monitor }) => ({
        name: monitor.name,
        tags: [...monitor.tags],
        settings: { ...monitor.settings },
      }));
      expect(same?.monitor.updatedAtMs).toBe(NOW_MS);
      expect(await plane.generation()).toBe(before);
      const changed = await plane.monitors.update(projectId, id, NOW_MS + 2, ADA, ({ monitor }) => ({
        name: "Shop 2",
        intervalS: 30,
        settings: { ...monitor.settings, url: "https://shop.test-site.org/2", ip_version: "ipv6" },
      }));
      expect(changed?.monitor).toMatchObject({ name: "Shop 2", intervalS: 30, updatedAtMs: NOW_MS + 2, maxRetries: 2 });
      expect((await plane.monitors.find(projectId, id))?.monitor).toEqual(changed?.monitor);
      expect(await plane.generation()).toBeGreaterThan(before);
      const { rows, total } = await plane.history.list(id, 10, 0);
      expect(rows.map(({ type, message, atMs, actor }) => ({ type, message, atMs, actor }))).toEqual([
        { type: "updated", message: "Updated name, interval, url, ip_version", atMs: NOW_MS + 2, actor: ADA },
        { type: "created", message: "Monitor created", atMs: NOW_MS, actor: ADA },
      ]);
      expect(total).toBe(2);
      expect((await plane.history.list(id, 1, 1)).rows[0]?.type).toBe("created");
      expect((await plane.history.list(id, 1, 5)).total).toBe(2);
    });

    it("pauses and resumes as a set of reasons, and says so once per turn", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const other = await make(ground, { name: "other" });
      await plane.sink.apply(batch(1, { incidents: [opening(id), opening(other)] }));
      const [incident] = await plane.incidents.list(projectId, { monitorId: id, limit: 5 });
      const pause = await plane.monitors.update(projectId, id, NOW_MS + 1, ADA, () => ({ addPauseReason: "user" }));
      expect(pause?.monitor).toMatchObject({ pauseReasons: ["user"], pausedAtMs: NOW_MS + 1 });
      await plane.monitors.update(projectId, id, NOW_MS + 2, SYSTEM_ACTOR, () => ({ addPauseReason: "plan" }));
      await plane.monitors.update(projectId, id, NOW_MS + 3, ADA, () => ({ addPauseReason: "user" }));
      const half = await plane.monitors.update(projectId, id, NOW_MS + 4, ADA, () => ({
        removePauseReasons: ["user"],
      }));
      expect(half?.monitor).toMatchObject({ pauseReasons: ["plan"], pausedAtMs: NOW_MS + 1 });
      const back = await plane.monitors.update(projectId, id, NOW_MS + 5, ADA, () => ({
        removePauseReasons: ["plan", "user"],
      }));
      expect(back?.monitor).toMatchObject({ pauseReasons: [], pausedAtMs: null });
      const history = (await plane.history.list(id, 10, 0)).rows.map(({ type, message }) => [type, message]);
      expect(history).toEqual([
        ["resumed", "Monitoring resumed"],
        ["paused", "Monitoring paused"],
        ["created", "Monitor created"],
      ]);
      const events = incident && (await plane.incidents.events(incident.id, 10, 0));
      expect(events?.rows.map(({ type, atMs }) => [type, atMs])).toEqual([
        ["opened", NOW_MS],
        ["monitor_paused", NOW_MS + 1],
        ["monitor_resumed", NOW_MS + 5],
      ]);
      expect(events?.rows[1]).toMatchObject({ actor: ADA, data: {}, location: null, message: "Monitoring paused" });
      expect(incident && (await plane.incidents.find(projectId, incident.id))?.eventCount).toBe(3);
    });

    it("lets what decide throws pass, and undoes everything", async () => {
      const ground = currentGround();
      const id = await make(ground);
      const refusal = new RangeError("403");
      const before = await ground.plane.generation();
      const refused = ground.plane.monitors.update(ground.projectId, id, NOW_MS, ADA, () => {
        throw refusal;
      });
      await expect(refused).rejects.toBe(refusal);
      expect(await ground.plane.generation()).toBe(before);
      expect(
        await ground.plane.monitors.update(ground.projectId, id, NOW_MS, ADA, () => ({ name: "later" })),
      ).toBeDefined();
    });

    it("loses no update of many at once, over two connections", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground, { tags: [] });
      const second = await another("api");
      try {
        const writers = Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? plane : second).monitors.update(projectId, id, NOW_MS, ADA, ({ monitor }) => ({
            tags: [...monitor.tags, `t${index}`],
          })),
        );
        await Promise.all(writers);
        expect((await plane.monitors.find(projectId, id))?.monitor.tags).toHaveLength(20);
        expect((await plane.history.list(id, 100, 0)).total).toBe(21);
      } finally {
        await second.close();
      }
    });

    it("shows readers nothing of a transaction that runs", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      let seen: Promise<string | undefined> | undefined;
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => {
        seen = plane.monitors.find(projectId, id).then((found) => found?.monitor.name);
        return { name: "new" };
      });
      expect(["Shop", "new"]).toContain(await seen);
      const failed = plane.monitors.update(projectId, id, NOW_MS, ADA, () => {
        seen = plane.monitors.find(projectId, id).then((found) => found?.monitor.name);
        throw new Error("no");
      });
      await expect(failed).rejects.toThrow("no");
      expect(await seen).toBe("new");
    });

    it("changes and removes many, passes over what is not there, and says why some stay", async () => {
      const ground = currentGround();
      const { plane, projectId, organizationId } = ground;
      const ids: number[] = [];
      for (const name of ["a", "b", "c"]) ids.push(await make(ground, { name, tags: [name] }));
      const [a = 0, b = 0, c = 0] = ids;
      const other = await plane.accounts.createProject(organizationId, "Other", NOW_MS);
      const foreign = await make({ ...ground, projectId: other?.id ?? 0 }, { name: "foreign" });
      const wanted = [c, foreign, a, 999_999, b];
      const decide: Parameters<typeof plane.monitors.updateMany>[4] = ({ monitor: { name } }) =>
        name === "a"
          ? { refused: "not a" }
          : name === "b"
            ? { tags: ["b"] }
            : { tags: ["new"], addPauseReason: "user" };
      const update = (isDry: boolean) =>
        plane.monitors.updateMany(projectId, wanted, NOW_MS + 1, ADA, decide, { slots: null, isDry });
      const told = { changed: 1, unchanged: 1, refused: [{ id: a, name: "a", why: "not a" }] };
      const generation = await plane.generation();
      expect(await update(true)).toEqual(told);
      expect(await plane.generation()).toBe(generation);
      expect(await update(false)).toEqual(told);
      const changed = (await plane.monitors.find(projectId, c))?.monitor;
      expect(changed).toMatchObject({ tags: ["new"], pauseReasons: ["user"], updatedAtMs: NOW_MS + 1 });
      expect((await plane.history.list(c, 9, 0)).rows.map(({ type }) => type)).toEqual([
        "paused",
        "updated",
        "created",
      ]);
      expect((await plane.monitors.find(other?.id ?? 0, foreign))?.monitor.pauseReasons).toEqual([]);
      const tunnel = await make(ground, { name: "t", kind: "wireguard", pauseReasons: ["plan"], pausedAtMs: NOW_MS });
      const resume = () => ({ removePauseReasons: ["plan" as const] });
      const full = await plane.monitors.updateMany(projectId, [tunnel], NOW_MS, ADA, resume, {
        slots: 0,
        isDry: false,
      });
      expect(full.refused).toMatchObject([{ id: tunnel, why: { used: 0, slots: 0 } }]);
      expect(await plane.monitors.removeMany(projectId, [...wanted, tunnel], NOW_MS + 2)).toBe(4);
      expect((await plane.monitors.findAll(projectId, [a, b, c, tunnel])).length).toBe(0);
      expect(await plane.monitors.find(other?.id ?? 0, foreign)).toBeDefined();
    });
  });
}
