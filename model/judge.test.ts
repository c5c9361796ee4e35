import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { judgeLocation, newLocationState } from "./judge.ts";
import type { Kind } from "./kind.ts";
import type { LocationState } from "./status.ts";
import { confirmedStatusOf, isOwnVerdict, OWN_VERDICTS, TARGET_VERDICTS, VERDICTS, type Verdict } from "./verdict.ts";

const check = (verdict: Verdict, more: { startedAtMs?: number; peerAnswered?: boolean } = {}) => ({
  verdict,
  peerAnswered: false,
  latencyMs: verdict === "ok" ? 12 : null,
  startedAtMs: 1_000,
  ...more,
});

const rule = (maxRetries: number, inMaintenance = false, kind: Kind = "http") => ({ kind, maxRetries, inMaintenance });

/** Judges one after another, at 1, 2, 3 … seconds. */
function judgeAll(verdicts: readonly Verdict[], maxRetries: number) {
  let judged = { state: newLocationState(), rowStatus: "unknown", errorCategory: null } as ReturnType<
    typeof judgeLocation
  >;
  verdicts.forEach((verdict, i) => {
    judged = judgeLocation(judged.state, check(verdict, { startedAtMs: (i + 1) * 1_000 }), rule(maxRetries));
  });
  return judged;
}

/** Where a location can stand before a check, with maxretries 3. */
const NOW: Readonly<Record<string, LocationState>> = {
  unknown: newLocationState(),
  healthy: judgeAll(["ok"], 3).state,
  "retrying, never judged": judgeAll(["timeout"], 3).state,
  "retrying, was healthy": judgeAll(["ok", "timeout"], 3).state,
  "fault of ours, was healthy": judgeAll(["ok", "unfit"], 3).state,
  "credentials refused": judgeAll(["auth-failed", "auth-failed", "auth-failed"], 3).state,
  down: judgeAll(["timeout", "timeout", "timeout"], 3).state,
};
const OTHERS = Object.entries(NOW).filter(([name]) => name !== "down");
const down = NOW.down ?? newLocationState();

const DEGRADING = ["auth-failed", "incomplete"] as const;
const FAILED = TARGET_VERDICTS.filter((verdict) => confirmedStatusOf(verdict) === "down");

