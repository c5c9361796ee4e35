/** What the sink writes: once, in order, beside changes of the same monitors. */
import { describe, expect, it } from "vitest";
import type { IncidentChange } from "../../model/incident.ts";
import {
  ADA,
  type Another,
  batch,
  EVERYTHING,
  type Ground,
  liveOf,
  make,
  NOW_MS,
  opening,
  PASSED,
} from "./ground.suite.ts";

export function sinkTests(currentGround: () => Ground, another: Another): void {
  describe("sink", () => {
    it("writes whole live states and reads them back", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const full = liveOf(id, {
        status: "partial",
        connectMs: 1.25,
        seq: 7,
        lastRowStatus: "degraded",
        errorMessage: "no \0 answer",
        locations: { de: PASSED, nl: { ...PASSED, status: "down", confirmed: "down", errorCategory: "timeout" } },
      });
      await plane.sink.apply(batch(1, { live: [liveOf(id), full] }));
      expect((await plane.monitors.find(projectId, id))?.live).toEqual({ ...full, errorMessage: "no \ufffd answer" });
      const bare = liveOf(id, {
        latencyMs: null,
        certificate: null,
        region: null,
        lastCheckedAtMs: null,
        latenessMs: null,
      });
      await plane.sink.apply(batch(2, { live: [bare] }));
      expect((await plane.monitors.find(projectId, id))?.live).toEqual(bare);
    });

    it("writes states that moved without a check, whatever sequence is applied", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const [a, b] = [await make(ground), await make(ground)];
      await plane.sink.apply(batch(5, { live: [liveOf(a)] }));
      const away = liveOf(a, { status: "unknown", locations: { de: { ...PASSED, status: "unavailable" } } });
      await plane.sink.touch({ live: [away, liveOf(b), liveOf(999_999)], skips: [], leases: [] });
      expect((await plane.monitors.find(projectId, a))?.live).toEqual(away);
      expect(await plane.sink.appliedSeq("spool")).toBe(5);
    });

    it("applies a sequence once, and never goes back", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      expect(await plane.sink.appliedSeq("spool")).toBe(0);
      await plane.sink.apply(batch(5, { live: [liveOf(id, { seq: 5 })], incidents: [opening(id)] }));
      await plane.sink.apply(
        batch(5, { live: [liveOf(id, { seq: 50 })], incidents: [{ type: "close", monitorId: id, atMs: NOW_MS }] }),
      );
      await plane.sink.apply(batch(4, { live: [liveOf(id, { seq: 40 })] }));
      expect(await plane.sink.appliedSeq("spool")).toBe(5);
      expect((await plane.monitors.find(projectId, id))?.live.seq).toBe(5);
      expect(await plane.incidents.countOpen()).toBe(1);
      await plane.sink.apply(batch(1, { spool: "another", live: [liveOf(id, { seq: 6 })] }));
      expect(await plane.sink.appliedSeq("another")).toBe(1);
      expect((await plane.monitors.find(projectId, id))?.live.seq).toBe(6);
    });

    it("applies one of the same batch given many times at once", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const second = await another();
      try {
        const same = batch(9, { incidents: [opening(id)] });
        await Promise.all([plane, second, plane, second].map((one) => one.sink.apply(same)));
      } finally {
        await second.close();
      }
      const [incident] = await plane.incidents.list(projectId, { monitorId: id, limit: 5 });
      expect(incident?.eventCount).toBe(1);
    });

    it("passes over monitors that were deleted", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const kept = await make(ground, { name: "kept" });
      const deleted = await make(ground, { name: "deleted" });
      await plane.monitors.remove(projectId, deleted, NOW_MS, ADA);
      await plane.sink.apply(
        batch(1, {
          live: [liveOf(deleted), liveOf(kept), liveOf(999)],
          incidents: [opening(deleted), opening(kept), opening(999)],
        }),
      );
      expect((await plane.monitors.find(projectId, kept))?.live.status).toBe("healthy");
      expect([...(await plane.sink.openIncidents()).keys()]).toEqual([kept]);
      expect(await plane.monitors.find(projectId, deleted)).toBeUndefined();
    });

    it("takes a whole outage in one batch, and its end in another", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const ids: number[] = [];
      for (let index = 0; index < 1_200; index++) ids.push(await make(ground, { name: `m${index}` }));
      const down = ids.map((id) => liveOf(id, { status: "down" }));
      await plane.sink.apply(batch(1, { live: down, incidents: ids.map((id) => opening(id)) }));
      expect(await plane.incidents.countOpen()).toBe(1_200);
      expect((await plane.monitors.list(projectId, { ...EVERYTHING, status: "down", limit: 1 })).total).toBe(1_200);
      const closing = ids.map((monitorId): IncidentChange => ({ type: "close", monitorId, atMs: NOW_MS + 5_000 }));
      await plane.sink.apply(batch(2, { live: ids.map((id) => liveOf(id)), incidents: closing }));
      expect(await plane.incidents.countOpen()).toBe(0);
      const [incident] = await plane.incidents.list(projectId, { monitorId: ids[7] ?? 0, limit: 5 });
      expect((await plane.incidents.events(incident?.id ?? 0, 5, 0)).rows.map((row) => row.type)).toEqual([
        "opened",
        "recovered",
      ]);
    }, 60_000);

    it("agrees with changes of the same monitors that run meanwhile", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const second = await another();
      try {
        const ids: number[] = [];
        for (let index = 0; index < 20; index++) ids.push(await make(ground, { name: `m${index}` }));
        const work: Promise<unknown>[] = [];
        for (let round = 1; round <= 10; round++) {
          const open = round % 2 === 1;
          const incidents = ids.map(
            (id): IncidentChange => (open ? opening(id) : { type: "close", monitorId: id, atMs: NOW_MS }),
          );
          work.push(second.sink.apply(batch(round, { live: ids.map((id) => liveOf(id, { seq: round })), incidents })));
          const id = ids[round] ?? 0;
          work.push(plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" })));
          work.push(plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ removePauseReasons: ["user"] })));
          work.push(plane.monitors.remove(projectId, ids[19 - (round % 5)] ?? 0, NOW_MS, ADA));
        }
        await Promise.all(work);
        const left = await plane.monitors.names(projectId);
        expect(left.size).toBe(15);
        for (const id of (await plane.sink.openIncidents()).keys()) expect(left.has(id)).toBe(true);
        expect(await plane.sink.appliedSeq("spool")).toBe(10);
      } finally {
        await second.close();
      }
    });
  });
}
