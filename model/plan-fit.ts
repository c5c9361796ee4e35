/** What a plan demands of a workspace's monitors: intervals long enough, tunnels within the slots (docs/api-contract.md#plans). Pure. */
import { familyOf, isPassive } from "./kind.ts";
import type { Monitor } from "./monitor.ts";
import type { Plan } from "./plan.ts";

export type FittedMonitor = Pick<Monitor, "id" | "kind" | "intervalS" | "pauseReasons" | "createdAtMs">;

/** What one monitor must become; only what changes is there. */
export interface Fit {
  readonly id: number;
  /** Seconds; of a heartbeat its period. */
  readonly intervalS?: number;
  /** The pause reason `plan` is added or taken away. */
  readonly planPause?: "add" | "remove";
}

/**
 * @param isSuspended no monitors at all: every one is paused by the plan
 * @returns one entry for each monitor that changes
 */
export function fitToPlan(
  monitors: readonly FittedMonitor[],
  plan: Pick<Plan, "shortestIntervalS" | "shortestPeriodS" | "tunnelSlots">,
  isSuspended: boolean,
): readonly Fit[] {
  const allowed = isSuspended ? new Set<number>() : allowedIds(monitors, plan.tunnelSlots);
  return monitors.flatMap((monitor) => {
    const shortestS = isPassive(monitor.kind) ? plan.shortestPeriodS : plan.shortestIntervalS;
    const isPaused = isPausedByPlan(monitor);
    const fit: Fit = {
      id: monitor.id,
      ...(monitor.intervalS < shortestS && { intervalS: shortestS }),
      ...(isPaused === allowed.has(monitor.id) && { planPause: isPaused ? ("remove" as const) : ("add" as const) }),
    };
    return Object.keys(fit).length > 1 ? [fit] : [];
  });
}

/** A tunnel that a person paused keeps its slot; one that the plan paused has none (docs/api-contract.md#subscriptions). */
export function holdsSlot(monitor: Pick<Monitor, "kind" | "pauseReasons">): boolean {
  return familyOf(monitor.kind) === "tunnel" && !isPausedByPlan(monitor);
}

function isPausedByPlan({ pauseReasons }: Pick<Monitor, "pauseReasons">): boolean {
  return pauseReasons.includes("plan");
}

/** Uptime checks need no slot. Of the tunnels first those that have one, oldest first; what is left goes to the oldest that wait. */
function allowedIds(monitors: readonly FittedMonitor[], tunnelSlots: number | null): ReadonlySet<number> {
  const oldestFirst = (a: FittedMonitor, b: FittedMonitor): number => a.createdAtMs - b.createdAtMs || a.id - b.id;
  const tunnels = monitors.filter(({ kind }) => familyOf(kind) === "tunnel").sort(oldestFirst);
  const holders = tunnels.filter(holdsSlot);
  const waiting = tunnels.filter((monitor) => !holdsSlot(monitor));
  const within = [...holders, ...waiting].slice(0, tunnelSlots ?? tunnels.length);
  const uptime = monitors.filter(({ kind }) => familyOf(kind) === "uptime");
  return new Set([...uptime, ...within].map(({ id }) => id));
}
