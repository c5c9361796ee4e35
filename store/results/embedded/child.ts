/**
 * Our own ClickHouse: the front (front.ts) as a child process. Port and password stay the same while this process lives, so that clients
 * only have to retry. A child that dies or freezes is restarted; rows wait in the spool meanwhile.
 */
import { Agent, get } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { onTicks } from "../../../model/ticks.ts";
import { makeFolder } from "../../../native/make-folder.ts";
import { StoreError } from "../../errors.ts";
import type { FrontProcess } from "./front-process.ts";
import { Launcher, type LauncherOptions } from "./launcher.ts";

/** Its folder is created when missing. */
export type EmbeddedOptions = LauncherOptions;

export interface EmbeddedState {
  readonly status: "starting" | "ready" | "restarting" | "closed";
  readonly restarts: number;
  /** Inserts wait until there is room. */
  readonly isDiskFull: boolean;
  /** Why it is not ready, or why it was not ready the last time; null when nothing has happened yet. */
  readonly problem: string | null;
}

/** First start: a child of a killed parent may take this long to let go of the folder, ms. */
const FOLDER_WAIT_MS = 5_000;
const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 10_000;
/** After this time in health the next fault starts with the first back-off again, ms. */
const HEALTHY_AFTER_MS = 60_000;
const PING_EVERY_MS = 2_000;
/** After one that was not answered, ms. */
const PING_AGAIN_MS = 500;
const PING_TIMEOUT_MS = 2_000;
/** So many pings in a row without an answer mean that it is frozen; one may be our own pause. */
const FROZEN_AFTER_PINGS = 3;
const STOP_TIMEOUT_MS = 900;

/** The child's state; its changes are reported to the options' callbacks. */
class StateBoard {
  readonly #listeners: ((state: EmbeddedState) => void)[] = [];
  #state: EmbeddedState = { status: "starting", restarts: 0, isDiskFull: false, problem: null };

  get state(): EmbeddedState {
    return this.#state;
  }

  onChange(listener: (state: EmbeddedState) => void): void {
    this.#listeners.push(listener);
  }

  change(part: Partial<EmbeddedState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener(this.#state);
  }
}

export class EmbeddedClickHouse {
  /** `http://user:password@127.0.0.1:port/database`; asked before it is ready, it answers when it is. */
  readonly url: string;
  /** Resolves when the engine answers. Rejects with a StoreError, one line for the operator, when it cannot start. */
  readonly ready: Promise<void>;
  readonly #launcher: Launcher;
  readonly #board: StateBoard;
  readonly #log: Logger;
  readonly #supervised: Promise<void>;
  #isClosing = false;
  #cancelWait: () => void = () => undefined;

  private constructor(launcher: Launcher, first: FrontProcess, board: StateBoard, log: Logger) {
    this.#launcher = launcher;
    this.#board = board;
    this.#log = log;
    this.url = launcher.url;
    this.ready = first.ready.then(
      () => board.change({ status: "ready" }),
      (error: unknown) => Promise.reject(startFault(error)),
    );
    this.#supervised = this.ready.then(
      () => this.#supervise(first),
      () => undefined,
    );
  }

  /**
   * Starts it and resolves when it has its port; `ready` says when it answers. Main thread only.
   * @throws Error with one line for the operator when it cannot start
   */
  static async start(options: EmbeddedOptions): Promise<EmbeddedClickHouse> {
    const { dir, log } = options;
    makeOwnFolder(dir);
    const board = new StateBoard();
    const launcher = new Launcher(options, (isFull, freeBytes) => {
      sayDisk(log, dir, { isFull, wasFull: board.state.isDiskFull, freeBytes });
      board.change({ isDiskFull: isFull });
    });
    return new EmbeddedClickHouse(launcher, await firstLaunch(launcher), board, log);
  }

  state(): EmbeddedState {
    return this.#board.state;
  }

  onStateChange(listener: (state: EmbeddedState) => void): void {
    this.#board.onChange(listener);
  }

  /** The child's process id, for tests and for our own metrics. */
  pid(): number | undefined {
    return this.#launcher.latest?.pid;
  }

