import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { SchedulerReport, ShardLease, ShardRow, Shards } from "../../store/sql/coordination/shards-port.ts";
import { Tenure } from "../tenure.ts";
import { ShardKeeper, takeOwn } from "./keeper.ts";
import { OwnedShards } from "./owned-shards.ts";

const LEASE_MS = 1_000;
const IDLE: SchedulerReport = {
  monitors: 0,
  running: 0,
  waiting: 0,
  silentMonitors: 0,
  skippedTurns: 0,
  spoolRows: 0,
  trouble: null,
};

/** The tables in memory, as the store's suite says they behave. */
function tables(count: number): Shards & { readonly rows: ShardRow[] } {
  const rows: ShardRow[] = Array.from({ length: count }, (_, shard) => ({ shard, holder: null, epoch: 0, skipped: 0 }));
  const schedulers = new Map<string, { readonly beat: number; readonly report: SchedulerReport }>();
  const set = (shard: number, change: Partial<ShardRow>): void => {
    const row = rows[shard];
    if (row !== undefined) rows[shard] = { ...row, ...change };
  };
  return {
    rows,
    view: async () => ({
      shards: [...rows],
      schedulers: [...schedulers].map(([id, { beat, report }]) => ({ id, name: id, beat, report })),
    }),
    beat: async (id, _name, report) => void schedulers.set(id, { beat: (schedulers.get(id)?.beat ?? 0) + 1, report }),
    async take(shard, id, seenEpoch) {
      if (rows[shard]?.epoch !== seenEpoch) return undefined;
      set(shard, { holder: id, epoch: seenEpoch + 1 });
      return seenEpoch + 1;
    },
    async release(leases) {
      for (const { shard, epoch } of leases) if (rows[shard]?.epoch === epoch) set(shard, { holder: null });
    },
    async forget(id, beat) {
      if (beat === undefined || schedulers.get(id)?.beat === beat) schedulers.delete(id);
    },
  };
}

function keeperOn(store: Shards, id: string, count: number, nowMs: () => number) {
  const ownedShards = new OwnedShards(count);
  const done: string[] = [];
  const say = (what: string, leases: readonly ShardLease[]): void =>
    void done.push(`${what} ${leases.map(({ shard, epoch }) => `${shard}@${epoch}`).join(" ")}`);
  const tenure = new Tenure(LEASE_MS, { monotonicNowMs: nowMs, wallNowMs: nowMs });
  const keeper = new ShardKeeper({
    store,
    ownedShards,
    tenure,
    self: { id, name: id, report: () => IDLE },
    work: {
      async load(leases) {
        say("load", leases);
        for (const lease of leases) ownedShards.hold(lease);
      },
      async giveBack(leases) {
        say("give back", leases);
        for (const { shard } of leases) ownedShards.drop(shard);
      },
      lose(leases) {
        say("lose", leases);
        for (const { shard } of leases) ownedShards.drop(shard);
      },
    },
    leaseMs: LEASE_MS,
    monotonicNowMs: nowMs,
    log: pino({ level: "silent" }),
    onMoved: () => done.push("moved"),
  });
  const turn = async (): Promise<void> => {
    await keeper.look();
    await keeper.move();
  };
  return { keeper, ownedShards, tenure, done, turn };
}

describe("ShardKeeper", () => {
  it("shares with a scheduler that comes, waits a lease time for one that is silent, and drops what others took while it was silent itself", async () => {
    let nowMs = 0;
    const store = tables(4);
    const a = keeperOn(store, "a", 4, () => nowMs);
    const b = keeperOn(store, "b", 4, () => nowMs);
    await a.turn();
    expect(a.done).toEqual(["load 0@1 1@1 2@1 3@1", "moved"]);
    await b.turn();
    expect(b.done).toEqual([]);
    nowMs += 100;
    await a.turn();
    expect(a.done.splice(0)).toEqual(["load 0@1 1@1 2@1 3@1", "moved", "give back 2@1 3@1", "moved"]);
    await b.turn();
    expect(b.done.splice(0)).toEqual(["load 2@2 3@2", "moved"]);
    // a is frozen.
    for (let step = 0; step < 7; step += 1) {
      nowMs += 100;
      await b.turn();
    }
    expect(b.done).toEqual([]);
    nowMs += 100;
    await b.turn();
    expect(b.done.splice(0)).toEqual(["load 0@2 1@2", "moved"]);
    // And wakes: it held two, which are b's.
    await a.keeper.look();
    expect(a.done.splice(0)).toEqual(["lose 0@1 1@1"]);
    expect(a.ownedShards.leases()).toEqual([]);
    await b.turn();
    expect(b.done.splice(0)).toEqual(["give back 2@2 3@2", "moved"]);
    await a.turn();
    expect(a.done.splice(0)).toEqual(["load 2@3 3@3", "moved"]);
    expect(a.keeper.moves).toEqual({ taken: 6, givenBack: 2, lost: 2 });
  });

  it("gives everything back, and takes it anew, when the database lacks what it had", async () => {
    const store = tables(2);
    const a = keeperOn(store, "a", 2, () => 0);
    await a.turn();
    a.keeper.setBack();
    await a.turn();
    await a.turn();
    expect(a.done).toEqual(["load 0@1 1@1", "moved", "give back 0@1 1@1", "moved", "load 0@2 1@2", "moved"]);
  });

  it("frees everything when it leaves, and the next has it without a wait", async () => {
    const store = tables(2);
    const a = keeperOn(store, "a", 2, () => 0);
    const b = keeperOn(store, "b", 2, () => 0);
    await a.turn();
    await a.keeper.leave();
    expect(a.done.at(-1)).toBe("moved");
    await b.turn();
    expect(b.done).toEqual(["load 0@2 1@2", "moved"]);
  });

  it("takes a shard again that is its own by the row and not in its memory", async () => {
    const store = tables(1);
    await store.take(0, "a", 0);
    const a = keeperOn(store, "a", 1, () => 0);
    await a.turn();
    expect(a.done).toEqual(["load 0@2", "moved"]);
  });
});

describe("takeOwn", () => {
  it("goes on under the same epochs on the same folder, and has everything where the folder is all there is", async () => {
    const store = tables(3);
    await store.take(0, "a", 0);
    await store.take(1, "b", 0);
    expect(await takeOwn(store, "a", false)).toEqual([{ shard: 0, epoch: 1 }]);
    expect(await takeOwn(store, "a", true)).toEqual([
      { shard: 0, epoch: 1 },
      { shard: 1, epoch: 2 },
      { shard: 2, epoch: 1 },
    ]);
  });
});
