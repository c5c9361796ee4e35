import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConcurrencyLimit } from "../../engine/limits/concurrency.ts";
import { monitorOf, outcomeOf } from "../fixtures.suite.ts";
import { pipelineScene } from "../pipeline.suite.ts";
import type { Run } from "../plan/planned-check.ts";

type Step =
  | { readonly do: "due"; readonly monitorId: number }
  | { readonly do: "on demand"; readonly monitorId: number }
  | { readonly do: "change"; readonly monitorId: number }
  | { readonly do: "answer"; readonly index: number }
  | { readonly do: "withdraw"; readonly index: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom("due" as const, "on demand" as const, "change" as const),
    monitorId: fc.integer({ min: 1, max: 3 }),
  }),
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("answer" as const, "withdraw" as const), index: fc.nat(20) }),
  },
);

/** The real plan, limits and runs on demand over a prober in memory. */
function scene(overallLimit: number) {
  const ids = [1, 2, 3];
  const inMemory = pipelineScene({
    monitors: ids.map((id) => monitorOf({ id })),
    ...{ overallLimit, perHost: 2, perWorkspace: 4 },
  });
  const { pipeline, plan, runs } = inMemory;
  const inFlight = (): typeof runs => runs.filter(({ checkId }) => !answered.has(checkId));
  const answered = new Set<number>();
  const monitorOfSpec = new Map<number, number>();
  const started: Run[] = [];
  /** How often each run on demand ended, in the order of `started`. */
  const ended: number[] = [];
  let withdrawn = 0;
  let changes = 0;
  const limit = new ConcurrencyLimit<Run>(2);

  function take(next: Step): void {
    if (next.do === "due") {
      const [own] = plan.plannedOf(next.monitorId);
      if (own !== undefined) pipeline.dueTimes.set(own, 0);
      pipeline.advance();
    } else if (next.do === "on demand") {
      const index = ended.push(0) - 1;
      const onEnd = (): void => {
        ended[index] = (ended[index] ?? 0) + 1;
      };
      started.push(
        pipeline.onDemandRuns.start({ monitor: monitorOf({ id: next.monitorId }), location: "any", limit, onEnd }),
      );
    } else if (next.do === "change") {
      inMemory.set(monitorOf({ id: next.monitorId, settings: { url: `u${++changes}` } }));
    } else if (next.do === "answer") {
      const all = inFlight();
      const run = all[next.index % Math.max(1, all.length)];
      if (run !== undefined) {
        answered.add(run.checkId);
        pipeline.take([outcomeOf(run.checkId)]);
      }
    } else {
      const run = started[next.index % Math.max(1, started.length)];
      if (run !== undefined && pipeline.onDemandRuns.withdraw(run)) withdrawn += 1;
    }
    for (const id of ids) {
      for (const { spec } of plan.plannedOf(id)) if (spec !== null) monitorOfSpec.set(spec.key, id);
    }
    for (const run of started) if (run.monitorId !== null) monitorOfSpec.set(run.spec.key, run.monitorId);
    pipeline.flush();
  }

  return {
    ...{ take, inFlight, plan, pipeline, ended, ids },
    runningOf: (monitorId: number) => inFlight().filter((run) => monitorOfSpec.get(run.specKey) === monitorId).length,
    withdrawn: () => withdrawn,
  };
}

describe("OnDemandRuns", () => {
  it("never runs a monitor twice at once, ends each run once, and leaves no caller waiting", () => {
    const property = fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (steps, limit) => {
      const at = scene(limit);
      for (const next of steps) {
        at.take(next);
        for (const id of at.ids) expect(at.runningOf(id)).toBeLessThanOrEqual(1);
        expect(at.inFlight().length).toBe(at.pipeline.running);
      }
      for (let left = 500; at.inFlight().length > 0 && left > 0; left -= 1) at.take({ do: "answer", index: 0 });
      expect([at.pipeline.running, at.pipeline.waiting]).toEqual([0, 0]);
      expect(at.ended.every((times) => times <= 1)).toBe(true);
      expect(at.ended.filter((times) => times === 0)).toHaveLength(at.withdrawn());
      // Nothing is left of what they shared: host and workspace are the monitor's own limits.
      for (const id of at.ids) expect(at.plan.plannedOf(id)[0]?.limits).toHaveLength(2);
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});
