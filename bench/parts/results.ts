/** The result store on the embedded ClickHouse: what an insert costs by its size, and what the contract's reads take among many rows. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@clickhouse/client";
import { pino } from "pino";
import type { ResultRow } from "../../model/result.ts";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { EmbeddedClickHouse } from "../../store/results/embedded/child.ts";
import type { ResultStore } from "../../store/results/result-store.ts";
import { ResultsCopy } from "../../store/results/results-copy.ts";
import { COLUMN_NAMES } from "../../store/results/schema.ts";
import { Spool } from "../../store/results/spool.ts";
import { useOf } from "../process-tree.ts";
import { percentile } from "../statistics.ts";
import { conditions } from "./conditions.ts";

export const MONITORS = 5_000;
const log = pino({ level: "warn" });

export function rowOf(index: number, testedAtMs: number): ResultRow {
  const isDown = index % 100 === 0;
  const latencyMs = 1 + ((index * 2_654_435_761) % 10_000) / 500;
  return {
    id: String(1_790_000_000_000_000_000n + BigInt(index)),
    project_id: 1 + (index % 3),
    monitor_id: 1 + (index % MONITORS),
    location: "any",
    checker: "local",
    seq: 1 + Math.floor(index / MONITORS),
    check_id: index,
    kind: "http",
    tested_at: testedAtMs,
    status: isDown ? "down" : "healthy",
    verdict: isDown ? "refused" : "ok",
    changed: isDown ? 1 : 0,
    latency_ms: latencyMs,
    connect_ms: null,
    error_category: isDown ? "server_not_connected" : null,
    error_message: isDown ? "connection refused" : null,
    lateness_ms: latencyMs / 3,
    duration_ms: latencyMs + 0.5,
    attempt: 1,
    phases: JSON.stringify({ connect: latencyMs * 0.3, request: latencyMs * 0.5, transfer: latencyMs * 0.2 }),
    explanation: isDown ? '{"stage":"connect","address":"127.0.0.1:81","peer":null,"hint":null}' : "",
  };
}

/** CPU of the child alone; ours is what is left of the tree. */
function childCpuS(clickhouse: EmbeddedClickHouse): number {
  return useOf(clickhouse.pid() ?? 0).cpuS;
}

async function inserts(
  clickhouse: EmbeddedClickHouse,
  store: ResultStore,
  rows: number,
  everyMs: number,
  batches: number,
): Promise<void> {
  const latencies: number[] = [];
  let childS = 0;
  let ownMs = 0;
  for (let batch = -3; batch < batches; batch += 1) {
    const nowMs = Date.now();
    const lines = Buffer.from(
      Array.from({ length: rows }, (_, i) => `${JSON.stringify(rowOf((batch + 3) * rows + i, nowMs))}\n`).join(""),
    );
    const began = { ms: performance.now(), child: childCpuS(clickhouse), own: process.cpuUsage() };
    await store.insert({ token: `${rows} ${batch}`, lines, rows });
    const tookMs = performance.now() - began.ms;
    const own = process.cpuUsage(began.own);
    await delay(Math.max(0, everyMs - tookMs));
    if (batch < 0) continue;
    latencies.push(tookMs);
    childS += childCpuS(clickhouse) - began.child;
    ownMs += (own.user + own.system) / 1_000;
  }
  const per5000 = 5_000 / (rows * batches);
  console.log(
    `  ${String(rows).padStart(6)} rows every ${everyMs / 1_000} s: p50 ${percentile(latencies, 0.5).toFixed(0)} ms, p99 ${percentile(latencies, 0.99).toFixed(0)} ms; ` +
      `CPU per insert ${((childS * 1_000) / batches).toFixed(0)} ms, per 5,000 rows: child ${(childS * 1_000 * per5000).toFixed(0)} ms, client ${(ownMs * per5000).toFixed(1)} ms`,
  );
}

/** Rows of one day, made by the engine itself, some at a time. */
export async function fill(url: string, fromRow: number, toRow: number, nowMs: number, projects = 3): Promise<void> {
  // A service makes the tables with its first insert or read, which may not have come.
  const tables = new ResultsCopy(url, log);
  await tables.prepare();
  await tables.close();
  const client = createClient({ url, request_timeout: 600_000 });
  const step = 250_000;
  for (let at = fromRow; at < toRow; at += step) {
    await client.command({
      query: `INSERT INTO sonde.results (${COLUMN_NAMES})
        SELECT 1790000000000000000 + number, 1 + number % ${projects}, 1 + number % ${MONITORS}, 'any', 'local', 1 + intDiv(number, ${MONITORS}), number, 'http',
          fromUnixTimestamp64Milli(toInt64(${nowMs}) - intDiv((${toRow} - number) * 86000000, ${toRow}), 'UTC'),
          if(number % 100 = 0, 'down', 'healthy'), if(number % 100 = 0, 'refused', 'ok'), number % 100 = 0,
          rand() % 10000 / 500, NULL, '', '', rand() % 1000 / 100, rand() % 10000 / 400, 1, '{"connect":0.5,"request":1.25}', ''
        FROM numbers(${at}, ${Math.min(step, toRow - at)})`,
    });
  }
  await client.close();
}

