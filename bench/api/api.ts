/** `npm run bench -- api`: one record by key beside a bare listener, lists, and results among many rows, as a caller sees them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { EmbeddedClickHouse } from "../../store/results/embedded/child.ts";
import { conditions } from "../parts/conditions.ts";
import { fill, MONITORS } from "../parts/results.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { startTarget, type TargetProcess } from "../uptime/target-process.ts";
import { type Latency, latencyOf } from "./latency.ts";
import type { LoadReport } from "./load.ts";
import { load, startBare } from "./processes.ts";

export interface ApiBenchOptions {
  /** Of each measurement of one record. */
  readonly seconds: number;
  readonly rounds: number;
  /** 0: results are not measured. */
  readonly rows: number;
  /** Folder for a CPU profile of each thread; null: none are taken. */
  readonly profileDir: string | null;
}

const CONNECTIONS = 64;
const PIPELINED = [1, 16] as const;
/** Each monitor every ten seconds: 500 checks/s while the API is asked. */
const CHECKED_EVERY_S = 10;
/** Requests at once while monitors are made. */
const LANES = 16;

interface Rig {
  readonly service: ServiceUnderTest;
  readonly target: TargetProcess;
  readonly ids: readonly string[];
  readonly clickhouseUrl: string;
}

export async function runApi(options: ApiBenchOptions): Promise<void> {
  console.log(`api\n  ${conditions()}; service, ClickHouse and caller share the cores, on loopback`);
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const clickhouse = await EmbeddedClickHouse.start({ dir: join(folder, "clickhouse"), log: pino({ level: "warn" }) });
  const target = await startTarget(10, 20);
  try {
    await clickhouse.ready;
    const env = { SONDE_CLICKHOUSE_URL: clickhouse.url };
    const profiling = options.profileDir === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profileDir}`];
    const service = await startServiceUnderTest(`127.0.0.1/32:${target.port}`, profiling, env);
    try {
      const ids = await createMonitors(service, target.port);
      await measure({ service, target, ids, clickhouseUrl: clickhouse.url }, options);
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
    await clickhouse.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(rig: Rig, options: ApiBenchOptions): Promise<void> {
  await record(rig, options);
  const page = (n: number): string => `/servers?family=all&limit=50&offset=${(n * 50) % MONITORS}`;
  const one = (n: number): string => `/servers/${rig.ids[n % MONITORS]}`;
  console.log(`\n  latency on one keep-alive connection, 100 requests/s, ${MONITORS} monitors, all paused`);
  await say(rig, "list of 50", page);
  await say(rig, "one record", one);
  if (options.rows > 0) {
    await fill(rig.clickhouseUrl, 0, options.rows, Date.now(), 1);
    console.log(
      `\n  the same way, 10 requests/s, among ${options.rows / 1e6} million rows of one day, all of one project`,
    );
    await results(rig, ["1h", "24h", "7d"]);
  }
  await each(MONITORS, (n) => resume(rig, rig.ids[n] ?? ""));
  console.log(`\n  while each of the ${MONITORS} is checked every ${CHECKED_EVERY_S} s`);
  await say(rig, "list of 50", page);
  await say(rig, "one record", one);
  if (options.rows > 0) await results(rig, ["24h"]);
}

async function createMonitors({ client }: ServiceUnderTest, port: number): Promise<readonly string[]> {
  const ids: string[] = new Array(MONITORS);
  await each(MONITORS, async (n) => {
    const where = { type: "http", name: `bench ${n}`, url: `http://127.0.0.1:${port}/${n}` };
    const how = { interval: CHECKED_EVERY_S, timeout: 10, tags: ["bench"], active: false };
    ids[n] = (await client.post<{ id: string }>("/servers", { ...where, ...how })).id;
  });
  return ids;
}

async function resume({ service }: Rig, id: string): Promise<void> {
  const headers = { "X-API-Key": service.key, "X-Project-Id": "prj_1", "Content-Type": "application/json" };
  const url = `${service.client.url}/api/v1/servers/${id}`;
  const answer = await fetch(url, { method: "PUT", headers, body: JSON.stringify({ active: true }) });
  if (!answer.ok) throw new Error(`${id} was not resumed: ${await answer.text()}`);
}

async function each(count: number, act: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await act(n);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** In turn with the limit, so that both have the same neighbours; the median of the rounds. */
async function record({ service, ids }: Rig, { seconds, rounds }: ApiBenchOptions): Promise<void> {
  const path = `/api/v1/servers/${ids[77]}`;
  const headers = { "X-API-Key": service.key, "X-Project-Id": "prj_1" };
  const body = await (await fetch(service.client.url + path, { headers })).text();
  const bare = await startBare(Buffer.byteLength(body));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join("")}\r\n`;
  const base = { connections: CONNECTIONS, seconds, request };
  const ourPort = Number(new URL(service.client.url).port);
  console.log(
    `\n  GET /servers/{id} by key: ${body.length} bytes, limit headers, ${CONNECTIONS} keep-alive connections; ` +
      `median of ${rounds} rounds of ${seconds} s, in turn with a bare listener`,
  );
  for (const pipelined of PIPELINED) {
    const limits: LoadReport[] = [];
    const ours: LoadReport[] = [];
    for (let round = 0; round < rounds; round++) {
      limits.push(await load({ ...base, pipelined, port: bare.port, pid: bare.pid }));
      ours.push(await load({ ...base, pipelined, port: ourPort, pid: service.pid }));
    }
    const [limit, own] = [median(limits), median(ours)];
    console.log(`    ${pipelined === 1 ? "not pipelined" : `${pipelined} pipelined`}`);
    console.log(`      bare  ${told(limit)}`);
    console.log(`      ours  ${told(own)}; ${((perCpuS(own) / perCpuS(limit)) * 100).toFixed(0)} % of bare`);
  }
  bare.close();
}

/** Requests per second of the CPU that the server's thread had: what it does on a core of its own. */
function perCpuS({ requests, serverCpuS }: LoadReport): number {
  return requests / Math.max(0.01, serverCpuS);
}

function median(reports: readonly LoadReport[]): LoadReport {
  const sorted = [...reports].sort((a, b) => perCpuS(a) - perCpuS(b));
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("no rounds were measured");
  return middle;
}

function told(report: LoadReport): string {
  const { requests, seconds, cpuS, serverCpuS } = report;
  const perS = (requests / seconds).toFixed(0).padStart(7);
  const cores = `server's thread ${(serverCpuS / seconds).toFixed(2)} of a core, client ${(cpuS / seconds).toFixed(2)}`;
  return `${perS}/s, ${perCpuS(report).toFixed(0).padStart(7)} per CPU second (${cores})`;
}

async function results(rig: Rig, periods: readonly string[]): Promise<void> {
  for (const period of periods) {
    const ofMonitor = (n: number): string => `/results/server/${rig.ids[(n * 37) % MONITORS]}?period=${period}`;
    await say(rig, `one monitor's newest 500, ${period}`, ofMonitor, 10, 60);
    await say(rig, `the project's newest 500, ${period}`, () => `/results?period=${period}`, 10, 40);
    await say(rig, `the project's failures, ${period}`, () => `/results/failures?period=${period}`, 10, 40);
  }
}

async function say(
  { service }: Rig,
  name: string,
  path: (n: number) => string,
  perSecond = 100,
  requests = 500,
): Promise<void> {
  const asked = { url: service.client.url, key: service.key, perSecond, requests, path };
  const { p50Ms, p99Ms, maxMs, refused }: Latency = await latencyOf(asked);
  console.log(
    `    ${name.padEnd(32)} p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms (${requests} requests, ${refused} refused)`,
  );
}
