import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CheckRun, CheckSpec } from "../engine/check.ts";
import type { CheckOutcome } from "../model/result.ts";
import { type PassingCheck, startWithinMs } from "../store/state/checks.ts";
import { createDispatch } from "./dispatch.ts";
import { createErrands } from "./errands.ts";
import { outcomeOf } from "./fixtures.suite.ts";
import { createGateBook } from "./gates.ts";
import { createPassingChecks } from "./passing-checks.ts";
import { createPlan } from "./plan.ts";

const CHECK: PassingCheck = {
  kind: "wireguard",
  settings: { config: "…" },
  host: "vpn.test-site.org",
  identity: null,
  timeoutMs: 7_000,
  organizationId: 3,
};

function scene() {
  const runs: CheckRun[] = [];
  const specs = new Map<number, CheckSpec>();
  let lastCheckId = 0;
  const plan = createPlan(createGateBook(), { perHost: 100, perWorkspace: 100 });
  const dispatch = createDispatch({
    probers: {
      define(defined) {
        for (const spec of defined) specs.set(spec.key, spec);
      },
      forget(keys) {
        for (const key of keys) specs.delete(key);
      },
      run: (batch) => runs.push(...batch),
    },
    overallLimit: 100,
    nowMs: () => 1_000,
    nextCheckId: () => ++lastCheckId,
    wasHealthy: () => false,
    isConfirming: () => false,
    onUnrun: () => {},
    onOutcome: (entry, outcome, attempt) => entry.errand?.end(outcome, attempt),
    onObsolete: () => {},
  });
  const errands = createErrands({ plan, dispatch, nowMs: () => 1_000 });
  const after = (delayMs: number, act: () => void): (() => void) => {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  };
  const check = createPassingChecks({ errands, flush: dispatch.flush, after });
  const answer = (index: number, over: Partial<CheckOutcome> = {}): void => {
    const run = runs[index];
    if (run === undefined) throw new Error(`no run ${index}`);
    dispatch.take([outcomeOf(run.checkId, over)]);
    dispatch.flush();
  };
  return { check, runs, specs, dispatch, answer };
}

describe("createPassingChecks", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs what it is given, and forgets it", async () => {
    const { check, runs, specs, dispatch, answer } = scene();
    const reply = check(CHECK, "public");
    const spec = specs.get(runs[0]?.specKey ?? 0);
    expect(spec).toMatchObject({ kind: "wireguard", settings: CHECK.settings, timeoutMs: 7_000, isPublic: true });
    const tunnel = { connectionTimeMs: 3, handshakeTimeMs: 2, assignedIp: "10.0.0.2", engineUsed: null };
    answer(0, { latencyMs: 41, tunnel });
    expect(await reply).toEqual({
      type: "measured",
      result: {
        verdict: "ok",
        startedAtMs: 1_000,
        latencyMs: 41,
        connectMs: null,
        peerAnswered: true,
        message: null,
        tunnel,
      },
    });
    expect(specs.size).toBe(0);
    expect(dispatch.running).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("runs many at once, but one of an identity", async () => {
    const { check, runs, specs, answer } = scene();
    const replies = [1, 2, 3].map(() => check(CHECK, "api"));
    expect(runs).toHaveLength(3);
    expect(specs.get(runs[0]?.specKey ?? 0)).not.toHaveProperty("isPublic");
    const alike = [1, 2].map(() => check({ ...CHECK, identity: "key" }, "api"));
    expect(runs).toHaveLength(4);
    for (const index of [0, 1, 2, 3]) answer(index);
    expect(runs).toHaveLength(5);
    answer(4);
    expect((await Promise.all([...replies, ...alike])).every(({ type }) => type === "measured")).toBe(true);
  });

  it("is busy when the caps do not let it start in time, or the checker stops", async () => {
    const { check, dispatch, answer, runs } = scene();
    dispatch.hold(true);
    const late = check(CHECK, "api");
    vi.advanceTimersByTime(startWithinMs("api", CHECK.timeoutMs));
    expect(await late).toEqual({ type: "busy" });
    dispatch.hold(false);
    dispatch.flush();
    expect(runs).toEqual([]);
    const stopped = check(CHECK, "api");
    answer(0, { verdict: "cancelled" });
    expect(await stopped).toEqual({ type: "busy" });
    expect(dispatch.waiting).toBe(0);
  });
});
