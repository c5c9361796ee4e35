/** The same on PostgreSQL and Redis, and an API in a second process that has no scheduler: jobs and checks are taken where one is. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type RunningApi, startApi } from "../../api/start.ts";
import { overridePlans } from "../../model/plan.ts";
import { openSealing } from "../../store/sealing/sealing.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import { openChecks, openState } from "../../store/state/open.ts";
import { memoryResults } from "../../testkit/api/memory.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf } from "../client.ts";
import { createMonitor, type Product, startProduct } from "../product.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";
import { startRedis } from "../servers/redis.ts";
import { cleanUp, eventually } from "../service.ts";
import { startTcp } from "../targets.ts";
import { createDown, eventsOf, onDemandSuite, TUNNEL } from "./on-demand.suite.ts";

const postgres = await startPostgres();
const redis = await startRedis();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(postgres)) await postgres.stop();
  if (!isMissing(redis)) await redis.stop();
});

withServer("on demand on PostgreSQL", postgres, ({ createDatabase }) =>
  withServer("on demand on Redis", redis, ({ url }) => {
    const makeStores = async () => {
      const keyFile = join(temporaryFolder(), "sealing.key");
      writeFileSync(keyFile, randomBytes(32));
      const { url: database } = await createDatabase();
      return { env: { SONDE_DATABASE_URL: database, SONDE_REDIS_URL: url, SONDE_SEALING_KEY_FILE: keyFile } };
    };
    onDemandSuite("PostgreSQL and Redis", makeStores);
    otherProcessTests(makeStores);
  }),
);

type Stores = { readonly env: Readonly<Record<string, string>> };

/** An API and nothing else, on the stores of a service that runs. */
async function startSecondApi({ env }: Stores): Promise<RunningApi> {
  const { SONDE_DATABASE_URL = "", SONDE_REDIS_URL = "", SONDE_SEALING_KEY_FILE = "" } = env;
  const sealing = openSealing({ keyFile: SONDE_SEALING_KEY_FILE, createIfMissing: false });
  const controlPlane = await openControlPlane({ url: SONDE_DATABASE_URL }, { role: "api" });
  const state = await openState({ url: SONDE_REDIS_URL });
  const checks = await openChecks({ url: SONDE_REDIS_URL }, () => sealing);
  const nothing = (): void => {};
  const unlimited = { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null };
  const api = await startApi({
    config: {
      host: "127.0.0.1",
      port: 0,
      baseUrl: null,
      docsUrl: null,
      metricsToken: null,
      trustedProxies: [],
      plans: overridePlans({ business: unlimited }),
      httpServer: "node",
      allowNets: ["127.0.0.0/8"],
      publicAllowNets: [],
      ownEndpoints: [],
    },
    controlPlane,
    state,
    checks,
    results: memoryResults(),
    sealing,
    clock: { now: () => Date.now() },
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing, isLevelEnabled: () => false },
    version: "0.1.0",
    health: { database: () => controlPlane.ping(), queue: () => state.ping() },
    metrics: async () => "",
    regions: async () => [{ code: "any", healthyCheckers: 1 }],
    storeCondition: () => null,
    sendToChannel: async () => ({ delivered: true, statusCode: 200, reference: null, sent: "", durationMs: 1 }),
    linkLists: { fetch: async () => ({ fault: "" }) },
  });
  return {
    ...api,
    async close() {
      await api.close();
      await checks.close();
      await state.close();
      await controlPlane.close();
    },
  };
}

function otherProcessTests(makeStores: () => Promise<Stores>): void {
  describe("an API in another process", () => {
    it("has its jobs and checks done by the scheduler of the first", async () => {
      const stores = await makeStores();
      const product: Product = await startProduct(stores);
      const second = await startSecondApi(stores);
      const elsewhere = clientOf(second.url, product.key);
      const tunnel = await createMonitor(elsewhere, { ...TUNNEL, name: "B", interval: 300 });
      const asked = [product.api, elsewhere, product.api, elsewhere].map((api) =>
        api.post<{ status: string }>("/test", { server_id: tunnel }),
      );
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);

      const target = await startTcp();
      await target.close();
      const { incident } = await createDown(product.api, "Gate", target.port);
      await target.reopen();
      expect((await elsewhere.post(`/incidents/${incident}/retest`)).status).toBe(200);
      await eventually(async () => {
        const found = await eventsOf(elsewhere, incident);
        return found.some(({ type }) => type === "recovered") || undefined;
      });

      const checks = [product.api, elsewhere].map((api) => api.post("/check", TUNNEL));
      expect((await Promise.all(checks)).map(({ status }) => status)).toEqual([200, 200]);

      // Without a checker the second says so, and nothing is left waiting.
      await product.stop();
      const { status, body } = await elsewhere.post("/check", TUNNEL);
      expect([status, body.message]).toEqual([503, "No checker nodes available"]);
      await second.close();
      await target.close();
    });
  });
}
