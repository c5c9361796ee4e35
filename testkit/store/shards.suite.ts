/** Shards: one holder at a time, writes of a former holder refused, and parts of the monitors that add up to all. */
import { describe, expect, it } from "vitest";
import { shardOf } from "../../model/shards.ts";
import { type SchedulerReport, type ShardLease, ShardsLost } from "../../store/sql/coordination/shards-port.ts";
import {
  ADA,
  type Another,
  batch,
  EVERYTHING,
  type Ground,
  liveOf,
  make,
  NOW_MS,
  newHeartbeat,
  opening,
} from "./ground.suite.ts";

const IDLE: SchedulerReport = {
  monitors: 0,
  running: 0,
  waiting: 0,
  silentMonitors: 0,
  skippedTurns: 0,
  spoolRows: 0,
  trouble: null,
};

async function take({ plane }: Ground, shard: number, id: string): Promise<ShardLease> {
  const seen = (await plane.shards.view()).shards[shard];
  const epoch = await plane.shards.take(shard, id, seen?.epoch ?? -1);
  if (epoch === undefined) throw new Error(`shard ${shard} was taken by another scheduler`);
  return { shard, epoch };
}

export function shardTests(currentGround: () => Ground, another: Another): void {
  describe("shards", () => {
    it("are as many as the database was made with, all free", async () => {
      const { plane } = currentGround();
      const { shards, schedulers } = await plane.shards.view();
      expect(shards.map(({ shard }) => shard)).toEqual(
        Array.from({ length: plane.dialect === "sqlite" ? 1 : 16 }, (_, i) => i),
      );
      for (const row of shards) expect(row).toMatchObject({ holder: null, epoch: 0, skipped: 0 });
      expect(schedulers).toEqual([]);
    });

    it("give each to one of many who want it at once, and count takings", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const second = await another();
      try {
        const wants = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? plane : second).shards.take(0, `s${i}`, 0));
        const epochs = (await Promise.all(wants)).filter((epoch) => epoch !== undefined);
        expect(epochs).toEqual([1]);
        await plane.shards.release([{ shard: 0, epoch: 1 }]);
        expect((await plane.shards.view()).shards[0]).toMatchObject({ holder: null, epoch: 1 });
        expect(await take(ground, 0, "next")).toEqual({ shard: 0, epoch: 2 });
        // Given back by who lost it: nothing.
        await plane.shards.release([{ shard: 0, epoch: 1 }]);
        expect((await plane.shards.view()).shards[0]).toMatchObject({ holder: "next", epoch: 2 });
        expect(await plane.shards.take(0, "late", 1)).toBeUndefined();
      } finally {
        await second.close();
      }
    });

    it("keep schedulers with their beats until they leave or are dead", async () => {
      const { plane } = currentGround();
      await plane.shards.beat("a", "host 1", IDLE);
      await plane.shards.beat("a", "host 1", { ...IDLE, monitors: 7, trouble: "no \0 answer" });
      await plane.shards.beat("b", "host 2", IDLE);
      const [a, b] = (await plane.shards.view()).schedulers;
      expect(a).toMatchObject({ id: "a", name: "host 1", beat: 2, report: { monitors: 7 } });
      expect(b).toMatchObject({ id: "b", beat: 1 });
      await plane.shards.forget("a", 1);
      expect((await plane.shards.view()).schedulers).toHaveLength(2);
      await plane.shards.forget("a", 2);
      await plane.shards.forget("b");
      expect((await plane.shards.view()).schedulers).toEqual([]);
    });

    it("write nothing of a batch whose epoch is no longer the shard's", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const old = await take(ground, 0, "old");
      await plane.sink.apply(batch(1, { leases: [old], live: [liveOf(id)], skips: [{ shard: 0, turns: 3 }] }));
      const current = await take(ground, 0, "new");
      const late = { leases: [old], live: [liveOf(id, { seq: 9 })], incidents: [opening(id)] };
      const refused = await plane.sink.apply(batch(2, late)).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(ShardsLost);
      expect((refused as ShardsLost).shards).toEqual([0]);
      const touch = { live: [liveOf(id, { seq: 8 })], skips: [{ shard: 0, turns: 5 }], leases: [old] };
      await expect(plane.sink.touch(touch)).rejects.toThrow(ShardsLost);
      await expect(plane.jobs.endTests([], [old])).rejects.toThrow(ShardsLost);
      expect(await plane.sink.appliedSeq("spool")).toBe(1);
      expect(await plane.incidents.countOpen()).toBe(0);
      expect((await plane.monitors.find(projectId, id))?.live.seq).toBe(1);
      expect((await plane.shards.view()).shards[0]?.skipped).toBe(3);
      await plane.sink.touch({ ...touch, leases: [current] });
      expect((await plane.shards.view()).shards[0]?.skipped).toBe(8);
    });

    it("let the old and the new holder write side by side without a batch of the old after the new one's first", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const id = await make(ground);
      const second = await another();
      try {
        for (let round = 0; round < 10; round += 1) {
          const old = await take(ground, 0, `old ${round}`);
          const writes = Array.from({ length: 8 }, (_, i) => {
            const held = batch(round * 100 + i + 1, {
              spool: `old ${round}`,
              leases: [old],
              live: [liveOf(id, { seq: i })],
            });
            return second.sink.apply(held).catch((error: unknown) => error);
          });
          const current = await take(ground, 0, `new ${round}`);
          const mine = batch(1, {
            spool: `new ${round}`,
            leases: [current],
            live: [liveOf(id, { seq: 1_000 + round })],
          });
          await plane.sink.apply(mine);
          for (const said of await Promise.all(writes)) if (said !== undefined) expect(said).toBeInstanceOf(ShardsLost);
          expect((await plane.monitors.find(projectId, id))?.live.seq).toBe(1_000 + round);
        }
      } finally {
        await second.close();
      }
    });

    it("divide monitors, calls and open incidents as the model says, none left out, none twice", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const ids: number[] = [];
      for (let i = 0; i < 30; i += 1) ids.push(await make(ground, { name: `m${i}` }));
      const beats = await plane.monitors.create(newHeartbeat(ground), ADA);
      await plane.heartbeats.record(beats.id, NOW_MS, { up: true, message: null, pingMs: null });
      await plane.sink.apply(batch(1, { incidents: ids.map((id) => opening(id)) }));
      const before = await plane.generation();
      await plane.monitors.remove(projectId, ids[3] ?? 0, NOW_MS, ADA);
      const all = await plane.monitors.list(projectId, EVERYTHING);
      const found = { monitors: 0, removed: 0, calls: 0, lastCalls: 0, incidents: 0 };
      for (let shard = 0; shard < 7; shard += 1) {
        const part = { count: 7, shards: [shard] };
        const { changed } = await plane.monitors.changedSince(-1, part);
        for (const { monitor } of changed) expect(shardOf(monitor.id, 7)).toBe(shard);
        found.monitors += changed.length;
        found.removed += (await plane.monitors.changedSince(before, part)).removedIds.length;
        found.calls += (await plane.heartbeats.inbox(10, part)).length;
        found.lastCalls += (await plane.heartbeats.lastCalls(part)).size;
        found.incidents += (await plane.sink.openIncidents(part)).size;
        expect((await plane.sink.sentExpiries(part)).size).toBe(0);
        expect(await plane.jobs.openTests(10, part)).toEqual([]);
      }
      expect(found).toEqual({ monitors: all.total, removed: 1, calls: 1, lastCalls: 1, incidents: 29 });
      const some = { count: 7, shards: [0, 2, 5] };
      const held = all.rows.filter(({ monitor }) => some.shards.includes(shardOf(monitor.id, 7)));
      expect((await plane.monitors.changedSince(-1, some)).changed).toHaveLength(held.length);
    });
  });
}
