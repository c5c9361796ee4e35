/** The service killed with tests open: every one that was answered ends exactly once, with one row and one word to its incident. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import type { ResultsBody } from "../client.ts";
import { createDown, eventsOf } from "../e2e/on-demand.suite.ts";
import { type Product, startProduct } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startTcp } from "../targets.ts";

afterAll(cleanUp);

const ROUNDS = 6;
const MONITORS = 6;
/** After the first answer, at random: jobs are waiting, running, in the sink, or done. */
const LONGEST_MS = 500;

interface Watched {
  readonly id: string;
  readonly incident: string;
  /** Tests that were answered with an id. */
  readonly tests: string[];
}

/** Asks for retests until the service is gone. */
async function ask({ api }: Product, watched: Watched): Promise<void> {
  try {
    for (;;) {
      const { status, body } = await api.post<{ test_id: string }>(`/incidents/${watched.incident}/retest`);
      if (status === 200) watched.tests.push(body.test_id);
      await sleep(20);
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

it(`${ROUNDS} deaths end every test once`, { timeout: 280_000 }, async () => {
  const target = await startTcp();
  await target.close();
  let product = await startProduct();
  const { dataDir, port } = product;
  const monitors: Watched[] = [];
  for (let index = 0; index < MONITORS; index += 1) {
    monitors.push({ ...(await createDown(product.api, `Gate ${index}`, target.port)), tests: [] });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const asking = monitors.map((watched) => ask(product, watched));
    await sleep(Math.random() * LONGEST_MS);
    await product.kill();
    await Promise.all(asking);
    product = await startProduct({ dataDir, port });
  }
  const answered = monitors.reduce((sum, { tests }) => sum + tests.length, 0);
  for (const watched of monitors) await expectEndedOnce(product, watched);
  expect(answered).toBeGreaterThan(ROUNDS);
  expect(await product.stop()).toBe(0);
  console.info(`${ROUNDS} deaths of the service: ${answered} tests ended once each`);
});

async function expectEndedOnce({ api }: Product, { id, incident, tests }: Watched): Promise<void> {
  const events = await eventually(async () => {
    const found = await eventsOf(api, incident);
    const queued = found.filter(({ type }) => type === "retest_queued");
    const finished = found.filter(({ type }) => type === "retest_finished");
    return finished.length >= queued.length ? found : undefined;
  }, 60_000);
  const finished = events.filter(({ type }) => type === "retest_finished").map(({ data }) => String(data.test_id));
  expect(new Set(finished).size).toBe(finished.length);
  // What was queued and died before its answer ends all the same.
  for (const test of tests) expect(finished).toContain(test);
  // One row of its first check, one of each test.
  const total = await eventually(async () => {
    const { body } = await api.get<ResultsBody>(`/results/server/${id}?limit=1`);
    return body.total >= finished.length + 1 ? body.total : undefined;
  });
  expect(total).toBe(finished.length + 1);
}
