/** The service under test: the built command line in a process of its own, with limits lifted and one port of loopback opened. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "../../cli/client.ts";

const SONDE = fileURLToPath(new URL("../../cli/sonde.js", import.meta.url));
const START_WITHIN_MS = 30_000;

export interface ServiceUnderTest {
  readonly pid: number;
  readonly key: string;
  readonly client: Client;
  /** What it wrote to its log so far. */
  output(): string;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
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
  const plans = join(folder, "plans.json");
  const unlimited = { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null };
  writeFileSync(plans, JSON.stringify({ business: { ...unlimited, shortestIntervalS: 1 } }));
  const dataDir = join(folder, "data");
  const child = spawn(process.execPath, [...nodeArgs, SONDE, "up"], {
    env: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      SONDE_PORT: "0",
      SONDE_DATA_DIR: dataDir,
      SONDE_PLANS: plans,
      SONDE_ALLOW_NETS: allowNets,
      SONDE_CANARIES: "",
      SONDE_LOG: "warn",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  const banner = /listens on (\S+)\/api\/v1\nProject: (\S+)\n/;
  const [, url = "", project = ""] = await said(
    child,
    () => banner.exec(output),
    () => output,
  );
  const key = readFileSync(join(dataDir, "owner.key"), "utf8").trim();
  return {
    pid: child.pid ?? 0,
    key,
    client: await connect({ url, key, project }),
    output: () => output,
    async stop() {
      await ended(child);
      rmSync(folder, { recursive: true, force: true });
    },
    async restart() {
      await ended(child);
      return startIn(folder, allowNets, nodeArgs, env);
    },
  };
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
