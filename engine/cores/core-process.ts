/** One core process: it ends with this process, can read none of our data, gets its configs over stdin, and is ready when its port accepts a login. */
import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn } from "node:child_process";
import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { Announced, BrokerService, RefusedReach } from "../../native/sandbox/broker-service.ts";
import {
  type Confinement,
  holdHere,
  NOT_STARTED,
  type PreparedChild,
  type Program,
  prepareChild,
  REFUSED_HOLD,
} from "../../native/sandbox/confined.ts";
import { atUsualPriority } from "../../native/thread-priority.ts";
import { greeting, SocksReplies } from "../protocols/socks/client.ts";
import { cores } from "./choice.ts";
import { confinementOf } from "./confinement.ts";
import { type CoreEntry, IDENTITY_USER, LOCAL_HOST } from "./core.ts";
import { CoreLog } from "./core-log.ts";
import { type FoundCore, PROGRAMS } from "./program.ts";
import { targetsOf } from "./reach.ts";

export interface CoreProcess {
  readonly pid: number | undefined;
  readonly port: number;
  readonly log: CoreLog;
  /** Resolves when its port accepts our login. Rejects with CoreStartError. */
  readonly ready: Promise<void>;
  /** Signal name or exit code. Never rejects. */
  readonly ended: Promise<string>;
  /** Orders it to end. */
  end(): void;
  kill(): void;
  /** Whether its port still accepts our login: a core that hangs does not. */
  answers(): Promise<boolean>;
}

/** Ended or hung before it was ready. */
export class CoreStartError extends Error {
  override readonly name = "CoreStartError";
  /** What the core wrote to stderr: may hold a credential of a config. */
  readonly errorOutput: string;
  readonly kind: "ended" | "hangs" | "not-started";

  constructor(kind: "ended" | "hangs" | "not-started", errorOutput: string) {
    super(`the core ${kind === "hangs" ? "does not get ready" : "did not start"}`);
    this.kind = kind;
    this.errorOutput = errorOutput;
  }
}

export interface LaunchOptions {
  readonly found: FoundCore;
  readonly entries: readonly CoreEntry[];
  readonly isVerbose: boolean;
  readonly port: number;
  readonly identityPassword: string;
  readonly bounds: Bounds;
  /** Of bounds that are brokered; else it is not used. */
  readonly broker: BrokerService | null;
  /** It tried to reach what none of its configs names. */
  readonly onRefused: (refused: RefusedReach) => void;
  /** PEM of further roots; null: none. */
  readonly extraCaPem: string | null;
}

/**
 * How a core is held, from tight to loose. `held…`: by the kernel's means (confinement.ts), as a user of its own where we are root; `brokered…`: so,
 * and a broker makes its connections. Where these cannot be had, util-linux's setpriv takes its rights and lets it die with us; Node alone can
 * only make it another user.
 */
export type Bounds = "brokered-own-user" | "brokered" | "held-own-user" | "held" | "own-user" | "bound" | "loose";

const AS_ROOT: readonly Bounds[] = ["held-own-user", "held", "own-user", "bound", "loose"];
const AS_USER: readonly Bounds[] = ["held", "bound", "loose"];

/** A core with 1,500 configs is ready within 200 ms on a quiet machine; our choice, ms. */
const READY_TIMEOUT_MS = 15_000;
/** Pause between two logins while the core starts, ms: a tenth of the time that it has taken, within these bounds. */
const MIN_POLL_INTERVAL_MS = 4;
const MAX_POLL_INTERVAL_MS = 25;
const POLLS_PER_ELAPSED = 10;
/** Of one login; over loopback the answer comes at once, ms. */
const LOGIN_TIMEOUT_MS = 1_000;
/** A user and group id that no other program uses: from the range that systemd assigns to dynamic users, 61184 to 65519. */
export const OWN_ID = 64_913;
const FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/** As a descriptor, because a user of its own may not walk into the data folder. */
const PROGRAM_FD = 3;
/** How setpriv's message begins when it set the rights and could not run the program. */
const SETPRIV_NOT_STARTED = "setpriv: failed to execute";

let setpriv: string | null | undefined;

