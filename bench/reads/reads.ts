/**
 * `npm run bench -- reads`: results and lists read as fast as they are answered, while the whole product checks on schedule. The target's log
 * tells whether a check was lost or late meanwhile.
 */
import { fork } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Client } from "../../cli/client.ts";
import { applyWebsites } from "../parts/apply-websites.ts";
import { conditions } from "../parts/conditions.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { targetNets } from "../uptime/target-address.ts";
import { startTarget, type TargetProcess } from "../uptime/target-process.ts";
import { type LogFigures, logFigures } from "./log-figures.ts";
import type { ReaderReport, ToReader } from "./reader.ts";

export interface ReadsBenchOptions {
  readonly monitors: number;
  readonly interval: number;
  readonly seconds: number;
  readonly warmUp: number;
  readonly readers: number;
  /** Only those with one of these words in their names; empty: all. */
  readonly only: readonly string[];
  readonly json: boolean;
  /** Folder for a CPU profile of each thread; null: none are taken. */
  readonly profileDir: string | null;
}

export interface ReadFigures extends LogFigures {
  readonly name: string;
  readonly perS: number;
  readonly refused: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly megabytesPerS: number;
  /** Of the service and what it started, and of the readers. */
  readonly serviceCores: number;
  readonly readerCores: number;
  readonly residentMiB: number;
}

interface Reading {
  readonly name: string;
  readonly paths: readonly string[];
  /** Each with its line's end. */
  readonly headers?: string;
}

/** Of one reading: more than it makes requests. */
const ADDRESSES = 100_000;
/** Whom the page believes whose request it is: the readers ask as many. */
const PROXIES = { SONDE_TRUSTED_PROXIES: "127.0.0.1" };

