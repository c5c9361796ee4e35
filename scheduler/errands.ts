/**
 * On-demand runs (errands), under the same caps as everything else. An errand of a monitor and the monitor's own check at the same
 * location never run at once: while there are errands the two share a gate of one place.
 */
import type { Monitor } from "../model/monitor.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Entry, Gate } from "./entry.ts";
import { createGate } from "./gates.ts";
import type { GivenCheck, Plan } from "./plan.ts";

export interface ErrandOrder {
  readonly monitor: Monitor;
  readonly location: string;
  /** Of a monitor that is kept nowhere. */
  readonly given?: GivenCheck;
  /** A cap besides those of the monitor. */
  readonly lane?: Gate;
  /** @param own the monitor's entry at that location, undefined when the plan has none (any more) */
  readonly end: (outcome: CheckOutcome, attempt: number, own: Entry | undefined) => void;
}

export interface Errands {
  start(order: ErrandOrder): Entry;
  /** Takes back what has not started; false when it runs or ran. */
  withdraw(errand: Entry): boolean;
  /** The plan's entry is new, or has new gates: it shares what is under way. */
  adopt(own: Entry): void;
}

export interface ErrandsOptions {
  readonly plan: Pick<Plan, "entriesOf" | "errand">;
  readonly dispatch: Pick<Dispatch, "abandon" | "begin" | "define" | "forget">;
  readonly nowMs: () => number;
}

interface Share {
  readonly gate: Gate;
  errands: number;
}

export function createErrands({ plan, dispatch, nowMs }: ErrandsOptions): Errands {
  const shares = new Map<string, Share>();

  function ownOf({ monitor, location }: Pick<Entry, "monitor" | "location">): Entry | undefined {
    return plan.entriesOf(monitor.id).find((entry) => entry.location === location);
  }

  function join(name: string): Share {
    const share = shares.get(name) ?? { gate: createGate(1), errands: 0 };
    share.errands += 1;
    shares.set(name, share);
    return share;
  }

  /** It has ended, or never will start. */
  function leave(errand: Entry): void {
    if (errand.spec !== null) dispatch.forget(errand.spec.key);
    const name = nameOf(errand);
    const share = shares.get(name);
    if (share === undefined) return;
    share.errands -= 1;
    if (share.errands > 0) return;
    shares.delete(name);
    const own = ownOf(errand);
    // A turn that waits or runs gives its place back by what it holds.
    if (own !== undefined) own.gates = own.gates.filter((gate) => gate !== share.gate);
  }

  function adopt(own: Entry): void {
    const gate = shares.get(nameOf(own))?.gate;
    if (gate === undefined) return;
    if (!own.gates.includes(gate)) own.gates = [...own.gates, gate];
    if (own.state === "idle" || own.held.includes(gate)) return;
    own.held = [...own.held, gate];
    if (own.state === "running") gate.running += 1;
  }

  return {
    start(order) {
      const { monitor, location, given, lane } = order;
      const own = ownOf(order);
      const errand = plan.errand(
        monitor,
        location,
        {
          inOrderOf: own ?? null,
          end(outcome, attempt) {
            leave(errand);
            order.end(outcome, attempt, ownOf(order));
          },
        },
        given,
      );
      const { gate } = join(nameOf(errand));
      errand.gates = lane === undefined ? [gate, ...errand.gates] : [gate, lane, ...errand.gates];
      if (own !== undefined) adopt(own);
      dispatch.define(errand);
      dispatch.begin(errand, nowMs());
      return errand;
    },
    withdraw(errand) {
      if (errand.state !== "waiting") return false;
      dispatch.abandon(errand);
      leave(errand);
      return true;
    },
    adopt,
  };
}

/** Configs that belong to no monitor have none to share with: their gates are their own. */
function nameOf({ monitor, location }: Pick<Entry, "monitor" | "location">): string {
  return `${monitor.id} ${location}`;
}
