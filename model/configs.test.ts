import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeConfigs, type RunOfConfig } from "./configs.ts";
import type { CheckOutcome } from "./result.ts";
import { isOwnVerdict, VERDICTS, type Verdict } from "./verdict.ts";

function outcome(verdict: Verdict, over: Partial<CheckOutcome> = {}): CheckOutcome {
  return {
    checkId: 1,
    verdict,
    startedAtMs: 1_000,
    latenessMs: 0,
    durationMs: 40,
    latencyMs: verdict === "ok" ? 20 : null,
    connectMs: verdict === "ok" ? 5 : null,
    peerAnswered: verdict === "ok",
    message: verdict === "ok" ? null : `it ended as ${verdict}`,
    phases: {},
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
    ...over,
  };
}

const runs = (...outcomes: CheckOutcome[]): RunOfConfig[] =>
  outcomes.map((one, index) => ({ configId: index + 1, outcome: one }));

describe("many configs of one server", () => {
  test("one that passes makes it healthy, with the times of the fastest that passed", () => {
    const merged = mergeConfigs(
      runs(outcome("timeout"), outcome("ok", { latencyMs: 50, connectMs: 1 }), outcome("ok", { latencyMs: 30 })),
    );
    expect(merged).toMatchObject({ verdict: "ok", latencyMs: 30, connectMs: 5, message: null });
    expect(merged.configs?.map(({ verdict }) => verdict)).toEqual(["timeout", "ok", "ok"]);
  });

  test("credentials are refused only when all were", () => {
    expect(mergeConfigs(runs(outcome("auth-failed"), outcome("auth-failed"))).verdict).toBe("auth-failed");
    expect(mergeConfigs(runs(outcome("auth-failed"), outcome("refused"))).verdict).toBe("refused");
  });

  test("the failure that most share speaks for all, and the message says how many do", () => {
    const merged = mergeConfigs(runs(outcome("stuck"), outcome("refused"), outcome("refused")));
    expect(merged.verdict).toBe("refused");
    expect(merged.message).toBe("None of 3 configs passed, 2 of them like this: it ended as refused");
  });

  test("one config by itself keeps its own words", () => {
    expect(mergeConfigs(runs(outcome("stuck"))).message).toBe("it ended as stuck");
  });

  test("what no core here can run says nothing about the server", () => {
    expect(mergeConfigs(runs(outcome("unsupported"), outcome("stuck"))).verdict).toBe("stuck");
    expect(mergeConfigs(runs(outcome("unsupported"), outcome("unsupported"))).verdict).toBe("unsupported");
  });

  test("while one met a fault of ours that passes, the others' failures do not make it down", () => {
    expect(mergeConfigs(runs(outcome("timeout"), outcome("unfit"))).verdict).toBe("unfit");
    expect(mergeConfigs(runs(outcome("ok"), outcome("unfit"))).verdict).toBe("ok");
  });

  test("a config says where its traffic left from and by which engine, only when it passed", () => {
    const tunnel = {
      connectionTimeMs: 1,
      handshakeTimeMs: null,
      assignedIp: "192.0.2.7",
      engineUsed: "xray",
      exitCountry: "DE",
    } as const;
    const merged = mergeConfigs(runs(outcome("ok", { tunnel }), outcome("stuck", { tunnel })));
    expect(merged.configs).toMatchObject([
      { configId: 1, publicIp: "192.0.2.7", exitCountry: "DE", engineUsed: "xray", totalMs: 40 },
      { configId: 2, publicIp: null, engineUsed: "xray", message: "it ended as stuck" },
    ]);
    expect(merged.configs?.[1]).not.toHaveProperty("exitCountry");
  });

  test("whatever the verdicts: healthy exactly when one passed, ours only when nothing was learned or a fault may pass", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...VERDICTS), { minLength: 1, maxLength: 256 }), (verdicts) => {
        const merged = mergeConfigs(runs(...verdicts.map((verdict) => outcome(verdict))));
        expect(merged.verdict === "ok").toBe(verdicts.includes("ok"));
        expect(merged.configs).toHaveLength(verdicts.length);
        if (isOwnVerdict(merged.verdict)) {
          expect(verdicts.some((one) => one === "unfit" || one === "cancelled") || verdicts.every(isOwnVerdict)).toBe(
            true,
          );
        }
        if (merged.verdict === "auth-failed") {
          expect(verdicts.every((one) => one === "auth-failed" || isOwnVerdict(one))).toBe(true);
        }
      }),
    );
  });
});
