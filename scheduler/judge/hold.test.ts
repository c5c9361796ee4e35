import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NetworkTrust } from "../../engine/trust/network-trust.ts";
import { HOLD_MS } from "../../engine/trust/suspect-buffer.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { monitorOf, outcomeOf } from "../fixtures.suite.ts";
import { pipelineScene } from "../pipeline.suite.ts";
import type { Run } from "../plan/planned-check.ts";
import type { OpenSuspects } from "./hold.ts";

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => vi.useRealTimers());

/** The real stage for suspects, without canaries: a failure of a healthy target waits HOLD_MS. */
const openSuspects: OpenSuspects = (deliver) => {
  const trust = new NetworkTrust<Run>({ nowMs: () => Date.now(), deliver, onSuspicion: () => {}, onCut: () => {} });
  return { locations: ["any"], suspects: Object.assign(trust, { close: () => {} }) };
};

/** How a run ends: what its outcome waits for. */
const ENDS = {
  plain: { verdict: "ok" },
  suspect: { verdict: "timeout" },
  pending: { verdict: "ok" },
  "pending suspect": { verdict: "timeout" },
  "second look": { verdict: "timeout", latenessMs: 400 },
} as const satisfies Record<string, Partial<CheckOutcome>>;
type RunResult = keyof typeof ENDS;
const WAYS = Object.keys(ENDS) as RunResult[];

/** Healthy monitors, one order each; every run is of the next due time. */
function scene(monitorIds: readonly number[], locations: readonly string[] = ["any"]) {
  const at = pipelineScene({
    // Different hosts in different domains, so that no crowd of failures looks like a cut network.
    monitors: monitorIds.map((id) =>
      monitorOf({ id, locations, host: `h${id}.org`, maxRetries: 100, intervalS: 3_600 }),
    ),
    areHealthy: true,
    openSuspects,
    nowMs: () => Date.now(),
  });
  /** Checks of each monitor in the order in which their runs ended. */
  const ended: { readonly monitorId: number; readonly checkId: number }[] = [];
  const awaited: { readonly checkId: number; readonly end: RunResult }[] = [];

  /** Starts a run of the monitor; undefined while one is under way. */
  function begin(monitorId: number): number | undefined {
    const [planned] = at.plan.plannedOf(monitorId);
    if (planned === undefined || planned.run !== null) return undefined;
    for (const other of at.plan.all()) at.pipeline.dueTimes.clear(other);
    at.pipeline.dueTimes.set(planned, Date.now());
    at.pipeline.advance();
    return at.last();
  }

  /** @returns the check of the second look, when it has one */
  function finish(monitorId: number, checkId: number, end: RunResult): number | undefined {
    const before = at.runs.length;
    const outcome = outcomeOf(checkId, { ...ENDS[end], startedAtMs: Date.now(), message: null });
    const isPending = end === "pending" || end === "pending suspect";
    if (isPending) at.pipeline.takePending([outcome]);
    else at.pipeline.take([outcome]);
    if (at.runs.length > before) return at.last();
    ended.push({ monitorId, checkId });
    if (isPending) awaited.push({ checkId, end });
    return undefined;
  }

  function settle(index: number): void {
    const [one] = awaited.splice(index % Math.max(1, awaited.length), 1);
    if (one === undefined) return;
    at.pipeline.take([outcomeOf(one.checkId, { ...ENDS[one.end], startedAtMs: Date.now() })]);
  }

  const released = (monitorId?: number): number[] =>
    at.judged
      .filter(({ context }) => monitorId === undefined || context.monitor.id === monitorId)
      .map(({ outcome }) => outcome.checkId);
  const expected = (monitorId: number): number[] =>
    ended.filter((one) => one.monitorId === monitorId).map(({ checkId }) => checkId);
  return { ...at, begin, finish, settle, released, expected, ended, awaited };
}

