/** The checking side of the tunnel bench: runs in a network namespace, as one thread, with everything that a check passes in a prober. */
import { randomFillSync } from "node:crypto";
import { performance } from "node:perf_hooks";
import { text } from "node:stream/consumers";
import { type AnyProbe, probeOf, probes } from "../../engine/registry.ts";
import { type RunEnvironment, RunningCheck } from "../../engine/run.ts";
import { createTransport } from "../../engine/transport/index.ts";
import type { CheckOutcome } from "../../model/result.ts";

export interface LoadOrder {
  readonly serverKey: string;
  readonly clients: readonly { readonly key: string; readonly address: string }[];
  readonly endpoint: string;
  readonly target: string;
  readonly checks: number;
  readonly inFlight: number;
  readonly rounds: number;
}

export interface LoadReport {
  readonly name: string;
  readonly perS: number;
  readonly perCpuS: number;
  readonly failed: number;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  readonly rssMb: number;
}

const TIMEOUT_MS = 10_000;

const order: LoadOrder = JSON.parse(await text(process.stdin));
const wireguard = probeOf(probes, "wireguard");
if (wireguard === undefined) throw new Error("there is no WireGuard probe");
const settings = order.clients.map(({ key, address }) =>
  wireguard.settings.parse({
    config: `[Interface]\nPrivateKey = ${key}\nAddress = ${address}/32\n[Peer]\nPublicKey = ${order.serverKey}\nEndpoint = ${order.endpoint}\nAllowedIPs = 0.0.0.0/0\n`,
  }),
);
const transport = createTransport({
  allowNets: ["10.64.0.0/10"],
  ownEndpoints: [],
  resolvers: ["10.77.0.1:53"],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: [],
  tunnelTargets: [order.target],
});
let last = 0;

await run(wireguard, "first checks, keys being read", settings.length, order.inFlight);
for (let round = 1; round <= order.rounds; round++) {
  await run(wireguard, `round ${round}`, order.checks, order.inFlight);
}
await run(wireguard, "one in flight", Math.min(500, order.checks), 1);
process.exit(0);

async function run(probe: AnyProbe, name: string, checks: number, inFlight: number): Promise<void> {
  const outcomes: CheckOutcome[] = [];
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    let started = 0;
    const environment: RunEnvironment = {
      transport,
      now: () => performance.now(),
      wallNowMs: () => Date.now(),
      randomBytes: (sizeBytes) => randomFillSync(new Uint8Array(sizeBytes)),
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
  report(name, outcomes, performance.now() - startedAt, process.cpuUsage(cpu));
}

function report(name: string, outcomes: readonly CheckOutcome[], wallMs: number, cpu: NodeJS.CpuUsage): void {
  const latencies = outcomes.flatMap(({ latencyMs }) => latencyMs ?? []).sort((one, other) => one - other);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const figures: LoadReport = {
    name,
    perS: (outcomes.length / wallMs) * 1_000,
    perCpuS: outcomes.length / ((cpu.user + cpu.system) / 1_000_000),
    failed: outcomes.filter(({ verdict }) => verdict !== "ok").length,
    latencyP50Ms: at(0.5),
    latencyP99Ms: at(0.99),
    rssMb: Math.round(process.memoryUsage.rss() / 1_000_000),
  };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}