describe("docs/api-contract.md#status, row by row", () => {
  it.each(Object.entries(NOW))("%s, passed: healthy", (_now, state) => {
    const judged = judgeLocation(state, check("ok"), rule(3));
    expect(judged).toEqual({
      state: {
        status: "up",
        confirmed: "up",
        notPassed: 0,
        failingSinceMs: null,
        lastCheckAtMs: 1_000,
        pingMs: 12,
        errorCategory: null,
      },
      rowStatus: "healthy",
      errorCategory: null,
    });
  });

  describe.each(OTHERS)("%s", (_now, state) => {
    it.each(FAILED)("failed (%s), fewer than maxretries: retrying", (verdict) => {
      const { state: next, rowStatus } = judgeLocation(state, check(verdict), rule(state.notPassed + 2));
      expect(rowStatus).toBe("degraded");
      expect(next).toMatchObject({ status: "pending", confirmed: state.confirmed, notPassed: state.notPassed + 1 });
    });

    it.each(FAILED)("failed (%s), number maxretries in a row: down", (verdict) => {
      const { state: next, rowStatus } = judgeLocation(state, check(verdict), rule(state.notPassed + 1));
      expect(rowStatus).toBe("down");
      expect(next).toMatchObject({ status: "down", confirmed: "down", notPassed: state.notPassed + 1 });
    });

    it.each(OWN_VERDICTS)("fault of ours (%s): pending, nothing counted", (verdict) => {
      const { state: next, rowStatus, errorCategory } = judgeLocation(state, check(verdict), rule(1));
      expect(rowStatus).toBe("degraded");
      expect(errorCategory).toBe("checker_error");
      expect(next).toMatchObject({ status: "pending", confirmed: state.confirmed, notPassed: state.notPassed });
      expect(next.errorCategory).toBe("checker_error");
    });
  });

  it.each(FAILED)("down, failed (%s): down", (verdict) => {
    const { state, rowStatus } = judgeLocation(down, check(verdict), rule(3));
    expect(rowStatus).toBe("down");
    expect(state).toMatchObject({ status: "down", confirmed: "down", notPassed: 4 });
  });

  it.each(OWN_VERDICTS)("down, fault of ours (%s): stays down for its reason, the row has no verdict", (verdict) => {
    const { state, rowStatus, errorCategory } = judgeLocation(down, check(verdict), rule(3));
    expect(rowStatus).toBe("degraded");
    expect(errorCategory).toBe("checker_error");
    expect(state).toEqual({ ...down, lastCheckAtMs: 1_000 });
    expect(state.errorCategory).toBe("server_not_connected");
  });

  it("knows which verdicts are down", () => {
    expect(TARGET_VERDICTS.filter((verdict) => confirmedStatusOf(verdict) === "degraded")).toEqual(DEGRADING);
    expect(FAILED.length).toBe(TARGET_VERDICTS.length - DEGRADING.length - 1);
  });

  it.each(DEGRADING)("any, %s: degraded, confirmed after maxretries in a row", (verdict) => {
    const first = judgeAll(["ok", verdict], 3);
    expect(first.rowStatus).toBe("degraded");
    const errorCategory = verdict === "auth-failed" ? "auth_failed" : "timeout";
    expect(first.state).toMatchObject({ status: "pending", confirmed: "up", errorCategory });
    const third = judgeAll(["ok", verdict, verdict, verdict], 3);
    expect(third.rowStatus).toBe("degraded");
    expect(third.state).toMatchObject({ status: "degraded", confirmed: "degraded", notPassed: 3 });
    const afterDown = judgeLocation(down, check(verdict), rule(3));
    expect(afterDown.rowStatus).toBe("degraded");
    expect(afterDown.state).toMatchObject({ status: "degraded", confirmed: "degraded", notPassed: 4 });
  });

  it("one streak: the confirming check decides between down and refused credentials", () => {
    expect(judgeAll(["auth-failed", "timeout"], 2).state.confirmed).toBe("down");
    expect(judgeAll(["timeout", "auth-failed"], 2).state.confirmed).toBe("degraded");
    expect(judgeAll(["auth-failed", "auth-failed", "refused"], 2).state.confirmed).toBe("down");
  });

  it.each(VERDICTS.flatMap((verdict) => Object.entries(NOW).map(([now, state]) => [verdict, now, state] as const)))(
    "maintenance, %s while %s: row unknown, nothing moves but when it began to fail, which is forgotten",
    (verdict, _now, state) => {
      const judged = judgeLocation(state, check(verdict), rule(1, true));
      expect(judged.rowStatus).toBe("unknown");
      const pingMs = verdict === "ok" ? 12 : null;
      expect(judged.state).toEqual({ ...state, failingSinceMs: null, lastCheckAtMs: 1_000, pingMs });
    },
  );

  it("remembers when the failures that go on now began", () => {
    expect(judgeAll(["ok", "timeout", "unfit", "refused", "auth-failed"], 3).state.failingSinceMs).toBe(2_000);
    expect(judgeAll(["timeout", "ok", "unfit"], 3).state.failingSinceMs).toBeNull();
    expect(judgeAll(["timeout", "timeout", "ok", "timeout"], 2).state.failingSinceMs).toBe(4_000);
    // As a version before left it.
    const { failingSinceMs: _, ...before } = judgeAll(["timeout"], 3).state;
    const judged = judgeLocation(before as LocationState, check("timeout", { startedAtMs: 7_000 }), rule(3));
    expect(judged.state).toMatchObject({ notPassed: 2, failingSinceMs: 7_000 });
  });

  it("maxretries 1 means at once", () => {
    expect(judgeAll(["timeout"], 1)).toMatchObject({ rowStatus: "down", state: { status: "down" } });
    expect(judgeAll(["auth-failed"], 1)).toMatchObject({ rowStatus: "degraded", state: { status: "degraded" } });
  });

  it.each(["rejected", "timeout"] as const)("heartbeats have no retries: %s is down at once", (verdict) => {
    const judged = judgeLocation(newLocationState(), check(verdict), rule(10, false, "push"));
    expect(judged).toMatchObject({ rowStatus: "down", state: { status: "down", confirmed: "down", notPassed: 1 } });
  });

  it("keeps a confirmed verdict when maxretries is raised meanwhile", () => {
    expect(judgeLocation(down, check("timeout"), rule(10))).toMatchObject({
      rowStatus: "down",
      state: { status: "down" },
    });
    const refused = judgeLocation(down, check("auth-failed"), rule(10));
    expect(refused).toMatchObject({ rowStatus: "degraded", state: { status: "down", confirmed: "down" } });
  });
});

