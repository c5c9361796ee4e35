/** Why a step of the sink fails now, and the log's lines about it: one when it begins, one a minute while it lasts, one when it is over. */
import type { Log } from "../../model/log.ts";

const SAID_EVERY_MS = 60_000;

export class Trouble {
  readonly #log: Pick<Log, "error" | "info">;
  readonly #nowMs: () => number;
  readonly #what: string;
  #reason: string | null = null;
  #saidAtMs = Number.NEGATIVE_INFINITY;
  /** The failure is in the log already. */
  #isSaid = false;

  /** @param what fails, for the log @param nowMs monotonic */
  constructor(log: Pick<Log, "error" | "info">, what: string, nowMs: () => number) {
    this.#log = log;
    this.#what = what;
    this.#nowMs = nowMs;
  }

  /** null: nothing fails. */
  get reason(): string | null {
    return this.#reason;
  }

  /** @param step that failed */
  is(step: string, error: unknown): void {
    this.#reason = `${step}: ${error instanceof Error ? error.message : String(error)}`;
    const nowMs = this.#nowMs();
    if (nowMs - this.#saidAtMs < SAID_EVERY_MS) return;
    this.#saidAtMs = nowMs;
    this.#isSaid = true;
    this.#log.error({ err: error, step }, this.#what);
  }

  isOver(): void {
    if (this.#reason === null) return;
    this.#reason = null;
    if (this.#isSaid) this.#log.info({}, `over: ${this.#what}`);
    this.#isSaid = false;
  }
}
