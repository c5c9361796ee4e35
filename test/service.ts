/** A real `sonde up` in a process of its own, as an operator starts it: built files, settings by environment, banner read from stdout. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../testkit/free-port.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";

const SONDE = fileURLToPath(new URL("../dist/cli/sonde.js", import.meta.url));
/** Cold caches and two busy cores. */
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 30_000;

export interface ServiceSettings {
  /** Reused when given: a restart on the same data. */
  readonly dataDir?: string;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Another Node, or words before the script (`setpriv …`). */
  readonly command?: readonly string[];
  /** The built command line; ours when absent. */
  readonly script?: string;
}

export interface RunningService {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** Where the scheduler's metrics are, when it has a listener of its own. */
  readonly schedulerUrl?: string;
  readonly pid: number;
  /** Only on a first start. */
  readonly firstKey: string | null;
  readonly child: ChildProcess;
  /** Everything written so far. */
  output(): string;
  /** SIGTERM and the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, and the end. */
  kill(): Promise<void>;
}

const children = new Set<ChildProcess>();

/** Ends what a test left running; for afterAll. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...children].map((child) => ended(child, () => child.kill("SIGKILL"))));
}

/** Runs it and resolves with what it said, whether it starts or refuses. */
export async function runSonde(
  settings: ServiceSettings,
): Promise<{ child: ChildProcess; output: () => string; dataDir: string; port: number }> {
  const dataDir = settings.dataDir ?? join(temporaryFolder(), "data");
  const port = settings.port ?? (await freePort());
  const [command = process.execPath, ...before] = settings.command ?? [process.execPath];
  const child = spawn(command, [...before, settings.script ?? SONDE, ...(settings.args ?? ["up"])], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: dataDir,
      SONDE_PORT: String(port),
      SONDE_DATA_DIR: dataDir,
      SONDE_LOG: "info",
      ...settings.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  return { child, output: () => output, dataDir, port };
}

/** @throws when it ends, or says nothing of listening, within a minute */
export async function startService(settings: ServiceSettings = {}): Promise<RunningService> {
  const { child, output, dataDir, port } = await runSonde(settings);
  const banner = /Sonde listens on (\S+)\/api\/v1/;
  await until(() => banner.test(output()), child, output);
  return {
    url: banner.exec(output())?.[1] ?? "",
    port,
    dataDir,
    pid: child.pid ?? 0,
    firstKey: firstKeyOf(output()),
    child,
    output,
    stop: () => ended(child, () => child.kill("SIGTERM")),
    kill: async () => {
      await ended(child, () => child.kill("SIGKILL"));
    },
  };
}

/** Of a first start: its output names the file, because it is no terminal. */
function firstKeyOf(shown: string): string | null {
  const file = /^Key: kept in (.+)$/m.exec(shown)?.[1];
  return file === undefined ? null : readFileSync(file, "utf8").trim();
}

export function until(isTrue: () => boolean, child: ChildProcess, output: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void): void => {
      clearInterval(timer);
      clearTimeout(late);
      act();
    };
    const timer = setInterval(() => {
      if (isTrue()) finish(resolve);
      else if (child.exitCode !== null)
        finish(() => reject(new Error(`sonde ended with ${child.exitCode}: ${output()}`)));
    }, 20);
    const late = setTimeout(() => finish(() => reject(new Error(`sonde did not start: ${output()}`))), START_WITHIN_MS);
  });
}

/** Resolves with the exit code; kills what does not end in time. */
export function ended(child: ChildProcess, act: () => void): Promise<number | null> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
    child.once("exit", (code) => {
      clearTimeout(late);
      resolve(code);
    });
    act();
  });
}

/** Asks again until the answer will do: readiness instead of sleeps. */
export async function eventually<T>(look: () => Promise<T | undefined>, withinMs = 20_000): Promise<T> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`nothing came within ${withinMs} ms`);
    await pause(50);
  }
}