export async function runReads(options: ReadsBenchOptions): Promise<readonly ReadFigures[]> {
  const target = await startTarget(10, 20);
  const profiling = options.profileDir === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profileDir}`];
  try {
    const service = await startServiceUnderTest(targetNets(target.port), profiling, PROXIES);
    try {
      const figures = await measureAll(service, target, options);
      if (options.json) console.log(JSON.stringify({ bench: "reads", conditions: conditions(), figures }));
      return figures;
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
  }
}

async function measureAll(
  service: ServiceUnderTest,
  target: TargetProcess,
  options: ReadsBenchOptions,
): Promise<readonly ReadFigures[]> {
  const { monitors, interval, warmUp, only, json } = options;
  const say = (line: string): void => {
    if (!json) console.log(line);
  };
  say(`reads: ${monitors} http monitors every ${interval} s, ${options.readers} readers in turn with none`);
  say(`  ${conditions()}; target, service, ClickHouse and readers share the cores, on loopback`);
  const ids = await applyWebsites(service.client, target.port, { monitors, intervalS: interval });
  await publishPage(service.client);
  await pause(warmUp * 1_000);
  say(HEAD);
  const figures: ReadFigures[] = [];
  const wanted = readingsOf(ids).filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  for (const [index, reading] of wanted.entries()) {
    const one = await measure(service, target, reading, { ...options, fromAddress: index * ADDRESSES });
    figures.push(one);
    say(lineOf(one));
    // What was read does not reach into the next.
    await pause(3_000);
  }
  return figures;
}

const PAGE = "/status/bench";

/** A page of all monitors, by what their names begin with. */
async function publishPage(client: Client): Promise<void> {
  const groups = Array.from({ length: 10 }, (_, n) => ({
    title: `Group ${n}`,
    open: "always",
    components: [{ servers: { name: `bench ${n}` }, title: `Monitors ${n}`, merge: "share" }],
  }));
  await client.post("/status-pages", { slug: "bench", title: "Bench", published: true, groups });
}

/** Chosen at random among all monitors, so that no answer is there because it was asked for just now. */
function readingsOf(ids: readonly string[]): readonly Reading[] {
  const pages = (size: number): readonly string[] =>
    Array.from({ length: Math.floor(ids.length / size) }, (_, page) => `limit=${size}&offset=${page * size}`);
  const hundreds = Array.from({ length: Math.ceil(ids.length / 100) }, (_, n) => ids.slice(n * 100, n * 100 + 100));
  const api: readonly Reading[] = [
    { name: "no reader", paths: [] },
    { name: "one monitor's newest 100", paths: ids.map((id) => `/results/server/${id}?limit=100`) },
    { name: "one monitor's newest 500", paths: ids.map((id) => `/results/server/${id}`) },
    { name: "one monitor's 100, explained", paths: ids.map((id) => `/results/server/${id}?limit=100&explain=1`) },
    { name: "the project's newest 500", paths: ["/results"] },
    { name: "the project's failures", paths: ["/results/failures"] },
    { name: "beats of 100 monitors", paths: hundreds.map((some) => `/results/recent?ids=${some.join(",")}`) },
    { name: "list of 50", paths: pages(50).map((page) => `/servers?family=all&${page}`) },
    { name: "list of 1000", paths: pages(1_000).map((page) => `/servers?family=all&${page}`) },
  ];
  return [
    ...api.map(({ name, paths }) => ({ name, paths: paths.map((path) => `/api/v1${path}`) })),
    { name: "status page", paths: [PAGE] },
    { name: "status page, compressed", paths: [PAGE], headers: "Accept-Encoding: gzip\r\n" },
  ];
}

async function measure(
  service: ServiceUnderTest,
  target: TargetProcess,
  { name, paths, headers = "" }: Reading,
  { seconds, readers, monitors, interval, fromAddress }: ReadsBenchOptions & { readonly fromAddress: number },
): Promise<ReadFigures> {
  const port = Number(new URL(service.client.url).port);
  const before = service.use();
  const fromMs = Date.now();
  const report =
    paths.length === 0
      ? await nothing(seconds)
      : await read(port, service.key, { paths, headers, fromAddress, readers, seconds });
  const toMs = Date.now();
  const after = service.use();
  const window = { monitors, intervalMs: interval * 1_000, fromMs, toMs };
  return {
    name,
    perS: report.answers / report.seconds,
    refused: report.refused,
    p50Ms: report.p50Ms,
    p99Ms: report.p99Ms,
    maxMs: report.maxMs,
    megabytesPerS: report.megabytes / report.seconds,
    serviceCores: ((after.cpuS - before.cpuS) * 1_000) / (toMs - fromMs),
    readerCores: report.cpuS / report.seconds,
    residentMiB: after.residentMiB,
    ...logFigures(await target.log(), window),
  };
}

async function nothing(seconds: number): Promise<ReaderReport> {
  await pause(seconds * 1_000);
  return { answers: 0, refused: 0, seconds, megabytes: 0, p50Ms: 0, p99Ms: 0, maxMs: 0, cpuS: 0 };
}

function read(port: number, key: string, what: ToReader): Promise<ReaderReport> {
  const child = fork(fileURLToPath(new URL("./reader.js", import.meta.url)), [String(port), key]);
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the readers ended with ${code}`)));
    child.once("message", (report: ReaderReport) => {
      child.removeAllListeners("exit");
      child.disconnect();
      resolve(report);
    });
    child.send(what);
  });
}

const WIDTHS = [29, 8, 8, 9, 9, 8, 8, 9, 9, 8, 8, 8];
const HEAD = row([
  "",
  "reads/s",
  "p50 ms",
  "p99 ms",
  "max ms",
  "503",
  "MB/s",
  "checks",
  "late p50",
  "late p99",
  "service",
  "readers",
]);

function lineOf(one: ReadFigures): string {
  return row([
    one.name,
    one.perS.toFixed(0),
    one.p50Ms.toFixed(1),
    one.p99Ms.toFixed(1),
    one.maxMs.toFixed(0),
    String(one.refused),
    one.megabytesPerS.toFixed(0),
    `${(one.doneShare * 100).toFixed(1)} %`,
    one.lateP50Ms.toFixed(0),
    one.lateP99Ms.toFixed(0),
    one.serviceCores.toFixed(2),
    one.readerCores.toFixed(2),
  ]);
}

function row(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0))).join(" ");
}
