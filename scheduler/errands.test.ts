import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CheckRun } from "../engine/check.ts";
import { createDispatch } from "./dispatch.ts";
import type { Entry } from "./entry.ts";
import { createErrands } from "./errands.ts";
import { monitorOf, outcomeOf } from "./fixtures.suite.ts";
import { createGate, createGateBook } from "./gates.ts";
import { createPlan } from "./plan.ts";

type Step =
  | { readonly do: "turn"; readonly monitorId: number }
  | { readonly do: "errand"; readonly monitorId: number }
  | { readonly do: "change"; readonly monitorId: number }
  | { readonly do: "answer"; readonly index: number }
  | { readonly do: "withdraw"; readonly index: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("turn", "errand", "change"), monitorId: fc.integer({ min: 1, max: 3 }) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("answer", "withdraw"), index: fc.nat(20) }) },
);

/** The real plan, caps and errands over a prober in memory. */
function scene(overallLimit: number) {
  const monitorOfSpec = new Map<number, number>();
  const inFlight: CheckRun[] = [];
  const started: Entry[] = [];
  /** How often each errand ended, in the order of `started`. */
  const ended: number[] = [];
  let withdrawn = 0;
  let lastCheckId = 0;
  let changes = 0;
  const plan = createPlan(createGateBook(), { perHost: 2, perWorkspace: 4 });
  const define = (entry: Entry): void => {
    if (entry.spec !== null) monitorOfSpec.set(entry.spec.key, entry.monitor.id);
  };
  const dispatch = createDispatch({
    probers: { define: () => {}, forget: () => {}, run: (runs) => inFlight.push(...runs) },
    overallLimit,
    nowMs: () => 1_000,
    nextCheckId: () => ++lastCheckId,
    wasHealthy: () => false,
    isConfirming: () => false,
    onUnrun: () => {},
    onOutcome: (entry, outcome, attempt) => entry.errand?.end(outcome, attempt),
    onObsolete: () => {},
  });
  const errands = createErrands({ plan, dispatch, nowMs: () => 1_000 });
  const lane = createGate(2);
  for (const id of [1, 2, 3]) {
    plan.set(monitorOf({ id }), 0);
    plan.entriesOf(id).forEach(define);
  }

  function take(next: Step): void {
    if (next.do === "turn") {
      const [own] = plan.entriesOf(next.monitorId);
      if (own !== undefined) dispatch.begin(own, 1_000);
    } else if (next.do === "errand") {
      const index = ended.push(0) - 1;
      const end = (): void => {
        ended[index] = (ended[index] ?? 0) + 1;
      };
      const errand = errands.start({ monitor: monitorOf({ id: next.monitorId }), location: "any", lane, end });
      define(errand);
      started.push(errand);
    } else if (next.do === "change") {
      // As course.apply does.
      for (const { entry } of plan.set(monitorOf({ id: next.monitorId, settings: { url: `u${++changes}` } }), 0)) {
        define(entry);
        errands.adopt(entry);
      }
    } else if (next.do === "answer") {
      const [run] = inFlight.splice(next.index % Math.max(1, inFlight.length), 1);
      if (run !== undefined) dispatch.take([outcomeOf(run.checkId)]);
    } else {
      const errand = started[next.index % Math.max(1, started.length)];
      if (errand !== undefined && errands.withdraw(errand)) withdrawn += 1;
    }
    dispatch.flush();
  }

  return {
    take,
    inFlight,
    plan,
    dispatch,
    runningOf: (monitorId: number) => inFlight.filter((run) => monitorOfSpec.get(run.specKey) === monitorId).length,
    ended,
    withdrawn: () => withdrawn,
  };
}

describe("createErrands", () => {
  it("never runs a monitor twice at once, ends each errand once, and leaves no caller waiting", () => {
    const property = fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (steps, limit) => {
      const at = scene(limit);
      for (const next of steps) {
        at.take(next);
        for (const id of [1, 2, 3]) expect(at.runningOf(id)).toBeLessThanOrEqual(1);
        expect(at.inFlight.length).toBe(at.dispatch.running);
      }
      for (let left = 500; at.inFlight.length > 0 && left > 0; left -= 1) at.take({ do: "answer", index: 0 });
      expect([at.dispatch.running, at.dispatch.waiting]).toEqual([0, 0]);
      expect(at.ended.every((times) => times <= 1)).toBe(true);
      expect(at.ended.filter((times) => times === 0)).toHaveLength(at.withdrawn());
      // Nothing is left of what they shared: host and workspace are the monitor's own caps.
      for (const id of [1, 2, 3]) expect(at.plan.entriesOf(id)[0]?.gates).toHaveLength(2);
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});