describe("Hold", () => {
  /** What is released at once, after the pending ones are settled, and after HOLD_MS, of two outcomes of one monitor. */
  const cases = WAYS.flatMap((first) => WAYS.map((second) => [first, second] as const));

  it.each(cases)(
    "releases %s before %s of the same monitor, and neither waits for another monitor",
    (first, second) => {
      const at = scene([1, 2]);
      const checks: number[] = [];
      for (const end of [first, second]) {
        const started = at.begin(1);
        if (started === undefined) throw new Error("the run before is not over");
        const again = at.finish(1, started, end);
        // In the second look the run is not over: no other of the monitor starts.
        if (again !== undefined) {
          expect(at.begin(1)).toBeUndefined();
          at.finish(1, again, "plain");
        }
        checks.push(again ?? started);
      }
      const other = at.begin(2) ?? 0;
      at.finish(2, other, "plain");
      expect(at.released(2)).toEqual([other]);

      const isPending = (end: RunResult): boolean => end.startsWith("pending");
      const isSuspect = (end: RunResult): boolean => end.endsWith("suspect");
      const [a, b] = checks as [number, number];
      const atOnce = isPending(first) || isSuspect(first) ? [] : isPending(second) || isSuspect(second) ? [a] : [a, b];
      expect(at.released(1)).toEqual(atOnce);
      // The final words come in the wrong order.
      while (at.awaited.length > 0) at.settle(at.awaited.length - 1);
      const settled = isSuspect(first) ? [] : isSuspect(second) ? [a] : [a, b];
      expect(at.released(1)).toEqual(settled);
      vi.advanceTimersByTime(HOLD_MS);
      expect(at.released(1)).toEqual([a, b]);
      expect([at.pipeline.pending, at.pipeline.running]).toEqual([0, 0]);
    },
  );

  it("gives each run exactly one outcome, each monitor's in order, and holds none for ever, whatever happens", () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant("begin" as const), at: fc.nat(3) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constantFrom(...WAYS), at: fc.nat(20) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant("settle" as const), at: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("time" as const), at: fc.integer({ min: 1, max: 2_000 }) }) },
    );
    const ids = [1, 2, 3, 4];
    const property = fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const at = scene(ids);
      const running: { readonly monitorId: number; readonly checkId: number }[] = [];
      const end = (index: number, way: RunResult): void => {
        const [one] = running.splice(index % Math.max(1, running.length), 1);
        if (one === undefined) return;
        const again = at.finish(one.monitorId, one.checkId, way);
        if (again !== undefined) running.push({ monitorId: one.monitorId, checkId: again });
      };
      for (const { do: what, at: index } of steps) {
        if (what === "begin") {
          const monitorId = ids[index % ids.length] ?? 1;
          const checkId = at.begin(monitorId);
          if (checkId !== undefined) running.push({ monitorId, checkId });
        } else if (what === "settle") at.settle(index);
        else if (what === "time") vi.advanceTimersByTime(index);
        else end(index, what);
        // At any moment: what was released of a monitor is the beginning of what ended.
        for (const id of ids) {
          const released = at.released(id);
          expect(released).toEqual(at.expected(id).slice(0, released.length));
        }
      }
      while (running.length > 0) end(0, "plain");
      while (at.awaited.length > 0) at.settle(0);
      vi.advanceTimersByTime(2 * HOLD_MS);
      for (const id of ids) expect(at.released(id)).toEqual(at.expected(id));
      expect(new Set(at.released()).size).toBe(at.ended.length);
      expect([at.pipeline.pending, at.pipeline.running, at.pipeline.waiting]).toEqual([0, 0, 0]);
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it("does not ask the canaries of this process about what a checker elsewhere measured", () => {
    const at = scene([1], ["de"]);
    const check = at.begin(1) ?? 0;
    at.finish(1, check, "suspect");
    expect(at.released(1)).toEqual([check]);
  });

  it("lets a failure count at once when too many wait for their second look", () => {
    const ids = Array.from({ length: 300 }, (_, index) => index + 1);
    const at = scene(ids);
    at.pipeline.advance();
    const first = at.runs.map(({ checkId }) => checkId);
    expect(first).toHaveLength(300);
    at.pipeline.take(first.map((checkId) => outcomeOf(checkId, { verdict: "timeout", latenessMs: 400 })));
    // 256 wait, of which 16 then run; the 44 others are over.
    expect([at.runs.length - 300, at.pipeline.running]).toEqual([16, 256]);
    vi.advanceTimersByTime(HOLD_MS);
    expect(at.released()).toHaveLength(44);
  });
});
