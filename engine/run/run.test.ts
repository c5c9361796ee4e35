import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { CheckOutcome } from "../../model/result.ts";
import { VERDICTS } from "../../model/verdict.ts";
import { must, mustEqual } from "../../testkit/must.ts";
import type { Outcome, Probe, ProbeContext } from "../contract/probe.ts";
import { NetworkFault } from "../net/fault.ts";
import type { Transport } from "../transport/transport.ts";
import { CROWDED_SAMPLE_FROM, type RunEnvironment, RunningCheck } from "./run.ts";

const NO_TRANSPORT = {} as Transport;
const RUN = { checkId: 7, specKey: 1, dueAtMs: 1_000_000, alone: false };

function probeThat(run: (context: ProbeContext) => unknown): Probe<object> {
  return {
    settings: z.object({}),
    run: (_settings, context) => run(context) as Promise<Outcome>,
  };
}

/** A check whose clock stands still unless the test moves it. */
function begin(run: (context: ProbeContext, clock: { now: number }) => unknown, inFlight = 1) {
  const clock = { now: 500.25, wallNowMs: 1_000_012 };
  const outcomes: CheckOutcome[] = [];
  const touched: number[] = [];
  const environment: RunEnvironment = {
    inFlight: () => inFlight,
    transport: NO_TRANSPORT,
    now: () => clock.now,
    wallNowMs: () => clock.wallNowMs,
    randomBytes: (sizeBytes) => new Uint8Array(sizeBytes),
    touch: ({ checkId }) => touched.push(checkId),
    done: (_check, outcome) => outcomes.push(outcome),
  };
  const check = new RunningCheck(RUN, 10_000, environment);
  check.start(
    probeThat((context) => run(context, clock)),
    {},
  );
  return { check, clock, outcomes, touched };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Runs to its end and gives the one outcome. */
async function outcomeOf(run: (context: ProbeContext) => unknown): Promise<CheckOutcome | undefined> {
  const { outcomes } = begin(run);
  await settled();
  expect(outcomes).toHaveLength(1);
  return outcomes[0];
}

describe("a check that passes", () => {
  test("has whole milliseconds, its phases, and no words", async () => {
    const begun = begin(async (context, clock) => {
      context.phase("connect");
      context.tried("192.0.2.1:80");
      clock.now += 1.239;
      const { phase } = context;
      phase("request");
      clock.now += 20.5;
      return { verdict: "ok", latencyMs: 21.6, connectMs: 1.2, message: "unused", peer: "unused" };
    });
    await settled();
    expect(begun.outcomes).toEqual([
      {
        checkId: 7,
        verdict: "ok",
        startedAtMs: 1_000_012,
        latenessMs: 12,
        durationMs: 22,
        latencyMs: 22,
        connectMs: 1,
        peerAnswered: true,
        message: null,
        phases: { connect: 1.24, request: 20.5 },
        explanation: null,
        certificate: null,
        domainExpiresAtMs: null,
      },
    ]);
    expect(begun.touched.every((checkId) => checkId === 7)).toBe(true);
  });

  test.each([
    ["alone", 1, undefined],
    ["beside a few", CROWDED_SAMPLE_FROM - 1, undefined],
    ["in a crowd", CROWDED_SAMPLE_FROM, /^Measured while 99 other checks ran/],
  ] as const)("marks a tunnel's latency that was measured %s", async (_how, inFlight, hint) => {
    const tunnel = { connectionTimeMs: 5, handshakeTimeMs: 2, assignedIp: "10.0.0.2", engineUsed: null };
    const through = begin(() => ({ verdict: "ok", latencyMs: 3, tunnel }), inFlight);
    const plain = begin(() => ({ verdict: "ok", latencyMs: 3 }), inFlight);
    await settled();
    const said = through.outcomes[0]?.explanation?.hint;
    if (hint === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(hint);
    expect(plain.outcomes[0]?.explanation).toBeNull();
  });

  test("keeps what a tunnel that works has to tell", async () => {
    const tunnel = { connectionTimeMs: 5, handshakeTimeMs: 2, assignedIp: null, engineUsed: null };
    const begun = begin(() => ({ verdict: "ok", latencyMs: 3, tunnel, hint: "told" }));
    const crowded = begin(() => ({ verdict: "ok", latencyMs: 3, tunnel, hint: "told" }), CROWDED_SAMPLE_FROM);
    await settled();
    expect(begun.outcomes[0]?.explanation?.hint).toBe("told");
    expect(crowded.outcomes[0]?.explanation?.hint).toMatch(/^told\. Measured while/);
  });

  test("sums a phase that comes again", async () => {
    const begun = begin(async (context, clock) => {
      for (const name of ["connect", "request", "connect", "request"] as const) {
        context.phase(name);
        clock.now += name === "connect" ? 1 : 10;
      }
      return { verdict: "ok" };
    });
    await settled();
    expect(begun.outcomes[0]?.phases).toEqual({ connect: 2, request: 20 });
  });
});

describe("a check that fails", () => {
  test("keeps the phases that succeeded and says where it ended", async () => {
    const begun = begin(async (context, clock) => {
      context.phase("resolve");
      clock.now += 2;
      context.phase("connect");
      context.tried("192.0.2.1:80");
      clock.now += 3;
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    });
    await settled();
    expect(begun.outcomes[0]).toMatchObject({
      verdict: "refused",
      latencyMs: null,
      peerAnswered: false,
      phases: { resolve: 2, connect: 3 },
      explanation: { stage: "connect", address: "192.0.2.1:80" },
    });
    expect(begun.outcomes[0]?.message).toBeTruthy();
  });

  test("by its outcome: latency is null, words are stripped and bounded", async () => {
    const outcome = await outcomeOf(async (context) => {
      context.answered();
      return {
        verdict: "rejected",
        latencyMs: 5,
        message: "\u001b[31mred\u202e",
        peer: `a\u0000b\ud800${"x".repeat(9_999)}`,
      };
    });
    expect(outcome).toMatchObject({ verdict: "rejected", latencyMs: null, peerAnswered: true });
    expect(outcome?.message).toBe("[31mred");
    expect(outcome?.explanation?.peer?.length).toBeLessThanOrEqual(500);
    expect(outcome?.explanation?.peer).toMatch(/^a b.x+…$/u);
  });

  test("what the fault knows of the peer wins", async () => {
    const outcome = await outcomeOf(async () => {
      throw new NetworkFault("timeout", "half an answer", {
        peerAnswered: true,
        peer: "220 hello",
        hint: "look there",
      });
    });
    expect(outcome).toMatchObject({
      verdict: "timeout",
      peerAnswered: true,
      explanation: { peer: "220 hello", hint: "look there" },
    });
  });
});

describe("nothing escapes", () => {
  test.each<[string, (context: ProbeContext) => unknown]>([
    [
      "a synchronous throw",
      () => {
        throw new TypeError("sync");
      },
    ],
    [
      "an asynchronous throw",
      async () => {
        await null;
        throw new TypeError("async");
      },
    ],
    [
      "a thrown word",
      () => {
        throw "word";
      },
    ],
    [
      "a thrown undefined",
      async () => {
        throw undefined;
      },
    ],
    ["no promise and no outcome", () => undefined],
    ["null", async () => null],
    ["an unknown verdict", async () => ({ verdict: "splendid" })],
    [
      "a phase after the end",
      async ({ phase }) => {
        setImmediate(() => phase("transfer"));
        throw new TypeError("x");
      },
    ],
  ])("%s is internal-error", async (_name, run) => {
    const outcome = await outcomeOf(run);
    expect(outcome?.verdict).toBe("internal-error");
    expect(outcome?.message).toBeTruthy();
  });

  test("whatever is returned or thrown: one outcome, of the closed list, that survives JSON", {
    timeout: 120_000,
  }, async () => {
    const words = fc.oneof(fc.string({ unit: "binary" }), fc.constant(undefined));
    const outcome = fc.record(
      {
        verdict: fc.oneof(fc.constantFrom(...VERDICTS), fc.string()),
        message: words,
        peer: words,
        hint: words,
        latencyMs: fc.double(),
      },
      { requiredKeys: [] },
    );
    const ending = fc.record({ throws: fc.boolean(), awaits: fc.boolean(), value: fc.oneof(outcome, fc.anything()) });
    await fc.assert(
      fc.asyncProperty(ending, async ({ throws, awaits, value }) => {
        const { outcomes } = begin(async () => {
          if (awaits) await null;
          if (throws) throw value;
          return value;
        });
        await Promise.resolve();
        for (let turn = 0; turn < 6; turn++) await null;
        mustEqual(outcomes.length, 1);
        const [only] = outcomes;
        must(only !== undefined && VERDICTS.includes(only.verdict), `${only?.verdict} is not in the list`);
        mustEqual(JSON.parse(JSON.stringify(only)), only);
        mustEqual(only?.latencyMs === null || Number.isInteger(only?.latencyMs), true);
        mustEqual(only?.message === null, only?.verdict === "ok");
        for (const text of [only?.message, only?.explanation?.peer, only?.explanation?.hint]) {
          if (text === null || text === undefined) continue;
          must(text.length <= 500, "the text is too long");
          // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be gone
          const unseen = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Cs}/u;
          must(!unseen.test(text), "a control character is left");
        }
      }),
      { numRuns: 8_000 },
    );
  });
});

describe("the deadline", () => {
  test("ends a check that ignores the signal, and its later rejection is swallowed", async () => {
    let reject: (error: Error) => void = () => {};
    const begun = begin((context) => {
      context.phase("connect");
      return new Promise((_, refuse) => {
        reject = refuse;
      });
    });
    begun.clock.now += 10_000;
    begun.check.expire();
    expect(begun.outcomes).toHaveLength(0);
    begun.clock.now += 1;
    begun.check.giveUp();
    expect(begun.outcomes).toMatchObject([{ verdict: "timeout", peerAnswered: false, phases: { connect: 10_000 } }]);
    reject(new Error("late"));
    await settled();
    expect(begun.outcomes).toHaveLength(1);
  });

  test("is worded by its phase: no address by then means that the name did not resolve", () => {
    const begun = begin((context) => {
      context.phase("resolve");
      return new Promise(() => {});
    });
    begun.check.expire();
    begun.check.giveUp();
    expect(begun.outcomes).toMatchObject([{ verdict: "unresolved", explanation: { stage: "resolve" } }]);
  });

  test("tells slow from unreachable", () => {
    const begun = begin((context) => {
      context.phase("transfer");
      context.answered();
      return new Promise(() => {});
    });
    begun.check.expire();
    begun.check.giveUp();
    expect(begun.outcomes).toMatchObject([{ verdict: "timeout", peerAnswered: true }]);
  });

  test("aborts the signal; what the probe then knows is heard, what its torn-down socket throws is not", async () => {
    const knows = begin(
      (context) =>
        new Promise((resolve) => {
          context.signal.addEventListener("abort", () => resolve({ verdict: "ok", latencyMs: null }));
        }),
    );
    knows.check.expire();
    await settled();
    knows.check.giveUp();
    expect(knows.outcomes).toMatchObject([{ verdict: "ok" }]);

    const tears = begin(
      (context) =>
        new Promise((_, reject) => {
          context.signal.addEventListener("abort", () => reject(Object.assign(new Error("x"), { code: "ECONNRESET" })));
        }),
    );
    tears.check.expire();
    await settled();
    expect(tears.outcomes).toMatchObject([{ verdict: "timeout" }]);
  });

  test("tells who listens without a signal, once, and at once who comes late", () => {
    const heard: string[] = [];
    let context: ProbeContext | undefined;
    const begun = begin((received) => {
      context = received;
      received.onAbort?.(({ name }) => heard.push(name));
      return new Promise(() => {});
    });
    expect(heard).toEqual([]);
    begun.check.expire();
    context?.onAbort?.(({ name }) => heard.push(`late ${name}`));
    begun.check.giveUp();
    begun.check.cancel();
    expect(heard).toEqual(["DeadlinePassed", "late DeadlinePassed"]);

    const cancelled = begin((context) => new Promise((_, reject) => context.onAbort?.(reject)));
    cancelled.check.cancel();
    expect(cancelled.outcomes).toMatchObject([{ verdict: "cancelled" }]);
  });

  test("a signal that is first asked for after the deadline is aborted", async () => {
    let context: ProbeContext | undefined;
    const begun = begin((received) => {
      context = received;
      return new Promise(() => {});
    });
    begun.check.expire();
    expect(context?.signal.aborted).toBe(true);
    begun.check.giveUp();
    begun.check.expire();
    begun.check.cancel();
    expect(begun.outcomes).toHaveLength(1);
  });

  test("cancel ends it as cancelled", async () => {
    const begun = begin((context) => new Promise((_, reject) => context.signal.addEventListener("abort", reject)));
    begun.check.cancel();
    await settled();
    expect(begun.outcomes).toMatchObject([{ verdict: "cancelled" }]);
  });
});
