/**
 * What every tunnel bench stands in: two network namespaces of our own joined by one cable, a real server process in the one, and in the
 * other one thread of ours (load.ts) that checks as a prober does. Needs root and ip; what the server needs is its bench's own business.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { conditions } from "../parts/conditions.ts";
import type { LoadOrder, LoadReport } from "./load.ts";

const LOAD = fileURLToPath(new URL("./load.js", import.meta.url));

/** Of the command line; a bench that they mean nothing to leaves them. */
export interface TunnelBenchOptions {
  /** Clients that the server knows. */
  readonly peers: number;
  /** In each round. */
  readonly checks: number;
  readonly inFlight: number;
  readonly rounds: number;
  /** Native sockets and Node's own in turn, instead of native ones alone. */
  readonly compare: boolean;
  /** Where the checking process writes a CPU profile of itself; null: nowhere. */
  readonly profileDir: string | null;
}

/** The outer network, and a folder that goes with it. */
export interface BenchLab {
  readonly folder: string;
  /** Namespace of the server, with SERVER_IP; wherever inner addresses lead is the bench's business. */
  readonly server: string;
  /** Namespace of the checking side. */
  readonly client: string;
  /** Starts a program as a server; it dies with this process, and its CPU time is printed beside ours. */
  spawn(...words: readonly string[]): void;
  /** Of the programs started so far. */
  readonly serverPids: readonly number[];
  /** Called at the end, in reverse order, whatever happened. */
  onClose(close: () => unknown): void;
}

export const SERVER_IP = "10.77.0.1";
const CLIENT_IP = "10.77.0.2";
/** Until a server is up: 600 looks, 50 ms apart. */
const START_LOOKS = 600;
const LOOK_EVERY_MS = 50;
let labs = 0;

/** A server that is brought up once and checked in rounds. */
export interface TunnelBench {
  /** For people: which server, how many clients. */
  describe(options: TunnelBenchOptions): string;
  /** Checks a second on one thread that the bench compares with. */
  readonly goalPerS: number;
  /** Brings the server up until it answers. */
  start(lab: BenchLab, options: TunnelBenchOptions): Promise<Pick<LoadOrder, "kind" | "settings" | "targets">>;
}

/** Rounds of checks with so many in flight, then the latency with one in flight against 200. */
export async function measureTunnel(bench: TunnelBench, options: TunnelBenchOptions): Promise<void> {
  await withLab(async (lab) => {
    const clients = await bench.start(lab, options);
    console.log(
      `${bench.describe(options)}; goal ${bench.goalPerS}/s\n  ${conditions()}; one thread of ours, two namespaces`,
    );
    const { checks, inFlight, rounds } = options;
    const { serverPids } = lab;
    for (const isNative of options.compare ? [true, false, true, false] : [true]) {
      if (options.compare) console.log(isNative ? "  native sockets" : "  Node's own sockets");
      await load(lab, { ...clients, checks, inFlight, rounds, isNative, serverPids }, options.profileDir);
    }
  });
}

/** Removes it at the end, and when it is interrupted. */
export async function withLab(work: (lab: BenchLab) => Promise<void>): Promise<void> {
  const name = `${process.pid}-${++labs}`;
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const closeAll = (): void => {
    for (const close of closers.splice(0).reverse()) close();
  };
  const interrupted = (): void => {
    closeAll();
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupted);
  try {
    const names = { client: `sonde-bc-${name}`, server: `sonde-bs-${name}` };
    buildNetwork(names, closers);
    const serverPids: number[] = [];
    await work({
      serverPids,
      folder,
      ...names,
      onClose: (close) => closers.push(close),
      spawn(...words) {
        const within = ["--pdeathsig", "KILL", "--", "ip", "netns", "exec", names.server];
        const child = spawn("setpriv", [...within, ...words], { stdio: "ignore" });
        if (child.pid !== undefined) serverPids.push(child.pid);
        closers.push(() => child.kill("SIGKILL"));
      },
    });
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeListener(signal, interrupted);
    closeAll();
  }
}

function buildNetwork(names: { readonly client: string; readonly server: string }, closers: (() => unknown)[]): void {
  for (const name of Object.values(names)) {
    ip("netns", "add", name);
    closers.push(() => ip("netns", "del", name));
    ip("-n", name, "link", "set", "lo", "up");
  }
  ip("-n", names.server, "link", "add", "way", "type", "veth", "peer", "name", "way", "netns", names.client);
  for (const [name, address] of [
    [names.server, SERVER_IP],
    [names.client, CLIENT_IP],
  ] as const) {
    ip("-n", name, "address", "add", `${address}/24`, "dev", "way");
    ip("-n", name, "link", "set", "way", "up");
  }
}

/** Asks until it is so. @throws when it never is */
export async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; looks < START_LOOKS; looks++) {
    if (isSo()) return;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error("the server does not come up");
}

export function ip(...words: string[]): void {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
}

async function load(lab: BenchLab, order: LoadOrder, profileDir: string | null): Promise<void> {
  const profile = profileDir === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
  const words = ["netns", "exec", lab.client, process.execPath, ...process.execArgv, ...profile, LOAD];
  const child = spawn("ip", words, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(order));
  lab.onClose(() => child.kill("SIGKILL"));
  createInterface(child.stdout).on("line", (line) => print(JSON.parse(line)));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the load ended with ${code}`);
}

function print({
  name,
  perS,
  perCpuS,
  serverCores,
  systemShare,
  failed,
  failure,
  latencyP50Ms,
  latencyP99Ms,
  rssMb,
}: LoadReport): void {
  // A server that takes 7 ms for each cannot do more than 140/s on the core that is left to it.
  const serverMs = (serverCores / perS) * 1_000;
  const failures = failed === 0 ? "none failed" : `${failed} FAILED (${failure})`;
  console.log(
    `  ${name.padEnd(32)} ${perS.toFixed(0)}/s, ${perCpuS.toFixed(0)} per CPU second (${Math.round(systemShare * 100)} % kernel), server ${serverCores.toFixed(2)} cores (${serverMs.toFixed(2)} ms a check), latency p50 ${latencyP50Ms.toFixed(2)} ms, p99 ${latencyP99Ms.toFixed(2)} ms, ${rssMb} MB, ${failures}`,
  );
}