function findSetpriv(): string | null {
  setpriv ??= FOLDERS.map((folder) => join(folder, "setpriv")).find((path) => existsSync(path)) ?? null;
  return setpriv;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Confinements that this machine supports without a broker (core-broker.ts), the tightest first; never empty. */
export function boundsHere(): readonly Bounds[] {
  const all = isRoot() ? AS_ROOT : AS_USER;
  const [hasHold, hasSetpriv] = [holdHere() !== null, findSetpriv() !== null];
  return all.filter((bounds) => {
    if (bounds === "loose") return true;
    return bounds === "held" || bounds === "held-own-user" ? hasHold : hasSetpriv;
  });
}

/** Whether the kernel's means hold it. */
export function isHeld(bounds: Bounds): boolean {
  return bounds.startsWith("held") || bounds.startsWith("brokered");
}

/** Main thread only: the death signal belongs to the thread that started the child. */
export function launchCore(options: LaunchOptions): CoreProcess {
  const { found, port, identityPassword, entries, isVerbose, extraCaPem } = options;
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
  // A program that ends before it read its input reports the reason on stderr.
  child.stdin?.on("error", () => {});
  child.stdin?.end(core.render({ entries, port, identityPassword, isVerbose, extraCaPem }));
  const onOutput = (bytes: Buffer): void => log.push(bytes.toString("latin1"));
  child.stdout?.on("data", onOutput);
  child.stderr?.on("data", onOutput);
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
  const ready = untilReady(port, identityPassword, () => hasEnded).then((isUp) => {
    if (isUp) return;
    kill();
    if (startFault !== undefined) throw new CoreStartError("not-started", startFault);
    const lastOutput = log.lastWords();
    if (hasEnded && isNotStarted(lastOutput)) throw new CoreStartError("not-started", lastOutput);
    throw new CoreStartError(hasEnded ? "ended" : "hangs", lastOutput);
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
    answers: () => acceptsLogin(port, identityPassword),
  };
}

function start(options: LaunchOptions): ChildProcess | Error {
  const { found, bounds } = options;
  let fd: number | undefined;
  try {
    const spawned: SpawnOptions = { env: {}, cwd: "/", stdio: ["pipe", "pipe", "pipe"] };
    const args = [...PROGRAMS[found.engine].run];
    if (isRoot()) fd = openSync(found.path, "r");
    if (isHeld(bounds)) return startHeld(options, args, fd ?? null, spawned);
    if (fd === undefined) return spawnBound(found.path, args, bounds === "loose" ? null : [], spawned);
    const program = `/proc/self/fd/${PROGRAM_FD}`;
    const withProgram: SpawnOptions = { ...spawned, stdio: ["pipe", "pipe", "pipe", fd] };
    if (bounds === "loose")
      return atUsualPriority(() => spawn(program, args, { ...withProgram, uid: OWN_ID, gid: OWN_ID }));
    const identity = [
      `--reuid=${OWN_ID}`,
      `--regid=${OWN_ID}`,
      "--clear-groups",
      "--bounding-set=-all",
      "--inh-caps=-all",
    ];
    return spawnBound(program, args, bounds === "own-user" ? identity : [], withProgram);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function startHeld(
  { found: { engine, path }, entries, port, bounds, broker, onRefused }: LaunchOptions,
  args: readonly string[],
  descriptor: number | null,
  options: SpawnOptions,
): ChildProcess {
  const ownId = bounds.endsWith("own-user") ? OWN_ID : null;
  const isBrokered = bounds.startsWith("brokered");
  if (isBrokered && !isReadable(path, ownId))
    throw new Error(`${REFUSED_HOLD}its program is not readable for its user`);
  const confinement = confinementOf({ engine, path, entries, port, ownId, isBrokered });
  let core: ChildProcess | undefined;
  const onLost = (): void => void core?.kill("SIGKILL");
  const announced = isBrokered ? broker?.announce({ targets: targetsOf(entries), onRefused, onLost }) : undefined;
  try {
    const child = prepared(
      confinement,
      { path, descriptor, args, environment: PROGRAMS[engine].environment },
      announced,
    );
    try {
      const stdio: StdioOptions = ["pipe", "pipe", "pipe", ...child.descriptors];
      core = atUsualPriority(() => spawn(child.file, [], { ...options, stdio }));
    } finally {
      child.close();
    }
    core.once("close", () => announced?.forget());
    return core;
  } catch (error) {
    announced?.forget();
    throw error;
  }
}

/** The memory of a process whose program its user cannot read is closed to the broker (execve(2), prctl(2) PR_SET_DUMPABLE). */
function isReadable(path: string, ownId: number | null): boolean {
  const { mode } = statSync(path);
  if (ownId !== null) return (mode & constants.S_IROTH) !== 0;
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** @throws Error that isRefusedBound() knows */
function prepared(confinement: Confinement, program: Program, announced: Announced | undefined): PreparedChild {
  try {
    return prepareChild(confinement, program, announced);
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
  if (rights === null || path === null) return atUsualPriority(() => spawn(program, [...args], options));
  const words = [...rights, "--no-new-privs", "--pdeathsig", "KILL", "--", program, ...args];
  return atUsualPriority(() => spawn(path, words, options));
}

/** Whether the confinement failed and not the core: for example an old setpriv, or a container that forbids it. */
export function isRefusedBound(errorOutput: string): boolean {
  const trimmed = errorOutput.trimStart();
  return (
    trimmed.startsWith(REFUSED_HOLD) || (trimmed.startsWith("setpriv:") && !trimmed.startsWith(SETPRIV_NOT_STARTED))
  );
}

/** Whether the program file could not be run. */
function isNotStarted(errorOutput: string): boolean {
  const trimmed = errorOutput.trimStart();
  return trimmed.startsWith(NOT_STARTED) || trimmed.startsWith(SETPRIV_NOT_STARTED);
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
async function untilReady(port: number, identityPassword: string, hasEnded: () => boolean): Promise<boolean> {
  const sinceMs = performance.now();
  for (let tookMs = 0; !hasEnded() && tookMs < READY_TIMEOUT_MS; tookMs = performance.now() - sinceMs) {
    if (await acceptsLogin(port, identityPassword)) return !hasEnded();
    const pauseMs = Math.min(MAX_POLL_INTERVAL_MS, Math.max(MIN_POLL_INTERVAL_MS, tookMs / POLLS_PER_ELAPSED));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return false;
}

/** Only the core that received the password accepts IDENTITY_USER, so an accepted login proves that our core listens there. */
function acceptsLogin(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOCAL_HOST, port });
    const replies = new SocksReplies(["method", "login"]);
    const end = (isAccepted: boolean): void => {
      socket.destroy();
      resolve(isAccepted);
    };
    socket.setTimeout(LOGIN_TIMEOUT_MS, () => end(false));
    socket.on("error", () => end(false));
    socket.on("end", () => end(false));
    socket.on("connect", () => socket.write(greeting(IDENTITY_USER, password)));
    socket.on("data", (bytes) => {
      const read = replies.push(bytes);
      if (read.kind === "refused") end(false);
      else if (read.kind === "done") end(true);
    });
  });
}
