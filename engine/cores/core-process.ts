/** One core process: it ends with this process, can read none of our data, gets its configs over stdin, and is ready when its port accepts a login. */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import {
  type Confinement,
  holdHere,
  NOT_STARTED,
  type PreparedChild,
  type Program,
  prepareChild,
  REFUSED_HOLD,
} from "../../native/sandbox/confined.ts";
import { greeting, SocksReplies } from "../protocols/socks/client.ts";
import { cores } from "./choice.ts";
import { confinementOf } from "./confinement.ts";
import { type CoreEntry, DOOR, LOCAL_HOST } from "./core.ts";
import { CoreLog } from "./core-log.ts";
import { type FoundCore, PROGRAMS } from "./program.ts";

export interface CoreProcess {
  readonly pid: number | undefined;
  readonly port: number;
  readonly log: CoreLog;
  /** Its port lets us in. Rejects with CoreStartError. */
  readonly ready: Promise<void>;
  /** How it ended, in words. Never rejects. */
  readonly ended: Promise<string>;
  /** Orders it to end. */
  end(): void;
  kill(): void;
  /** Whether its port still lets us in: one that hangs does not. */
  answers(): Promise<boolean>;
}

/** Ended or hung before it was ready. */
export class CoreStartError extends Error {
  override readonly name = "CoreStartError";
  /** What the core said: may hold a credential of a config. */
  readonly complaint: string;
  readonly kind: "ended" | "hangs" | "not-started";

  constructor(kind: "ended" | "hangs" | "not-started", complaint: string) {
    super(`the core ${kind === "hangs" ? "does not get ready" : "did not start"}`);
    this.kind = kind;
    this.complaint = complaint;
  }
}

export interface LaunchOptions {
  readonly found: FoundCore;
  readonly entries: readonly CoreEntry[];
  readonly isTalkative: boolean;
  readonly port: number;
  readonly doorPassword: string;
  readonly bounds: Bounds;
  /** PEM of further roots; null: none. */
  readonly extraCaPem: string | null;
}

/**
 * How a core is held, from tight to loose. `held…`: by the kernel's means (confinement.ts), as a user of its own where we are root. Where these
 * cannot be had, util-linux's setpriv takes its rights and lets it die with us; Node alone can only make it another user.
 */
export type Bounds = "held-own-user" | "held" | "own-user" | "bound" | "loose";

const AS_ROOT: readonly Bounds[] = ["held-own-user", "held", "own-user", "bound", "loose"];
const AS_USER: readonly Bounds[] = ["held", "bound", "loose"];

/** A core with 1,500 configs is ready within 200 ms on a quiet machine; our choice, ms. */
const READY_WITHIN_MS = 15_000;
/** Between two looks at its port, ms: a tenth of what it has taken by now, within these. */
const LOOK_EVERY_MS = 4;
const LOOK_AT_LEAST_EVERY_MS = 25;
const LOOKS_PER_TIME = 10;
/** One look; the kernel of this machine answers at once, ms. */
const LOOK_WITHIN_MS = 1_000;
/** A user and group id that no other program uses: from the range that systemd assigns to dynamic users, 61184 to 65519. */
const OWN_ID = 64_913;
const FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/** As a descriptor, because a user of its own may not walk into the data folder. */
const PROGRAM_FD = 3;
/** How setpriv begins when it did all and there is no such program. */
const SETPRIV_NOT_STARTED = "setpriv: failed to execute";

let setpriv: string | null | undefined;

function findSetpriv(): string | null {
  setpriv ??= FOLDERS.map((folder) => join(folder, "setpriv")).find((path) => existsSync(path)) ?? null;
  return setpriv;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** What can be tried here, the tightest first; never empty. */
export function boundsHere(): readonly Bounds[] {
  const all = isRoot() ? AS_ROOT : AS_USER;
  const [hasHold, hasSetpriv] = [holdHere() !== null, findSetpriv() !== null];
  return all.filter((bounds) => {
    if (bounds === "loose") return true;
    return bounds === "held" || bounds === "held-own-user" ? hasHold : hasSetpriv;
  });
}

/** Main thread only: the death signal belongs to the thread that started the child. */
export function launchCore(options: LaunchOptions): CoreProcess {
  const { found, port, doorPassword, entries, isTalkative, extraCaPem } = options;
  const core = cores[found.engine];
  const log = new CoreLog(core.explain);
  const started = start(options);
  if (started instanceof Error) {
    const failed = Promise.reject<void>(new CoreStartError("not-started", started.message));
    failed.catch(() => {});
    const ended = Promise.resolve(started.message);
    const nothing = (): void => {};
    return { pid: undefined, port, log, ready: failed, ended, end: nothing, kill: nothing, answers: async () => false };
  }
  const child = started;
  // A program that ends before it has read says why by its words.
  child.stdin?.on("error", () => {});
  child.stdin?.end(core.render({ entries, port, doorPassword, isTalkative, extraCaPem }));
  const hear = (bytes: Buffer): void => log.push(bytes.toString("latin1"));
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  let hasEnded = false;
  let startFault: string | undefined;
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => {
      startFault ??= error.message;
      hasEnded = true;
      resolve(error.message);
    });
    child.once("close", (code, signal) => {
      hasEnded = true;
      resolve(signal ?? `exit code ${code}`);
    });
  });
  const kill = (): void => void child.kill("SIGKILL");
  const ready = untilReady(port, doorPassword, () => hasEnded).then((isUp) => {
    if (isUp) return;
    kill();
    if (startFault !== undefined) throw new CoreStartError("not-started", startFault);
    const words = log.lastWords();
    if (hasEnded && isNotStarted(words)) throw new CoreStartError("not-started", words);
    throw new CoreStartError(hasEnded ? "ended" : "hangs", words);
  });
  ready.catch(() => {});
  return {
    pid: child.pid,
    port,
    log,
    ready,
    ended,
    end: () => void child.kill("SIGTERM"),
    kill,
    answers: () => isLetIn(port, doorPassword),
  };
}

