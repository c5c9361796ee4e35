/** One run of the front as a child process: starts it (confinement.ts), sends its settings, reads its events, and ends it with this process. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { NOT_STARTED, type PreparedChild, prepareChild, REFUSED_HOLD } from "../../../native/sandbox/confined.ts";
import { confinementOf } from "./confinement.ts";
import type { FrontConfig, FrontEvent } from "./front.ts";

export interface FrontProcess {
  readonly pid: number | undefined;
  /** The port, once it takes connections there. Rejects with FrontError when it ends before. */
  readonly listening: Promise<number>;
  /** It answers. Rejects with FrontError when it ends before. */
  readonly ready: Promise<void>;
  /** How it ended, in words. Never rejects. */
  readonly ended: Promise<string>;
  /** Orders it to stop; it answers what it can and ends. */
  stop(): void;
  kill(): void;
}

export interface LaunchOptions {
  readonly config: FrontConfig;
  readonly frontFile: URL;
  readonly how: Start;
  readonly log: Logger;
  readonly onDisk: (isFull: boolean, freeBytes: number) => void;
}

/**
 * Held by the kernel's means (confinement.ts); or by util-linux's setpriv only so that it dies with us; or not at all: then only the end of stdin
 * shows it that we died.
 */
export type Start =
  | { readonly by: "hold" }
  | { readonly by: "setpriv"; readonly program: string }
  | { readonly by: "none" };

export class FrontError extends Error {
  override readonly name = "FrontError";
  /** Its own error, e.g. EADDRINUSE; `START` when it cannot be started in this way here; empty otherwise. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** The child gets nothing of our environment. Its connections hold a thread of libuv's pool each while they work. */
const CHILD_ENV = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  UV_THREADPOOL_SIZE: "8",
  // mallopt(3): bodies of inserts are megabytes, and come in pieces of 64 KiB, which go back to the kernel when they are freed.
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "65536",
  MALLOC_TRIM_THRESHOLD_: "1048576",
  // jemalloc(3), the engine's own heap: no samples for a profiler that is never asked. Each of its thirty threads would keep up to 200 freed
  // pieces of each size, and pieces of up to 32 KiB. All share one arena, as they seldom allocate at the same moment; what an insert or a merge has
  // freed goes back after half a second, before the next one begins. At once would cost a read a fifth more.
  JE_MALLOC_CONF:
    "prof:false,tcache_max:4096,tcache_nslots_small_min:4,tcache_nslots_small_max:20,lg_tcache_nslots_mul:-1,percpu_arena:disabled,narenas:1,dirty_decay_ms:500",
};
/** JavaScript of the front needs little; the engine's memory is not V8's. */
const NODE_FLAGS = ["--max-old-space-size=256"];
/** Lines of stderr that are kept for the message when it ends. */
const KEPT_WORDS = 5;

/** Main thread only: the death signal belongs to the thread that started the child. */
export function launchFront({ config, frontFile, how, log, onDisk }: LaunchOptions): FrontProcess {
  const command = [process.execPath, ...NODE_FLAGS, fileURLToPath(frontFile)];
  const child = start(how, command, { config, frontFile });
  giveWay(child);
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${JSON.stringify(config)}\n`);
  const words = hearWords(child, log);
  let failure: { reason: string; code: string } | undefined;

  const ended = new Promise<string>((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      failure ??= {
        reason: `cannot start ${child.spawnfile} (${error.code})`,
        code: how.by === "setpriv" && error.code === "ENOENT" ? "START" : (error.code ?? ""),
      };
      resolve(failure.reason);
    });
    child.once("close", (code, signal) => {
      const last = words.at(-1);
      if (last !== undefined && isOfStart(last)) failure ??= { reason: last, code: "START" };
      resolve(failure?.reason ?? `${signal ?? `exit code ${code}`}${last === undefined ? "" : `: ${last}`}`);
    });
  });
  let onListening: (port: number) => void = () => undefined;
  let onReady: () => void = () => undefined;
  const failed = ended.then((reason) => Promise.reject(new FrontError(reason, failure?.code ?? "")));
  const listening = Promise.race([failed, new Promise<number>((resolve) => (onListening = resolve))]);
  const ready = Promise.race([failed, new Promise<void>((resolve) => (onReady = resolve))]);
  for (const either of [listening, ready]) either.catch(() => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as FrontEvent;
    if (event.type === "listening") onListening(event.port);
    else if (event.type === "ready") onReady();
    else if (event.type === "failed") failure = event;
    else onDisk(event.isFull, event.freeBytes);
  });

  return {
    pid: child.pid,
    listening,
    ready,
    ended,
    stop: () => void child.stdin.end(),
    kill: () => void child.kill("SIGKILL"),
  };
}

/** Of 20: readers and merges have a tenth of a core that checks want too, and all of one that they do not. */
const NICENESS = 10;

/** Its threads get the niceness of the one that starts them. */
function giveWay({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, Math.max(NICENESS, getPriority(pid)));
  } catch {
    // It has ended already, and its end was reported.
  }
}

function start(
  how: Start,
  command: readonly string[],
  { config: { dir, port }, frontFile }: Pick<LaunchOptions, "config" | "frontFile">,
): ChildProcessWithoutNullStreams {
  const [file = "", ...args] = command;
  if (how.by === "setpriv")
    return spawn(how.program, ["--pdeathsig", "KILL", "--", ...command], { env: CHILD_ENV, stdio: "pipe" });
  if (how.by === "none") return spawn(file, args, { env: CHILD_ENV, stdio: "pipe" });
  const environment = Object.entries(CHILD_ENV).map(([name, value]) => `${name}=${value}`);
  let child: PreparedChild;
  try {
    child = prepareChild(confinementOf({ dir, port, frontFile }), { path: file, descriptor: null, args, environment });
  } catch (error) {
    throw new FrontError(error instanceof Error ? error.message : String(error), "START");
  }
  try {
    const stdio: StdioOptions = ["pipe", "pipe", "pipe", ...child.descriptors];
    return spawn(child.file, [], { env: {}, stdio }) as ChildProcessWithoutNullStreams;
  } finally {
    child.close();
  }
}

/** Whether the text comes from the program that starts the front, and not from the front. */
function isOfStart(words: string): boolean {
  return [REFUSED_HOLD, NOT_STARTED, "setpriv:"].some((beginning) => words.startsWith(beginning));
}

function hearWords(child: ChildProcess, log: Logger): readonly string[] {
  const words: string[] = [];
  if (child.stderr === null) return words;
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (line.trim() === "") return;
    words.push(line);
    if (words.length > KEPT_WORDS) words.shift();
    log.warn({ line }, "results: the embedded ClickHouse says");
  });
  return words;
}
