/**
 * A rolling restart from an older version and back, on one PostgreSQL, Redis and ClickHouse: each role of the older version is joined by one
 * of this version and ends, then the other way round. Each turn of each monitor has one result, or was counted as skipped, and nothing is
 * called down. Run by hand (docs/develop/tests.md): the older version is built from history, which CI does not have.
 */
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { productEnv } from "../product.ts";
import { installation } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp } from "../service.ts";
import { createMonitors, reckon } from "./reckoning.ts";
import { expectTruth, trueRows } from "./truth.ts";

/** The older version's dist/cli/sonde.js. */
const BEFORE = process.env.BEFORE ?? "";
const SIZE = { monitors: 40, intervalS: 2, timeoutS: 2 };
/** How long two versions work beside each other, ms. */
const BESIDE_MS = 15_000;

if (BEFORE === "") throw new Error("BEFORE names dist/cli/sonde.js of the older version");
const shared = await startShared();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

withServer("two versions beside each other", shared, (servers) => {
  it("lose and double nothing, and call nothing down", async () => {
    const stores = await servers.stores();
    const website = createServer((_request, response) => response.end("well"));
    const url = `http://127.0.0.1:${await listen(website)}/`;
    const whole = installation(stores, productEnv());
    // One data folder a role: a process that starts again there is the same one.
    const folders = { before: `${temporaryFolder()}/data`, now: `${temporaryFolder()}/data` };
    const start = async (version: "before" | "now") => {
      const script = version === "before" ? { script: BEFORE } : {};
      const api = await whole.startApi(script);
      const scheduler = await whole.startScheduler({ ...script, dataDir: folders[version] });
      const checker = await whole.startChecker("any", script);
      return { api, scheduler, checker };
    };
    const end = async ({ api, scheduler, checker }: Awaited<ReturnType<typeof start>>): Promise<void> => {
      // APIs before schedulers, as docs/operate/growing.md says.
      for (const role of [api, scheduler, checker]) {
        expect(await role.stop()).toBe(0);
        await delay(BESIDE_MS / 5);
      }
    };

    const first = await start("before");
    const plane = await openControlPlane({ url: stores.databaseUrl }, { role: "api" });
    const monitors = await createMonitors(plane, { projectId: 1, organizationId: 1 }, SIZE, () => url);
    await delay(BESIDE_MS);
    const fromMs = Date.now();
    const now = await start("now");
    await delay(BESIDE_MS);
    await end(first);
    await delay(BESIDE_MS);
    const back = await start("before");
    await delay(BESIDE_MS);
    await end(now);
    await delay(BESIDE_MS);
    const untilMs = Date.now() - 5_000;
    await end(back);
    const rows = await trueRows(stores.clickhouseUrl);
    const { shards } = await plane.shards.view();
    const found = reckon(monitors, rows, fromMs, untilMs, shards.length);
    const skipped = shards.reduce((sum, shard) => sum + shard.skipped, 0);
    const incidents = await plane.incidents.list(1, { monitorId: null, limit: 99 });
    console.info({ ...found, missingByShard: undefined, skipped, incidents: incidents.length });
    expect(found.due).toBeGreaterThan(0);
    expect({ doubled: found.doubled, incidents: incidents.length }).toEqual({ doubled: 0, incidents: 0 });
    expect(found.missing).toBeLessThanOrEqual(skipped);
    await expectTruth(plane, 1, rows);
    await plane.close();
    website.close();
  });
});
