/** Maintenance windows of monitors. */
import { describe, expect, it } from "vitest";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { MaintenanceGapError } from "../../store/sql/monitors/maintenance-port.ts";
import { ADA, type Ground, make, NOW_MS } from "./ground.suite.ts";

export function maintenanceTests(currentGround: () => Ground): void {
  describe("maintenance", () => {
    it("puts a monitor into maintenance, and the plan hears of it", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const spanOf = async () => (await plane.monitors.find(projectId, id))?.monitor.maintenance;
      expect(await spanOf()).toBeNull();
      const before = await plane.generation();
      const long = await begin(plane, id, NOW_MS, NOW_MS + 60_000);
      expect((await plane.monitors.changedSince(before)).changed[0]?.monitor).toMatchObject({
        id,
        maintenance: { fromMs: NOW_MS, untilMs: NOW_MS + 60_000 },
      });
      const short = await begin(plane, id, NOW_MS + 10_000, NOW_MS + 20_000);
      expect(await spanOf()).toEqual({ fromMs: NOW_MS, untilMs: NOW_MS + 60_000 });
      const during = await plane.generation();
      expect(await plane.maintenance.end(long?.id ?? 0, NOW_MS + 15_000)).toMatchObject({ endsAtMs: NOW_MS + 15_000 });
      expect(await spanOf()).toEqual({ fromMs: NOW_MS, untilMs: NOW_MS + 20_000 });
      expect(await plane.generation()).toBeGreaterThan(during);
      await plane.maintenance.end(short?.id ?? 0, NOW_MS + 16_000);
      expect(await spanOf()).toEqual({ fromMs: NOW_MS + 10_000, untilMs: NOW_MS + 16_000 });
      // Ended before: it stays as it was.
      expect(await plane.maintenance.end(long?.id ?? 0, NOW_MS + 50_000)).toMatchObject({ endsAtMs: NOW_MS + 15_000 });
      // A change of the monitor leaves it alone.
      await begin(plane, id, NOW_MS + 60_000, NOW_MS + 70_000);
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ name: "Other" }));
      expect(await spanOf()).toEqual({ fromMs: NOW_MS + 60_000, untilMs: NOW_MS + 70_000 });
    });

    it("of one monitor is one stretch, which may begin later", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const [id, other] = [await make(ground), await make(ground)];
      const spanOf = async (one: number) => (await plane.monitors.find(projectId, one))?.monitor.maintenance;
      const create = (ids: readonly number[], fromMs: number, untilMs: number) =>
        plane.maintenance.create(ids, { fromMs: NOW_MS + fromMs, untilMs: NOW_MS + untilMs }, NOW_MS);
      const [later] = (await create([id], 60_000, 90_000)) ?? [];
      expect(await spanOf(id)).toEqual({ fromMs: NOW_MS + 60_000, untilMs: NOW_MS + 90_000 });
      // All or none: the other monitor gets none either.
      await expect(create([other, id], 0, 59_999)).rejects.toThrow(MaintenanceGapError);
      expect(await spanOf(other)).toBeNull();
      expect(await create([other, id + 1_000], 0, 1)).toBeUndefined();
      expect(await spanOf(other)).toBeNull();
      await create([id, other], 0, 60_000);
      expect(await spanOf(id)).toEqual({ fromMs: NOW_MS, untilMs: NOW_MS + 90_000 });

      const list = async (state: "active" | "next" | "ended" | null, monitorId: number | null, atMs: number) => {
        const filter = { state, monitorId, limit: 10, offset: 0 };
        const { rows, total } = await plane.maintenance.list(projectId, filter, NOW_MS + atMs);
        expect(total).toBe(rows.length);
        return rows.map((row) => [row.monitorId, row.startsAtMs - NOW_MS]);
      };
      const both = [
        [id, 0],
        [other, 0],
        [id, 60_000],
      ];
      expect(await list(null, null, 0)).toEqual(both);
      expect(await list("active", null, 0)).toEqual(both.slice(0, 2));
      expect(await list("next", id, 0)).toEqual(both.slice(2));
      expect(await list("ended", other, 60_000)).toEqual([[other, 0]]);
      expect(
        (await plane.maintenance.list(projectId + 100, { state: null, monitorId: null, limit: 1, offset: 0 }, NOW_MS))
          .total,
      ).toBe(0);
      const wanted = { id: later?.id, monitorId: id, monitorName: "M" };
      expect(await plane.maintenance.find(projectId, later?.id ?? 0)).toMatchObject({
        ...wanted,
        monitorName: expect.any(String),
      });
      expect(await plane.maintenance.find(projectId + 100, later?.id ?? 0)).toBeUndefined();

      // One that has not begun is taken away.
      expect(await plane.maintenance.end(later?.id ?? 0, NOW_MS + 1)).toMatchObject({ endsAtMs: NOW_MS + 60_000 });
      expect(await spanOf(id)).toEqual({ fromMs: NOW_MS, untilMs: NOW_MS + 60_000 });
      expect(await list("next", null, 1)).toEqual([]);
    });

    it("knows no monitor that is deleted, and no window of it", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const made = await begin(plane, id, NOW_MS, NOW_MS + 60_000);
      await plane.monitors.remove(projectId, id, NOW_MS, ADA);
      expect(await begin(plane, id, NOW_MS, NOW_MS + 1)).toBeUndefined();
      expect(await plane.maintenance.end(made?.id ?? 0, NOW_MS)).toBeUndefined();
    });
  });
}

async function begin(plane: ControlPlane, id: number, fromMs: number, untilMs: number) {
  return (await plane.maintenance.create([id], { fromMs, untilMs }, fromMs))?.[0];
}
