/**
 * Makes attempts on a thread of their own: what a receiver sends during TLS is computed in native code that nothing interrupts (0.67 s for the costliest chain of
 * certificates), and receivers are the tenants' choice. It starts with the first attempt and ends when there was none for a while, because it takes 20 MiB.
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { EngineOptions } from "../../../engine/contract/options.ts";
import { ATTEMPT_MS } from "../post.ts";
import type { Attempts } from "./attempts.ts";
import type { AttemptOrder, FromAttemptsThread, ToAttemptsThread } from "./thread.ts";

/** Far more than it needs; our choice: what fills it is a fault of ours, and must not take the memory of the service. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };
const IDLE_MS = 60_000;
/**
 * So long after its deadline, or its caller's, an attempt is given up, ms: the thread may be busy with what another receiver has sent. It is a part of the time that the
 * sender's lease keeps for the attempt's record (SPARE_MS in scheduler/lease.ts).
 */
const GRACE_MS = 1_000;

export interface AttemptsThreadOptions {
  readonly engine: EngineOptions;
  readonly log: Pick<Logger, "error">;
  /** For one attempt, and for its end; absent: ours. */
  readonly withinMs?: number;
  readonly graceMs?: number;
  /** Until a thread without work ends; absent: ours. */
  readonly idleMs?: number;
}

interface Waiting {
  settle(answer: unknown): void;
  fail(why: string): void;
}

export class AttemptsThread implements Attempts {
  readonly #options: AttemptsThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #thread: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: AttemptsThreadOptions) {
    this.#options = options;
  }

  readonly exchange: Attempts["exchange"] = (request, caller, signal) =>
    this.#ask({ work: "exchange", request, caller }, signal, (error) => ({
      answer: null,
      fault: { error, isRefused: false, openedBy: null },
    }));

  readonly mail: Attempts["mail"] = (server, letter, projectId, signal) =>
    this.#ask({ work: "mail", server, letter, projectId }, signal, (error) => ({
      ...{ delivered: false, statusCode: null, error, retryAfterMs: null, permanent: false, openedBy: null },
    }));

  /** Attempts under way fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end("the service stops");
  }

  #ask<Answer>(order: AttemptOrder, signal: AbortSignal, failed: (why: string) => Answer): Promise<Answer> {
    if (this.#isClosed) return Promise.resolve(failed("the service stops"));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const settle = (answer: unknown): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        this.#waiting.delete(id);
        this.#rest();
        resolve(answer as Answer);
      };
      const fail = (why: string): void => settle(failed(why));
      const late = (): void => fail("it could not be sent in time: other receivers keep the sending thread busy");
      const { withinMs = ATTEMPT_MS, graceMs = GRACE_MS } = this.#options;
      const abort = (): void => {
        this.#post({ id, work: "abort" });
        clearTimeout(timer);
        timer = setTimeout(late, graceMs);
      };
      let timer = setTimeout(abort, withinMs);
      this.#waiting.set(id, { settle, fail });
      this.#post({ id, ...order });
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
    });
  }

  #post(message: ToAttemptsThread): void {
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    this.#thread.postMessage(message);
  }

  /** A thread without work ends after a while. */
  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.size > 0) return;
    this.#idle = setTimeout(() => void this.#end(""), this.#options.idleMs ?? IDLE_MS).unref();
  }

  #start(): Worker {
    const { engine, log } = this.#options;
    const file = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);
    const started = new Worker(file, { workerData: engine, resourceLimits: LIMITS });
    started.on("message", ({ id, answer }: FromAttemptsThread) => this.#waiting.get(id)?.settle(answer));
    started.on("error", (error) =>
      log.error({ err: error }, "the thread that sends messages has died; the next message starts another"),
    );
    started.once("exit", () => {
      if (this.#thread === started) void this.#end("the thread that sends messages has died");
    });
    return started;
  }

  /** The next attempt has another thread. */
  async #end(why: string): Promise<void> {
    clearTimeout(this.#idle);
    const ending = this.#thread;
    this.#thread = null;
    for (const { fail } of [...this.#waiting.values()]) fail(why);
    clearTimeout(this.#idle);
    await ending?.terminate();
  }
}
