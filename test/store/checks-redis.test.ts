/** One-off checks over a real Redis. */
import { Redis } from "ioredis";
import { afterAll, describe, expect, it, vi } from "vitest";
import { StoreError } from "../../store/errors.ts";
import { keyRingOf, newKeyLine } from "../../store/sealing/keys.ts";
import { sealingWith } from "../../store/sealing/sealing.ts";
import { CHECK, checkSuite, measured, PLAIN_SEALING } from "../../store/state/checks.suite.ts";
import type { CheckAnswer } from "../../store/state/checks.ts";
import { openCheckServer, openChecks } from "../../store/state/open.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { type RedisServer, startRedis } from "../servers/redis.ts";

const server = await startRedis();

afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

withServer("Redis", server, (running) => {
  let database = 0;
  checkSuite("Redis", {
    async make() {
      const url = `${running.url}/${++database % 16}`;
      const remove = async (): Promise<void> => {
        const client = new Redis(url);
        await client.flushdb();
        client.disconnect();
      };
      await remove();
      return { place: { url }, remove };
    },
  });
  secretTests(running);
  roomTests(running);
  outageTests(running);
});

/** What an ask ends with: its answer, or that Redis is away. */
async function outcomeOf(answer: Promise<CheckAnswer>): Promise<string> {
  return answer.then(
    ({ type }) => type,
    (error: unknown) => (error instanceof StoreError ? "away" : String(error)),
  );
}

function outageTests(running: RedisServer): void {
  describe("a Redis that goes away", () => {
    it("is said at once, and checks go on when it is back with nothing in it", async () => {
      const place = { url: running.url };
      const checks = await openChecks(place, () => PLAIN_SEALING);
      const checker = await openCheckServer(place, PLAIN_SEALING, {
        location: "any",
        room: { api: 4, public: 1 },
        take: async () => measured(7),
      });
      expect(await outcomeOf(checks.ask("api", "any", CHECK))).toBe("measured");
      await running.kill();
      expect(await outcomeOf(checks.ask("api", "any", CHECK))).toBe("away");
      await running.restart();
      await expect
        .poll(() => outcomeOf(checks.ask("api", "any", CHECK)), { timeout: 25_000, interval: 200 })
        .toBe("measured");
      await checker.close();
      await checks.close();
    }, 40_000);
  });
}

function roomTests(running: RedisServer): void {
  it("begins the next check when one has ended, without a clock", async () => {
    const place = { url: running.url };
    const checks = await openChecks(place, () => PLAIN_SEALING);
    const ends: (() => void)[] = [];
    const room = { api: 1, public: 1 };
    const take = () => new Promise<ReturnType<typeof measured>>((resolve) => ends.push(() => resolve(measured(7))));
    const checker = await openCheckServer(place, PLAIN_SEALING, { location: "any", room, take });
    const answers = [1, 2, 3].map(() => checks.ask("api", "any", CHECK));
    await expect.poll(() => ends.length).toBe(1);
    // The one that runs is known to take all the room once its reader waits for room, which sets a timer.
    await expect.poll(() => process.getActiveResourcesInfo().includes("Timeout")).toBe(true);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      for (let count = 1; count <= 3; count++) {
        while (ends.length < count) await new Promise((resolve) => setImmediate(resolve));
        ends[count - 1]?.();
      }
      expect(await Promise.all(answers)).toEqual([measured(7), measured(7), measured(7)]);
    } finally {
      vi.useRealTimers();
    }
    await checker.close();
    await checks.close();
  });
}

function secretTests(running: RedisServer): void {
  describe("the key of a location", () => {
    it("may be known to its checkers before it is known to the API that asks", async () => {
      const [before, next] = [newKeyLine(), newKeyLine()];
      let known = sealingWith(keyRingOf([before]));
      const checks = await openChecks(
        { url: running.url },
        () => known,
        async () => {
          known = sealingWith(keyRingOf([before, next]));
        },
      );
      const checker = await openCheckServer({ url: running.url }, sealingWith(keyRingOf([next, before])), {
        location: "any",
        room: { api: 1, public: 1 },
        take: async () => measured(7),
      });
      expect(await checks.ask("api", "any", CHECK)).toEqual(measured(7));
      await checker.close();
      await checks.close();
    });
  });

  describe("what Redis sees of a one-off check", () => {
    it("is sealed, and nothing stays for ever", async () => {
      const place = { url: running.url };
      const watcher = new Redis(running.url);
      const seen: string[] = [];
      const monitor = await watcher.monitor();
      monitor.on("monitor", (_time: string, words: string[]) => seen.push(words.join(" ")));
      const checks = await openChecks(place, () => PLAIN_SEALING);
      const checker = await openCheckServer(place, PLAIN_SEALING, {
        location: "any",
        room: { api: 1, public: 1 },
        take: async () => measured(7),
      });
      expect(await checks.ask("api", "any", CHECK)).toEqual(measured(7));
      const client = new Redis(running.url);
      const keys = await client.keys("*");
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
      expect(await client.xlen("sonde:checks:{any}:api")).toBe(0);
      await expect.poll(() => seen.some((line) => line.startsWith("publish"))).toBe(true);
      expect(seen.join("\n")).toContain("xadd");
      expect(seen.join("\n")).not.toContain("must-stay-sealed");
      monitor.disconnect();
      watcher.disconnect();
      client.disconnect();
      await checker.close();
      await checks.close();
    });
  });
}
