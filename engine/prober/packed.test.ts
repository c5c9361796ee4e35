import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CheckOutcome, PHASES } from "../../model/result.ts";
import { VERDICTS } from "../../model/verdict.ts";
import { property } from "../../testkit/property.ts";
import { packOutcomes, packRuns, unpackOutcomes, unpackRuns } from "./packed.ts";

const whole = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const ms = fc.integer({ min: 0, max: 1_000_000 });
const maybe = fc.option(ms, { nil: null });

const outcome: fc.Arbitrary<CheckOutcome> = fc.record(
  {
    checkId: whole,
    // Mostly passes, which are what is packed.
    verdict: fc.oneof({ weight: 3, arbitrary: fc.constant("ok" as const) }, fc.constantFrom(...VERDICTS)),
    startedAtMs: whole,
    latenessMs: ms,
    durationMs: ms,
    latencyMs: maybe,
    connectMs: maybe,
    peerAnswered: fc.boolean(),
    message: fc.option(fc.string(), { nil: null, freq: 1 }),
    phases: fc.dictionary(fc.constantFrom(...PHASES), fc.double({ min: 0, max: 1e6, noNaN: true })),
    explanation: fc.option(fc.constant({ stage: null, address: "1.2.3.4", peer: null, hint: null }), { nil: null }),
    certificate: fc.option(fc.constant({ valid: true, expiresAtMs: 1 }), { nil: null }),
    domainExpiresAtMs: maybe,
    tunnel: fc.constant({ connectionTimeMs: 1, handshakeTimeMs: null, assignedIp: null, engineUsed: null }),
  },
  {
    requiredKeys: [
      "checkId",
      "verdict",
      "startedAtMs",
      "latenessMs",
      "durationMs",
      "latencyMs",
      "connectMs",
      "peerAnswered",
      "message",
      "phases",
      "explanation",
      "certificate",
      "domainExpiresAtMs",
    ],
  },
);

/** It says nothing more than a packed pass does. */
const pass = {
  checkId: 1,
  verdict: "ok" as const,
  startedAtMs: 2,
  latenessMs: 3,
  durationMs: 4,
  latencyMs: 5,
  connectMs: null,
  peerAnswered: true,
  message: null,
  phases: { connect: 0.25 },
  explanation: null,
  certificate: null,
  domainExpiresAtMs: null,
};

/** The order among outcomes of one message says nothing. */
function sorted(outcomes: readonly CheckOutcome[]): string[] {
  return outcomes.map((each) => JSON.stringify({ ...each, phases: Object.entries(each.phases).sort() })).sort();
}

describe("packed messages", () => {
  property([fc.array(outcome, { maxLength: 20 })])("bring every outcome as it was, also across a port", (outcomes) => {
    const packed = structuredClone(packOutcomes(outcomes));
    expect(sorted(unpackOutcomes(packed))).toEqual(sorted(outcomes));
  });

  const flag = fc.boolean();
  property([fc.array(fc.record({ checkId: whole, specKey: whole, dueAtMs: whole, alone: flag, isPatient: flag }))])(
    "bring every run, in order",
    (runs) => {
      expect(unpackRuns(structuredClone(packRuns(runs)))).toEqual(runs);
    },
  );

  test("lose no member that only some outcomes have", () => {
    const all: Required<CheckOutcome> = {
      checkId: 1,
      verdict: "ok",
      startedAtMs: 2,
      latenessMs: 0,
      durationMs: 3,
      latencyMs: 4,
      connectMs: 1,
      peerAnswered: true,
      message: "words",
      phases: { connect: 1 },
      explanation: { stage: null, address: null, peer: null, hint: "slow" },
      certificate: { valid: true, expiresAtMs: 5 },
      domainExpiresAtMs: 6,
      tunnel: { connectionTimeMs: 1, handshakeTimeMs: 1, assignedIp: null, engineUsed: null },
      checker: "elsewhere",
      configs: [],
      heldMs: 7,
      isSpent: true,
    };
    for (const [name, value] of Object.entries(all)) {
      const outcome = { ...pass, [name]: value };
      expect(unpackOutcomes(packOutcomes([outcome]))).toEqual([outcome]);
    }
  });

  test("hold passes as numbers, and send no more memory than they take", () => {
    const failure = { ...pass, verdict: "timeout" as const, message: "Timed out" };
    const { passes, others } = packOutcomes([failure, pass, failure]);
    expect(others).toEqual([failure, failure]);
    expect(passes.buffer.byteLength).toBe(passes.byteLength);
    expect(unpackOutcomes({ passes, others: [] })).toEqual([pass]);
  });
});
