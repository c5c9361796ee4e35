/**
 * `npm run bench -- kinds`: the whole product with monitors of one kind, beside a prober alone with the same checks (bench/burst): what planning, judging and
 * storing add to a check. Checks are counted by the service, because ports and pings leave no log at a target.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createConnectTimer } from "../../engine/transport/connect-time.ts";
import { createPing } from "../../engine/transport/icmp.ts";
import { createTransport, type TransportDeps } from "../../engine/transport/index.ts";
import { createExchanger } from "../../engine/transport/native-exchange.ts";
import { openProberRig } from "../burst/prober-rig.ts";
import { conditions } from "../parts/conditions.ts";
import { checksBetween, readMetrics } from "../scale/metrics.ts";
import { median } from "../statistics.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "./service.ts";
import { TARGET_HOSTS, targetHost } from "./target-address.ts";
import { startTarget } from "./target-process.ts";

export interface KindsBenchOptions {
  /** Each is checked every second. */
  readonly monitors: number;
  readonly seconds: number;
}

const KINDS = ["http", "keyword", "port", "ping", "dns"] as const;
type Kind = (typeof KINDS)[number];

/** Ports of the targets. */
interface Targets {
  readonly web: number;
  readonly dns: number;
}

const WARM_UP_S = 10;
const TIMEOUT_S = 10;
/** Requests at once while monitors are made. */
const CREATING = 16;
/** Of a prober alone: a ping takes 0.4 s, so that thousands of them overlap. */
const IN_FLIGHT: Readonly<Record<Kind, number>> = { http: 64, keyword: 64, port: 200, ping: 2_000, dns: 200 };
const BURST_CHECKS = 10_000;
const BURST_ROUNDS = 3;
/** Every answer of the target has it. */
const KEYWORD = "well: 42";

/** What a monitor of the kind asks, as the API and as a prober name it. */
const ASKED: Readonly<Record<Kind, (host: string, targets: Targets) => Readonly<Record<string, unknown>>>> = {
  http: (host, { web }) => ({ url: `http://${host}:${web}/0` }),
  keyword: (host, { web }) => ({ url: `http://${host}:${web}/0`, keyword: KEYWORD }),
  port: (host, { web }) => ({ host, port: web }),
  ping: (host) => ({ host }),
  dns: (host, { dns }) => ({ domain: "demo.sonde.net", host, port: dns, record_type: "A" }),
};

export async function runKinds({ monitors, seconds }: KindsBenchOptions): Promise<void> {
  console.log(
    `kinds: ${monitors} monitors of one kind every second for ${seconds} s, beside a prober alone (median of ${BURST_ROUNDS} runs of ${BURST_CHECKS})\n  ${conditions()}; targets share the cores; their CPU time is not in the figures`,
  );
  const web = await startTarget(0, 0);
  const dns = fork(fileURLToPath(new URL("../burst/dns-target.js", import.meta.url)), [...TARGET_HOSTS]);
  try {
    const [port = 0]: number[] = await once(dns, "message");
    const targets = { web: web.port, dns: port };
    for (const kind of KINDS) await compare(kind, targets, { monitors, seconds });
  } finally {
    dns.disconnect();
    web.close();
  }
}

async function compare(kind: Kind, targets: Targets, options: KindsBenchOptions): Promise<void> {
  const alone = await ofProber(kind, targets);
  const { perS, perCpuS, late, passed } = await ofProduct(kind, targets, options);
  console.log(
    `  ${kind.padEnd(8)} ${perS.toFixed(0)}/s, ${perCpuS.toFixed(0)} per CPU second, 99 % within ${late}, ${passed}; a prober alone ${alone.toFixed(0)} (${(perCpuS / alone).toFixed(2)} of it)`,
  );
}

/** @returns checks of a CPU second */
async function ofProber(kind: Kind, targets: Targets): Promise<number> {
  const [exchanger, timer, ping] = [createExchanger(), createConnectTimer(), createPing()];
  await Promise.all([exchanger.ready(), timer.ready(), ping.ready()]);
  const ways: TransportDeps = { ...exchanger, connectTime: timer.connectTime, ping: ping.ping };
  const options = { allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null };
  const transport = createTransport({ ...options, rdapBootstrapUrl: null, canaries: null }, ways);
  const settings = { keyword: null, expected: null, ...ASKED[kind](targetHost(0), targets) };
  const rig = openProberRig(transport, [{ key: 1, kind, settings, timeoutMs: TIMEOUT_S * 1_000 }]);
  const found: number[] = [];
  await rig.burst(1, BURST_CHECKS, IN_FLIGHT[kind]);
  for (let round = 0; round < BURST_ROUNDS; round++) {
    const { checks, failed, cpuS } = await rig.burst(1, BURST_CHECKS, IN_FLIGHT[kind]);
    if (failed > 0) throw new Error(`${failed} of ${checks} checks of a prober alone failed`);
    found.push(checks / cpuS);
  }
  await rig.close();
  for (const part of [exchanger, timer, ping]) part.close();
  return median(found);
}

interface ProductFigures {
  readonly perS: number;
  readonly perCpuS: number;
  readonly late: string;
  readonly passed: string;
}

async function ofProduct(
  kind: Kind,
  targets: Targets,
  { monitors, seconds }: KindsBenchOptions,
): Promise<ProductFigures> {
  const service = await startServiceUnderTest("127.0.0.0/24");
  try {
    await createAll(service, kind, targets, monitors);
    await pause(WARM_UP_S * 1_000);
    const [before, textBefore, fromMs] = [service.use(), await service.metrics(), performance.now()];
    await pause(seconds * 1_000);
    const [after, textAfter] = [service.use(), await service.metrics()];
    const elapsedS = (performance.now() - fromMs) / 1_000;
    const checks = countIn(textAfter) - countIn(textBefore);
    const passed = countIn(textAfter, "ok") - countIn(textBefore, "ok");
    return {
      perS: checks / elapsedS,
      perCpuS: checks / (after.cpuS - before.cpuS),
      late: checksBetween(readMetrics(textBefore), readMetrics(textAfter)).late(0.99),
      passed: passed === checks ? "all passed" : `${checks - passed} failed`,
    };
  } finally {
    await service.stop();
  }
}

async function createAll({ client }: ServiceUnderTest, kind: Kind, targets: Targets, monitors: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; n < monitors; n = next++) {
      const asked = ASKED[kind](targetHost(n), targets);
      await client.post("/servers", { type: kind, name: `${kind} ${n}`, interval: 1, timeout: TIMEOUT_S, ...asked });
    }
  };
  await Promise.all(Array.from({ length: CREATING }, work));
}

/** @param verdict absent: checks of all verdicts count */
function countIn(text: string, verdict?: string): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith("sonde_checks_total{"))
    .filter((line) => verdict === undefined || line.includes(`verdict="${verdict}"`))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
