/**
 * The last way to ping: the system's own `ping`, one child for each run. Children are started by the main thread only, because a child with a
 * parent-death signal dies with the *thread* that forked it, and starting one blocks its thread for milliseconds. So threads ask over a
 * BroadcastChannel, and the main thread runs startSystemPingService().
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { BroadcastChannel } from "node:worker_threads";
import { type PingOutput, parsePingOutput } from "./ping-output.ts";
import { atUsualPriority } from "./thread-priority.ts";

export interface SystemPingRequest {
  readonly ip: string;
  readonly family: 4 | 6;
  readonly count: number;
  readonly spacingMs: number;
  readonly replyTimeoutMs: number;
}

/** `failed`: it did not ping this address; `broken`: it cannot be run at all; `busy`: too many are waiting. */
export type SystemPingAnswer =
  | { readonly type: "ran"; readonly output: PingOutput }
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "broken"; readonly reason: string }
  | { readonly type: "busy" };

type ToService =
  | { readonly to: "service"; readonly type: "hello"; readonly asker: string }
  | {
      readonly to: "service";
      readonly type: "ping";
      readonly asker: string;
      readonly id: number;
      readonly request: SystemPingRequest;
    }
  | { readonly to: "service"; readonly type: "cancel"; readonly asker: string; readonly id: number };

type FromService =
  | { readonly to: "here"; readonly asker: string }
  | { readonly to: "asker"; readonly asker: string; readonly id: number; readonly answer: SystemPingAnswer };

const CHANNEL = "sonde:system-ping";
/** Children at once, and runs that wait for one: each child is a process of 1 to 2 MB. */
const RUNNING_LIMIT = 32;
const WAITING_LIMIT = 512;
/** What a child prints is a line for each echo. */
const OUTPUT_BYTES = 65_536;
/** Of its words in a message, characters. */
const REASON_LENGTH = 200;
/** Beyond its own deadline a child is killed, ms. */
const KILL_AFTER_MS = 1_000;
/** How long a thread waits for the service's hello, ms. */
const HELLO_TIMEOUT_MS = 1_000;
/** iputils lets only root send faster, ms (ping(8), -i). */
const MIN_SPACING_MS = 200;
/** Children get nothing of our own environment, and the C locale, because their words are parsed. */
const SEARCHED_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

export interface SystemPingService {
  /** Kills what runs. */
  close(): void;
}

interface Job {
  readonly key: string;
  readonly asker: string;
  readonly id: number;
  readonly request: SystemPingRequest;
}

/** To be called once in the main thread, before probers start. Costs nothing until it is asked. */
export function startSystemPingService(): SystemPingService {
  const channel = new BroadcastChannel(CHANNEL);
  const waiting = new Map<string, Job>();
  const running = new Map<string, ChildProcess>();
  let isOpen = true;

  function answer({ asker, id }: Job, result: SystemPingAnswer): void {
    if (isOpen) channel.postMessage({ to: "asker", asker, id, answer: result } satisfies FromService);
  }
  function startNext(): void {
    for (const [key, job] of waiting) {
      if (running.size >= RUNNING_LIMIT || !isOpen) return;
      waiting.delete(key);
      const child = runPing(job.request, (result) => {
        running.delete(key);
        answer(job, result);
        startNext();
      });
      running.set(key, child);
    }
  }
  function take(job: Job): void {
    if (!isSound(job.request)) answer(job, { type: "failed", reason: "not an address" });
    else if (waiting.size >= WAITING_LIMIT) answer(job, { type: "busy" });
    else {
      waiting.set(job.key, job);
      startNext();
    }
  }

  channel.onmessage = ({ data }: { data: unknown }) => {
    const message = data as ToService | FromService;
    if (message.to !== "service") return;
    if (message.type === "hello") channel.postMessage({ to: "here", asker: message.asker } satisfies FromService);
    else if (message.type === "ping") take({ ...message, key: `${message.asker} ${message.id}` });
    else {
      const key = `${message.asker} ${message.id}`;
      waiting.delete(key);
      running.get(key)?.kill("SIGKILL");
    }
  };
  channel.unref();
  return {
    close() {
      isOpen = false;
      waiting.clear();
      for (const child of running.values()) child.kill("SIGKILL");
      channel.close();
    },
  };
}

function isSound({ ip, family, count, spacingMs, replyTimeoutMs }: SystemPingRequest): boolean {
  const isCount = Number.isInteger(count) && count > 0 && count <= 100;
  return isIP(ip) === family && isCount && spacingMs >= 0 && replyTimeoutMs > 0;
}

