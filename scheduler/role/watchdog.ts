/** Finds monitors without a result for two intervals: checks that stop must be visible (docs/decisions/0003-whose-fault.md). */
import type { Logger } from "pino";
import { heartbeatPatienceMs } from "../../model/schedule.ts";
import type { PlannedCheck } from "../plan/planned-check.ts";

/** Our own slack on top of two intervals and the check's own time, ms: a batch, a tick, a second look. */
const SLACK_MS = 5_000;

export class Watchdog {
  readonly #log: Pick<Logger, "warn">;
  #silent = 0;

  constructor(log: Pick<Logger, "warn">) {
    this.#log = log;
  }

  /** Monitors without a result at the latest look, one for each location. */
  get silent(): number {
    return this.#silent;
  }

  /** Logs when more are silent than at the look before. */
  look(all: Iterable<PlannedCheck>, nowMs: number): void {
    const silent: PlannedCheck[] = [];
    for (const planned of all) if (nowMs - planned.lastSignAtMs > allowanceMs(planned)) silent.push(planned);
    if (silent.length > this.#silent) {
      const sample = silent.slice(0, 5).map(({ monitor }) => monitor.id);
      this.#log.warn({ silent: silent.length, sample }, "monitors without a result for two intervals");
    }
    this.#silent = silent.length;
  }
}

function allowanceMs({ spec, monitor, intervalMs }: PlannedCheck): number {
  if (spec === null) return 2 * heartbeatPatienceMs(monitor) + SLACK_MS;
  return 2 * intervalMs + spec.timeoutMs + SLACK_MS;
}
