import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CheckOutcome } from "../../model/result.ts";
import { type OneOffCheck, startWithinMs } from "../../store/state/checks.ts";
import { outcomeOf } from "../fixtures.suite.ts";
import { pipelineScene } from "../pipeline.suite.ts";
import { OneOffChecks } from "./one-off.ts";

const CHECK: OneOffCheck = {
  kind: "wireguard",
  settings: { config: "…" },
  host: "vpn.test-site.org",
  identity: null,
  timeoutMs: 7_000,
  organizationId: 3,
};

function scene() {
  const { pipeline, admission, runs, defined } = pipelineScene({ monitors: [] });
  const after = (delayMs: number, act: () => void): (() => void) => {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  };
  const { onDemandRuns } = pipeline;
  const checks = new OneOffChecks({ onDemandRuns, flush: () => pipeline.flush(), after });
  const answer = (index: number, over: Partial<CheckOutcome> = {}): void => {
    const run = runs[index];
    if (run === undefined) throw new Error(`no run ${index}`);
    pipeline.take([outcomeOf(run.checkId, over)]);
  };
  const check: OneOffChecks["run"] = (...order) => checks.run(...order);
  return { check, runs, specs: defined, pipeline, admission, answer };
}

describe("OneOffChecks", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs what it is given, and forgets it", async () => {
    const { check, runs, specs, pipeline, answer } = scene();
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
    expect(pipeline.running).toBe(0);
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
    const { check, pipeline, admission, answer, runs } = scene();
    admission.hold(true);
    const late = check(CHECK, "api");
    vi.advanceTimersByTime(startWithinMs("api", CHECK.timeoutMs));
    expect(await late).toEqual({ type: "busy" });
    admission.hold(false);
    pipeline.flush();
    expect(runs).toEqual([]);
    const stopped = check(CHECK, "api");
    answer(0, { verdict: "cancelled" });
    expect(await stopped).toEqual({ type: "busy" });
    expect(pipeline.waiting).toBe(0);
  });
});
