/** The service under test: the built command line in a process of its own, with limits lifted and one port of loopback opened. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "../../cli/client.ts";
import { proportionalMiBOf, type TreeUse, useOf } from "../process-tree.ts";

/** The built command line. */
export const SONDE = fileURLToPath(new URL("../../cli/sonde.js", import.meta.url));
const START_WITHIN_MS = 30_000;

/** One process, or several that are one service. */
export interface RunningSonde {
  readonly key: string;
  readonly client: Client;
  /** CPU time and memory of all its processes. */
  use(): TreeUse;
  /** Memory of all its processes, shared pages counted once. */
  proportionalMiB(): number;
  /** Prometheus text of the process that counts checks. */
  metrics(): Promise<string>;
  /** What it wrote to its log so far. */
  output(): string;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export interface ServiceUnderTest extends RunningSonde {
  readonly pid: number;
  /** Ends it and starts it again on the same data. */
  restart(): Promise<ServiceUnderTest>;
}

type Environment = Readonly<Record<string, string>>;

/** @param allowNets what the guard opens · @param nodeArgs words for Node itself · @param env further settings */
export function startServiceUnderTest(
  allowNets: string,
  nodeArgs: readonly string[] = [],
  env: Environment = {},
): Promise<ServiceUnderTest> {
  return startIn(mkdtempSync(join(tmpdir(), "sonde-bench-")), allowNets, nodeArgs, env);
}

async function startIn(
  folder: string,
  allowNets: string,
  nodeArgs: readonly string[],
  env: Environment,
): Promise<ServiceUnderTest> {
  const dataDir = join(folder, "data");
  const settings = { ...settingsUnderTest(folder, allowNets), SONDE_PORT: "0", SONDE_DATA_DIR: dataDir, ...env };
  const sonde = await startSonde(["up"], settings, API_BANNER, nodeArgs);
  return {
    ...(await reached(sonde, dataDir)),
    pid: sonde.pid,
    use: () => useOf(sonde.pid),
    proportionalMiB: () => proportionalMiBOf(sonde.pid),
    async stop() {
      await sonde.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    async restart() {
      await sonde.stop();
      return startIn(folder, allowNets, nodeArgs, env);
    },
  };
}

/** Without limits on requests and intervals, and nothing asked but the targets. */
export function settingsUnderTest(folder: string, allowNets: string): Environment {
  const plans = join(folder, "plans.json");
  const unlimited = { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null };
  writeFileSync(plans, JSON.stringify({ business: { ...unlimited, shortestIntervalS: 1 } }));
  return { SONDE_PLANS: plans, SONDE_ALLOW_NETS: allowNets, SONDE_CANARIES: "", SONDE_LOG: "warn" };
}

export interface SondeProcess {
  readonly pid: number;
  /** What its banner said. */
  readonly banner: RegExpExecArray;
  output(): string;
  /** SIGTERM, and its end. */
  stop(): Promise<void>;
}

/** A command of the built command line that keeps running. @param banner what it prints when it works */
export async function startSonde(
  words: readonly string[],
  settings: Environment,
  banner: RegExp,
  nodeArgs: readonly string[] = [],
): Promise<SondeProcess> {
  const child = spawn(process.execPath, [...nodeArgs, SONDE, ...words], {
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const found = await said(
    child,
    () => banner.exec(output),
    () => output,
  );
  return { pid: child.pid ?? 0, banner: found, output: () => output, stop: () => ended(child) };
}

/** Of `sonde up` and `sonde api`: the address and the project. */
export const API_BANNER = /listens on (\S+)\/api\/v1\n(?:.*\n)*?Project: (\S+)\n/;

/** The API of a process that printed the banner, with the first key in its data folder. */
export async function reached(
  { banner, output }: SondeProcess,
  dataDir: string,
): Promise<Pick<RunningSonde, "key" | "client" | "output" | "metrics">> {
  const [, url = "", project = ""] = banner;
  const key = readFileSync(join(dataDir, "owner.key"), "utf8").trim();
  const client = await connect({ url, key, project });
  return { key, client, output, metrics: async () => (await fetch(`${client.url}/metrics`)).text() };
}

function said<T>(child: ChildProcess, look: () => T | null, output: () => string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      const found = look();
      if (found !== null) finish(() => resolve(found));
      else if (child.exitCode !== null) finish(() => reject(new Error(`the service ended: ${output()}`)));
    }, 20);
    const late = setTimeout(
      () => finish(() => reject(new Error(`the service did not start: ${output()}`))),
      START_WITHIN_MS,
    );
    function finish(act: () => void): void {
      clearInterval(timer);
      clearTimeout(late);
      act();
    }
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
