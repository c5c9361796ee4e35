import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONTRACT_KINDS, TUNNEL_PROTOCOLS } from "./kind.ts";
import { PAUSE_REASONS, type PauseReason } from "./monitor.ts";
import { PLANS } from "./plan.ts";
import { type Fit, type FittedMonitor, fitToPlan, holdsSlot } from "./plan-fit.ts";

const monitors = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...CONTRACT_KINDS, ...TUNNEL_PROTOCOLS),
      intervalS: fc.constantFrom(30, 60, 180, 300, 3_600),
      pauseReasons: fc.subarray<PauseReason>([...PAUSE_REASONS]),
      createdAtMs: fc.nat(5),
    }),
    { maxLength: 12 },
  )
  .map((list) => list.map((one, index): FittedMonitor => ({ ...one, id: index + 1 })));
const plan = fc.record({
  shortestIntervalS: fc.constantFrom(30, 180, 300),
  shortestPeriodS: fc.constantFrom(60, 300),
  tunnelSlots: fc.option(fc.nat(8), { nil: null }),
});

function apply(before: readonly FittedMonitor[], fits: readonly Fit[]): readonly FittedMonitor[] {
  return before.map((monitor) => {
    const fit = fits.find(({ id }) => id === monitor.id);
    const others = monitor.pauseReasons.filter((reason) => reason !== "plan");
    return {
      ...monitor,
      intervalS: fit?.intervalS ?? monitor.intervalS,
      pauseReasons:
        fit?.planPause === undefined ? monitor.pauseReasons : fit.planPause === "add" ? [...others, "plan"] : others,
    };
  });
}

const isTunnel = ({ kind }: FittedMonitor): boolean => !(CONTRACT_KINDS as readonly string[]).includes(kind);
const byAge = (a: FittedMonitor, b: FittedMonitor): number => a.createdAtMs - b.createdAtMs || a.id - b.id;

describe("what a plan demands", () => {
  it("holds afterwards, and asks for nothing twice", () => {
    fc.assert(
      fc.property(monitors, plan, fc.boolean(), (before, wanted, isSuspended) => {
        const after = apply(before, fitToPlan(before, wanted, isSuspended));
        expect(fitToPlan(after, wanted, isSuspended)).toEqual([]);
        for (const monitor of after) {
          const shortestS = monitor.kind === "push" ? wanted.shortestPeriodS : wanted.shortestIntervalS;
          expect(monitor.intervalS).toBeGreaterThanOrEqual(shortestS);
          if (isSuspended) expect(monitor.pauseReasons).toContain("plan");
          else if (!isTunnel(monitor)) expect(monitor.pauseReasons).not.toContain("plan");
        }
        const slots = isSuspended ? 0 : (wanted.tunnelSlots ?? Number.POSITIVE_INFINITY);
        const held = after.filter(holdsSlot);
        // As many as there is room for, neither more nor fewer.
        expect(held).toHaveLength(Math.min(slots, after.filter(isTunnel).length));
      }),
      { numRuns: 2_000 },
    );
  });

  it("pauses the newest and lets the oldest return", () => {
    fc.assert(
      fc.property(monitors, plan, (before, wanted) => {
        const fits = fitToPlan(before, wanted, false);
        const changed = (what: Fit["planPause"]) =>
          before.filter(
            (one) => isTunnel(one) && fits.some(({ id, planPause }) => id === one.id && planPause === what),
          );
        const kept = before.filter((one) => holdsSlot(one) && !changed("add").includes(one));
        const stay = before.filter((one) => isTunnel(one) && !holdsSlot(one) && !changed("remove").includes(one));
        for (const paused of changed("add")) for (const one of kept) expect(byAge(one, paused)).toBeLessThan(0);
        for (const back of changed("remove")) for (const one of stay) expect(byAge(back, one)).toBeLessThan(0);
        expect(changed("add").length === 0 || changed("remove").length === 0).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it("counts a tunnel that a person paused, not one that the plan paused", () => {
    expect(holdsSlot({ kind: "wireguard", pauseReasons: ["user", "subscription"] })).toBe(true);
    expect(holdsSlot({ kind: "wireguard", pauseReasons: ["user", "plan"] })).toBe(false);
    expect(holdsSlot({ kind: "http", pauseReasons: [] })).toBe(false);
  });

  it("leaves a monitor as it is that fits", () => {
    const fitting = { id: 1, kind: "http" as const, intervalS: 60, pauseReasons: ["user" as const], createdAtMs: 1 };
    expect(fitToPlan([fitting], PLANS.business, false)).toEqual([]);
    expect(fitToPlan([{ ...fitting, intervalS: 59 }], PLANS.pro, false)).toEqual([{ id: 1, intervalS: 60 }]);
  });
});