function start(options: LaunchOptions): ChildProcess | Error {
  const { found, bounds } = options;
  let fd: number | undefined;
  try {
    const spawned: SpawnOptions = { env: {}, cwd: "/", stdio: ["pipe", "pipe", "pipe"] };
    const args = [...PROGRAMS[found.engine].run];
    if (isRoot()) fd = openSync(found.path, "r");
    if (bounds === "held" || bounds === "held-own-user") return startHeld(options, args, fd ?? null, spawned);
    if (fd === undefined) return spawnBound(found.path, args, bounds === "loose" ? null : [], spawned);
    const program = `/proc/self/fd/${PROGRAM_FD}`;
    const withProgram: SpawnOptions = { ...spawned, stdio: ["pipe", "pipe", "pipe", fd] };
    if (bounds === "loose") return spawn(program, args, { ...withProgram, uid: OWN_ID, gid: OWN_ID });
    const own = [`--reuid=${OWN_ID}`, `--regid=${OWN_ID}`, "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"];
    return spawnBound(program, args, bounds === "own-user" ? own : [], withProgram);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function startHeld(
  { found: { path }, entries, port, bounds }: LaunchOptions,
  args: readonly string[],
  descriptor: number | null,
  options: SpawnOptions,
): ChildProcess {
  const ownId = bounds === "held-own-user" ? OWN_ID : null;
  const child = prepared(confinementOf({ path, entries, port, ownId }), { path, descriptor, args, environment: [] });
  try {
    return spawn(child.file, [], { ...options, stdio: ["pipe", "pipe", "pipe", ...child.descriptors] });
  } finally {
    child.close();
  }
}

/** @throws Error that isRefusedBound() knows */
function prepared(confinement: Confinement, program: Program): PreparedChild {
  try {
    return prepareChild(confinement, program);
  } catch (error) {
    throw new Error(`${REFUSED_HOLD}${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** @param rights further words for setpriv; null: without it */
export function spawnBound(
  program: string,
  args: readonly string[],
  rights: readonly string[] | null,
  options: SpawnOptions,
): ChildProcess {
  const path = findSetpriv();
  if (rights === null || path === null) return spawn(program, [...args], options);
  return spawn(path, [...rights, "--no-new-privs", "--pdeathsig", "KILL", "--", program, ...args], options);
}

/** Whether what ended was not the core, but what was to hold it: a setpriv that is older than we think, or a container that forbids this. */
export function isRefusedBound(complaint: string): boolean {
  const said = complaint.trimStart();
  return said.startsWith(REFUSED_HOLD) || (said.startsWith("setpriv:") && !said.startsWith(SETPRIV_NOT_STARTED));
}

/** Whether there was no core to become. */
function isNotStarted(complaint: string): boolean {
  const said = complaint.trimStart();
  return said.startsWith(NOT_STARTED) || said.startsWith(SETPRIV_NOT_STARTED);
}

/** A port that is free now. What takes it before the core does is seen by the core, which then ends. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port: 0, host: LOCAL_HOST, exclusive: true }, () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === "object" && address !== null) resolve(address.port);
        else reject(new Error("no port on loopback"));
      });
    });
  });
}

/** Resident memory, bytes; 0 where the kernel does not tell. */
export function residentBytes(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    // Linux proc(5): pages, the second is resident.
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1] ?? 0) * 4_096;
  } catch {
    return 0;
  }
}

/** A process that has ended and was not waited for yet is a zombie (Linux proc(5), stat). */
export function isGone(pid: number | undefined): boolean {
  if (pid === undefined) return true;
  try {
    return /^[ZX]/.test(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, ""));
  } catch {
    return existsSync("/proc/self/stat");
  }
}

/** @returns false when it has ended, or takes too long */
async function untilReady(port: number, doorPassword: string, hasEnded: () => boolean): Promise<boolean> {
  const sinceMs = performance.now();
  for (let tookMs = 0; !hasEnded() && tookMs < READY_WITHIN_MS; tookMs = performance.now() - sinceMs) {
    if (await isLetIn(port, doorPassword)) return !hasEnded();
    const pauseMs = Math.min(LOOK_AT_LEAST_EVERY_MS, Math.max(LOOK_EVERY_MS, tookMs / LOOKS_PER_TIME));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return false;
}

/** Only the core that received the password accepts user DOOR, so an accepted login proves that our core listens there. */
function isLetIn(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOCAL_HOST, port });
    const replies = new SocksReplies(["method", "login"]);
    const end = (isIn: boolean): void => {
      socket.destroy();
      resolve(isIn);
    };
    socket.setTimeout(LOOK_WITHIN_MS, () => end(false));
    socket.on("error", () => end(false));
    socket.on("end", () => end(false));
    socket.on("connect", () => socket.write(greeting(DOOR, password)));
    socket.on("data", (bytes) => {
      const read = replies.push(bytes);
      if (read.kind === "refused") end(false);
      else if (read.kind === "done") end(true);
    });
  });
}