  /** Lives as long as this process: waits for the end of each run and starts the next. */
  async #supervise(first: FrontProcess): Promise<void> {
    let running = first;
    let backoffMs = FIRST_BACKOFF_MS;
    while (!this.#isClosing) {
      const startedAt = performance.now();
      const reason = await this.#watched(running);
      if (this.#isClosing) return;
      if (performance.now() - startedAt > HEALTHY_AFTER_MS) backoffMs = FIRST_BACKOFF_MS;
      this.#log.error(
        { reason },
        "results: the embedded ClickHouse ended, rows wait in the spool while it is restarted",
      );
      this.#board.change({ status: "restarting", problem: reason });
      const next = await this.#relaunch(backoffMs);
      if (next === undefined) return;
      backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS);
      running = next;
      this.#board.change({ status: "ready", restarts: this.#board.state.restarts + 1 });
      this.#log.info({ restarts: this.#board.state.restarts }, "results: the embedded ClickHouse is back");
    }
  }

  /** Kills a run that stands still. @returns how the run ended */
  async #watched(running: FrontProcess): Promise<string> {
    const stopWatching = watch(running, this.#launcher.port, () =>
      this.#log.error("results: the embedded ClickHouse does not answer, it is killed and restarted"),
    );
    const reason = await running.ended;
    stopWatching();
    return reason;
  }

  /** @returns undefined when it was closed meanwhile */
  async #relaunch(firstBackoffMs: number): Promise<FrontProcess | undefined> {
    for (let backoffMs = firstBackoffMs; ; backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS)) {
      await this.#wait(backoffMs);
      if (this.#isClosing) return undefined;
      try {
        const next = await this.#launcher.launch();
        await next.ready;
        return next;
      } catch (error) {
        if (this.#isClosing) return undefined;
        const problem = error instanceof Error ? error.message : String(error);
        this.#log.error({ problem }, "results: the embedded ClickHouse does not start");
        this.#board.change({ problem });
      }
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#cancelWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelWait();
    this.#launcher.latest?.stop();
    const timer = setTimeout(() => this.#launcher.latest?.kill(), STOP_TIMEOUT_MS);
    await this.#supervised;
    await this.#launcher.latest?.ended;
    clearTimeout(timer);
    this.#board.change({ status: "closed" });
  }
}

async function firstLaunch(launcher: Launcher): Promise<FrontProcess> {
  const until = performance.now() + FOLDER_WAIT_MS;
  for (;;) {
    try {
      return await launcher.launch();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!reason.includes("another sonde uses") || performance.now() > until) throw startFault(error);
      await delay(FIRST_BACKOFF_MS);
    }
  }
}

function sayDisk(
  log: Logger,
  dir: string,
  { isFull, wasFull, freeBytes }: { readonly isFull: boolean; readonly wasFull: boolean; readonly freeBytes: number },
): void {
  if (isFull)
    log.error({ freeBytes, dir }, "results: the disk is full, the ballast was freed and inserts wait: free some space");
  else if (wasFull) log.info({ freeBytes }, "results: the disk has room again, inserts go on");
}

function startFault(error: unknown): StoreError {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreError(`the embedded ClickHouse does not start: ${reason}`);
}

function makeOwnFolder(dir: string): void {
  try {
    makeFolder(dir);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new Error(`cannot make the result store's folder ${dir} (${code}): move away what is in its place`);
  }
}

/** Pings the front, and kills it when it stays silent. @returns a function that ends the watch */
function watch(front: FrontProcess, port: number, onFrozen: () => void): () => void {
  // One connection for all, because making one costs both processes more than the ping.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let missed = 0;
  let isAsking = false;
  let isOver = false;
  const ask = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    do {
      if (missed > 0) await delay(PING_AGAIN_MS);
      missed = (await ping(port, agent)) ? 0 : missed + 1;
    } while (!isOver && missed > 0 && missed < FROZEN_AFTER_PINGS);
    isAsking = false;
    if (isOver || missed === 0) return;
    isOver = true;
    onFrozen();
    front.kill();
  };
  const stopTicks = onTicks(PING_EVERY_MS, () => {
    if (!isOver) void ask();
  });
  return () => {
    isOver = true;
    stopTicks();
    agent.destroy();
  };
}

function ping(port: number, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path: "/ping", timeout: PING_TIMEOUT_MS, agent }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode === 200));
      response.once("error", () => resolve(false));
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(false));
    request.once("close", () => resolve(false));
  });
}
