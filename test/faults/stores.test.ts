/** Stores that fail under a running service: it says so, goes on with what it can, recovers by itself, and loses nothing it acknowledged. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import type { MonitorBody, ResultsBody } from "../client.ts";
import { createMonitor, type Product, startProduct, untilMonitor, untilStatus } from "../product.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { type PostgresServer, startPostgres } from "../servers/postgres.ts";
import { type RedisServer, startRedis } from "../servers/redis.ts";
import { cleanUp, eventually } from "../service.ts";
import { startWebsite, type Website } from "../targets.ts";

afterAll(cleanUp);

const TIMEOUT_MS = 120_000;
const RECOVERED_WITHIN_MS = 40_000;
const WEBSITE = { type: "http", interval: 1, timeout: 10, maxretries: 1 };

async function rowsOf(product: Product, id: string): Promise<ResultsBody | undefined> {
  const { status, body } = await product.api.get<ResultsBody>(`/results/server/${id}?limit=1000&period=1h`);
  return status === 200 ? body : undefined;
}

/** Every request that the target took is one row, none is missing, none is there twice. */
async function expectRowsOfRequests(product: Product, id: string, site: Website): Promise<number> {
  // No new check comes; what runs or waits is still recorded, as it would not be after a pause.
  await product.api.put(`/servers/${id}`, { interval: 3_600 });
  const { asked, rows } = await eventually(async () => {
    const asked = site.requests();
    const rows = await rowsOf(product, id);
    // A check that was due before the change may come meanwhile.
    return rows !== undefined && rows.total >= asked && site.requests() === asked ? { asked, rows } : undefined;
  }, RECOVERED_WITHIN_MS);
  expect(new Set(rows.results.map((row) => row.id)).size).toBe(rows.total);
  expect(rows.total).toBe(asked);
  return rows.total;
}

describe("the embedded ClickHouse of a running service", () => {
  let product: Product;
  let site: Website;
  let id: string;
  beforeEach(async () => {
    site = await startWebsite();
    product = await startProduct();
    id = await createMonitor(product.api, { ...WEBSITE, name: "Site", url: site.url });
    await untilStatus(product.api, id, "healthy");
    await eventually(async () => (((await rowsOf(product, id))?.total ?? 0) > 0 ? true : undefined));
  });
  afterEach(async () => {
    await product.stop();
    await site.close();
  });

  /** Our child that is the engine. */
  function enginePid(): number {
    const children = readdirSync("/proc").filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
        return parent === String(product.pid) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("front.js");
      } catch {
        return false;
      }
    });
    expect(children).toHaveLength(1);
    return Number(children[0]);
  }

  it.each(["SIGKILL", "SIGSTOP"] as const)(
    "%s: results are said to be away, everything else goes on, rows arrive once",
    { timeout: TIMEOUT_MS },
    async (signal) => {
      const { api } = product;
      process.kill(enginePid(), signal);
      const refused = await eventually(async () => {
        const answer = await api.get("/results");
        return answer.status === 503 ? answer : undefined;
      });
      expect(refused.body).toMatchObject({ error: true, code: 503 });
      expect(refused.body.message).toMatch(/^Results are not available right now.*Try again in a few seconds\.$/);
      expect(refused.headers.get("retry-after")).toBe("5");

      // While it is away: lists, changes, statuses, incidents.
      const before = site.requests();
      site.answer(500);
      await untilStatus(api, id, "down");
      expect((await api.get("/incidents")).body).toMatchObject({ active: 1 });
      expect((await api.get("/health/deep")).status).toBe(200);
      site.answer(200);
      await untilStatus(api, id, "healthy");
      expect(site.requests()).toBeGreaterThan(before);

      await eventually(
        async () => ((await api.get("/results")).status === 200 ? true : undefined),
        RECOVERED_WITHIN_MS,
      );
      const total = await expectRowsOfRequests(product, id, site);
      console.info(`ClickHouse after ${signal}: ${total} rows of ${site.requests()} requests`);
      // It says no more that results are late.
      await eventually(async () => ((await api.get("/results")).headers.has("x-results-delayed") ? undefined : true));
    },
  );
});

const postgres = await startPostgres();
const redis = await startRedis();
afterAll(async () => {
  if (!isMissing(postgres)) await postgres.stop();
  if (!isMissing(redis)) await redis.stop();
});

withServer("PostgreSQL under a running service", postgres, (sql) =>
  withServer("Redis under a running service", redis, (cache) => serversSuite(sql, cache)),
);

