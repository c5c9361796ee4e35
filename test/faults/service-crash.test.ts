/** The whole service killed at random moments under load through its API: everything answered is there once, and all stores agree. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { MonitorBody, ResultsBody } from "../client.ts";
import { createMonitor, type Product, startProduct } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startTestClickHouse } from "../store/embedded.ts";
import { startWebsite } from "../targets.ts";
import { expectTruth, groupBy, trueRows } from "./truth.ts";

afterAll(cleanUp);

const ROUNDS = 6;
/** Under load for this long, at random. */
const SHORTEST_MS = 300;
const LONGEST_MS = 2_500;
const SITES = 30;
/** A token takes 60 calls a minute. */
const JOBS = 12;

/** No latency that a check measures here; whole numbers up to 2^24 survive as 32-bit floats. */
const FIRST_NUMBER = 1_000_000;

interface Answered {
  /** Numbers given out so far, over all rounds. */
  count: number;
  /** Pings are unique: each names its call. */
  readonly pings: number[];
  /** Latest name that was answered. */
  readonly names: Map<string, number>;
  readonly created: string[];
  readonly removed: string[];
}

/** Calls, changes, new monitors and deletions until the service is gone. */
async function load(product: Product, jobs: readonly string[], sites: readonly string[], answered: Answered) {
  const next = (): number => ++answered.count;
  const unlessGone = async (work: () => Promise<void>): Promise<void> => {
    try {
      for (;;) await work();
    } catch (error) {
      // The client's error when the service dies.
      if (!(error instanceof TypeError)) throw error;
    }
  };
  const { api } = product;
  const beat = unlessGone(async () => {
    const ping = next();
    const response = await fetch(`${jobs[ping % jobs.length]}?ping=${ping}`);
    const { ok } = (await response.json()) as { ok: boolean };
    if (ok) answered.pings.push(ping);
    await sleep(5);
  });
  const change = unlessGone(async () => {
    const count = next();
    const id = sites[count % sites.length] ?? "";
    const { status } = await api.put(`/servers/${id}`, { name: String(count) });
    if (status === 200) answered.names.set(id, count);
    await sleep(5);
  });
  const create = unlessGone(async () => {
    const body = { type: "port", name: "Short-lived", host: "127.0.0.1", port: 9, interval: 1, timeout: 10 };
    const id = await createMonitor(api, body);
    answered.created.push(id);
    await sleep(50);
    const oldest = answered.created.find((each) => !answered.removed.includes(each));
    if (oldest === undefined || answered.created.length % 3 !== 0) return;
    if ((await api.remove(`/servers/${oldest}`)).status === 200) answered.removed.push(oldest);
  });
  await Promise.all([beat, change, create]);
}

it(`${ROUNDS} deaths under load lose and double nothing`, { timeout: 240_000 }, async () => {
  const site = await startWebsite();
  let product = await startProduct();
  const { dataDir, port } = product;
  const sites: string[] = [];
  for (let i = 0; i < SITES; i += 1) {
    const url = `${site.url}${i}`;
    sites.push(
      await createMonitor(product.api, { type: "http", name: "0", url, interval: 1, timeout: 10, maxretries: 2 }),
    );
  }
  const jobs: string[] = [];
  for (let i = 0; i < JOBS; i += 1) {
    const { body } = await product.api.post<MonitorBody>("/servers", { type: "push", name: `Job ${i}`, period: 60 });
    jobs.push(body.heartbeat_url ?? "");
  }
  const answered: Answered = { count: FIRST_NUMBER, pings: [], names: new Map(), created: [], removed: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const loading = load(product, jobs, sites, answered);
    // Targets fail in every second round, so that incidents open and close.
    site.answer(round % 2 === 0 ? 200 : 503);
    await sleep(SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
    await product.kill();
    await loading;
    product = await startProduct({ dataDir, port });
  }
  site.answer(200);
  await expectAnswered(product, answered);
  expect(await product.stop()).toBe(0);
  await site.close();
  const rows = await expectStoresAgree(dataDir, answered);
  console.info(
    `${ROUNDS} deaths of the service: ${rows} rows once each, ${answered.pings.length} heartbeats, ${answered.names.size} monitors renamed, ${answered.created.length} created, ${answered.removed.length} deleted`,
  );
});

async function expectAnswered({ api }: Product, answered: Answered): Promise<void> {
  for (const [id, count] of answered.names) {
    expect(Number((await api.get<MonitorBody>(`/servers/${id}`)).body.name)).toBeGreaterThanOrEqual(count);
  }
  for (const id of answered.created) {
    const { status } = await api.get(`/servers/${id}`);
    // A deletion may have been written and not answered.
    if (answered.removed.includes(id)) expect(status).toBe(404);
  }
  expect(answered.pings.length).toBeGreaterThan(ROUNDS);
  await eventually(async () => {
    const { status, body } = await api.get<ResultsBody>("/results?limit=1");
    return status === 200 && body.total === 1 ? true : undefined;
  });
}

/** @returns how many rows there are */
async function expectStoresAgree(dataDir: string, answered: Answered): Promise<number> {
  const clickhouse = await startTestClickHouse({ dir: join(dataDir, "clickhouse") });
  const plane = await openControlPlane({ file: join(dataDir, "control.sqlite") }, { role: "api" });
  try {
    const rows = await trueRows(clickhouse.url);
    const perCheck = groupBy(rows, (row) => row.check_id);
    expect([...perCheck].filter(([, same]) => same.length > 1)).toEqual([]);
    const perPing = groupBy(rows, (row) => String(row.latency_ms));
    const called = answered.pings.filter((ping) => perPing.get(String(ping))?.length !== 1);
    expect(called).toEqual([]);
    const deleted = new Set<string>();
    for (const id of groupBy(rows, (row) => row.monitor_id).keys()) {
      if ((await plane.monitors.recall(Number(id))) === undefined) deleted.add(id);
    }
    await expectTruth(
      plane,
      1,
      rows.filter((row) => !deleted.has(row.monitor_id)),
    );
    return rows.length;
  } finally {
    await plane.close();
    await clickhouse.remove();
  }
}