describe("error categories of rows", () => {
  it.each<[Verdict, boolean, Kind, string | null]>([
    ["ok", true, "http", null],
    ["unresolved", false, "http", "dns_error"],
    ["unreachable", false, "port", "server_not_connected"],
    ["refused", false, "port", "server_not_connected"],
    ["closed", true, "http", "server_not_connected"],
    ["handshake-failed", true, "http", "server_not_connected"],
    ["timeout", false, "http", "server_not_connected"],
    ["timeout", true, "http", "timeout"],
    ["stuck", true, "wireguard", "internet_stuck"],
    ["cert-invalid", true, "http", "cert_error"],
    ["auth-failed", true, "openvpn", "auth_failed"],
    ["protocol-error", true, "dns", "rejected"],
    ["protocol-error", true, "vless", "server_not_connected"],
    ["rejected", true, "keyword", "rejected"],
    ["rejected", true, "trojan", "server_not_connected"],
    ["misconfigured", false, "http", "config_error"],
    ["unfit", false, "http", "checker_error"],
    ["unsupported", false, "tuic", "checker_error"],
    ["cancelled", false, "http", "checker_error"],
    ["internal-error", false, "http", "checker_error"],
  ])("%s (peer answered: %s) of %s is %s", (verdict, peerAnswered, kind, category) => {
    const judged = judgeLocation(newLocationState(), check(verdict, { peerAnswered }), rule(1, false, kind));
    expect(judged.errorCategory).toBe(category);
    expect(judged.state.errorCategory).toBe(category);
  });
});

describe("judgeLocation, whatever comes", () => {
  const step = fc.record({
    verdict: fc.oneof(fc.constantFrom(...VERDICTS), fc.constantFrom<Verdict>("ok", "timeout", "auth-failed", "unfit")),
    inMaintenance: fc.boolean(),
  });
  const rarely = fc.record({ verdict: step.map((s) => s.verdict), inMaintenance: fc.constant(false) });
  const story = fc.array(fc.oneof({ weight: 5, arbitrary: rarely }, { weight: 1, arbitrary: step }), {
    maxLength: 40,
    size: "max",
  });

  it("agrees with what can be said of the whole story at once", () => {
    let steps = 0;
    assertProperty(
      fc.property(story, fc.integer({ min: 1, max: 10 }), (checks, maxRetries) => {
        let state = newLocationState();
        const counted: Verdict[] = [];
        checks.forEach(({ verdict, inMaintenance }, i) => {
          steps += 1;
          const judged = judgeLocation(state, check(verdict, { startedAtMs: i }), rule(maxRetries, inMaintenance));
          if (!inMaintenance && !isOwnVerdict(verdict)) counted.push(verdict);
          const told = tell(counted, maxRetries);
          if (judged.state.confirmed !== told.confirmed || judged.state.notPassed !== told.notPassed) {
            throw new Error(`${JSON.stringify(judged.state)}, should be ${JSON.stringify(told)}`);
          }
          const { status, confirmed } = judged.state;
          if (!inMaintenance && status !== "pending" && status !== confirmed)
            throw new Error(`${status} is not ${confirmed}`);
          if (status === "down" && confirmed !== "down") throw new Error("down and not confirmed");
          if (judged.rowStatus === "down" && (told.notPassed < maxRetries || isOwnVerdict(verdict)))
            throw new Error("too early");
          if ((judged.rowStatus === "unknown") !== inMaintenance) throw new Error("maintenance");
          if ((judged.errorCategory === null) !== (verdict === "ok")) throw new Error("category");
          state = judged.state;
        });
      }),
      { numRuns: 10_000 },
    );
    expect(steps).toBeGreaterThan(100_000);
  });

  /** The definition: of the checks that count, the last one that passed or had maxretries failures up to it is confirmed. */
  function tell(counted: readonly Verdict[], maxRetries: number) {
    const notPassedUpTo = (end: number): number => end - (counted.slice(0, end).lastIndexOf("ok") + 1);
    for (let end = counted.length; end > 0; end--) {
      const verdict = counted[end - 1] ?? "ok";
      if (verdict === "ok" || notPassedUpTo(end) >= maxRetries) {
        return { confirmed: confirmedStatusOf(verdict), notPassed: notPassedUpTo(counted.length) };
      }
    }
    return { confirmed: null, notPassed: counted.length };
  }
});
