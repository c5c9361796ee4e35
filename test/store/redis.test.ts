/** State on a real Redis. */
import { connect, createServer } from "node:net";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { StoreError } from "../../store/errors.ts";
import { openState } from "../../store/state/open.ts";
import { stateSuite } from "../../store/state/state.suite.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { type RedisServer, startRedis } from "../servers/redis.ts";

const server = await startRedis();

afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

const UNLIMITED = { perMinute: null, perDay: null, perMonth: null };
const NOW_MS = Date.UTC(2026, 10, 21, 6, 10);

withServer("Redis", server, (running) => {
  let database = 0;
  stateSuite("Redis", {
    runs: 300,
    async make() {
      // One of Redis's sixteen numbered databases; notices span them all.
      const url = `${running.url}/${++database % 16}`;
      await flush(url);
      return { place: { url }, remove: () => flush(url) };
    },
  });
  sharedTests(running);
});

async function flush(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushdb();
  client.disconnect();
}

async function messageOf(work: unknown): Promise<string> {
  const error = await Promise.resolve(work).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  return (error as StoreError).message;
}

function sharedTests(running: RedisServer): void {
  describe("Redis shared by processes", () => {
    it("takes no more than the limit of many processes at once", async () => {
      await flush(running.url);
      const states = await Promise.all([1, 2, 3].map(() => openState({ url: running.url })));
      const limits = { perMinute: 100, perDay: 40, perMonth: 60 };
      const takes = await Promise.all(
        Array.from({ length: 300 }, (_, index) => states[index % 3]?.counters.takeRequest(1, limits, NOW_MS)),
      );
      expect(takes.filter((take) => take?.refusedBy === null)).toHaveLength(40);
      expect(takes.filter((take) => take?.refusedBy === "day")).toHaveLength(260);
      for (const state of states)
        expect(await state.counters.usage(1, NOW_MS)).toEqual({ minute: 40, day: 40, month: 40 });
      await Promise.all(states.map((state) => state.close()));
    });

    it("that deletes keys is not well, and says so once", async () => {
      const client = new Redis(running.url);
      const heard: string[] = [];
      const state = await openState({ url: running.url }, (message) => heard.push(message));
      try {
        await state.ping();
        const used = Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
        await client.config("SET", "maxmemory-policy", "allkeys-lru");
        await client.config("SET", "maxmemory", String(used + 2_000_000));
        for (let key = 0; key < 400; key += 1) await client.set(`other:${key}`, "x".repeat(10_000), "EX", 60);
        for (let ping = 0; ping < 2; ping += 1)
          expect(await messageOf(state.ping())).toMatch(/is full and deletes what Sonde needs: .*noeviction/);
        await client.config("SET", "maxmemory", String(used + 20_000_000));
        const next = await openState({ url: running.url }, (message) => heard.push(message));
        await next.ping();
        await next.close();
        expect(heard).toEqual([
          expect.stringMatching(/is full and deletes/),
          expect.stringMatching(/may delete what Sonde needs: .*noeviction/),
        ]);
      } finally {
        await client.config("SET", "maxmemory", "0");
        await client.config("SET", "maxmemory-policy", "noeviction");
        await flush(running.url);
        await state.close();
        client.disconnect();
      }
    });

    it("leaves nothing behind that never expires", async () => {
      await flush(running.url);
      const state = await openState({ url: running.url });
      await state.counters.takeRequest(1, UNLIMITED, NOW_MS);
      await state.counters.wrongKey("192.0.2.1", NOW_MS);
      await state.counters.takeFrom("a", 1, 60_000, NOW_MS);
      state.counters.countEndpoint(1, 2, "GET /servers", true, NOW_MS);
      await state.close();
      const client = new Redis(running.url);
      const keys = await client.keys("*");
      expect(keys).toHaveLength(6);
      for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
      client.disconnect();
    });

    it("runs its scripts again after Redis forgot them", async () => {
      const state = await openState({ url: running.url });
      await state.counters.takeFrom("before", 1, 60_000, NOW_MS);
      const client = new Redis(running.url);
      await client.script("FLUSH");
      client.disconnect();
      expect(await state.counters.takeFrom("after", 1, 60_000, NOW_MS)).toBe(true);
      await state.close();
    });

    it("rejects while Redis is away, and comes back by itself, notices too", async () => {
      const state = await openState({ url: running.url });
      await state.ping();
      let heard = 0;
      state.notices.subscribe("monitors", () => {
        heard += 1;
      });
      state.counters.countEndpoint(9, 1, "GET /servers", false, NOW_MS);
      await running.kill();
      expect(await messageOf(state.counters.takeRequest(1, UNLIMITED, NOW_MS))).toMatch(/^Redis at 127\.0\.0\.1:\d+ /);
      await expect(state.ping()).rejects.toThrow(StoreError);
      state.notices.publish("monitors");
      await running.restart();
      await expect
        .poll(
          () =>
            state.ping().then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
      expect((await state.counters.takeRequest(1, UNLIMITED, NOW_MS)).refusedBy).toBeNull();
      expect(await state.counters.endpointUsage(9, 1, NOW_MS)).toHaveLength(1);
      await expect
        .poll(
          () => {
            state.notices.publish("monitors");
            return heard;
          },
          { timeout: 10_000 },
        )
        .toBeGreaterThan(0);
      await state.close();
    });

    it("finds the new primary when the one before goes on as its replica", async () => {
      const replaced = await startRedis();
      if (isMissing(replaced)) throw new Error(replaced.missing);
      let { port } = replaced;
      const relay = createServer((socket) => {
        const inner = connect(port, "127.0.0.1");
        inner.on("error", () => socket.destroy());
        socket.on("error", () => inner.destroy());
        socket.pipe(inner).pipe(socket);
      });
      const state = await openState({ url: `redis://127.0.0.1:${await listen(relay)}` });
      const client = new Redis(replaced.url);
      await client.replicaof("127.0.0.1", running.port);
      port = running.port;
      await expect
        .poll(() => state.counters.takeFrom("anyone", 1_000, 60_000, NOW_MS).catch(String), { timeout: 10_000 })
        .toBe(true);
      client.disconnect();
      await state.close();
      relay.close();
      await replaced.stop();
    });

    it("does not wait for a Redis that stands still", async () => {
      const state = await openState({ url: running.url });
      running.freeze();
      try {
        expect(await messageOf(state.counters.takeRequest(1, UNLIMITED, NOW_MS))).toContain("did not answer in time");
      } finally {
        running.thaw();
      }
      await expect
        .poll(
          () =>
            state.ping().then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
      await state.close();
    });

    it("says what is wrong with the address, and never the password", async () => {
      const message = await messageOf(openState({ url: "redis://someone:s3cret@127.0.0.1:1" }));
      expect(message).toContain("connection refused");
      expect(message).not.toContain("s3cret");
      const refused = await messageOf(openState({ url: running.url.replace("//", "//someone:s3cret@") }));
      expect(refused).toContain("refuses the user or password");
      expect(refused).not.toContain("s3cret");
    });
  });
}
