/** Schedules of maintenance: their turns become windows of what they select, once, and end with them. */
import { describe, expect, it } from "vitest";
import { keepWindows, makeWindows } from "../../store/sql/monitors/make-windows.ts";
import type { MaintenanceSchedule, ScheduleDraft } from "../../store/sql/monitors/schedules-port.ts";
import { ADA, type Ground, make, NOW_MS } from "./ground.suite.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export function scheduleTests(currentGround: () => Ground): void {
  const once = (fromMs: number, untilMs: number): ScheduleDraft => ({
    ...{
      title: "Backups \u0000",
      text: "",
      selector: { tags: ["prod"] },
      timezone: "UTC",
      startsOn: null,
      endsOn: null,
    },
    ...{ announce: true, schedule: { type: "once", startsAtMs: fromMs, endsAtMs: untilMs }, overAtMs: untilMs },
  });
  const create = async (draft: ScheduleDraft): Promise<MaintenanceSchedule> => {
    const { plane, projectId } = currentGround();
    const made = await plane.schedules.create(projectId, draft, NOW_MS);
    expect(await plane.syncs.isNeeded()).toBe(true);
    if (made === undefined) throw new Error("no schedule was made");
    return made;
  };
  const keep = (nowMs: number): Promise<number> =>
    keepWindows(currentGround().plane.schedules, nowMs, (error) => {
      throw error;
    });
  const stretch = async (id: number) => (await currentGround().plane.monitors.recall(id))?.monitor.maintenance;
  const tagged = (name: string, tags: readonly string[] = ["prod"]) => make(currentGround(), { name, tags });

  describe("schedules of maintenance", () => {
    it("are found, changed, listed and deleted; their ids are no window's", async () => {
      const { plane, projectId } = currentGround();
      const made = await create(once(NOW_MS + HOUR_MS, NOW_MS + 2 * HOUR_MS));
      expect(made.id).toBeGreaterThan(1_000_000_000);
      expect(await plane.schedules.find(projectId, made.id)).toEqual(made);
      expect(await plane.schedules.find(projectId + 1, made.id)).toBeUndefined();
      expect(await plane.schedules.current(NOW_MS + 2 * HOUR_MS)).toEqual([]);
      const draft = { ...once(NOW_MS, NOW_MS + HOUR_MS), title: "Other" };
      expect(await plane.schedules.update(made.id, draft, NOW_MS)).toMatchObject({ id: made.id, title: "Other" });
      expect((await plane.schedules.list(projectId)).map(({ title }) => title)).toEqual(["Other"]);
      expect([await plane.schedules.remove(made.id, NOW_MS), await plane.schedules.remove(made.id, NOW_MS)]).toEqual([
        ...[true, false],
      ]);
    });

    it("make windows within the hour, for what is tagged then, once; a later tag is covered too", async () => {
      const { plane, projectId } = currentGround();
      const [shop, other] = [await tagged("shop"), await tagged("other", [])];
      const span = { fromMs: NOW_MS + 2 * HOUR_MS, untilMs: NOW_MS + 3 * HOUR_MS };
      await create(once(span.fromMs, span.untilMs));
      expect([await keep(NOW_MS), await stretch(shop)]).toEqual([0, null]);
      const generation = await plane.generation();
      expect(await keep(NOW_MS + HOUR_MS)).toBe(1);
      expect(await plane.generation()).toBeGreaterThan(generation);
      expect([await stretch(shop), await stretch(other)]).toEqual([span, null]);
      expect(await keep(NOW_MS + HOUR_MS + MINUTE_MS)).toBe(0);
      await plane.monitors.update(projectId, other, NOW_MS, ADA, () => ({ tags: ["prod"] }));
      expect([await keep(span.fromMs + 1), await stretch(other)]).toEqual([1, span]);
    });

    it("end a turn, which does not come back; the windows of a deleted one end", async () => {
      const { plane, projectId } = currentGround();
      const shop = await tagged("shop");
      const turn = { fromMs: NOW_MS, untilMs: NOW_MS + HOUR_MS };
      const made = await create(once(turn.fromMs, turn.untilMs));
      await makeWindows(plane.schedules, [made], NOW_MS);
      expect(await stretch(shop)).toEqual(turn);
      await plane.schedules.endTurn(made.id, turn, NOW_MS + MINUTE_MS);
      expect([await keep(NOW_MS + MINUTE_MS + 1), (await stretch(shop))?.untilMs ?? NOW_MS + MINUTE_MS]).toEqual([
        ...[0, NOW_MS + MINUTE_MS],
      ]);
      const second = await create(once(NOW_MS + HOUR_MS, NOW_MS + 2 * HOUR_MS));
      await keep(NOW_MS + MINUTE_MS + 2);
      expect((await stretch(shop))?.untilMs).toBe(NOW_MS + 2 * HOUR_MS);
      await plane.schedules.remove(second.id, NOW_MS + MINUTE_MS + 3);
      const open = await plane.maintenance.list(
        projectId,
        { state: null, monitorId: null, limit: 9, offset: 0 },
        NOW_MS + MINUTE_MS + 4,
      );
      expect([open.total, await stretch(shop)]).toEqual([0, null]);
    });

    it("stand beside windows that requests made: the next stretch follows when one has ended", async () => {
      const { plane } = currentGround();
      const shop = await tagged("shop");
      const manual = { fromMs: NOW_MS + 20 * HOUR_MS, untilMs: NOW_MS + 21 * HOUR_MS };
      await plane.maintenance.create([shop], manual, NOW_MS);
      const soon = { fromMs: NOW_MS + MINUTE_MS, untilMs: NOW_MS + HOUR_MS };
      await create(once(soon.fromMs, soon.untilMs));
      await keep(NOW_MS);
      expect(await stretch(shop)).toEqual(soon);
      expect([await keep(soon.untilMs), await stretch(shop)]).toEqual([1, manual]);
    });
  });
}
