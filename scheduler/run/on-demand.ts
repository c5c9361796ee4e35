/**
 * Runs on demand, under the same limits as those of the plan. A monitor's run on demand and its planned run at the same location never
 * run at once: while there are runs on demand, the two share a limit of one place.
 */

import { type Admission, ConcurrencyLimit } from "../../engine/limits/concurrency.ts";
import { isPassive } from "../../model/kind.ts";
import { ANY_LOCATION, type Monitor } from "../../model/monitor.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckSpecs, OneOffConfig, Specified } from "../plan/check-specs.ts";
import type { Plan } from "../plan/plan.ts";
import type { PlannedCheck, Run } from "../plan/planned-check.ts";
import type { Dispatch } from "./dispatch.ts";

/** How long a run on demand may wait for a checker, ms: the longest that its caller waits (docs/api-contract.md#tests), rounded. */
const PATIENCE_MS = 60_000;

export interface OnDemandOrder {
  readonly monitor: Monitor;
  readonly location: string;
  /** One more limit, besides those of the monitor. */
  readonly limit?: ConcurrencyLimit<Run>;
  /** @param planned the monitor's planned check at that location, undefined when the plan has none (any more) */
  readonly onEnd: (outcome: CheckOutcome, attempt: number, planned: PlannedCheck | undefined) => void;
}

export interface OnDemandRunsOptions {
  readonly plan: Pick<Plan, "plannedOf">;
  readonly specs: Pick<CheckSpecs, "ofMonitor" | "ofConfig">;
  readonly dispatch: Pick<Dispatch, "define" | "forget">;
  readonly admission: Pick<Admission<Run>, "request" | "withdraw">;
}

interface Share {
  readonly limit: ConcurrencyLimit<Run>;
  /** Runs on demand that use it. */
  users: number;
}

export class OnDemandRuns {
  readonly #options: OnDemandRunsOptions;
  /** By monitor and location. */
  readonly #shares = new Map<string, Share>();

  constructor(options: OnDemandRunsOptions) {
    this.#options = options;
  }

  /** Runs a monitor's check now, beside its schedule. @throws Error for a monitor that has nothing to run */
  start({ monitor, location, limit, onEnd }: OnDemandOrder): Run {
    if (isPassive(monitor.kind)) throw new Error(`monitor ${monitor.id} has nothing to run`);
    const planned = this.#plannedAt(monitor.id, location);
    const specified = this.#options.specs.ofMonitor(monitor);
    const share = this.#join(monitor.id, location);
    const shared = limit === undefined ? [share.limit] : [share.limit, limit];
    const run: Run = {
      ...runOnDemand({ ...specified, limits: [...shared, ...specified.limits] }, location, monitor),
      monitorId: monitor.id,
      // Outcomes of both are judged in their order.
      order: planned ?? {},
      onEnd: (outcome, attempt) => {
        this.#leave(run, monitor.id);
        onEnd(outcome, attempt, this.#plannedAt(monitor.id, location));
      },
    };
    if (planned !== undefined) this.adopt(planned);
    return this.#begin(run);
  }

  /** Runs a config that is not stored as a monitor. */
  startConfig(config: OneOffConfig, onEnd: (outcome: CheckOutcome) => void): Run {
    const run: Run = {
      ...runOnDemand(this.#options.specs.ofConfig(config), ANY_LOCATION, config),
      onEnd: (outcome) => {
        this.#options.dispatch.forget(run.spec.key);
        onEnd(outcome);
      },
    };
    return this.#begin(run);
  }

  /** Withdraws a run that has not started. @returns false when it has started */
  withdraw(run: Run): boolean {
    if (run.state !== "waiting") return false;
    this.#options.admission.withdraw(run);
    if (run.monitorId === null) this.#options.dispatch.forget(run.spec.key);
    else this.#leave(run, run.monitorId);
    return true;
  }

  /** A planned check is new, or has new limits: it must share the limit of the runs that are under way on demand. */
  adopt(planned: PlannedCheck): void {
    const limit = this.#shares.get(nameOf(planned.monitor.id, planned.location))?.limit;
    if (limit === undefined) return;
    if (!planned.limits.includes(limit)) planned.limits = [...planned.limits, limit];
    const { run } = planned;
    if (run === null || run.limits.includes(limit)) return;
    run.limits = [...run.limits, limit];
    if (run.state === "running") limit.running += 1;
  }

  #begin(run: Run): Run {
    this.#options.dispatch.define(run.spec);
    this.#options.admission.request(run);
    return run;
  }

  #join(monitorId: number, location: string): Share {
    const name = nameOf(monitorId, location);
    const share = this.#shares.get(name) ?? { limit: new ConcurrencyLimit<Run>(1), users: 0 };
    share.users += 1;
    this.#shares.set(name, share);
    return share;
  }

  /** The run has ended, or will never start. */
  #leave({ spec, location }: Run, monitorId: number): void {
    this.#options.dispatch.forget(spec.key);
    const name = nameOf(monitorId, location);
    const share = this.#shares.get(name);
    if (share === undefined) return;
    share.users -= 1;
    if (share.users > 0) return;
    this.#shares.delete(name);
    const planned = this.#plannedAt(monitorId, location);
    // Only the planned check's list changes. A waiting or running run has its own list of limits, and gives its places back by that.
    if (planned !== undefined) planned.limits = planned.limits.filter((limit) => limit !== share.limit);
  }

  #plannedAt(monitorId: number, location: string): PlannedCheck | undefined {
    return this.#options.plan.plannedOf(monitorId).find((planned) => planned.location === location);
  }
}

function runOnDemand(
  { spec, identity, limits }: Specified,
  location: string,
  { host, organizationId }: Pick<Monitor, "host" | "organizationId">,
): Run {
  return {
    planned: null,
    onEnd: null,
    order: {},
    monitorId: null,
    location,
    spec,
    identity,
    host,
    workspace: organizationId,
    wasHealthy: false,
    patienceMs: PATIENCE_MS,
    limits,
    state: "waiting",
    heldMs: 0,
    dueAtMs: null,
    checkId: 0,
    attempt: 1,
  };
}

function nameOf(monitorId: number, location: string): string {
  return `${monitorId} ${location}`;
}