async function timed(name: string, runs: number, read: (run: number) => Promise<number>): Promise<void> {
  const latencies: number[] = [];
  let rows = 0;
  for (let run = 0; run < runs; run += 1) {
    const began = performance.now();
    rows = await read(run);
    latencies.push(performance.now() - began);
  }
  console.log(
    `  ${name.padEnd(44)} p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms (${rows} rows, ${runs} runs)`,
  );
}

async function reads(clickhouse: EmbeddedClickHouse, store: ResultStore, nowMs: number): Promise<void> {
  const monitor = (run: number) => ({
    projectId: 1 + (((run * 37) % MONITORS) % 3),
    monitorId: 1 + ((run * 37) % MONITORS),
  });
  const base = { nowMs, details: false, limit: 500 } as const;
  for (const period of ["1h", "24h", "7d"] as const) {
    await timed(
      `one monitor, newest 500, ${period}`,
      40,
      async (run) => (await store.ofMonitor({ ...base, ...monitor(run), period, status: null, offset: 0 })).rows.length,
    );
  }
  for (const period of ["1h", "24h", "7d"] as const) {
    const project = { ...base, projectId: 1, period, withoutMonitorIds: [] };
    await timed(
      `a project's newest 500, ${period}`,
      15,
      async () => (await store.ofProject({ ...project, onlyDown: false })).length,
    );
    await timed(
      `a project's failures, ${period}`,
      15,
      async () => (await store.ofProject({ ...project, onlyDown: true })).length,
    );
  }
  const beganMs = performance.now();
  const cpuS = childCpuS(clickhouse);
  await Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      for (let run = 0; run < 50; run += 1)
        await store.ofMonitor({ ...base, ...monitor(run * 4 + lane), period: "1h", status: null, offset: 0 });
    }),
  );
  const tookS = (performance.now() - beganMs) / 1_000;
  console.log(
    `  one monitor, 1h, 4 at once: ${(200 / tookS).toFixed(0)} reads/s, ${(((childCpuS(clickhouse) - cpuS) * 1_000) / 200).toFixed(1)} ms of CPU each`,
  );
}

/** Batches as the sink writes them: 6,000 lines/s in 8 batches, each synced. */
async function spool(dir: string): Promise<void> {
  const box = await Spool.open({ dir: join(dir, "spool"), log });
  const lines = Array.from({ length: 750 }, (_, i) => JSON.stringify(rowOf(i, Date.now())));
  const latencies: number[] = [];
  const cpu = process.cpuUsage();
  for (let batch = 0; batch < 80; batch += 1) {
    const began = performance.now();
    await box.append(lines);
    const tookMs = performance.now() - began;
    latencies.push(tookMs);
    await delay(Math.max(0, 125 - tookMs));
    if (batch % 16 === 15) await box.seal();
  }
  const { user, system } = process.cpuUsage(cpu);
  await box.close();
  console.log(
    `  spool, 6,000 lines/s in 8 batches/s: append p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms; CPU per 5,000 lines ${((user + system) / 1_000 / 12).toFixed(1)} ms`,
  );
}

export async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  console.log(
    `\nresult store on the embedded ClickHouse\n  ${conditions()}; ${MONITORS} monitors, lines of about 430 bytes`,
  );
  const beganMs = performance.now();
  const clickhouse = await EmbeddedClickHouse.start({ dir: join(dir, "clickhouse"), log });
  await clickhouse.ready;
  const store = new ClickHouseResults({ url: clickhouse.url, log });
  try {
    await store.ping();
    console.log(`  started in ${(performance.now() - beganMs).toFixed(0)} ms, ${residentMiB(clickhouse)} MiB resident`);
    await spool(dir);
    for (const [rows, everyMs, batches] of [
      [100, 500, 20],
      [1_000, 500, 20],
      [5_000, 1_000, 30],
      [10_000, 2_000, 20],
      [20_000, 2_000, 10],
    ] as const)
      await inserts(clickhouse, store, rows, everyMs, batches);
    const nowMs = Date.now();
    let filled = 0;
    for (const total of [1_000_000, 10_000_000]) {
      await fill(clickhouse.url, filled, total, nowMs);
      filled = total;
      console.log(`  among ${total / 1e6} million rows of one day, ${residentMiB(clickhouse)} MiB resident`);
      await reads(clickhouse, store, nowMs);
    }
    const thinMs = performance.now();
    await store.thin();
    console.log(
      `  nightly thinning: ${((performance.now() - thinMs) / 1_000).toFixed(1)} s, ${residentMiB(clickhouse)} MiB resident`,
    );
  } finally {
    await store.close();
    await clickhouse.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function residentMiB(clickhouse: EmbeddedClickHouse): string {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${clickhouse.pid()}/status`, "utf8"))?.[1] ?? "0";
  return (Number(kib) / 1024).toFixed(0);
}