function serversSuite(sql: PostgresServer, cache: RedisServer): void {
  describe("PostgreSQL and Redis under a running service", () => {
    let product: Product;
    let site: Website;
    let id: string;
    let job = "";
    beforeEach(async () => {
      const keyFile = join(temporaryFolder(), "sealing.key");
      writeFileSync(keyFile, randomBytes(32));
      const { url } = await sql.createDatabase();
      const env = { SONDE_DATABASE_URL: url, SONDE_REDIS_URL: cache.url, SONDE_SEALING_KEY_FILE: keyFile };
      site = await startWebsite();
      product = await startProduct({ env });
      id = await createMonitor(product.api, { ...WEBSITE, name: "Site", url: site.url });
      const made = await product.api.post<MonitorBody>("/servers", { type: "push", name: "Job", period: 60 });
      job = made.body.heartbeat_url ?? "";
      await untilStatus(product.api, id, "healthy");
    });
    afterEach(async () => {
      const code = await product.stop();
      await site.close();
      expect(code, product.output().slice(-3_000)).toBe(0);
    });

    /** Calls and changes without a pause until told to stop. @returns what was answered with success */
    function load(): { stop(): Promise<{ calls: number; name: number }> } {
      let isStopped = false;
      let calls = 0;
      let name = 0;
      async function run(): Promise<void> {
        for (let count = 1; !isStopped; count += 1) {
          // 60 a minute is what a token takes.
          if (count % 10 === 0 && count < 500 && (await fetch(job)).status === 200) calls += 1;
          const { status } = await product.api.put(`/servers/${id}`, { name: String(count) });
          if (status === 200) name = count;
          else expect([429, 500, 503]).toContain(status);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
      const running = run();
      return {
        async stop() {
          isStopped = true;
          await running;
          return { calls, name };
        },
      };
    }

    async function expectNothingLost(answered: { calls: number; name: number }): Promise<void> {
      const { body } = await product.api.get<MonitorBody>(`/servers/${id}`);
      expect(Number(body.name)).toBeGreaterThanOrEqual(answered.name);
      const { servers } = (await product.api.get<{ servers: MonitorBody[] }>("/servers?family=all&name=Job")).body;
      const jobId = servers[0]?.id ?? "";
      await eventually(async () => ((await rowsOf(product, jobId))?.total === answered.calls ? true : undefined));
      await expectRowsOfRequests(product, id, site);
    }

    /** What needs no counter that is shared goes on, one heartbeat among it; what must not go on without one says which store is away. */
    async function expectWithoutRedis(): Promise<void> {
      const { api } = product;
      expect((await api.get("/servers?family=all")).status).toBe(200);
      expect((await api.put(`/servers/${id}`, { description: "without Redis" })).status).toBe(200);
      expect((await fetch(job)).status).toBe(200);
      const words = "Redis is not available right now. Try again in a few seconds.";
      for (const answer of [await api.get("/usage"), await api.post("/check/public", { config: "ss://" })]) {
        expect([answer.status, answer.body]).toEqual([503, expect.objectContaining({ message: words })]);
        expect(answer.headers.get("retry-after")).toBe("5");
      }
      const deep = await api.get<{ details: object }>("/health/deep");
      expect(deep.status).toBe(503);
      expect(deep.body.details).toMatchObject({ checks: { database: { status: "ok" }, queue: { status: "error" } } });
      expect(product.output()).toMatch(/Redis is away/);
    }

    it("PostgreSQL restarted: refused with 503 meanwhile, nothing lost", { timeout: TIMEOUT_MS }, async () => {
      const loading = load();
      await eventually(async () => (site.requests() > 2 ? true : undefined));
      await sql.kill();
      const refused = await eventually(async () => {
        const answer = await product.api.get("/servers?family=all");
        return answer.status === 200 ? undefined : answer;
      });
      expect(refused.status).toBe(503);
      expect(refused.body).toMatchObject({ error: true, code: 503 });
      expect((await product.api.get("/health/deep")).status).toBe(503);
      const during = site.requests();
      // Checks go on without the database.
      await eventually(async () => (site.requests() > during + 1 ? true : undefined));
      await sql.restart();
      await eventually(
        async () => ((await product.api.get("/health/deep")).status === 200 ? true : undefined),
        RECOVERED_WITHIN_MS,
      );
      const answered = await loading.stop();
      expect(answered.name).toBeGreaterThan(0);
      const before = (await product.api.get<MonitorBody>(`/servers/${id}`)).body.last_checked;
      await untilMonitor(product.api, id, ({ last_checked }) => last_checked !== before, RECOVERED_WITHIN_MS);
      await expectNothingLost(answered);
      console.info(`PostgreSQL killed and restarted: ${answered.calls} calls and change ${answered.name} kept`);
    });

    it("Redis restarted: the service recovers by itself, nothing lost", { timeout: TIMEOUT_MS }, async () => {
      const loading = load();
      await eventually(async () => (site.requests() > 2 ? true : undefined));
      await cache.kill();
      const during = site.requests();
      await eventually(async () => (site.requests() > during + 2 ? true : undefined));
      await expectWithoutRedis();
      await cache.restart();
      await eventually(
        async () => ((await product.api.get("/health/deep")).status === 200 ? true : undefined),
        RECOVERED_WITHIN_MS,
      );
      await eventually(
        async () => ((await product.api.get("/servers?family=all")).status === 200 ? true : undefined),
        RECOVERED_WITHIN_MS,
      );
      const answered = await loading.stop();
      await untilStatus(product.api, id, "healthy");
      // A change is heard of at once again.
      await product.api.put(`/servers/${id}`, { url: `${site.url}after` });
      await eventually(async () => (site.requests("/after") > 0 ? true : undefined), RECOVERED_WITHIN_MS);
      await expectNothingLost({ ...answered, calls: answered.calls + 1 });
      console.info(`Redis killed and restarted: ${answered.calls} calls and change ${answered.name} kept`);
    });
  });
}
