/**
 * `npm run bench -- page crowd`: pages that are open and people who click, beside 5,000 checks a second, in turn with none. The target's log tells
 * whether a check was lost or late meanwhile.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { applyWebsites } from "../parts/apply-websites.ts";
import { conditions } from "../parts/conditions.ts";
import { type LogFigures, logFigures } from "../reads/log-figures.ts";
import { percentile } from "../statistics.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { targetNets } from "../uptime/target-address.ts";
import { startTarget, type TargetProcess } from "../uptime/target-process.ts";
import type { CrowdReport, ToCrowd } from "./crowd-reader.ts";

export interface CrowdBenchOptions {
  readonly monitors: number;
  readonly interval: number;
  /** Of each stretch. */
  readonly seconds: number;
  readonly warmUp: number;
  readonly pages: number;
  readonly people: number;
  /** Stretches with pages, each between two without. */
  readonly rounds: number;
}

interface Stretch extends LogFigures {
  readonly serviceCores: number;
  /** Of a processor. */
  readonly apiThread: number;
  readonly report: CrowdReport | null;
}

const OVERVIEWS = 10;
/** Most that 50 pages may add to the lateness of one check of a hundred, and to one overview's processor time, ms. */
const MOST_LATER_MS = 20;
const MOST_OVERVIEW_MS = 40;
const LEAST_DONE = 0.99;

export async function runCrowd(options: CrowdBenchOptions): Promise<void> {
  const { monitors, interval, seconds, warmUp, pages, people, rounds } = options;
  console.log(
    `page crowd: ${monitors} http monitors every ${interval} s, ${pages} open pages and ${people} people, in turn with none\n` +
      `  ${conditions()}; target, service, ClickHouse and pages share the cores, on loopback; stretches of ${seconds} s`,
  );
  const target = await startTarget(10, 20);
  try {
    const service = await startServiceUnderTest(targetNets(target.port));
    try {
      const ids = await applyWebsites(service.client, target.port, { monitors, intervalS: interval });
      await pause(warmUp * 1_000);
      const stretch = (isCrowded: boolean) => measure(service, target, ids, options, isCrowded);
      const without: Stretch[] = [await stretch(false)];
      const beside: Stretch[] = [];
      for (let round = 0; round < rounds; round++) {
        beside.push(await stretch(true));
        without.push(await stretch(false));
      }
      tell(without, beside, await overviewsOf(service));
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
  }
}

async function measure(
  service: ServiceUnderTest,
  target: TargetProcess,
  ids: readonly string[],
  { monitors, interval, seconds, pages, people }: CrowdBenchOptions,
  isCrowded: boolean,
): Promise<Stretch> {
  const [before, threadBefore, fromMs] = [service.use(), threadMs(service.pid), Date.now()];
  const report = isCrowded ? await crowd(service, { pages, people, seconds, ids }) : await pause(seconds * 1_000);
  const [after, threadAfter, toMs] = [service.use(), threadMs(service.pid), Date.now()];
  const figures = logFigures(await target.log(), { monitors, intervalMs: interval * 1_000, fromMs, toMs });
  const one = {
    ...figures,
    serviceCores: ((after.cpuS - before.cpuS) * 1_000) / (toMs - fromMs),
    apiThread: (threadAfter - threadBefore) / (toMs - fromMs),
    report: report ?? null,
  };
  console.log(`  ${isCrowded ? "with pages   " : "without pages"} ${wordsOf(one)}`);
  await pause(2_000);
  return one;
}

function wordsOf({ doneShare, lateP50Ms, lateP99Ms, serviceCores, apiThread, report }: Stretch): string {
  const checks = `checks ${(doneShare * 100).toFixed(1)} %, late p50 ${lateP50Ms.toFixed(0)} ms, p99 ${lateP99Ms.toFixed(0)} ms`;
  const cores = `service ${serviceCores.toFixed(2)} cores, the API's thread ${apiThread.toFixed(2)}`;
  if (report === null) return `${checks}; ${cores}`;
  const { answers, refused, events, megabytes, p50Ms, p99Ms, cpuS } = report;
  return (
    `${checks}; ${cores}\n      ${answers} answers (${refused} of them 503), p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ` +
    `${events} events, ${megabytes.toFixed(1)} MB; the pages' process ${cpuS.toFixed(1)} s`
  );
}

function tell(without: readonly Stretch[], beside: readonly Stretch[], overviewMs: readonly number[]): void {
  const doneShare = Math.min(...beside.map((one) => one.doneShare));
  const of = (some: readonly Stretch[]): number =>
    percentile(
      some.map(({ lateP99Ms }) => lateP99Ms),
      0.5,
    );
  const [later, overview] = [of(beside) - of(without), percentile([...overviewMs], 0.5)];
  const verdict = (isMet: boolean): string => (isMet ? "within" : "OVER");
  console.log(
    `  checks done with pages      ${(doneShare * 100).toFixed(1)} %: ${verdict(doneShare >= LEAST_DONE)} 99 %`,
  );
  console.log(
    `  p99 lateness, pages add     ${later.toFixed(0)} ms: ${verdict(later <= MOST_LATER_MS)} ${MOST_LATER_MS} ms`,
  );
  console.log(
    `  /overview made anew         ${overview.toFixed(0)} ms of the API's thread (${OVERVIEWS} of them, beside the checks): ${verdict(overview <= MOST_OVERVIEW_MS)} ${MOST_OVERVIEW_MS} ms`,
  );
}

/** What one that is made anew takes of the thread, with what rows of checks take of it meanwhile. */
async function overviewsOf({ client, key, pid }: ServiceUnderTest): Promise<readonly number[]> {
  const costs: number[] = [];
  const headers = { "x-api-key": key, "x-project-id": "prj_1", "accept-encoding": "identity" };
  for (let n = 0; n < OVERVIEWS; n++) {
    await pause(1_100);
    const before = threadMs(pid);
    const answer = await fetch(`${client.url}/api/v1/overview`, { headers });
    await answer.arrayBuffer();
    if (answer.ok) costs.push(threadMs(pid) - before);
  }
  return costs;
}

/** How long the process's first thread, which is the API's, has been on a processor (Documentation/scheduler/sched-stats.rst of Linux). */
function threadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

function crowd(service: ServiceUnderTest, what: ToCrowd): Promise<CrowdReport> {
  const port = new URL(service.client.url).port;
  const child = fork(fileURLToPath(new URL("./crowd-reader.js", import.meta.url)), [port, service.key]);
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the pages ended with ${code}`)));
    child.once("message", (report: CrowdReport) => {
      child.removeAllListeners("exit");
      child.disconnect();
      resolve(report);
    });
    child.send(what);
  });
}