/**
 * It ends by itself after its last echo's time, also where file capabilities have cleared the parent-death signal. Not with -w: then it
 * would send on until so many are *answered*.
 */
function pingArguments({ ip, family, count, spacingMs, replyTimeoutMs }: SystemPingRequest): string[] {
  const spacingS = Math.max(MIN_SPACING_MS, spacingMs) / 1000;
  const replyTimeoutS = Math.max(1, Math.ceil(replyTimeoutMs / 1000));
  return ["-n", `-${family}`, "-c", `${count}`, "-i", `${spacingS}`, "-W", `${replyTimeoutS}`, ip];
}

function isInstalled(program: string): boolean {
  return SEARCHED_FOLDERS.some((folder) => existsSync(join(folder, program)));
}

function runPing(request: SystemPingRequest, done: (answer: SystemPingAnswer) => void): ChildProcess {
  const command = ["ping", ...pingArguments(request)];
  if (isInstalled("setpriv")) command.unshift("setpriv", "--pdeathsig", "KILL", "--");
  const [program = "ping", ...result] = command;
  const env = { LC_ALL: "C", PATH: SEARCHED_FOLDERS.join(":") };
  const child = atUsualPriority(() => spawn(program, result, { env, stdio: ["ignore", "pipe", "pipe"] }));
  const wholeMs = Math.max(MIN_SPACING_MS, request.spacingMs) * request.count + request.replyTimeoutMs + KILL_AFTER_MS;
  const killer = setTimeout(() => child.kill("SIGKILL"), wholeMs);
  let text = "";
  let isOver = false;
  const hear = (chunk: Buffer): void => {
    if (text.length < OUTPUT_BYTES) text += chunk.toString("latin1");
  };
  function end(answer: SystemPingAnswer): void {
    clearTimeout(killer);
    if (!isOver) done(answer);
    isOver = true;
  }
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  child.on("error", (error) => end({ type: "broken", reason: error.message }));
  child.on("close", (code) => {
    end(answerOf(code, text));
  });
  return child;
}

/** Exit codes: 0 answered, 1 not answered, else it says why it could not (ping(8)); above 125 setpriv could not start it. */
function answerOf(code: number | null, text: string): SystemPingAnswer {
  const output = parsePingOutput(text);
  const reason = text.slice(0, REASON_LENGTH).trim() || `exit code ${code}`;
  if (output.problem === "not-permitted" || (code ?? 0) > 125) return { type: "broken", reason };
  // Without a code it was killed beyond its time: what it had said until then counts.
  return code === null || code <= 1 || output.problem !== null ? { type: "ran", output } : { type: "failed", reason };
}

export interface SystemPing {
  /** Whether a service runs in this process. */
  isThere(): Promise<boolean>;
  run(request: SystemPingRequest, signal: AbortSignal): Promise<SystemPingAnswer>;
  /** After what is under way has ended. */
  close(): void;
}

/** A thread's side of the service; also works in the main thread itself. */
export function openSystemPing(): SystemPing {
  const channel = new BroadcastChannel(CHANNEL);
  const asker = randomUUID();
  const waiting = new Map<number, (answer: SystemPingAnswer) => void>();
  let heard: (() => void) | undefined;
  let nextId = 1;
  let isClosing = false;
  const post = (message: ToService): void => channel.postMessage(message);
  /** Only a call that waits for an answer keeps the event loop alive. */
  const settle = (id: number): void => {
    waiting.delete(id);
    if (waiting.size > 0) return;
    if (isClosing) channel.close();
    else channel.unref();
  };

  channel.onmessage = ({ data }: { data: unknown }) => {
    const message = data as ToService | FromService;
    if (message.to === "service" || message.asker !== asker) return;
    if (message.to === "here") heard?.();
    else waiting.get(message.id)?.(message.answer);
  };
  channel.unref();

  return {
    isThere() {
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), HELLO_TIMEOUT_MS);
        heard = () => {
          clearTimeout(timer);
          resolve(true);
        };
        post({ to: "service", type: "hello", asker });
      });
    },
    run(request, signal) {
      return new Promise((resolve, reject) => {
        const id = nextId++;
        const onAbort = (): void => {
          settle(id);
          post({ to: "service", type: "cancel", asker, id });
          reject(signal.reason);
        };
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        if (waiting.size === 0) channel.ref();
        waiting.set(id, (answer) => {
          settle(id);
          signal.removeEventListener("abort", onAbort);
          resolve(answer);
        });
        post({ to: "service", type: "ping", asker, id, request });
      });
    },
    close() {
      isClosing = true;
      if (waiting.size === 0) channel.close();
    },
  };
}
