/**
 * Our own ClickHouse: the front (front.ts) as a child process. Port and password stay the same while this process lives, so that clients
 * only have to retry. A child that dies or freezes is restarted; rows wait in the spool meanwhile.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { get } from "node:http";
import type { Logger } from "pino";
import { holdHere } from "../../../native/sandbox/confined.ts";
import { StoreError } from "../../sql/control-plane.ts";
import type { FrontConfig } from "./front.ts";
import { FrontError, type FrontProcess, launchFront, type Start } from "./front-process.ts";

export interface EmbeddedOptions {
  /** Absolute; created when missing. */
  readonly dir: string;
  readonly log: Logger;
  /** The engine's own memory. Default 512 MiB: five thousand monitors stay well below. */
  readonly maxMemoryBytes?: number;
  /** Default 64 MiB. */
  readonly ballastBytes?: number;
  /** Tests run from sources name the built one. */
  readonly frontFile?: URL;
  /** How it is started, the best first; absent: all that this machine has. */
  readonly starts?: readonly Start[];
  /** Other processes of our user may look into it. Default false. */
  readonly isDebuggable?: boolean;
}

export interface EmbeddedState {
  readonly status: "starting" | "ready" | "restarting" | "closed";
  readonly restarts: number;
  /** Inserts wait until there is room. */
  readonly isDiskFull: boolean;
  /** Why it is not ready, or was not the last time; null when nothing happened yet. */
  readonly problem: string | null;
}

export interface EmbeddedClickHouse {
  /** `http://user:password@127.0.0.1:port/database`; asked before it is ready, it answers when it is. */
  readonly url: string;
  /** It answers. Rejects with a StoreError, one line for the operator, when it cannot start. */
  readonly ready: Promise<void>;
  readonly state: () => EmbeddedState;
  onStateChange(listener: (state: EmbeddedState) => void): void;
  /** For tests and for `sonde`'s own figures. */
  readonly pid: () => number | undefined;
  close(): Promise<void>;
}

const USER = "sonde";
const DATABASE = "sonde";
const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
const BALLAST_BYTES = 64 * 1024 * 1024;

/** First start: a child of a killed parent may take this long to let go of the folder, ms. */
const FOLDER_WAIT_MS = 5_000;
const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 10_000;
/** After this time in health the next fault starts with the first back-off again, ms. */
const HEALTHY_AFTER_MS = 60_000;
const PING_EVERY_MS = 1_000;
const PING_TIMEOUT_MS = 2_000;
/** So many pings in a row without an answer mean that it is frozen; one may be our own pause. */
const FROZEN_AFTER_PINGS = 3;
/** A start that takes longer than this hangs, ms. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 900;

/**
 * Starts it and resolves when it has its port; `ready` says when it answers. Main thread only.
 * @throws Error with one line for the operator when it cannot start
 */
