/**
 * Bounds V8's young heap of the main thread. V8 gives it up to 48 MiB, and has no call that bounds it once the process runs: only a word of the process's start
 * does. So a service starts itself again with that word, in the same process (execve(2): its number, its parent and its open streams stay).
 */
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";

/** A semi-space, MiB: V8's young heap is three of them. V8's own is 16. Our choice: 4 was measured beside 16 (docs/develop/cost.md), no other size was. */
const SEMI_SPACE_MIB = 4;
const FLAG = "--max-semi-space-size";
/** fcntl(2): sets the flags of a descriptor; 0 leaves it open. */
const F_SETFD = 2;

export interface ProcessStart {
  readonly platform: string;
  readonly execPath: string;
  readonly execArgv: readonly string[];
  /** Without the program's. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether a parent talks with it through Node's channel, which does not outlast execve(). */
  readonly hasChannel: boolean;
}

/**
 * To be called before anything is opened. Where it cannot be done the service runs with V8's own bound.
 * @param script what Node runs
 */
export function boundYoungHeap(script: string): void {
  const words = wordsOf(script, {
    platform: process.platform,
    execPath: process.execPath,
    execArgv: process.execArgv,
    args: process.argv.slice(2),
    env: process.env,
    hasChannel: process.connected,
  });
  // The flag would count for threads that start later, too; those have bounds of their own.
  if (words === null) setFlagsFromString(`${FLAG}=0`);
  else replaceProcess(words);
}

/** @returns the words to start with; null: it was started with them, or cannot be started again */
export function wordsOf(script: string, start: ProcessStart): readonly string[] | null {
  const { platform, execPath, execArgv, args, env, hasChannel } = start;
  if (platform !== "linux" || hasChannel) return null;
  if ([...execArgv, env.NODE_OPTIONS ?? ""].some((word) => /--max[-_]semi[-_]space[-_]size/.test(word))) return null;
  return [execPath, `${FLAG}=${SEMI_SPACE_MIB}`, ...execArgv, script, ...args];
}

/** Returns only when it fails. */
function replaceProcess(words: readonly string[]): void {
  const env = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
  try {
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    const libc = koffi.load(null);
    const execve = libc.func("int execve(const char *, const char **, const char **)");
    const fcntl = libc.func("int fcntl(int, int, int)");
    // Node has the three standard streams closed by execve().
    for (const stream of [0, 1, 2]) fcntl(stream, F_SETFD, 0);
    execve(words[0], [...words, null], [...env, null]);
  } catch {
    // Without the library of native calls there is no execve().
  }
}
