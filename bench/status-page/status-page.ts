/**
 * `npm run bench -- status-page`: a page of many monitors by selector, read through HTTP while they are checked. What one thread of the API answers
 * with a second of a processor, how long readers wait, and whether checks are done meanwhile.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Client } from "../../cli/client.ts";
import { conditions } from "../parts/conditions.ts";
import { logFigures } from "../reads/log-figures.ts";
import { startServiceUnderTest } from "../uptime/service.ts";
import { targetNets } from "../uptime/target-address.ts";
import { startTarget } from "../uptime/target-process.ts";
import { createMonitors } from "../uptime/uptime.ts";
import type { PageReaderReport, ToPageReader } from "./reader.ts";

export interface StatusPageBenchOptions {
  readonly monitors: number;
  /** A second; 0: one check of each in an hour. */
  readonly checks: number;
  readonly seconds: number;
  readonly warmUp: number;
}

/** Whom the page believes whose request it is: the readers ask as many. */
const PROXIES = { SONDE_TRUSTED_PROXIES: "127.0.0.1" };
const PATH = "/status/bench";
const RARELY_S = 3_600;
/** Addresses of one measurement: more than it uses. */
const ADDRESSES = 20_000;
const CLOSED = { rate: null, connections: 8, isKnown: false, coding: "plain" } as const;
const OPEN = { ...CLOSED, connections: 64, coding: "gzip" } as const;

type Reading = Pick<ToPageReader, "rate" | "connections" | "isKnown" | "coding"> & { readonly name: string };

const READINGS: readonly Reading[] = [
  { ...CLOSED, name: "8 readers, plain" },
  { ...CLOSED, name: "8 readers, compressed", coding: "gzip" },
  { ...CLOSED, name: "8 readers who have it (304)", isKnown: true },
  { ...CLOSED, name: "4 readers, compressed", connections: 4, coding: "gzip" },
  { ...OPEN, name: "500 requests a second", rate: 500 },
  { ...OPEN, name: "1000 requests a second", rate: 1_000 },
];

export async function runStatusPage({ monitors, checks, seconds, warmUp }: StatusPageBenchOptions): Promise<void> {
  const intervalS = checks === 0 ? RARELY_S : Math.max(1, Math.round(monitors / checks));
  const target = await startTarget(0, 0);
  try {
    const service = await startServiceUnderTest(targetNets(target.port), [], PROXIES);
    try {
      console.log(`status page of ${monitors} monitors by selector, each checked every ${intervalS} s`);
      console.log(`  ${conditions()}; target, service, ClickHouse and readers share the cores, on loopback`);
      await createMonitors(service.client, target.port, { monitors, intervalS });
      await publish(service.client);
      await pause(warmUp * 1_000);
      const port = Number(new URL(service.client.url).port);
      console.log(
        row([
          "",
          "a second",
          "bytes",
          "p50 ms",
          "p99 ms",
          "max ms",
          "sent late",
          "CPU",
          "waits",
          "per CPU s",
          "checks",
        ]),
      );
      for (const [index, { name, ...reading }] of READINGS.entries()) {
        const before = threadOf(service.pid);
        const fromMs = Date.now();
        const report = await read(port, { ...reading, path: PATH, seconds, fromAddress: index * ADDRESSES });
        const [toMs, after] = [Date.now(), threadOf(service.pid)];
        const cpuS = after.cpuS - before.cpuS;
        const window = { monitors, intervalMs: intervalS * 1_000, fromMs, toMs };
        const { doneShare } = logFigures(await target.log(), window);
        console.log(
          row([
            name,
            (report.answers / report.seconds).toFixed(0),
            report.bytes.toFixed(0),
            report.p50Ms.toFixed(2),
            report.p99Ms.toFixed(2),
            report.maxMs.toFixed(0),
            report.sentLateP99Ms.toFixed(2),
            (cpuS / report.seconds).toFixed(2),
            ((after.waitedS - before.waitedS) / report.seconds).toFixed(2),
            (report.answers / cpuS).toFixed(0),
            checks === 0 ? "–" : `${(doneShare * 100).toFixed(1)} %`,
          ]),
        );
        await pause(2_000);
      }
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
  }
}

/** A page of all monitors, by what their names begin with. */
async function publish(client: Client): Promise<void> {
  const groups = Array.from({ length: 10 }, (_, n) => ({
    title: `Group ${n}`,
    open: "always",
    components: [{ servers: { name: `bench ${n}` }, title: `Monitors ${n}`, merge: "share" }],
  }));
  await client.post("/status-pages", { slug: "bench", title: "Bench", published: true, groups });
}

/**
 * Of the thread that serves the API, which is the service's first: what it used, and how long it was ready to work and had no processor
 * (proc(5), schedstat: ns, ns).
 */
function threadOf(pid: number): { readonly cpuS: number; readonly waitedS: number } {
  const [cpu, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ").map(Number);
  return { cpuS: (cpu ?? 0) / 1e9, waitedS: (waited ?? 0) / 1e9 };
}

function read(port: number, what: ToPageReader): Promise<PageReaderReport> {
  const child = fork(fileURLToPath(new URL("./reader.js", import.meta.url)), [String(port)]);
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the readers ended with ${code}`)));
    child.once("message", (report: PageReaderReport) => {
      child.removeAllListeners("exit");
      child.disconnect();
      resolve(report);
    });
    child.send(what);
  });
}

function row(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(30) : cell.padStart(10))).join(" ");
}
