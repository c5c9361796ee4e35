/** Heartbeats: tokens, calls, the inbox. */
import { describe, expect, it } from "vitest";
import { TokenTakenError } from "../../store/sql/monitors/port.ts";
import { ADA, batch, type Ground, make, NOW_MS, newHeartbeat } from "./ground.suite.ts";

export function heartbeatTests(currentGround: () => Ground): void {
  describe("heartbeats", () => {
    it("finds active ones by hash and keeps the sealed token", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.monitors.create(newHeartbeat(ground), ADA);
      expect(await plane.heartbeats.byTokenHash("hash-job")).toEqual({ monitorId: id });
      expect(await plane.heartbeats.byTokenHash("hash-other")).toBeUndefined();
      expect(await plane.heartbeats.sealedToken(id)).toBe("sealed-job");
      expect(await plane.heartbeats.sealedToken(await make(ground))).toBeUndefined();
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      expect(await plane.heartbeats.byTokenHash("hash-job")).toBeUndefined();
      expect(await plane.heartbeats.sealedToken(id)).toBe("sealed-job");
      const period = await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ intervalS: 120, graceS: 5 }));
      expect(period?.monitor.intervalS).toBe(120);
      expect((await plane.history.list(id, 1, 0)).rows[0]?.message).toBe("Updated period, grace");
    });

    it("gives a token to one of them, and again when that is deleted", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.monitors.create(newHeartbeat(ground), ADA);
      await expect(plane.monitors.create(newHeartbeat(ground), ADA)).rejects.toThrow(TokenTakenError);
      await plane.monitors.remove(projectId, id, NOW_MS, ADA);
      const again = await plane.monitors.create(newHeartbeat(ground), ADA);
      expect(await plane.heartbeats.byTokenHash("hash-job")).toEqual({ monitorId: again.id });
    });

    it("keeps calls in order until the sink has drained them, and the time of the latest", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const { id } = await plane.monitors.create(newHeartbeat(ground), ADA);
      const silent = await plane.monitors.create(newHeartbeat(ground, { name: "silent" }), ADA);
      await plane.heartbeats.record(id, NOW_MS + 5, { up: true, message: null, pingMs: 1.5 });
      await plane.heartbeats.record(id, NOW_MS + 3, { up: false, message: "disk \0 full", pingMs: null });
      await plane.heartbeats.record(999, NOW_MS, { up: true, message: null, pingMs: null });
      const inbox = await plane.heartbeats.inbox(10);
      expect(inbox).toEqual([
        { id: inbox[0]?.id, monitorId: id, atMs: NOW_MS + 5, up: true, message: null, pingMs: 1.5 },
        { id: inbox[1]?.id, monitorId: id, atMs: NOW_MS + 3, up: false, message: "disk \ufffd full", pingMs: null },
      ]);
      expect(await plane.heartbeats.inbox(1)).toEqual(inbox.slice(0, 1));
      expect(await plane.heartbeats.lastCalls()).toEqual(new Map([[id, NOW_MS + 5]]));
      await plane.sink.apply(batch(1, { drainedInboxIds: [inbox[0]?.id ?? 0] }));
      expect(await plane.heartbeats.inbox(10)).toEqual(inbox.slice(1));
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      expect(await plane.heartbeats.lastCalls()).toEqual(new Map());
      expect(silent.id).toBeGreaterThan(id);
    });
  });
}
