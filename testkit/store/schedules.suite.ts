/** Schedules of maintenance: their turns become windows of what they select, once, and end with them. */
import { describe, expect, it } from "vitest";
import { keepWindows, makeWindows } from "../../store/sql/monitors/make-windows.ts";
import {
  type MaintenanceSchedule,
  MOST_SCHEDULES,
  type ScheduleDraft,
} from "../../store/sql/monitors/schedules-port.ts";
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
      const changed = await plane.schedules.update(made.id, () => draft, NOW_MS);
      expect(changed).toMatchObject({ id: made.id, title: "Other" });
      expect(await plane.schedules.update(1, () => draft, NOW_MS)).toBeUndefined();
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
      // From then on: what it was before stays as it was.
      const rest = { fromMs: span.fromMs + 1, untilMs: span.untilMs };
      expect([await keep(span.fromMs + 1), await stretch(other)]).toEqual([1, rest]);
      expect(await keep(span.fromMs + 2)).toBe(0);
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

    it("go on in the turn that is on when they are changed: for who is still selected, until the new end", async () => {
      const { plane } = currentGround();
      const [shop, other] = [await tagged("shop", ["prod", "a"]), await tagged("other", ["prod"])];
      const turn = { fromMs: NOW_MS, untilMs: NOW_MS + HOUR_MS };
      const made = await create(once(turn.fromMs, turn.untilMs));
      await makeWindows(plane.schedules, [made], NOW_MS);
      const change = async (over: Partial<ScheduleDraft>, nowMs: number) => {
        const changed = await plane.schedules.update(made.id, (before) => ({ ...before, ...over }), nowMs);
        if (changed === undefined) throw new Error("the schedule is gone");
        await makeWindows(plane.schedules, [changed], nowMs);
      };
      await change({ title: "Other" }, NOW_MS + MINUTE_MS);
      expect([await stretch(shop), await stretch(other)]).toEqual([turn, turn]);
      const longer = { fromMs: turn.fromMs, untilMs: NOW_MS + 2 * HOUR_MS };
      const { schedule } = once(longer.fromMs, longer.untilMs);
      await change({ schedule, overAtMs: longer.untilMs, selector: { tags: ["a"] } }, NOW_MS + 2 * MINUTE_MS);
      expect([await stretch(shop), (await stretch(other))?.untilMs]).toEqual([longer, NOW_MS + 2 * MINUTE_MS]);
      await plane.schedules.endTurn(made.id, longer, NOW_MS + 3 * MINUTE_MS);
      await change({ title: "Once more", selector: { tags: ["prod"] } }, NOW_MS + 4 * MINUTE_MS);
      expect([(await stretch(shop))?.untilMs ?? 0, (await stretch(other))?.untilMs ?? 0]).toEqual([
        NOW_MS + 3 * MINUTE_MS,
        NOW_MS + 2 * MINUTE_MS,
      ]);
    });

    it("go on again in the turn that is on when a change that ended it is taken back", async () => {
      const { plane } = currentGround();
      const shop = await tagged("shop");
      const turn = { fromMs: NOW_MS, untilMs: NOW_MS + HOUR_MS };
      const made = await create(once(turn.fromMs, turn.untilMs));
      await makeWindows(plane.schedules, [made], NOW_MS);
      for (const [index, tag] of ["other", "prod"].entries()) {
        const nowMs = NOW_MS + (1 + index) * MINUTE_MS;
        const change = (before: ScheduleDraft) => ({ ...before, selector: { tags: [tag] } });
        const changed = await plane.schedules.update(made.id, change, nowMs);
        if (changed === undefined) throw new Error("the schedule is gone");
        await makeWindows(plane.schedules, [changed], nowMs);
      }
      expect(await stretch(shop)).toEqual({ fromMs: NOW_MS + 2 * MINUTE_MS, untilMs: turn.untilMs });
    });

    it("cover nothing that was before they were made", async () => {
      const { plane } = currentGround();
      const shop = await tagged("shop");
      const made = await create(once(NOW_MS - 300 * 24 * HOUR_MS, NOW_MS + HOUR_MS));
      await makeWindows(plane.schedules, [made], NOW_MS);
      expect(await stretch(shop)).toEqual({ fromMs: NOW_MS, untilMs: NOW_MS + HOUR_MS });
      expect(await keep(NOW_MS + MINUTE_MS)).toBe(0);
      await plane.schedules.endTurn(
        made.id,
        { fromMs: NOW_MS - 300 * 24 * HOUR_MS, untilMs: NOW_MS + HOUR_MS },
        NOW_MS + 1,
      );
      expect(await stretch(shop)).toEqual({ fromMs: NOW_MS, untilMs: NOW_MS + 1 });
    });

    it("leave a window ended that a person ended, whatever is changed; one whose turn was over follows the longer turn", async () => {
      const { plane, projectId } = currentGround();
      const [shop, other] = [await tagged("shop"), await tagged("other")];
      const made = await create(once(NOW_MS, NOW_MS + HOUR_MS));
      await makeWindows(plane.schedules, [made], NOW_MS);
      const all = { state: null, limit: 9, offset: 0 } as const;
      const open = await plane.maintenance.list(projectId, { ...all, monitorId: shop }, NOW_MS);
      await plane.maintenance.end(open.rows[0]?.id ?? 0, NOW_MS + MINUTE_MS);
      const change = async (over: Partial<ScheduleDraft>, nowMs: number) => {
        const changed = await plane.schedules.update(made.id, (before) => ({ ...before, ...over }), nowMs);
        if (changed === undefined) throw new Error("the schedule is gone");
        await makeWindows(plane.schedules, [changed], nowMs);
        return [await stretch(shop), await stretch(other)].map((span) => span?.untilMs ?? 0);
      };
      const untilOf = (minutes: number) => NOW_MS + minutes * MINUTE_MS;
      const longer = (hours: number) => ({
        schedule: once(NOW_MS, NOW_MS + hours * HOUR_MS).schedule,
        overAtMs: NOW_MS + hours * HOUR_MS,
      });
      expect(await change({ selector: { tags: ["prod"], family: "uptime" } }, untilOf(2))).toEqual([
        untilOf(1),
        untilOf(60),
      ]);
      expect(await change(longer(2), untilOf(3))).toEqual([untilOf(1), untilOf(120)]);
      expect(await change(longer(3), untilOf(150))).toEqual([untilOf(1), untilOf(180)]);
      expect(await stretch(other)).toEqual({ fromMs: untilOf(150), untilMs: untilOf(180) });
    });

    it("make no windows by what was read before a change, and lose no change of several at once", async () => {
      const { plane, projectId } = currentGround();
      const shop = await tagged("shop");
      const made = await create(once(NOW_MS, NOW_MS + HOUR_MS));
      const { schedule } = once(NOW_MS + 5 * HOUR_MS, NOW_MS + 6 * HOUR_MS);
      await plane.schedules.update(made.id, (before) => ({ ...before, schedule, overAtMs: null }), NOW_MS);
      expect([await makeWindows(plane.schedules, [made], NOW_MS), await stretch(shop)]).toEqual([0, null]);
      const add = (letter: string) =>
        plane.schedules.update(made.id, (before) => ({ ...before, text: before.text + letter }), NOW_MS);
      await Promise.all([..."abcdefghijkl"].map(add));
      const { text } = (await plane.schedules.find(projectId, made.id)) ?? { text: "" };
      expect([...text].sort().join("")).toBe("abcdefghijkl");
    });

    it("are no more than a project may have, also when they are made at once", async () => {
      const { plane, projectId } = currentGround();
      const draft = once(NOW_MS + HOUR_MS, NOW_MS + 2 * HOUR_MS);
      const all = Array.from({ length: MOST_SCHEDULES + 5 }, () => plane.schedules.create(projectId, draft, NOW_MS));
      const made = await Promise.all(all);
      expect(made.filter((one) => one === undefined)).toHaveLength(5);
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
