/** Runs and outcomes between schedulers and checkers over a real Redis. */
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CheckOutcome } from "../../model/result.ts";
import { outcomeOf } from "../../scheduler/fixtures.suite.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import { keyRingOf, newKeyLine } from "../../store/sealing/keys.ts";
import { sealingWith } from "../../store/sealing/sealing.ts";
import { type CheckerReport, type CheckerState, CLOCK_OFF_MS, isHealthy } from "../../store/state/checkers.ts";
import { openRunSender, watchCheckers } from "../../store/state/open.ts";
import { openRedisRunServer } from "../../store/state/redis-run-server.ts";
import type { CheckerName, RunBatch, RunServer, SentRun } from "../../store/state/runs.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startRedis } from "../servers/redis.ts";

const server = await startRedis();
afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

interface Spec {
  readonly key: number;
  readonly secret: string;
}
const SPEC: Spec = { key: 7, secret: "must-stay-sealed" };
const FIT: CheckerState = { room: 10, inFlight: 0, isFit: true, reasons: [], isLeaving: false };

function runOf(checkId: number): SentRun {
  return { checkId, specKey: 7, dueAtMs: 1, startByMs: 2, alone: false, host: null, wasHealthy: false };
}

function newSealing(): Sealing {
  return sealingWith(keyRingOf([newKeyLine()]));
}

