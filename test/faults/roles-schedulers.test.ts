/**
 * Two schedulers over one PostgreSQL: killed, frozen, stopped in turn, and the database restarted. Every due time has one result or was
 * counted as skipped; nothing is called down; shards find another holder by themselves.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openCheckedSealing } from "../../store/sealing.ts";
import type { ControlPlane } from "../../store/sql/control-plane.ts";
import { openControlPlane } from "../../store/sql/open.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";
import { startRedis } from "../servers/redis.ts";
import { cleanUp, eventually, temporaryFolder } from "../service.ts";
import { startTestClickHouse, type TestClickHouse } from "../store/embedded.ts";
import {
  createMonitors,
  holdersOf,
  reckon,
  type SchedulerProcess,
  schedulerOf,
  untilDatabaseAnswers,
} from "./roles.ts";
import { expectTruth, trueRows } from "./truth.ts";

const MONITORS = 160;
const INTERVAL_S = 4;
/** Beats every 600 ms. */
const LEASE_MS = 6_000;
/** Shards of a fresh PostgreSQL. */
const SHARDS = 16;
/** For a move: a lease time, and a machine that is busy with something else. */
const MOVE_WITHIN_MS = 5 * LEASE_MS;

const postgres = await startPostgres();
const redis = await startRedis();
let clickhouse: TestClickHouse;
let website: Server;

beforeAll(async () => {
  clickhouse = await startTestClickHouse();
  website = createServer((_request, response) => response.end("all is well"));
  await new Promise<void>((resolve) => website.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await cleanUp();
  website?.closeAllConnections();
  website?.close();
  await clickhouse?.remove();
  if (!isMissing(redis)) await redis.stop();
  if (!isMissing(postgres)) await postgres.stop();
});

/** Until all shards are held by schedulers that are there, spread as wanted. @returns how long that took, ms */
async function untilHeld(plane: ControlPlane, wanted: readonly number[]): Promise<number> {
  const startedAtMs = performance.now();
  await eventually(async () => {
    const view = await plane.shards.view().catch(() => undefined);
    if (view === undefined) return undefined;
    const counts = [...holdersOf(view)].map(([, count]) => count).sort((x, y) => y - x);
    return JSON.stringify(counts) === JSON.stringify(wanted) ? true : undefined;
  }, MOVE_WITHIN_MS);
  return Math.round(performance.now() - startedAtMs);
}

/** Until another scheduler has taken all shards of one. */
async function untilMoved(plane: ControlPlane, from: readonly { shard: number; epoch: number }[]): Promise<number> {
  const startedAtMs = performance.now();
  await eventually(async () => {
    const { shards } = await plane.shards.view();
    return from.every(({ shard, epoch }) => (shards[shard]?.epoch ?? 0) > epoch && shards[shard]?.holder !== null)
      ? true
      : undefined;
  }, MOVE_WITHIN_MS);
  return Math.round(performance.now() - startedAtMs);
}

async function heldBy(plane: ControlPlane, scheduler: SchedulerProcess) {
  const { shards, schedulers } = await plane.shards.view();
  const id = schedulers.find(({ name }) => name.endsWith(` ${scheduler.pid()}`))?.id;
  return shards.filter(({ holder }) => holder !== null && holder === id);
}

/** The next results of everybody: what a fault did shows in them. */
function quiet(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

withServer("PostgreSQL", postgres, (database) => {
  withServer("Redis", redis, (notices) => {
    it("lose and double nothing when one is killed, frozen, stopped or the database restarts", {
      timeout: 240_000,
    }, async () => {
      const { url } = await database.createDatabase();
      const sealingKeyFile = join(temporaryFolder(), "sealing.key");
      const plane = await openControlPlane({ url }, { role: "api" });
      await openCheckedSealing(plane.meta, { keyFile: sealingKeyFile, createIfMissing: true });
      const who = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
      const given = await plane.accounts.createFirst({ ...who, plan: "business", nowMs: Date.now() });
      const port = (website.address() as AddressInfo).port;
      const monitors = await createMonitors(plane, given, MONITORS, INTERVAL_S, (n) => `http://127.0.0.1:${port}/${n}`);
      const servers = { databaseUrl: url, redisUrl: notices.url, clickhouseUrl: clickhouse.url, sealingKeyFile };
      const a = schedulerOf("a", servers, LEASE_MS);
      const b = schedulerOf("b", servers, LEASE_MS);
      const moves: Record<string, number> = {};
      try {
        await a.start();
        await untilHeld(plane, [SHARDS]);
        await b.start();
        moves["a second scheduler comes"] = await untilHeld(plane, [SHARDS / 2, SHARDS / 2]);
        // Every monitor's first check is behind us.
        await quiet(INTERVAL_S * 1_000);
        const fromMs = Date.now();
        const skippedBefore = (await plane.shards.view()).shards.map(({ skipped }) => skipped);

        const ofA = await heldBy(plane, a);
        await a.kill();
        moves["killed"] = await untilMoved(plane, ofA);
        await a.start();
        moves["back after the kill"] = await untilHeld(plane, [SHARDS / 2, SHARDS / 2]);

        const ofB = await heldBy(plane, b);
        b.freeze();
        moves["frozen"] = await untilMoved(plane, ofB);
        await quiet(LEASE_MS / 2);
        b.thaw();
        moves["thawed"] = await untilHeld(plane, [SHARDS / 2, SHARDS / 2]);
        expect(b.output()).toContain("another scheduler has taken shards");

        await database.kill();
        await quiet(2_000);
        await database.restart();
        await untilDatabaseAnswers(url);
        moves["database back"] = await untilHeld(plane, [SHARDS / 2, SHARDS / 2]);

        const stopping = await heldBy(plane, a);
        const gone = a.stop();
        moves["stopped"] = await untilMoved(plane, stopping);
        expect(await gone).toBe(0);
        await a.start();
        moves["back after the stop"] = await untilHeld(plane, [SHARDS / 2, SHARDS / 2]);

        await quiet(2 * INTERVAL_S * 1_000);
        const untilMs = Date.now() - INTERVAL_S * 1_000;
        expect(await a.stop()).toBe(0);
        expect(await b.stop()).toBe(0);

        const rows = await trueRows(clickhouse.url);
        const { shards } = await plane.shards.view();
        const reckoning = reckon(monitors, rows, fromMs, untilMs, SHARDS);
        const skipped = shards.map(({ skipped }, shard) => skipped - (skippedBefore[shard] ?? 0));
        const downs = rows.filter(({ status }) => status === "down");
        console.info(
          JSON.stringify({
            moves,
            ...reckoning,
            missingByShard: undefined,
            skipped: skipped.reduce((x, y) => x + y, 0),
          }),
        );
        expect(reckoning.doubled).toBe(0);
        for (const [shard, missing] of reckoning.missingByShard) expect(skipped[shard]).toBeGreaterThanOrEqual(missing);
        expect(downs).toEqual([]);
        expect(await plane.incidents.countOpen()).toBe(0);
        expect(await plane.incidents.list(given.projectId, { monitorId: null, limit: 10 })).toEqual([]);
        await expectTruth(plane, given.projectId, rows);
      } catch (error) {
        console.error(a.output().slice(-6_000), b.output().slice(-6_000));
        throw error;
      } finally {
        await plane.close();
      }
    });
  });
});
