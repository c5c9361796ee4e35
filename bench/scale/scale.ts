/**
 * `npm run bench -- scale`: one process with as many monitors as it gets, none of which is paused. What they cost while they are checked, how long a
 * restart takes, and how long people wait for lists, a search and the overview.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "../../cli/client.ts";
import { type Latency, latencyOf } from "../api/latency.ts";
import { conditions } from "../parts/conditions.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { targetHost, targetNets } from "../uptime/target-address.ts";
import { startTarget, type TargetProcess } from "../uptime/target-process.ts";
import { checksBetween, type Metrics, readMetrics } from "./metrics.ts";

export interface ScaleBenchOptions {
  readonly monitors: number;
  readonly interval: number;
  /** Length of the measurement: an interval at least, so that each monitor has its turn. */
  readonly seconds: number;
}

/** Monitors of one document. */
const AT_ONCE = 5_000;
const APPLIED_WITHIN_MS = 120_000;
/** Rows of one page of a list: the most. */
const PAGE = 1_000;
/** Requests of each kind, one after the other. */
const REQUESTS = 30;
const PER_SECOND = 5;
/** Answers a monitor has in the target's log. */
const LOG_FIELDS = 4;
/** A restart is over when checks come as often as they are due, within a tenth. */
const NEARLY = 0.9;
const RESTART_WITHIN_MS = 300_000;

export async function runScale(options: ScaleBenchOptions): Promise<void> {
  const { monitors, interval } = options;
  console.log(`scale: ${monitors} http monitors every ${interval} s in one process`);
  console.log(`  ${conditions()}; target, service and embedded ClickHouse share the cores; fresh connections`);
  const target = await startTarget(0, 0);
  let service = await startServiceUnderTest(targetNets(target.port));
  try {
    const ids = await created(service, target, options);
    await checked(service, target, options);
    service = await restarted(service, target, options);
    await asked(service, ids);
  } finally {
    await service.stop();
    target.close();
  }
}

async function created(
  service: ServiceUnderTest,
  target: TargetProcess,
  { monitors, interval }: ScaleBenchOptions,
): Promise<readonly string[]> {
  const startedAt = performance.now();
  for (let first = 0; first < monitors; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, monitors - first);
    const websites = Array.from({ length: count }, (_, n) => [
      `bench-${first + n}`,
      website(first + n, target.port, interval),
    ]);
    const document = JSON.stringify({ sonde: 1, monitors: Object.fromEntries(websites) });
    const body = { document, name: `bench-${first}` };
    const { hash } = await service.client.post<{ hash: string }>(
      "/apply",
      { ...body, dry_run: true },
      APPLIED_WITHIN_MS,
    );
    await service.client.post("/apply", { ...body, expect: hash }, APPLIED_WITHIN_MS);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  say("created by documents", `${seconds.toFixed(0)} s, ${Math.round(monitors / seconds)}/s, while checks run`);
  return idsOf(service.client, monitors);
}

function website(n: number, port: number, interval: number) {
  return { type: "http", name: `bench ${n}`, url: `http://${targetHost(n)}:${port}/${n}`, interval, timeout: 10 };
}

async function idsOf(client: Client, monitors: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let offset = 0; offset < monitors; offset += PAGE) {
    const { servers } = await client.get<{ servers: { id: string }[] }>("/servers", {
      family: "all",
      limit: PAGE,
      offset,
    });
    ids.push(...servers.map(({ id }) => id));
  }
  return ids;
}

async function checked(service: ServiceUnderTest, target: TargetProcess, options: ScaleBenchOptions): Promise<void> {
  const { monitors, interval, seconds } = options;
  // All have had their first turn.
  await pause(interval * 1_000);
  const [before, metricsBefore, answersBefore] = [service.use(), await read(service), await answersOf(target)];
  const startedAt = performance.now();
  await pause(seconds * 1_000);
  const elapsedS = (performance.now() - startedAt) / 1_000;
  const [after, metricsAfter, answers] = [service.use(), await read(service), await answersOf(target)];
  const done = answers - answersBefore;
  const due = (monitors * elapsedS) / interval;
  const { skipped, late } = checksBetween(metricsBefore, metricsAfter);
  say(
    "checks by the target's log",
    `${Math.round(done / elapsedS)}/s, ${((done / due) * 100).toFixed(1)} % of what is due`,
  );
  say("turns skipped", String(skipped));
  say("lateness", `half within ${late(0.5)}, 99 % within ${late(0.99)} (bounds of the histogram)`);
  say("processor", `${((after.cpuS - before.cpuS) / elapsedS).toFixed(2)} cores`);
  say(
    "memory",
    `${Math.round(after.residentMiB)} MiB, ${Math.round(service.proportionalMiB())} MiB with shared pages counted once`,
  );
}

async function restarted(
  service: ServiceUnderTest,
  target: TargetProcess,
  { monitors, interval }: ScaleBenchOptions,
): Promise<ServiceUnderTest> {
  const stoppedAt = performance.now();
  const next = await service.restart();
  const readyS = (performance.now() - stoppedAt) / 1_000;
  const wanted = (NEARLY * monitors) / interval;
  for (let before = await answersOf(target); performance.now() - stoppedAt < RESTART_WITHIN_MS; ) {
    await pause(1_000);
    const now = await answersOf(target);
    if (now - before >= wanted) {
      const fullS = (performance.now() - stoppedAt) / 1_000;
      say(
        "restart",
        `answers after ${readyS.toFixed(1)} s, in full swing after ${fullS.toFixed(1)} s, its stop included`,
      );
      return next;
    }
    before = now;
  }
  say("restart", `answers after ${readyS.toFixed(1)} s, not in full swing after ${RESTART_WITHIN_MS / 1_000} s`);
  return next;
}

async function asked({ client, key }: ServiceUnderTest, ids: readonly string[]): Promise<void> {
  const page = (size: number, n: number): number => (n * 7_919 * size) % Math.max(1, ids.length - size);
  const kinds: readonly (readonly [string, (n: number) => string])[] = [
    ["list of 50, the first", () => "/servers?family=all&limit=50"],
    ["list of 50, anywhere", (n) => `/servers?family=all&limit=50&offset=${page(50, n)}`],
    ["list of 1,000, anywhere", (n) => `/servers?family=all&limit=1000&offset=${page(1_000, n)}`],
    ["search by a part of a name", (n) => `/servers?family=all&limit=50&search=${(n * 37) % 1_000}`],
    ["those that are down", () => "/servers?family=all&limit=50&status=down"],
    ["one monitor", (n) => `/servers/${ids[page(1, n)]}`],
    ["one monitor's newest results", (n) => `/results/server/${ids[page(1, n)]}?limit=100`],
    ["overview", () => "/overview"],
  ];
  for (const [name, path] of kinds) {
    const latency = await latencyOf({ url: client.url, key, perSecond: PER_SECOND, requests: REQUESTS, path });
    say(name, told(latency));
  }
}

function told({ p50Ms, maxMs, requests, refused }: Latency): string {
  const asked = `${requests} requests, ${PER_SECOND} a second, while checks run; ${refused} refused`;
  return `p50 ${p50Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms (${asked})`;
}

async function read(service: ServiceUnderTest): Promise<Metrics> {
  return readMetrics(await service.metrics());
}

async function answersOf(target: TargetProcess): Promise<number> {
  return (await target.log()).length / LOG_FIELDS;
}

function say(name: string, figure: string): void {
  console.log(`  ${name.padEnd(30)} ${figure}`);
}
