/** The checking side of the tunnel benches: runs in a network namespace, as one thread, with everything that a check passes in a prober. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type AnyProbe, probeList } from "../../engine/contract/registry.ts";
import type { TunnelFields } from "../../engine/contract/tunnel.ts";
import { type RunEnvironment, RunningCheck } from "../../engine/run/run.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { createDatagrams } from "../../engine/transport/native-datagrams.ts";
import type { TunnelProtocol } from "../../model/kind.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { createRandomBytes } from "../../native/random-bytes.ts";
import { useOf } from "../process-tree.ts";
import { percentile } from "../statistics.ts";

export interface LoadOrder {
  readonly kind: TunnelProtocol;
  /** One for each client of the server; checks take them in turn. */
  readonly settings: readonly TunnelFields[];
  /** As in SONDE_TUNNEL_TARGETS. */
  readonly targets: readonly string[];
  readonly checks: number;
  readonly inFlight: number;
  readonly rounds: number;
  readonly serverPids: readonly number[];
  /** Native sockets, or Node's own. */
  readonly isNative: boolean;
  /** Only measures latency beside another that makes the load. */
  readonly isWitness?: boolean;
}

export interface LoadReport {
  readonly name: string;
  readonly perS: number;
  readonly perCpuS: number;
  /** CPU seconds of the server's processes in a second. */
  readonly serverCores: number;
  /** Share of that CPU time that the kernel used. */
  readonly systemShare: number;
  readonly failed: number;
  /** What the first that failed said. */
  readonly failure: string | null;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  readonly rssMb: number;
}

const TIMEOUT_MS = 10_000;
/** What latency_ms is compared at: quiet, and in a crowd. */
const QUIET_CHECKS = 500;
const CROWD_IN_FLIGHT = 200;

/** Clients of the server that the witness has to itself, where there are enough of them. */
const WITNESS_CLIENTS = 50;

const order: LoadOrder = JSON.parse(await text(process.stdin));
const found = probeList()[order.kind];
if (found === undefined) throw new Error(`there is no probe of ${order.kind}`);
/** Unrounded, of the phase that runs. */
let latenciesMs: number[] = [];
const probe: AnyProbe = {
  ...found,
  async run(settings, context) {
    const outcome = await found.run(settings, context);
    if (typeof outcome.latencyMs === "number") latenciesMs.push(outcome.latencyMs);
    return outcome;
  },
};
const settings = order.settings.map((fields) => probe.settings.parse(fields));
const datagrams = createDatagrams();
if (order.isNative) await datagrams.ready();
const transport = createTransport(
  {
    allowNets: ["10.64.0.0/10"],
    ownEndpoints: [],
    resolvers: ["10.77.0.1:53"],
    extraCaPem: null,
    rdapBootstrapUrl: null,
    canaries: [],
    tunnelTargets: order.targets,
  },
  order.isNative ? { openDatagrams: datagrams.openDatagrams } : {},
);
const randomBytes = createRandomBytes();
let last = 0;

if (order.isWitness) {
  await run("", settings.length, 1);
  await run("a witness beside them, one in flight", order.checks, 1);
  process.exit(0);
}
await run("first checks, keys being read", settings.length, order.inFlight);
for (let round = 1; round <= order.rounds; round++) await run(`round ${round}`, order.checks, order.inFlight);
await run("one in flight", Math.min(QUIET_CHECKS, order.checks), 1);
const witness = startWitness();
await run(`${CROWD_IN_FLIGHT} in flight`, order.checks, CROWD_IN_FLIGHT);
await witness;
process.exit(0);

/** What a process that has nothing else to do measures at the same time: the server's own slowness under this load, not ours. */
function startWitness(): Promise<unknown> {
  if (settings.length < 10 * WITNESS_CLIENTS) return Promise.resolve();
  settings.splice(-WITNESS_CLIENTS);
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url)], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  const own = order.settings.slice(-WITNESS_CLIENTS);
  child.stdin?.end(JSON.stringify({ ...order, settings: own, checks: QUIET_CHECKS, isWitness: true }));
  return once(child, "close");
}

async function run(name: string, checks: number, inFlight: number): Promise<void> {
  const outcomes: CheckOutcome[] = [];
  latenciesMs = [];
  const serverS = serverCpuS();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    let started = 0;
    const environment: RunEnvironment = {
      transport,
      now: () => performance.now(),
      wallNowMs: () => Date.now(),
      randomBytes,
      touch: () => {},
      done: (_check, outcome) => {
        outcomes.push(outcome);
        if (outcomes.length === checks) resolve();
        else startNext();
      },
    };
    const startNext = (): void => {
      if (started >= checks) return;
      started++;
      const id = ++last;
      const check = new RunningCheck(
        { checkId: id, specKey: id, dueAtMs: Date.now(), alone: false },
        TIMEOUT_MS,
        environment,
      );
      check.start(probe, settings[id % settings.length]);
    };
    for (let each = 0; each < inFlight; each++) startNext();
  });
  const wallMs = performance.now() - startedAt;
  const own = process.cpuUsage(cpu);
  report(name, outcomes, wallMs, own, serverCpuS() - serverS);
}

function serverCpuS(): number {
  return order.serverPids.reduce((sum, pid) => sum + useOf(pid).cpuS, 0);
}

function report(
  name: string,
  outcomes: readonly CheckOutcome[],
  wallMs: number,
  cpu: NodeJS.CpuUsage,
  serverS: number,
): void {
  if (name === "") return;
  const failures = outcomes.filter(({ verdict }) => verdict !== "ok");
  const figures: LoadReport = {
    name,
    perS: (outcomes.length / wallMs) * 1_000,
    perCpuS: outcomes.length / ((cpu.user + cpu.system) / 1_000_000),
    systemShare: cpu.system / (cpu.user + cpu.system),
    serverCores: (serverS / wallMs) * 1_000,
    failed: failures.length,
    failure: failures[0]?.message ?? null,
    latencyP50Ms: percentile(latenciesMs, 0.5),
    latencyP99Ms: percentile(latenciesMs, 0.99),
    rssMb: Math.round(process.memoryUsage.rss() / 1_000_000),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
