import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { decideShards, fairShare, type Presence, PresenceWatch, type ShardClaim, shardOf } from "./shards.ts";

describe("shardOf", () => {
  it("spreads any run of ids evenly, and every shard exists", () => {
    assertProperty(
      fc.property(fc.integer({ min: 1, max: 2 ** 37 }), fc.integer({ min: 1, max: 32 }), (first, count) => {
        const sizes = new Array<number>(count).fill(0);
        for (let id = first; id < first + 100 * count; id += 1) {
          const shard = shardOf(id, count);
          sizes[shard] = (sizes[shard] ?? Number.NaN) + 1;
        }
        for (const size of sizes) expect(Math.abs(size - 100)).toBeLessThanOrEqual(10);
      }),
      { numRuns: 300 },
    );
  });

  it("knows one shard only where there is one", () => {
    for (const id of [1, 2, 65_536, 2 ** 40]) expect(shardOf(id, 1)).toBe(0);
  });
});

/** Several schedulers over one table, each acting on what it saw, possibly a while ago. */
class World {
  readonly shards: { holder: string | null; epoch: number }[];
  readonly alive = new Set<string>();
  /** Every scheduler that ever ran: dead ones keep their rows for a while. */
  readonly known = new Set<string>();

  constructor(count: number) {
    this.shards = Array.from({ length: count }, () => ({ holder: null, epoch: 0 }));
  }

  see(): { claims: ShardClaim[]; epochs: number[]; presence: Map<string, Presence> } {
    const presence = [...this.known].map((id) => [id, this.alive.has(id) ? "present" : "dead"] as const);
    return {
      claims: this.shards.map(({ holder }, shard) => ({ shard, holder })),
      epochs: this.shards.map(({ epoch }) => epoch),
      presence: new Map<string, Presence>(presence),
    };
  }

  act(id: string, seen: ReturnType<World["see"]>): boolean {
    const { take, giveBack } = decideShards(id, seen.claims, seen.presence);
    for (const shard of take) {
      const row = this.shards[shard];
      if (row === undefined || row.epoch !== seen.epochs[shard]) continue;
      row.holder = id;
      row.epoch += 1;
    }
    for (const shard of giveBack) {
      const row = this.shards[shard];
      if (row?.holder === id && row.epoch === seen.epochs[shard]) row.holder = null;
    }
    return take.length + giveBack.length > 0;
  }

  held(id: string): number {
    return this.shards.filter(({ holder }) => holder === id).length;
  }
}

describe("decideShards", () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant("come" as const), who: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ type: fc.constant("die" as const), who: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ type: fc.constant("look" as const), who: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ type: fc.constant("act" as const), who: fc.integer({ min: 0, max: 6 }) }),
  );

  it("settles with every shard held and no scheduler above its share, after any that came, died or acted on an old view", () => {
    assertProperty(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 80 }), (count, steps) => {
        const world = new World(count);
        const looks = new Map<string, ReturnType<World["see"]>>();
        for (const { type, who } of steps) {
          const id = `s${who}`;
          if (type === "come") world.alive.add(id);
          if (type === "come") world.known.add(id);
          if (type === "die") world.alive.delete(id);
          if (type === "look" && world.alive.has(id)) looks.set(id, world.see());
          const look = looks.get(id);
          if (type === "act" && world.alive.has(id) && look !== undefined) world.act(id, look);
        }
        world.alive.add("s0");
        world.known.add("s0");
        let rounds = 0;
        for (let moved = true; moved; rounds += 1) {
          expect(rounds).toBeLessThan(10);
          moved = [...world.alive].map((id) => world.act(id, world.see())).includes(true);
        }
        const share = fairShare(count, world.alive.size);
        for (const id of world.alive) expect(world.held(id)).toBeLessThanOrEqual(share);
        expect([...world.alive].reduce((sum, id) => sum + world.held(id), 0)).toBe(count);
      }),
      { numRuns: 3_000 },
    );
  });

  it("moves nothing where every scheduler has its share", () => {
    const claims = [0, 1, 2, 3].map((shard) => ({ shard, holder: shard < 2 ? "a" : "b" }));
    const both = new Map<string, Presence>([
      ["a", "present"],
      ["b", "present"],
    ]);
    expect(decideShards("a", claims, both)).toEqual({ take: [], giveBack: [] });
    // Quiet, and not dead: its shards wait for it.
    expect(decideShards("a", claims, new Map([...both, ["b", "quiet"]]))).toEqual({ take: [], giveBack: [] });
    expect(decideShards("a", claims, new Map([...both, ["b", "dead"]]))).toEqual({ take: [2, 3], giveBack: [] });
  });
});

describe("PresenceWatch", () => {
  const LEASE_MS = 1_000;

  it("takes only a silent scheduler for dead, and before a lease time has passed since its last beat", () => {
    const watch = new PresenceWatch(LEASE_MS);
    let last: ReadonlyMap<string, Presence> = new Map();
    for (let nowMs = 0; nowMs <= 1_000; nowMs += 100) {
      last = watch.look(
        [
          { id: "beats", beat: nowMs, beatMs: 100 },
          { id: "stands", beat: 7, beatMs: 100 },
        ],
        nowMs,
      );
      expect(last.get("beats")).toBe("present");
      expect(last.get("stands")).toBe(nowMs < 300 ? "present" : nowMs < 800 ? "quiet" : "dead");
    }
    expect(watch.look([{ id: "stands", beat: 8, beatMs: 100 }], 1_100).get("stands")).toBe("present");
  });

  it("believes nothing of a time in which it did not look: it was frozen, or the store was away", () => {
    const watch = new PresenceWatch(LEASE_MS);
    const still = [{ id: "other", beat: 7, beatMs: 100 }];
    watch.look(still, 0);
    expect(watch.look(still, 40_000).get("other")).toBe("present");
    expect(watch.look(still, 40_300).get("other")).toBe("quiet");
  });
});