withServer("Redis", server, (running) => {
  let database = 0;
  let place = { url: "" };
  const closing: { close(): Promise<void> }[] = [];
  const keys: Record<string, Sealing> = { de: newSealing(), nl: newSealing() };

  beforeEach(async () => {
    database = (database + 1) % 16;
    place = { url: `${running.url}/${database}` };
    await withClient((redis) => redis.flushdb());
  });
  afterEach(async () => {
    for (const one of closing.splice(0).reverse()) await one.close();
  });

  async function withClient<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(place.url);
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }

  interface Bench {
    readonly name: CheckerName;
    readonly server: RunServer;
    readonly taken: { readonly scheduler: string; readonly batch: RunBatch<Spec>; readonly isLeaving: boolean }[];
    state: CheckerState;
  }

  async function checker(location = "de", sealing = keys[location] ?? newSealing()): Promise<Bench> {
    const id = randomUUID();
    const taken: Bench["taken"] = [];
    const bench: { state: CheckerState } = { state: FIT };
    const opened = await openRedisRunServer<Spec>(place, {
      checker: { location, id, name: "box", version: "1" },
      sealing,
      readSpec: (value) => value as Spec,
      state: () => bench.state,
      take: (scheduler, batch, isLeaving) => void taken.push({ scheduler, batch, isLeaving }),
      onLink: () => {},
    });
    closing.push(opened);
    return Object.assign(bench, { name: await nameOf(location, id), server: opened, taken });
  }

  /** With the name that it has taken. */
  async function nameOf(location: string, id: string): Promise<CheckerName> {
    const reports = await withClient((redis) => redis.hvals(`sonde:checkers:{${location}}`));
    const found = reports
      .map((text) => JSON.parse(text) as CheckerReport)
      .find((report) => report.id.endsWith(`.${id}`));
    return { location, id: found?.id ?? "" };
  }

  async function scheduler(locations: readonly string[] = ["de", "nl"], refreshKeys = async (): Promise<void> => {}) {
    const scheduler = randomUUID();
    const outcomes: (CheckOutcome & { readonly from: string })[] = [];
    let caughtUpMs = 0;
    const refused: { readonly location: string; readonly count: number; readonly reason: string }[] = [];
    const sender = await openRunSender<Spec>(place, {
      scheduler,
      locations: () => locations,
      sealingOf: (location) => keys[location],
      refreshKeys,
      onOutcomes: (from, some) => outcomes.push(...some.map((one) => ({ ...one, from }))),
      onCaughtUp: (atMs) => {
        caughtUpMs = atMs;
      },
      onRefused: (location, count, reason) => void refused.push({ location, count, reason }),
    });
    closing.push(sender);
    // Its holder names its mailbox.
    const held = await withClient(async (redis) => {
      const keys = await redis.keys("sonde:mailbox:*");
      const holders = await Promise.all(keys.map((key) => redis.get(key)));
      return keys[holders.indexOf(scheduler)] ?? "";
    });
    const id = `${held.split(":").at(-1)}.${scheduler}`;
    return { id, refused, sender, outcomes, caughtUpMs: () => caughtUpMs };
  }

  describe("runs over Redis", () => {
    it("reach the checker they are sent to, and outcomes the scheduler that sent them", async () => {
      const [de, other, nl] = [await checker(), await checker(), await checker("nl")];
      const [one, two] = [await scheduler(), await scheduler()];
      expect(await one.sender.send(de.name, { specs: [SPEC], runs: [runOf(1), runOf(2)] })).toBe("sent");
      expect(await two.sender.send(de.name, { specs: [SPEC], runs: [runOf(1)] })).toBe("sent");
      expect(await two.sender.send(nl.name, { specs: [], runs: [runOf(9)] })).toBe("sent");
      await expect.poll(() => de.taken.length, { timeout: 5_000 }).toBe(2);
      await expect.poll(() => nl.taken.length, { timeout: 5_000 }).toBe(1);
      expect(de.taken[0]).toEqual({
        scheduler: one.id,
        batch: { specs: [SPEC], runs: [runOf(1), runOf(2)] },
        isLeaving: false,
      });
      expect(other.taken).toEqual([]);
      de.server.answer(one.id, [outcomeOf(1, { latencyMs: 3 })]);
      de.server.answer(one.id, [outcomeOf(2)]);
      nl.server.answer(two.id, [outcomeOf(9)]);
      await expect.poll(() => one.outcomes.length, { timeout: 5_000 }).toBe(2);
      await expect.poll(() => two.outcomes.length, { timeout: 5_000 }).toBe(1);
      expect(one.outcomes[0]).toEqual({ ...outcomeOf(1, { latencyMs: 3 }), from: "de" });
      expect(two.outcomes[0]?.from).toBe("nl");
    });

    it("are read when the checker knows its location's new key before the scheduler does", async () => {
      const next = newSealing();
      const fr = await checker("fr", next);
      const { id, outcomes } = await scheduler(["fr"], async () => {
        keys.fr = next;
      });
      fr.server.answer(id, [outcomeOf(1)]);
      await expect.poll(() => outcomes.map(({ checkId }) => checkId), { timeout: 5_000 }).toEqual([1]);
      delete keys.fr;
    });

    it("says when everything that arrived was read", async () => {
      const { caughtUpMs } = await scheduler();
      const before = performance.now();
      await expect.poll(caughtUpMs, { timeout: 5_000 }).toBeGreaterThan(before);
    });

    it("are refused by a checker that is not there, and by one whose stream has ended", async () => {
      const { sender } = await scheduler();
      expect(await sender.send({ location: "de", id: "00.absent" }, { specs: [], runs: [runOf(1)] })).toBe("absent");
      expect(await sender.send({ location: "fr", id: "00.absent" }, { specs: [], runs: [runOf(1)] })).toBe("absent");
      const { name } = await checker();
      expect(await withClient((redis) => redis.pttl(`sonde:runs:{de}:${name.id.slice(0, 2)}`))).toBeLessThanOrEqual(
        5_000,
      );
      expect(await sender.send(name, { specs: [], runs: [runOf(1)] })).toBe("sent");
    });

    it("lose nothing when a checker leaves: what it had not read is handed over as leaving, what comes later is refused", async () => {
      const { sender } = await scheduler();
      const de = await checker();
      const sent: string[] = [];
      const leaving = Promise.all(
        Array.from({ length: 200 }, async (_, at) => {
          if (at === 20) void de.server.leave();
          const answer = await sender.send(de.name, { specs: [], runs: [runOf(at)] });
          if (answer === "sent") sent.push(String(at));
          else expect(answer).toBe("absent");
        }),
      );
      await leaving;
      await expect.poll(() => de.taken.length, { timeout: 5_000 }).toBe(sent.length);
      expect(await sender.send(de.name, { specs: [], runs: [runOf(999)] })).toBe("absent");
      expect(de.taken.flatMap(({ batch }) => batch.runs.map(({ checkId }) => String(checkId))).sort()).toEqual(
        sent.sort(),
      );
    });

    it("go sealed with the location's key, each in its place; nothing stays for ever", async () => {
      const watcher = new Redis(running.url);
      const seen: string[] = [];
      const monitor = await watcher.monitor();
      monitor.on("monitor", (_time: string, words: string[]) => seen.push(words.join(" ")));
      const { sender, id, outcomes } = await scheduler();
      const [de, thief] = [await checker(), await checker("de", keys.nl)];
      await sender.send(thief.name, { specs: [SPEC], runs: [runOf(1)] });
      await sender.send(de.name, { specs: [SPEC], runs: [runOf(2)] });
      await expect.poll(() => de.taken.length, { timeout: 5_000 }).toBe(1);
      thief.server.answer(id, [outcomeOf(2, { latencyMs: 1 })]);
      de.server.answer(id, [outcomeOf(2, { latencyMs: 2 })]);
      await expect.poll(() => outcomes.length, { timeout: 5_000 }).toBe(1);
      expect(outcomes[0]?.latencyMs).toBe(2);
      expect(thief.taken).toEqual([]);
      expect(seen.join("\n")).toContain("xadd");
      expect(seen.join("\n")).not.toContain("must-stay-sealed");
      for (const key of await withClient((redis) => redis.keys("*"))) {
        if (key.startsWith("sonde:checkers:")) continue;
        expect([key, (await withClient((redis) => redis.pttl(key))) > 0]).toEqual([key, true]);
      }
      monitor.disconnect();
      watcher.disconnect();
    });

    it("go on after Redis was away and came back with nothing in it; outcomes of meanwhile arrive", async () => {
      const { sender, id, outcomes } = await scheduler();
      const de = await checker();
      await sender.send(de.name, { specs: [], runs: [runOf(1)] });
      await expect.poll(() => de.taken.length, { timeout: 5_000 }).toBe(1);
      await running.kill();
      expect(["away", "unknown"]).toContain(await sender.send(de.name, { specs: [], runs: [runOf(2)] }));
      de.server.answer(id, [outcomeOf(1)]);
      await running.restart();
      await expect.poll(() => outcomes.length, { timeout: 10_000 }).toBe(1);
      await expect
        .poll(() => sender.send(de.name, { specs: [], runs: [runOf(3)] }), { timeout: 10_000, interval: 100 })
        .toBe("sent");
      await expect.poll(() => de.taken.length, { timeout: 5_000 }).toBe(2);
    }, 40_000);
  });

  describe("reports of checkers", () => {
    it("are reported to every watcher, at once when they come, change or leave", async () => {
      let changes = 0;
      const watch = await watchCheckers(place, {
        locations: () => ["de", "nl"],
        onChange: () => {
          changes += 1;
        },
        onRefused: () => {},
      });
      closing.push(watch);
      expect(watch.healthy()).toEqual([]);
      const de = await checker();
      await checker("nl");
      await expect.poll(() => watch.healthy().length, { timeout: 5_000 }).toBe(2);
      const report = watch.healthy().find(({ location }) => location === "de");
      expect(report).toMatchObject({ ...FIT, id: de.name.id, name: "box", version: "1" });
      expect(Math.abs(report?.clockOffsetMs ?? 9_999)).toBeLessThan(CLOCK_OFF_MS);
      const before = changes;
      de.state = { ...FIT, isFit: false, reasons: ["cut"] };
      await expect.poll(() => watch.healthy().some(({ isFit }) => !isFit), { timeout: 5_000 }).toBe(true);
      await expect.poll(() => changes, { timeout: 5_000 }).toBeGreaterThan(before);
      await de.server.leave();
      await expect.poll(() => watch.healthy().length, { timeout: 5_000 }).toBe(1);
      // It may only be starting anew.
      expect([...watch.staffed()].sort()).toEqual(["de", "nl"]);
    });

    it("outlive a Redis that comes back empty", async () => {
      const watch = await watchCheckers(place, { locations: () => ["de"], onRefused: () => {} });
      closing.push(watch);
      await checker();
      await expect.poll(() => watch.healthy().length, { timeout: 5_000 }).toBe(1);
      await running.restart();
      const least: number[] = [];
      await expect
        .poll(
          async () => {
            least.push(watch.healthy().length);
            return withClient((redis) => redis.hlen("sonde:checkers:{de}")).catch(() => 0);
          },
          { timeout: 10_000, interval: 50 },
        )
        .toBe(1);
      expect(Math.min(...least)).toBe(1);
    }, 40_000);

    it("do not count after a minute of silence, with a clock that is off, or from another location", async () => {
      const now = 1_000_000;
      const report: CheckerReport = {
        ...FIT,
        location: "de",
        id: "00.a",
        name: "box",
        version: "1",
        atMs: now,
        clockOffsetMs: 0,
      };
      expect(isHealthy(report, now + 60_000)).toBe(true);
      expect(isHealthy(report, now + 60_001)).toBe(false);
      expect(isHealthy({ ...report, clockOffsetMs: 2_001 }, now)).toBe(false);
      expect(isHealthy({ ...report, clockOffsetMs: -2_001 }, now)).toBe(false);
      expect(isHealthy({ ...report, isLeaving: true }, now)).toBe(false);
      const fresh = { ...report, atMs: Date.now() };
      await withClient((redis) => redis.hset("sonde:checkers:{nl}", "00", JSON.stringify(fresh), "01", "not JSON"));
      const watch = await watchCheckers(place, { locations: () => ["de", "nl"], onRefused: () => {} });
      closing.push(watch);
      expect(watch.healthy()).toEqual([]);
    });
  });
});
