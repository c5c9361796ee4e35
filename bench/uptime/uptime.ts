/**
 * The whole product end to end: monitors created through the API, checked on schedule, judged and stored; every verdict compared with
 * the target's own log. `npm run bench -- uptime --monitors 5000 --interval 1`
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "../../cli/client.ts";
import { conditions } from "../parts/conditions.ts";
import type { TreeUse } from "../process-tree.ts";
import { percentile } from "../statistics.ts";
import { type Comparison, compare, type LoggedAnswer, type RecordedResult } from "./compare.ts";
import { type RunningSonde, startServiceUnderTest } from "./service.ts";
import { TARGET_HOSTS, targetHost, targetNets } from "./target-address.ts";
import { startTarget, type TargetProcess } from "./target-process.ts";

/** Answers of the target that come late. */
export const SLOW_PER_MILLE = 20;

export interface UptimeBenchOptions {
  readonly monitors: number;
  readonly intervalS: number;
  readonly seconds: number;
  readonly warmUpS: number;
  /** Monitors whose every result is compared; reading them takes about 7 ms each. */
  readonly compared: number;
  readonly failingPerMille: number;
  readonly json: boolean;
  /** Folder for CPU profiles, one per thread; null: none are taken. */
  readonly profileDir: string | null;
}

export interface UptimeFigures {
  readonly monitors: number;
  readonly intervalS: number;
  readonly seconds: number;
  readonly dueChecks: number;
  readonly checks: number;
  readonly checksPerS: number;
  readonly checksPerCpuS: number;
  readonly cpuCores: number;
  /** Of the target, beside them. */
  readonly targetCores: number;
  readonly residentMiB: number;
  /** At the end, shared pages counted once in all. */
  readonly proportionalMiB: number;
  readonly latenessMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly overheadMs: { readonly p50: number; readonly p99: number };
  readonly comparedResults: number;
  readonly wrongVerdicts: number;
  readonly unmatched: number;
  readonly neverChecked: number;
  readonly skippedTurns: number;
  readonly silentMonitors: number;
}

export async function runUptime(options: UptimeBenchOptions): Promise<UptimeFigures> {
  const target = await startTarget(options.failingPerMille, SLOW_PER_MILLE);
  const profiling = options.profileDir === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profileDir}`];
  try {
    const service = await startServiceUnderTest(targetNets(target.port), profiling);
    try {
      const figures = await measureUptime(service, target, options);
      print(options, figures);
      return figures;
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
  }
}

/** Creates the monitors in a service that runs, and measures. */
export async function measureUptime(
  service: RunningSonde,
  target: TargetProcess,
  options: UptimeBenchOptions,
): Promise<UptimeFigures> {
  say(options, `creating ${options.monitors} monitors through the API …`);
  const ids = await createMonitors(service.client, target.port, options);
  await pause(options.warmUpS * 1_000);
  say(options, `measuring for ${options.seconds} s …`);
  const window = await measure(service, target, options.seconds);
  say(options, "comparing results with the target's log …");
  return evaluate(service.client, target, ids, options, window);
}

/** Requests at once while creating. */
const CREATING = 16;

export async function createMonitors(
  client: Client,
  port: number,
  { monitors, intervalS }: Pick<UptimeBenchOptions, "monitors" | "intervalS">,
): Promise<readonly string[]> {
  const ids: string[] = new Array(monitors);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < monitors; n = next++) {
      const body = {
        type: "http",
        name: `bench ${n}`,
        url: `http://${targetHost(n)}:${port}/${n}`,
        interval: intervalS,
        timeout: 10,
        maxretries: 2,
      };
      ids[n] = (await client.post<{ id: string }>("/servers", body)).id;
    }
  };
  await Promise.all(Array.from({ length: CREATING }, work));
  return ids;
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
  readonly before: TreeUse;
  readonly after: TreeUse;
  readonly targetCpuS: number;
  readonly residentMiB: number;
  readonly proportionalMiB: number;
  readonly skippedTurns: number;
  readonly silentMonitors: number;
}

