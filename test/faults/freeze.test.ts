/** Our own machine's faults are not held against targets: the whole service frozen for five seconds, and starved beside two busy loops. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Product, startProduct } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startTcp, startWebsite, type TcpTarget, type Website } from "../targets.ts";
import {
  createMany,
  everDown,
  everInIncident,
  INTERVAL_S,
  TIMEOUT_S,
  untilDown,
  verdictsOf,
  type Watch,
  watchResults,
} from "./many-monitors.ts";

const HEALTHY = 1_000;
/** Half of them refuse, half of them are silent; so many that the deadline of one falls into a freeze. */
const DEAD = 120;
/** Healthy until the freeze, dead from then on. */
const DYING = 6;
/** So that a freeze finds checks in flight. */
const DELAY_MS = 250;
const FROZEN_MS = 5_000;
const BUSY_MS = 20_000;
/** Two intervals, a silent target's timeout, and what a batch, a row and a busy machine add. */
const FOUND_WITHIN_MS = (2 * INTERVAL_S + TIMEOUT_S) * 1_000 + 15_000;

describe(`the service with ${HEALTHY} healthy and ${DEAD} dead targets`, () => {
  let product: Product;
  let watch: Watch;
  let site: Website;
  let refusing: Website;
  let hanging: TcpTarget;
  let dyingSite: Website;
  let healthy: readonly string[];
  let dead: readonly string[];
  let dying: readonly string[];

  beforeAll(async () => {
    [site, refusing, hanging, dyingSite] = await Promise.all([
      startWebsite({ delayMs: DELAY_MS }),
      startWebsite(),
      startTcp(() => {}),
      startWebsite({ delayMs: DELAY_MS }),
    ]);
    await refusing.close();
    product = await startProduct();
    const { api } = product;
    const urls = (count: number, port: number) =>
      Array.from({ length: count }, (_, i) => `http://127.0.0.1:${port}/${i}`);
    dead = await createMany(api, [...urls(DEAD / 2, refusing.port), ...urls(DEAD / 2, hanging.port)]);
    dying = await createMany(api, urls(DYING, dyingSite.port));
    healthy = await createMany(api, urls(HEALTHY, site.port));
    watch = watchResults(api);
  });
  afterAll(async () => {
    await watch?.stop();
    await cleanUp();
    await Promise.all([site, hanging, dyingSite].map((each) => each.close()));
  });

  /** What no fault may change. */
  async function expectNoneBlamed(mayBeDown: readonly string[]): Promise<void> {
    const allowed = new Set(mayBeDown);
    expect([...(await everDown(product.api))].filter((id) => !allowed.has(id))).toEqual([]);
    expect([...(await everInIncident(product.api))].filter((id) => !allowed.has(id))).toEqual([]);
    expect(watch.count(healthy, "down")).toBe(0);
  }

  async function say(what: string): Promise<void> {
    const rows = Object.values(watch.verdicts(healthy)).reduce((sum, count) => sum + count, 0);
    console.info(`${what}: ${watch.count(healthy, "down")} of ${rows} results of healthy targets down, verdicts`, {
      healthy: watch.verdicts(healthy),
      dead: await verdictsOf(product.api, dead),
      dying: await verdictsOf(product.api, dying),
    });
  }

  it("finds them all", { timeout: 90_000 }, async () => {
    await untilDown(product.api, dead, HEALTHY + DEAD + DYING, 60_000);
    await expectNoneBlamed(dead);
  });

  it("frozen for 5 s calls no healthy one down, and finds those that died meanwhile", {
    timeout: 120_000,
  }, async () => {
    process.kill(product.pid, "SIGSTOP");
    await dyingSite.close();
    // The length of the freeze is the case itself.
    await sleep(FROZEN_MS);
    process.kill(product.pid, "SIGCONT");
    await untilDown(product.api, [...dead, ...dying], HEALTHY + DEAD + DYING, FOUND_WITHIN_MS);
    await expectNoneBlamed([...dead, ...dying]);
    // What was in flight and failed for the freeze was not held against its target.
    await eventually(async () => {
      const unfit = [
        await verdictsOf(product.api, dead),
        await verdictsOf(product.api, dying),
        watch.verdicts(healthy),
      ];
      return unfit.some((verdicts) => (verdicts.unfit ?? 0) > 0) ? true : undefined;
    });
    await say("frozen for 5 s");
  });

  it("beside two busy loops for 20 s calls no healthy one down", { timeout: 120_000 }, async () => {
    await dyingSite.reopen();
    const loops: ChildProcess[] = [1, 2].map(() => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
    try {
      await sleep(BUSY_MS);
    } finally {
      for (const loop of loops) loop.kill("SIGKILL");
    }
    await untilDown(product.api, dead, HEALTHY + DEAD + DYING, FOUND_WITHIN_MS);
    await expectNoneBlamed([...dead, ...dying]);
    await say("beside two busy loops");
    await watch.stop();
    expect(await product.stop()).toBe(0);
  });
});
