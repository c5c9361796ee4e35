/**
 * The split form beside the single process, on the same stores (PostgreSQL and Redis from Debian's packages, our embedded ClickHouse behind
 * its HTTP front), the same monitors and the same machine: what parting costs, and what one more checker costs.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { EmbeddedClickHouse } from "../../store/results/embedded/child.ts";
import { startPostgres } from "../../test/servers/postgres.ts";
import { startRedis } from "../../test/servers/redis.ts";
import { conditions } from "../parts/conditions.ts";
import type { TreeUse } from "../process-tree.ts";
import { type RunningSonde, startServiceUnderTest } from "../uptime/service.ts";
import { targetNets } from "../uptime/target-address.ts";
import { startTarget } from "../uptime/target-process.ts";
import { measureUptime, SLOW_PER_MILLE, type UptimeBenchOptions, type UptimeFigures } from "../uptime/uptime.ts";
import { type Installation, type RoleCounts, type StoreUrls, startRoles } from "./installation.ts";

export interface RolesBenchOptions {
  readonly monitors: number;
  readonly seconds: number;
  /** Processes of these roles in each form that has roles. */
  readonly apis: number;
  readonly schedulers: number;
  /** Forms to measure, by their number of checkers; 0: one process. */
  readonly forms: readonly number[];
  /** Folder for CPU profiles, one per thread; null: none are taken. */
  readonly profileDir: string | null;
}

const INTERVAL_S = 1;
const WARM_UP_S = 10;
const FAILING_PER_MILLE = 10;

export async function runRoles(bench: RolesBenchOptions): Promise<void> {
  const { monitors, seconds, forms, profileDir } = bench;
  const options: UptimeBenchOptions = {
    monitors,
    seconds,
    intervalS: INTERVAL_S,
    warmUpS: WARM_UP_S,
    compared: 300,
    failingPerMille: FAILING_PER_MILLE,
    json: false,
    profileDir: null,
  };
  console.log(
    `roles: ${monitors} http monitors every ${INTERVAL_S} s for ${seconds} s\n  ${conditions()}; target and stores share the cores; their CPU time is not in the figures`,
  );
  const profiling = profileDir === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const sealingKeyFile = join(folder, "sealing.key");
  writeFileSync(sealingKeyFile, randomBytes(32), { mode: 0o600 });
  const servers = await startStores(folder);
  try {
    const found = new Map<number, UptimeFigures>();
    for (const checkers of forms) {
      const counts = { apis: bench.apis, schedulers: bench.schedulers, checkers };
      const figures = await measured(nameOf(counts), options, async (allowNets) => {
        const stores = await servers.fresh();
        if (checkers > 0) return startRoles({ stores, sealingKeyFile, allowNets, counts, nodeArgs: profiling });
        const settings = { ...stores, SONDE_SEALING_KEY_FILE: sealingKeyFile, SONDE_WORKERS: "1" };
        return startServiceUnderTest(allowNets, profiling, settings);
      });
      found.set(checkers, figures);
      printMore(found.get(checkers - 1), figures, checkers);
    }
  } finally {
    await servers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function nameOf(counts: RoleCounts): string {
  if (counts.checkers === 0) return "one process";
  return Object.entries(counts)
    .map(([roles, count]) => `${count} ${count === 1 ? roles.slice(0, -1) : roles}`)
    .join(", ");
}

type Service = RunningSonde & Partial<Pick<Installation, "uses">>;

async function measured(
  name: string,
  options: UptimeBenchOptions,
  start: (allowNets: string) => Promise<Service>,
): Promise<UptimeFigures> {
  const target = await startTarget(options.failingPerMille, SLOW_PER_MILLE);
  try {
    const service = await start(targetNets(target.port));
    try {
      const figures = await measureUptime(service, target, options);
      print(name, figures, service.uses?.());
      return figures;
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
  }
}

function print(name: string, figures: UptimeFigures, uses: Readonly<Record<string, TreeUse>> = {}): void {
  const { latenessMs } = figures;
  console.log(
    `${name}\n  ${figures.checksPerS}/s of ${figures.dueChecks / figures.seconds} due, ${figures.checksPerCpuS} per CPU second, ${figures.cpuCores} cores busy, ${figures.residentMiB} MiB`,
  );
  console.log(
    `  lateness p50 ${latenessMs.p50} ms, p99 ${latenessMs.p99} ms, max ${latenessMs.max} ms; turns skipped ${figures.skippedTurns}; ${figures.wrongVerdicts} wrong verdicts and ${figures.unmatched} unmatched of ${figures.comparedResults}`,
  );
  for (const [role, { cpuS, residentMiB }] of Object.entries(uses)) {
    console.log(`  ${role.padEnd(10)} ${cpuS.toFixed(1)} s of CPU since its start, ${Math.round(residentMiB)} MiB`);
  }
}

/** What it costs that the same checks are run by one checker more. */
function printMore(fewer: UptimeFigures | undefined, figures: UptimeFigures, checkers: number): void {
  if (fewer === undefined || checkers < 2) return;
  const cpuMs = 1_000_000 / figures.checksPerCpuS - 1_000_000 / fewer.checksPerCpuS;
  console.log(
    `one more checker: ${cpuMs.toFixed(0)} ms of CPU more for 1,000 checks, ${figures.residentMiB - fewer.residentMiB} MiB more`,
  );
}

interface Stores {
  /** Empty ones. */
  fresh(): Promise<StoreUrls>;
  stop(): Promise<void>;
}

async function startStores(folder: string): Promise<Stores> {
  const closers: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  const postgres = await startPostgres();
  if ("missing" in postgres) throw new Error(postgres.missing);
  closers.push(() => postgres.stop());
  let runs = 0;
  return {
    async fresh() {
      // A Redis and a ClickHouse for each run: what the last one left behind is not measured.
      for (const close of closers.splice(1).reverse()) await close();
      const redis = await startRedis();
      if ("missing" in redis) throw new Error(redis.missing);
      closers.push(() => redis.stop());
      const clickhouse = EmbeddedClickHouse.start({
        dir: join(folder, `clickhouse-${++runs}`),
        log: pino({ level: "silent" }),
      });
      const ready = await clickhouse;
      closers.push(() => ready.close());
      await ready.ready;
      const database = await postgres.createDatabase();
      return { SONDE_DATABASE_URL: database.url, SONDE_REDIS_URL: redis.url, SONDE_CLICKHOUSE_URL: ready.url };
    },
    stop,
  };
}
