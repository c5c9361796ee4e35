/** Private servers for tests: started from the machine's packages, in a folder of their own, gone when the test process is. */
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A server that could not be brought up here because something is not installed. */
export interface Missing {
  readonly missing: string;
}

/** @returns the first executable of that name on the PATH */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface ServerProcess {
  readonly child: ChildProcess;
  /** What it said so far, for the message of a failed start. */
  output(): string;
  /** Ends it and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a server that dies with us, also when we are killed (`setpriv --pdeathsig`).
 * @param options.user runs it as that user; only root can
 */
export function startServer(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly user?: string },
): ServerProcess {
  const setpriv = findProgram("setpriv");
  const asUser =
    options.user === undefined ? [] : [`--reuid=${options.user}`, `--regid=${options.user}`, "--init-groups"];
  // The signal comes last: changing the user clears it.
  const command = setpriv === undefined ? [program] : [setpriv, ...asUser, "--pdeathsig", "KILL", "--", program];
  const [first = program, ...rest] = command;
  const child = spawn(first, [...rest, ...args], { cwd: options.cwd, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const listen = (chunk: Buffer): void => {
    said = (said + chunk.toString()).slice(-4_000);
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      said += String(error);
      resolve();
    });
    child.once("exit", () => resolve());
  });
  return {
    child,
    output: () => said,
    async stop(signal = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    },
  };
}

/** Asks until the answer comes; a server that has ended is not asked again. */
export async function untilReady(server: ServerProcess, ask: () => Promise<void>, withinMs = 30_000): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      const isGone = server.child.exitCode !== null || server.child.signalCode !== null;
      if (isGone || performance.now() > deadlineMs) {
        await server.stop("SIGKILL");
        throw new Error(`${server.child.spawnfile} did not come up: ${String(error)}\n${server.output()}`);
      }
      await pause(25);
    }
  }
}
