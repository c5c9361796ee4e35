/**
 * An attacker has the key and the Redis password of one location: whatever he sends, other locations' outcomes are read, schedulers hold little
 * of it in memory, and Redis keeps little of it. Against a real Redis.
 */
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { outcomeOf } from "../../scheduler/fixtures.suite.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { keyRingOf, newKeyLine } from "../../store/sealing/keys.ts";
import { sealingWith } from "../../store/sealing/sealing.ts";
import { CHECKER_COMMANDS, checkerRule, checkerUser } from "../../store/state/checker-rights.ts";
import { openRunSender, watchCheckers } from "../../store/state/open.ts";
import { openRedisRunServer } from "../../store/state/redis-run-server.ts";
import type { RunServer } from "../../store/state/runs.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startRedis } from "../servers/redis.ts";

const server = await startRedis();
afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

const PASSWORD = "of-the-checkers-of-de";
const MIB = 2 ** 20;

withServer("Redis", server, ({ url }) => {
  const closing: { close(): Promise<void> }[] = [];
  const keys: Record<string, Sealing> = {
    de: sealingWith(keyRingOf([newKeyLine()])),
    nl: sealingWith(keyRingOf([newKeyLine()])),
  };
  let admin: Redis;
  let thief: Redis;

  beforeEach(async () => {
    admin = new Redis(url);
    await admin.flushall();
    const [command = "", ...words] = checkerRule("de", PASSWORD).split(" ");
    await admin.call(command, ...words);
    const theirs = url.replace("redis://", `redis://${checkerUser("de")}:${PASSWORD}@`);
    thief = new Redis(theirs, { enableReadyCheck: false, enableOfflineQueue: true });
  });
  afterEach(async () => {
    for (const one of closing.splice(0).reverse()) await one.close();
    thief.disconnect();
    admin.disconnect();
  });

  async function scheduler() {
    const id = randomUUID();
    const outcomes: { readonly from: string; readonly checkId: number }[] = [];
    const refused = new Map<string, { count: number; readonly reasons: Set<string> }>();
    const caughtUp = { atMs: 0, behind: new Set<string>() as ReadonlySet<string> };
    const sender = await openRunSender(
      { url },
      {
        scheduler: id,
        locations: () => ["de", "nl"],
        sealingOf: (location) => keys[location],
        refreshKeys: async () => {},
        onOutcomes: (from, some) => outcomes.push(...some.map(({ checkId }) => ({ from, checkId }))),
        onCaughtUp: (atMs, behind) => Object.assign(caughtUp, { atMs, behind }),
        onRefused(location, count, reason) {
          const known = refused.get(location) ?? { count: 0, reasons: new Set() };
          refused.set(location, known);
          known.count += count;
          known.reasons.add(reason);
        },
      },
    );
    closing.push(sender);
    const names = await admin.keys("sonde:mailbox:*");
    const holders = await Promise.all(names.map((name) => admin.get(name)));
    const address = `${names[holders.indexOf(id)]?.split(":").at(-1)}.${id}`;
    return { sender, address, outcomes, refused, caughtUp };
  }

  async function checkerOfNl(): Promise<RunServer> {
    const opened = await openRedisRunServer(
      { url },
      {
        checker: { location: "nl", id: randomUUID(), name: "box", version: "1" },
        sealing: keys.nl as Sealing,
        state: () => ({ room: 1, inFlight: 0, isFit: true, reasons: [], isLeaving: false }),
        readSpec: (value) => value,
        take: () => {},
        onLink: () => {},
      },
    );
    closing.push(opened);
    return opened;
  }

  const streamOf = (address: string): string => `sonde:outcomes:{de}:${address[0]}`;
  const sealed = (address: string, value: unknown): string =>
    (keys.de as Sealing).seal(`outcomes de ${address}`, typeof value === "string" ? value : JSON.stringify(value));
  const say = (address: string, body: string) => thief.xadd(streamOf(address), "*", "to", address, "body", body);

  describe("a stolen key of one location", () => {
    it("gets nothing in but outcomes, and keeps no other location's out", async () => {
      const { address, outcomes, refused, caughtUp } = await scheduler();
      const nl = await checkerOfNl();
      const bad = outcomeOf(1) as unknown as Record<string, unknown>;
      const poison: readonly unknown[] = [
        [{ ...bad, latencyMs: "5" }],
        [{ ...bad, verdict: "fine" }],
        [{ ...bad, message: "a\0b" }],
        [{ ...bad, startedAtMs: 8.64e15 }],
        [{ ...bad, configs: new Array(20_000).fill(0) }],
        new Array(100_000).fill(0),
        "no JSON",
        '[{"__proto__":{}}]',
        "[".repeat(200_000),
      ];
      let sent = 0;
      for (const value of poison) {
        await say(address, sealed(address, value));
        nl.answer(address, [outcomeOf(++sent)]);
      }
      // Of another stream, of another location, garbage; and one that is right, between all of them.
      await say(address, sealed(`0.${randomUUID()}`, [bad]));
      await say(address, (keys.nl as Sealing).seal(`outcomes nl ${address}`, JSON.stringify([bad])));
      await say(address, "sealed garbage");
      await thief.xadd(streamOf(address), "*", "to", address);
      await say(address, sealed(address, [outcomeOf(77)]));
      await expect.poll(() => outcomes.filter(({ from }) => from === "nl").length, { timeout: 10_000 }).toBe(sent);
      await expect
        .poll(() => outcomes.filter(({ from }) => from === "de"), { timeout: 10_000 })
        .toEqual([{ from: "de", checkId: 77 }]);
      await expect
        .poll(() => refused.get("de")?.count ?? 0, { timeout: 10_000 })
        .toBeGreaterThanOrEqual(poison.length + 3);
      expect(refused.get("nl")).toBeUndefined();
      const before = performance.now();
      await expect.poll(() => caughtUp.atMs, { timeout: 10_000 }).toBeGreaterThan(before);
    }, 40_000);

    it("cannot fill a scheduler's memory or keep it from reading others, whatever the size and the number", async () => {
      const { address, outcomes, refused, caughtUp } = await scheduler();
      const nl = await checkerOfNl();
      const huge = "x".repeat(24 * MIB);
      const heapBefore = process.memoryUsage().rss;
      let mostRss = 0;
      const measuring = setInterval(() => {
        mostRss = Math.max(mostRss, process.memoryUsage().rss);
      }, 20);
      let isFlooding = true;
      const flood = (async () => {
        const many = sealed(address, new Array(256).fill(outcomeOf(1_000_000)));
        while (isFlooding) {
          await thief.xadd(streamOf(address), "*", "to", address, "body", huge).catch(() => {});
          const small = thief.pipeline();
          for (let i = 0; i < 200; i += 1) small.xadd(streamOf(address), "*", "to", address, "body", many);
          await small.exec();
        }
      })();
      const took: number[] = [];
      for (let i = 1; i <= 20; i += 1) {
        const startedAt = performance.now();
        nl.answer(address, [outcomeOf(i)]);
        await expect
          .poll(() => outcomes.some(({ from, checkId }) => from === "nl" && checkId === i), {
            timeout: 15_000,
            interval: 10,
          })
          .toBe(true);
        took.push(performance.now() - startedAt);
      }
      const before = performance.now();
      await expect.poll(() => caughtUp.atMs > before && !caughtUp.behind.has("nl"), { timeout: 15_000 }).toBe(true);
      isFlooding = false;
      await flood;
      clearInterval(measuring);
      expect(refused.get("de")?.count).toBeGreaterThan(0);
      expect([...(refused.get("de")?.reasons ?? [])].join()).toMatch(/more than/);
      console.info(
        `20 outcomes of another location beside a flood: the slowest after ${Math.round(Math.max(...took))} ms; memory of the reader and the flood at most ${Math.round((mostRss - heapBefore) / MIB)} MiB more`,
      );
      // Ours and the thief's are one process here.
      expect(mostRss - heapBefore).toBeLessThan(1_000 * MIB);
    }, 90_000);

    it("does not stop a stream by a number of the future", async () => {
      const { address, outcomes, refused } = await scheduler();
      await thief.xadd(streamOf(address), "18446744073709551615-1", "to", address, "body", "x");
      await expect.poll(() => refused.get("de")?.count ?? 0, { timeout: 10_000 }).toBeGreaterThan(0);
      await expect
        .poll(
          () =>
            say(address, sealed(address, [outcomeOf(5)])).then(
              () => true,
              () => false,
            ),
          { timeout: 5_000 },
        )
        .toBe(true);
      await expect.poll(() => outcomes, { timeout: 10_000 }).toEqual([{ from: "de", checkId: 5 }]);
    }, 30_000);

    it("reports no more checkers than there are names, under no other's, and none that never ages", async () => {
      const refused = { count: 0 };
      const watch = await watchCheckers(
        { url },
        {
          locations: () => ["de", "nl"],
          onRefused: (_location, count) => {
            refused.count += count;
          },
        },
      );
      closing.push(watch);
      const nl = await checkerOfNl();
      nl.report();
      const report = (id: string, atMs: number): string =>
        JSON.stringify({
          location: "de",
          id,
          name: "box",
          version: "1",
          atMs,
          clockOffsetMs: 0,
          room: 1,
          inFlight: 0,
          isFit: true,
          reasons: [],
          isLeaving: false,
        });
      const invented = thief.pipeline();
      for (let i = 0; i < 2_000; i += 1) invented.hset("sonde:checkers:{de}", String(i), report(`00.${i}`, Date.now()));
      for (let i = 0; i < 64; i += 1) {
        const slot = i.toString(16).padStart(2, "0");
        invented.hset("sonde:checkers:{de}", slot, report(`${slot}.thief`, i < 2 ? Date.now() + 9e9 : Date.now()));
      }
      invented.hset("sonde:checkers:{de}", "3f", "x".repeat(5 * MIB));
      await invented.exec();
      const seen = (of: string): number => watch.healthy().filter(({ location }) => location === of).length;
      await expect.poll(() => [seen("de"), seen("nl")], { timeout: 10_000 }).toEqual([61, 1]);
      expect(refused.count).toBeGreaterThan(1_900);
      expect(await admin.hlen("sonde:checkers:{de}")).toBeLessThanOrEqual(64);
      expect(Number(await admin.memory("USAGE", "sonde:checkers:{de}"))).toBeLessThan(64 * 1_024);
    }, 30_000);

    it("keeps no more in Redis than every name is for", async () => {
      const memory = async (): Promise<number> =>
        Number(/used_memory:(\d+)/.exec(await admin.info("memory"))?.[1] ?? 0);
      const before = await memory();
      const filling = thief.pipeline();
      for (let box = 0; box < 16; box += 1) {
        for (let i = 0; i < 6; i += 1) {
          filling.xadd(`sonde:outcomes:{de}:${box.toString(16)}`, "*", "to", "x", "body", "x".repeat(8 * MIB));
        }
      }
      for (let slot = 0; slot < 4; slot += 1) {
        const key = `sonde:runs:{de}:0${slot}`;
        // Names of groups are nowhere in MEMORY USAGE.
        filling.xgroup("CREATE", key, `${slot}${"g".repeat(8 * MIB)}`, "$", "MKSTREAM");
        filling.xgroup("CREATE", key, `${slot}${"h".repeat(8 * MIB)}`, "$");
      }
      await filling.exec();
      const filled = await memory();
      const { refused } = await scheduler();
      await expect.poll(async () => (await memory()) - before, { timeout: 20_000 }).toBeLessThan(140 * MIB);
      const after = await memory();
      console.info(
        `Redis: ${Math.round((filled - before) / MIB)} MiB after the flood, ${Math.round((after - before) / MIB)} MiB after the sweep`,
      );
      expect(filled - before).toBeGreaterThan(700 * MIB);
      // Every stream of runs whose groups are not ours, and as many others as it takes.
      await expect.poll(() => refused.get("de")?.count ?? 0, { timeout: 10_000 }).toBeGreaterThanOrEqual(15);
    }, 60_000);
  });

  describe("the names of a location", () => {
    it("are all that its user reaches, each with the commands that it is for", async () => {
      const allowed: Readonly<Record<string, readonly string[]>> = {
        "sonde:runs:{de}:00": ["del", "pexpire", "xdel", "xgroup|create", "xgroup|createconsumer", "xrange", "xread"],
        "sonde:runs:{de}:3f": ["del", "pexpire", "xdel", "xgroup|create", "xgroup|createconsumer", "xrange", "xread"],
        "sonde:outcomes:{de}:0": ["pexpire", "xadd"],
        "sonde:outcomes:{de}:f": ["pexpire", "xadd"],
        "sonde:checks:{de}:api": ["xdel", "xread"],
        "sonde:checks:{de}:public": ["xdel", "xread"],
        "sonde:checkers:{de}": ["hset"],
        "sonde:runs:{de}:40": [],
        "sonde:runs:{de}:000": [],
        "sonde:runs:{de}:": [],
        "sonde:runs:{de}:0F": [],
        "sonde:outcomes:{de}:g": [],
        "sonde:outcomes:{de}:00": [],
        "sonde:outcomes:{de}:": [],
        "sonde:checks:{de}:other": [],
        "sonde:checkers:{de}:": [],
        "sonde:runs:{nl}:00": [],
        "sonde:outcomes:{nl}:0": [],
        "sonde:checkers:{nl}": [],
        "sonde:mailbox:0": [],
        "sonde:taken:{1}:0": [],
      };
      const words: Readonly<Record<string, (key: string) => readonly string[]>> = {
        xread: (key) => ["XREAD", "STREAMS", key, "0"],
        xrange: (key) => ["XRANGE", key, "-", "+"],
        xdel: (key) => ["XDEL", key, "0-1"],
        del: (key) => ["DEL", key],
        pexpire: (key) => ["PEXPIRE", key, "1"],
        "xgroup|create": (key) => ["XGROUP", "CREATE", key, "g", "$", "MKSTREAM"],
        "xgroup|createconsumer": (key) => ["XGROUP", "CREATECONSUMER", key, "g", "c"],
        xadd: (key) => ["XADD", key, "*", "a", "b"],
        hset: (key) => ["HSET", key, "a", "b"],
      };
      const keyless = ["publish", "time", "multi", "exec", "ping", "client|setname"];
      expect([...Object.keys(words), ...keyless].sort()).toEqual([...CHECKER_COMMANDS].sort());
      const found: Record<string, string[]> = {};
      for (const key of Object.keys(allowed)) {
        found[key] = [];
        for (const [command, say] of Object.entries(words)) {
          const answer = await admin.call("ACL", "DRYRUN", checkerUser("de"), ...say(key));
          if (answer === "OK") found[key].push(command);
        }
        found[key].sort();
      }
      expect(found).toEqual(allowed);
    });
  });
});