async function measure(service: RunningSonde, target: TargetProcess, seconds: number): Promise<Window> {
  const metricsBefore = turnsIn(await service.metrics());
  const before = service.use();
  const targetBeforeS = target.cpuS();
  const fromMs = Date.now();
  let residentMiB = before.residentMiB;
  for (let second = 0; second < seconds; second++) {
    await pause(1_000);
    residentMiB = Math.max(residentMiB, service.use().residentMiB);
  }
  const targetCpuS = target.cpuS() - targetBeforeS;
  const after = service.use();
  const toMs = Date.now();
  const proportionalMiB = service.proportionalMiB();
  const metricsAfter = turnsIn(await service.metrics());
  return {
    fromMs,
    toMs,
    before,
    after,
    targetCpuS,
    residentMiB,
    proportionalMiB,
    skippedTurns: metricsAfter.skipped - metricsBefore.skipped,
    silentMonitors: metricsAfter.silent,
  };
}

function turnsIn(text: string): { readonly skipped: number; readonly silent: number } {
  const sum = (name: string): number =>
    text
      .split("\n")
      .filter((line) => line.startsWith(name))
      .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
  return {
    skipped: sum("sonde_turns_skipped_total "),
    silent: sum("sonde_monitors_silent "),
  };
}

async function evaluate(
  client: Client,
  target: TargetProcess,
  ids: readonly string[],
  options: UptimeBenchOptions,
  window: Window,
): Promise<UptimeFigures> {
  const { intervalS, seconds } = options;
  // What was measured last is readable a batch and an insert later.
  await pause(6_000);
  const answers = answersByMonitor(await target.log(), ids.length);
  const comparisons: Comparison[] = [];
  const latenessMs: number[] = [];
  const step = Math.max(1, Math.floor(ids.length / options.compared));
  for (let n = 0; n < ids.length; n += step) {
    const results = (await resultsOf(client, ids[n] ?? "")).filter(
      ({ testedAtMs }) => testedAtMs >= window.fromMs && testedAtMs < window.toMs,
    );
    const first = results[0]?.testedAtMs ?? 0;
    const last = results.at(-1)?.testedAtMs ?? 0;
    const logged = (answers[n] ?? []).filter(({ receivedAtMs }) => receivedAtMs >= first && receivedAtMs <= last + 500);
    comparisons.push(compare(logged, results));
    for (const result of results) latenessMs.push(result.latenessMs);
  }
  const sum = (of: (comparison: Comparison) => number): number =>
    comparisons.reduce((total, one) => total + of(one), 0);
  const elapsedS = (window.toMs - window.fromMs) / 1_000;
  // The target's log, not the service's counter: that one is as old as the last batch of results, which a short window would lose.
  const checks = sumOfAnswers(answers, window);
  const cpuS = window.after.cpuS - window.before.cpuS;
  const overheadMs = comparisons.flatMap((one) => one.overheadMs);
  return {
    monitors: ids.length,
    intervalS,
    seconds,
    dueChecks: Math.round((ids.length * elapsedS) / intervalS),
    checks,
    checksPerS: Math.round(checks / elapsedS),
    checksPerCpuS: Math.round(checks / cpuS),
    cpuCores: round(cpuS / elapsedS),
    targetCores: round(window.targetCpuS / elapsedS),
    residentMiB: Math.round(window.residentMiB),
    proportionalMiB: Math.round(window.proportionalMiB),
    latenessMs: { p50: percentile(latenessMs, 0.5), p99: percentile(latenessMs, 0.99), max: percentile(latenessMs, 1) },
    overheadMs: { p50: round(percentile(overheadMs, 0.5)), p99: round(percentile(overheadMs, 0.99)) },
    comparedResults: sum((one) => one.results),
    wrongVerdicts: sum((one) => one.wrongVerdicts),
    unmatched: sum((one) => one.unmatched),
    neverChecked: answers.filter((logged) => logged.length === 0).length,
    skippedTurns: window.skippedTurns,
    silentMonitors: window.silentMonitors,
  };
}

