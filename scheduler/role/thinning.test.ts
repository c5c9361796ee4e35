import { expect, it } from "vitest";
import { Thinning } from "./thinning.ts";

const HOUR_MS = 3_600_000;

it("thins once a day, whatever process holds the first shard, and after a restart not again", async () => {
  let nowMs = Date.UTC(2026, 10, 28, 2, 59);
  const stored = new Map<string, string>();
  const thinned: number[] = [];
  const process = () => {
    const ownedShards = { hasFirst: true };
    const meta = {
      get: async (name: string) => stored.get(name),
      set: async (name: string, value: string) => void stored.set(name, value),
    };
    const results = { thin: async () => void thinned.push(nowMs) };
    return { ownedShards, thinning: new Thinning({ results, meta, ownedShards, nowMs: () => nowMs }) };
  };
  const [one, other] = [process(), process()];
  other.ownedShards.hasFirst = false;
  const look = () => Promise.all([one, other].map(({ thinning }) => thinning.look()));
  await look();
  expect(thinned).toEqual([]);
  nowMs += HOUR_MS;
  await look();
  await look();
  [one.ownedShards.hasFirst, other.ownedShards.hasFirst] = [false, true];
  await look();
  await process().thinning.look();
  expect(thinned).toEqual([nowMs]);
  nowMs += 24 * HOUR_MS;
  await look();
  expect(thinned).toHaveLength(2);
});

it("tries again an hour after ClickHouse refused, also in the process that holds the shard then", async () => {
  let nowMs = Date.UTC(2026, 10, 28, 3);
  let isAway = true;
  let tries = 0;
  const stored = new Map<string, string>();
  const process = () =>
    new Thinning({
      results: {
        async thin() {
          tries += 1;
          if (isAway) throw new Error("away");
        },
      },
      meta: { get: async (name) => stored.get(name), set: async (name, value) => void stored.set(name, value) },
      ownedShards: { hasFirst: true },
      nowMs: () => nowMs,
    });
  const thinning = process();
  await expect(thinning.look()).rejects.toThrow("away");
  isAway = false;
  nowMs += HOUR_MS - 1;
  await thinning.look();
  expect(tries).toBe(1);
  nowMs += 1;
  await process().look();
  await thinning.look();
  expect(tries).toBe(2);
});
