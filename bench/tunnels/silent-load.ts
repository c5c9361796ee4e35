/** The checking side of the silent bench: one process with one prober thread as `sonde up` has it, runs handed out as a scheduler does. */
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { CheckRun, CheckSpec } from "../../engine/contract/messages.ts";
import { startPool } from "../../engine/pool/pool.ts";
import { connectProbers, type Probers } from "../../engine/pool/probers.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { percentile } from "../statistics.ts";

export interface SilentOrder {
  readonly servers: number;
  readonly inFlight: number;
  readonly timeoutMs: number;
  /** Checks of a port and of a website, in turn. */
  readonly othersPerS: number;
  /** How long the others run alone first. */
  readonly quietS: number;
}

export interface SilentReport {
  readonly name: string;
  readonly seconds: number;
  /** How many ended with which verdict. */
  readonly silent: Readonly<Record<string, number>>;
  readonly others: Readonly<Record<string, number>>;
  readonly latenessMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** The most that was seen of the whole process. */
  readonly rssMb: number;
  /** Of the whole process. */
  readonly cores: number;
}

const TICK_MS = 5;
/** A phase with silent checks takes two time-outs; a reader must not wait for ever. */
const LONGEST_MS = 60_000;

const order: SilentOrder = JSON.parse(await text(process.stdin));
const [tcpPort, httpPort] = await Promise.all(["tcp", "http"].map(startTarget));
const specs = [
  spec(1, "port", { host: "127.0.0.1", port: tcpPort }),
  spec(2, "http", { url: `http://127.0.0.1:${httpPort}/` }),
  ...Array.from({ length: order.servers }, (_, index) => spec(3 + index, "wireguard", { config: configOf(index) })),
];
const running = new Map<number, { readonly isSilent: boolean }>();
let last = 0;
let silent: Record<string, number> = {};
let others: Record<string, number> = {};
let lateness: number[] = [];
let silentStarted = 0;
let silentEnded = 0;
let mostRss = 0;

const pool = await startPool({
  workers: 1,
  engine: {
    allowNets: ["127.0.0.0/8", "10.64.0.0/10"],
    ownEndpoints: [],
    resolvers: ["127.0.0.1:53"],
    extraCaPem: null,
    rdapBootstrapUrl: null,
    canaries: [],
  },
  scheduler: null,
  log: {
    info: () => {},
    warn: (_fields, message) => console.error(message),
    error: (_fields, message) => console.error(message),
  },
  onFatal: (error) => {
    throw error;
  },
});
if (pool.control === null) throw new Error("the pool has no control");
const probers = connectProbers(pool.control, { onOutcomes: take, onFitness: () => {} });
probers.define(specs);
// The first of each kind loads code.
for (const key of [1, 2, 1, 2]) {
  run(probers, [key]);
  await pause(200);
}

await phase("the others alone", 0, order.quietS * 1_000, 0);
// As a schedule would: spread over a time-out, which for a silent WireGuard server is 5 s of its 10.
await phase("silent ones, spread", order.servers, LONGEST_MS, order.inFlight / 5);
await phase("silent ones, all at once", order.servers, LONGEST_MS, null);
process.exit(0);

/** Until all silent checks have ended, or for so long without any. @param startsPerS of silent ones; null: as many as may be in flight */
async function phase(name: string, silentChecks: number, mostMs: number, startsPerS: number | null): Promise<void> {
  silent = {};
  others = {};
  lateness = [];
  silentStarted = 0;
  silentEnded = 0;
  mostRss = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  let othersStarted = 0;
  for (let elapsedMs = 0; elapsedMs < mostMs; elapsedMs = performance.now() - startedAt) {
    const dueOthers = Math.floor((elapsedMs / 1_000) * order.othersPerS) - othersStarted;
    run(
      probers,
      Array.from({ length: dueOthers }, (_, index) => 1 + ((othersStarted + index) % 2)),
    );
    othersStarted += Math.max(0, dueOthers);
    const dueSilent = Math.min(
      silentChecks - silentStarted,
      order.inFlight - (silentStarted - silentEnded),
      startsPerS === null ? silentChecks : Math.ceil((elapsedMs / 1_000) * startsPerS) - silentStarted,
    );
    run(
      probers,
      Array.from({ length: Math.max(0, dueSilent) }, (_, index) => 3 + ((silentStarted + index) % order.servers)),
    );
    silentStarted += Math.max(0, dueSilent);
    mostRss = Math.max(mostRss, process.memoryUsage.rss());
    if (silentChecks > 0 && silentEnded === silentChecks) break;
    await pause(TICK_MS);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = process.cpuUsage(cpu);
  const report: SilentReport = {
    name,
    seconds,
    silent,
    others,
    latenessMs: {
      p50: percentile(lateness, 0.5),
      p99: percentile(lateness, 0.99),
      max: percentile(lateness, 1),
    },
    rssMb: Math.round(mostRss / 1_000_000),
    cores: (used.user + used.system) / 1e6 / seconds,
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

function run(to: Probers, keys: readonly number[]): void {
  if (keys.length === 0) return;
  const dueAtMs = Date.now();
  const runs = keys.map((specKey): CheckRun => {
    const checkId = ++last;
    running.set(checkId, { isSilent: specKey > 2 });
    return { checkId, specKey, dueAtMs, alone: false };
  });
  to.run(runs);
}

function take(outcomes: readonly CheckOutcome[]): void {
  for (const { checkId, verdict, latenessMs } of outcomes) {
    const isSilent = running.get(checkId)?.isSilent === true;
    running.delete(checkId);
    const counts = isSilent ? silent : others;
    counts[verdict] = (counts[verdict] ?? 0) + 1;
    if (isSilent) silentEnded++;
    else lateness.push(latenessMs);
  }
}

function spec(key: number, kind: CheckSpec["kind"], settings: CheckSpec["settings"]): CheckSpec {
  return { key, kind, settings, timeoutMs: order.timeoutMs };
}

/** Each server at an address of its own, with keys of its own. */
function configOf(index: number): string {
  const key = () => randomBytes(32).toString("base64");
  return `[Interface]\nPrivateKey = ${key()}\nAddress = 10.66.0.2/32\n[Peer]\nPublicKey = ${key()}\nEndpoint = 10.78.${index >> 8}.${index & 255}:51820\nAllowedIPs = 0.0.0.0/0\n`;
}

async function startTarget(name: string): Promise<number> {
  const target = fork(fileURLToPath(new URL(`../burst/${name}-target.js`, import.meta.url)));
  const [port]: number[] = await once(target, "message");
  return port ?? 0;
}