function sumOfAnswers(answers: readonly LoggedAnswer[][], { fromMs, toMs }: Window): number {
  let sum = 0;
  for (const ofMonitor of answers) {
    for (const { receivedAtMs } of ofMonitor) if (receivedAtMs >= fromMs && receivedAtMs < toMs) sum++;
  }
  return sum;
}

function answersByMonitor(log: Float64Array, monitors: number): readonly LoggedAnswer[][] {
  const byMonitor: LoggedAnswer[][] = Array.from({ length: monitors }, () => []);
  for (let i = 0; i < log.length; i += 4) {
    byMonitor[log[i] ?? 0]?.push({
      receivedAtMs: log[i + 1] ?? 0,
      answeredAtMs: log[i + 2] ?? 0,
      status: log[i + 3] ?? 0,
    });
  }
  for (const answers of byMonitor) answers.sort((a, b) => a.receivedAtMs - b.receivedAtMs);
  return byMonitor;
}

interface ExplainedRow {
  readonly id: string;
  readonly latency_ms: number | null;
  readonly explain: { readonly started_at: string; readonly lateness_ms: number; readonly verdict: string };
}

/** Oldest first. */
async function resultsOf(client: Client, id: string): Promise<readonly RecordedResult[]> {
  const { results } = await client.get<{ results: ExplainedRow[] }>(`/results/server/${id}`, {
    period: "15m",
    limit: 1000,
    explain: 1,
  });
  return results.reverse().map((row) => ({
    testedAtMs: Date.parse(row.explain.started_at),
    passed: row.explain.verdict === "ok",
    verdict: row.explain.verdict,
    latencyMs: row.latency_ms,
    latenessMs: row.explain.lateness_ms,
  }));
}

function print(options: UptimeBenchOptions, figures: UptimeFigures): void {
  if (options.json) {
    console.log(JSON.stringify({ bench: "uptime", conditions: conditions(), ...figures }));
    return;
  }
  const { latenessMs, overheadMs } = figures;
  console.log(`uptime: ${figures.monitors} http monitors every ${figures.intervalS} s for ${figures.seconds} s`);
  console.log(
    `  ${conditions()}; target, service and embedded ClickHouse share the cores; fresh connections to ${TARGET_HOSTS.length} addresses; ${options.failingPerMille / 10} % of answers fail, ${SLOW_PER_MILLE / 10} % are slow`,
  );
  console.log(`  checks              ${figures.checks} of ${figures.dueChecks} due, ${figures.checksPerS}/s`);
  console.log(
    `  per CPU second      ${figures.checksPerCpuS} (whole process tree, ${figures.cpuCores} cores busy; the target ${figures.targetCores})`,
  );
  console.log(`  lateness            p50 ${latenessMs.p50} ms, p99 ${latenessMs.p99} ms, max ${latenessMs.max} ms`);
  console.log(`  recorded minus true p50 ${overheadMs.p50} ms, p99 ${overheadMs.p99} ms`);
  console.log(
    `  compared with log   ${figures.comparedResults} results, ${figures.wrongVerdicts} wrong verdicts, ${figures.unmatched} unmatched`,
  );
  console.log(
    `  never checked       ${figures.neverChecked}; turns skipped ${figures.skippedTurns}; silent monitors ${figures.silentMonitors}`,
  );
  console.log(
    `  memory              ${figures.residentMiB} MiB at most, ClickHouse included; at the end ${figures.proportionalMiB} MiB with shared pages counted once`,
  );
}

function say(options: UptimeBenchOptions, line: string): void {
  if (!options.json) process.stderr.write(`${line}\n`);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
