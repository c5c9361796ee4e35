import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CheckOutcome } from "../../model/result.ts";
import type { Verdict } from "../../model/verdict.ts";
import { type MeasuredCheck, NetworkTrust } from "./network-trust.ts";
import { HOLD_MS } from "./suspect-buffer.ts";

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => vi.useRealTimers());

interface Check extends MeasuredCheck {
  readonly target: number;
}

const orders = new Map<number, object>();

function checkOf(target: number, wasHealthy: boolean, over: Partial<Check> = {}): Check {
  const order = orders.get(target) ?? {};
  orders.set(target, order);
  return { target, order, host: `site${target}.org`, wasHealthy, ...over };
}

function start() {
  const delivered: [number, Verdict][] = [];
  const cuts: boolean[] = [];
  let suspicions = 0;
  const trust = new NetworkTrust<Check>({
    nowMs: () => Date.now(),
    deliver: ({ target }, { verdict }) => delivered.push([target, verdict]),
    onSuspicion: () => suspicions++,
    onCut: (isCut) => cuts.push(isCut),
  });
  const take = (target: number, verdict: Verdict, wasHealthy = true, durationMs = 100) =>
    trust.take(checkOf(target, wasHealthy), outcome(verdict, durationMs));
  return { trust, take, delivered, cuts, suspicions: () => suspicions };
}

function outcome(verdict: Verdict, durationMs: number): CheckOutcome {
  return {
    checkId: 1,
    verdict,
    startedAtMs: Date.now() - durationMs,
    latenessMs: 0,
    durationMs,
    latencyMs: null,
    connectMs: null,
    peerAnswered: false,
    message: verdict === "ok" ? null : "no answer",
    phases: {},
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
  };
}

describe("NetworkTrust", () => {
  test("passes, failures of targets that were down, and verdicts about us go at once", () => {
    const { take, delivered, suspicions } = start();
    take(1, "ok");
    take(2, "timeout", false);
    take(3, "unfit");
    take(4, "misconfigured");
    expect(delivered).toEqual([
      [1, "ok"],
      [2, "timeout"],
      [3, "unfit"],
      [4, "misconfigured"],
    ]);
    expect(suspicions()).toBe(0);
  });

  test("failures of targets that were never judged wait for the canaries, and are no crowd", () => {
    const { trust, delivered, cuts, suspicions } = start();
    for (let target = 1; target <= 8; target++) {
      trust.take(checkOf(target, false, { isNew: true }), outcome("timeout", 100));
    }
    expect([delivered.length, cuts.length, suspicions()]).toEqual([0, 0, 8]);
    const canary = { name: "gateway", kind: "icmp" as const, isFar: false };
    trust.canary({ ...canary, reached: true });
    trust.canary({ ...canary, reached: false });
    trust.canary({ ...canary, reached: false });
    vi.advanceTimersByTime(HOLD_MS);
    expect(cuts).toEqual([true]);
    expect(new Set(delivered.map(([, verdict]) => verdict))).toEqual(new Set(["unfit"]));
    expect(delivered).toHaveLength(8);
  });

  test("a lone failure counts after the hold, and what follows it does not overtake it", () => {
    const { take, delivered, suspicions, trust } = start();
    take(1, "refused");
    vi.advanceTimersByTime(HOLD_MS - 1);
    take(1, "ok");
    expect(delivered).toEqual([]);
    expect(suspicions()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(delivered).toEqual([
      [1, "refused"],
      [1, "ok"],
    ]);
    expect(trust.held).toBe(0);
  });

  test("of a crowd none counts, neither the first nor the last, and words say why", () => {
    const { take, delivered, trust } = start();
    for (let target = 1; target <= 40; target++) {
      take(target, "timeout");
      vi.advanceTimersByTime(30);
    }
    vi.advanceTimersByTime(HOLD_MS);
    expect(trust.isCut).toBe(true);
    expect(delivered).toHaveLength(40);
    expect(new Set(delivered.map(([, verdict]) => verdict))).toEqual(new Set(["unfit"]));
  });

  test("a silent canary does it for a single target", () => {
    const { take, delivered, trust, cuts } = start();
    const gateway = { name: "icmp:192.168.0.1", kind: "icmp", isFar: false } as const;
    trust.canary({ ...gateway, reached: true });
    take(1, "timeout");
    vi.advanceTimersByTime(500);
    trust.canary({ ...gateway, reached: false });
    vi.advanceTimersByTime(500);
    trust.canary({ ...gateway, reached: false });
    vi.advanceTimersByTime(0);
    expect(delivered).toEqual([[1, "unfit"]]);
    // A check that began during the cut ends after it.
    vi.advanceTimersByTime(5_000);
    trust.canary({ ...gateway, reached: true });
    vi.advanceTimersByTime(5_000);
    take(2, "timeout", false, 8_000);
    take(3, "timeout", false, 1_000);
    expect(delivered.slice(1)).toEqual([
      [2, "unfit"],
      [3, "timeout"],
    ]);
    expect(cuts).toEqual([true, false]);
  });

  test("flush lets everything out", () => {
    const { take, delivered, trust } = start();
    take(1, "timeout");
    take(2, "timeout");
    trust.flush();
    expect(delivered).toEqual([
      [1, "timeout"],
      [2, "timeout"],
    ]);
    vi.advanceTimersByTime(10 * HOLD_MS);
    expect(delivered).toHaveLength(2);
  });
});