export async function startEmbeddedClickHouse(options: EmbeddedOptions): Promise<EmbeddedClickHouse> {
  const { log } = options;
  makeFolder(options.dir);
  const listeners: ((state: EmbeddedState) => void)[] = [];
  let state: EmbeddedState = { status: "starting", restarts: 0, isDiskFull: false, problem: null };
  let front: FrontProcess | undefined;
  let starts: readonly Start[] = options.starts ?? startsHere();
  let isClosing = false;
  let cancelWait: () => void = () => undefined;
  let config: FrontConfig = {
    dir: options.dir,
    port: 0,
    user: USER,
    password: randomBytes(24).toString("hex"),
    database: DATABASE,
    maxMemoryBytes: options.maxMemoryBytes ?? MAX_MEMORY_BYTES,
    ballastBytes: options.ballastBytes ?? BALLAST_BYTES,
    isDebuggable: options.isDebuggable ?? false,
  };

  function change(part: Partial<EmbeddedState>): void {
    state = { ...state, ...part };
    for (const listener of listeners) listener(state);
  }

  function onDisk(isFull: boolean, freeBytes: number): void {
    if (isFull)
      log.error(
        { freeBytes, dir: options.dir },
        "results: the disk is full, the ballast was freed and inserts wait: free some space",
      );
    else if (state.isDiskFull) log.info({ freeBytes }, "results: the disk has room again, inserts go on");
    change({ isDiskFull: isFull });
  }

  /** Resolves when it has its port; it is killed when it then does not become ready. */
  async function launch(): Promise<FrontProcess> {
    const frontFile = options.frontFile ?? new URL("./front.js", import.meta.url);
    const [how = { by: "none" } as const, ...others] = starts;
    try {
      const launched = launchFront({ config, frontFile, how, log, onDisk });
      front = launched;
      const timer = setTimeout(() => launched.kill(), START_TIMEOUT_MS);
      const isDecided = () => clearTimeout(timer);
      launched.ready.then(isDecided, isDecided);
      config = { ...config, port: await launched.listening };
      return launched;
    } catch (error) {
      if (!(error instanceof FrontError) || error.code !== "START" || others.length === 0) throw error;
      starts = others;
      log.warn({ reason: error.message }, `results: ${LOOSER[others[0]?.by ?? "none"]}`);
      return launch();
    }
  }

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      cancelWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function firstLaunch(): Promise<FrontProcess> {
    const until = performance.now() + FOLDER_WAIT_MS;
    for (;;) {
      try {
        return await launch();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!reason.includes("another sonde uses") || performance.now() > until) throw startFault(error);
        await wait(FIRST_BACKOFF_MS);
      }
    }
  }

  /** Lives as long as we do: waits for the end of each run and starts the next. */
  async function supervise(first: FrontProcess): Promise<void> {
    let running = first;
    let backoffMs = FIRST_BACKOFF_MS;
    while (!isClosing) {
      const startedAt = performance.now();
      const stopWatching = watch(running, config.port, () =>
        log.error("results: the embedded ClickHouse does not answer, it is killed and restarted"),
      );
      const reason = await running.ended;
      stopWatching();
      if (isClosing) return;
      if (performance.now() - startedAt > HEALTHY_AFTER_MS) backoffMs = FIRST_BACKOFF_MS;
      log.error({ reason }, "results: the embedded ClickHouse ended, rows wait in the spool while it is restarted");
      change({ status: "restarting", problem: reason });
      const next = await relaunch(backoffMs);
      if (next === undefined) return;
      backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS);
      running = next;
      change({ status: "ready", restarts: state.restarts + 1 });
      log.info({ restarts: state.restarts }, "results: the embedded ClickHouse is back");
    }
  }

  async function relaunch(firstBackoffMs: number): Promise<FrontProcess | undefined> {
    for (let backoffMs = firstBackoffMs; ; backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS)) {
      await wait(backoffMs);
      if (isClosing) return undefined;
      try {
        const next = await launch();
        await next.ready;
        return next;
      } catch (error) {
        if (isClosing) return undefined;
        const problem = error instanceof Error ? error.message : String(error);
        log.error({ problem }, "results: the embedded ClickHouse does not start");
        change({ problem });
      }
    }
  }

  const first = await firstLaunch();
  const ready = first.ready.then(
    () => change({ status: "ready" }),
    (error: unknown) => Promise.reject(startFault(error)),
  );
  const supervised = ready.then(
    () => supervise(first),
    () => undefined,
  );

  return {
    url: `http://${USER}:${config.password}@127.0.0.1:${config.port}/${DATABASE}`,
    ready,
    state: () => state,
    onStateChange: (listener) => void listeners.push(listener),
    pid: () => front?.pid,
    async close() {
      isClosing = true;
      cancelWait();
      front?.stop();
      const timer = setTimeout(() => front?.kill(), STOP_TIMEOUT_MS);
      await supervised;
      await front?.ended;
      clearTimeout(timer);
      change({ status: "closed" });
    },
  };
}

const LOOSER: Readonly<Record<Start["by"], string>> = {
  hold: "",
  setpriv: "the embedded ClickHouse cannot be held here: it may read what this user can",
  none: "setpriv (util-linux) is missing or too old, should we be killed the embedded ClickHouse ends by the end of its stdin alone",
};

function startsHere(): readonly Start[] {
  const others: readonly Start[] = [{ by: "setpriv", program: "setpriv" }, { by: "none" }];
  return holdHere() === null ? others : [{ by: "hold" }, ...others];
}

function startFault(error: unknown): StoreError {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError(`the embedded ClickHouse does not start: ${reason}`);
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new Error(`cannot make the result store's folder ${dir} (${code}): move away what is in its place`);
  }
}

/** Asks the front for a sign of life; kills it when it stays silent. @returns what ends the watch */
function watch(front: FrontProcess, port: number, onFrozen: () => void): () => void {
  let missed = 0;
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    void ping(port).then((answered) => {
      isAsking = false;
      missed = answered ? 0 : missed + 1;
      if (missed < FROZEN_AFTER_PINGS) return;
      clearInterval(timer);
      onFrozen();
      front.kill();
    });
  }, PING_EVERY_MS);
  return () => clearInterval(timer);
}

function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      { host: "127.0.0.1", port, path: "/ping", timeout: PING_TIMEOUT_MS, agent: false },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode === 200));
        response.once("error", () => resolve(false));
      },
    );
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(false));
    request.once("close", () => resolve(false));
  });
}
