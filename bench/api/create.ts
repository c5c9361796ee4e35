/** `npm run bench -- api create`: ten thousand monitors made by single requests and by one document, and how long the API keeps others waiting meanwhile. */
import { Agent, request } from "node:http";
import { conditions } from "../parts/conditions.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { startWaits } from "./processes.ts";
import type { WaitsReport } from "./waits.ts";

export interface CreateBenchOptions {
  readonly monitors: number;
  /** Requests at once. */
  readonly lanes: number;
  /** Of a fresh service each. */
  readonly rounds: number;
}

const GOALS = { bulkS: 3, perS: 1_500, stallMs: 50 } as const;
const MOST_WAIT_MS = 120_000;

/** With what another caller waited for health meanwhile. */
interface Made extends WaitsReport {
  readonly seconds: number;
  readonly serviceCpuS: number;
}

export async function runCreate({ monitors, lanes, rounds }: CreateBenchOptions): Promise<void> {
  console.log(
    `api create\n  ${conditions()}; service and caller share the cores, on loopback; ${monitors} paused websites; ${rounds} rounds, each on a new service`,
  );
  for (let round = 0; round < rounds; round++) {
    const single = await onNew((service) => singly(service, monitors, lanes));
    const perS = monitors / single.seconds;
    console.log(`  single requests, ${lanes} at once  ${wordsOf(single)}; ${perS.toFixed(0)}/s (asked: ${GOALS.perS})`);
    const bulk = await onNew((service) => inBulk(service, monitors));
    console.log(`  one document, planned and applied  ${wordsOf(bulk)} (asked: ${GOALS.bulkS} s)`);
  }
}

function wordsOf({ seconds, serviceCpuS, longestMs, p99Ms }: Made): string {
  return (
    `${seconds.toFixed(2)} s, ${serviceCpuS.toFixed(2)} s of the service's processors; health answered p99 ${p99Ms.toFixed(0)} ms, ` +
    `longest ${longestMs.toFixed(0)} ms (asked: ${GOALS.stallMs})`
  );
}

async function onNew(make: (service: ServiceUnderTest) => Promise<void>): Promise<Made> {
  const service = await startServiceUnderTest("127.0.0.1/32");
  try {
    const waits = await startWaits(`${service.client.url}/api/v1/health`);
    const [before, startedAt] = [service.use(), performance.now()];
    await make(service);
    const seconds = (performance.now() - startedAt) / 1_000;
    const serviceCpuS = service.use().cpuS - before.cpuS;
    return { seconds, serviceCpuS, ...(await waits.stop()) };
  } finally {
    await service.stop();
  }
}

async function singly({ client, key }: ServiceUnderTest, monitors: number, lanes: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes });
  const headers = { "X-API-Key": key, "X-Project-Id": "prj_1", "Content-Type": "application/json" };
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < monitors; n = next++)
      await sent(`${client.url}/api/v1/servers`, { agent, headers, method: "POST" }, JSON.stringify(websiteOf(n)));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  agent.destroy();
}

async function inBulk({ client }: ServiceUnderTest, monitors: number): Promise<void> {
  const entries = Array.from({ length: monitors }, (_, n) => [`bench-${n}`, websiteOf(n)]);
  const body = { document: JSON.stringify({ sonde: 1, monitors: Object.fromEntries(entries) }), name: "bench" };
  const { hash } = await client.post<{ hash: string }>("/apply", { ...body, dry_run: true }, MOST_WAIT_MS);
  await client.post("/apply", { ...body, expect: hash }, MOST_WAIT_MS);
}

function websiteOf(n: number) {
  return { type: "http", name: `bench ${n}`, url: `http://127.0.0.1:9/${n}`, interval: 60, active: false };
}

/** @throws when it is not answered with 200 */
function sent(
  url: string,
  options: { readonly agent: Agent; readonly headers?: Record<string, string>; readonly method?: string },
  body = "",
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...options.headers, "Content-Length": String(Buffer.byteLength(body)) };
    const asked = request(url, { ...options, headers }, (answer) => {
      answer.resume();
      answer.on("end", () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`${url} was answered ${answer.statusCode}`)),
      );
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
