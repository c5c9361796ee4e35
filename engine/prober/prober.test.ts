import { performance } from "node:perf_hooks";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckRun, CheckSpec, FromProber, ProberFitness, ToProber } from "../contract/messages.ts";
import type { Outcome, Probe, ProbeContext } from "../contract/probe.ts";
import type { Transport } from "../transport/transport.ts";
import { packRuns, unpackOutcomes } from "./packed.ts";
import { Prober } from "./prober.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const OURS = {} as Transport;
const FOR_ANONYMOUS = {} as Transport;

/** A prober in this thread whose `http` probe does what the test says with the spec's url. */
function startProber(run: (url: string, context: ProbeContext) => Promise<Outcome>, maxInFlight?: number) {
  const { port1, port2 } = new MessageChannel();
  const clock = { aheadMs: 0 };
  const outcomes: CheckOutcome[] = [];
  const messages: FromProber[] = [];
  const waiters = new Set<() => void>();
  const touched: number[] = [];
  const parsed: string[] = [];
  const http: Probe<{ url: string }> = {
    settings: z.object({
      url: z.string({ error: "Missing or invalid url" }).transform((url) => {
        parsed.push(url);
        return url;
      }),
    }),
    run: ({ url }, context) => run(url, context),
  };
  const prober = new Prober({
    port: port1,
    probes: { http },
    transport: OURS,
    publicTransport: FOR_ANONYMOUS,
    now: () => performance.now() + clock.aheadMs,
    wallNowMs: () => Date.now(),
    randomBytes: (sizeBytes) => new Uint8Array(sizeBytes),
    utilization: (since) => performance.eventLoopUtilization(since),
    beat: () => {},
    touch: (checkId) => touched.push(checkId),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
  });
  port2.on("message", (message: FromProber) => {
    messages.push(message);
    if (message.type === "results") outcomes.push(...unpackOutcomes(message));
    for (const wake of waiters) wake();
  });
  open.push(async () => {
    port2.close();
    await prober.stopped;
  });
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!holds()) return;
        waiters.delete(look);
        resolve();
      };
      waiters.add(look);
      look();
    });
  return { prober, port: port2, send: sender(port2), clock, outcomes, messages, touched, parsed, until };
}

function sender(port: MessagePort): (message: ToProber) => void {
  return (message) => port.postMessage(message);
}

function spec(key: number, overrides: Partial<CheckSpec> = {}): CheckSpec {
  return { key, kind: "http", settings: { url: `u${key}` }, timeoutMs: 5_000, ...overrides };
}

function runs(...ids: number[]): CheckRun[] {
  return ids.map((checkId) => ({ checkId, specKey: checkId, dueAtMs: Date.now(), alone: false }));
}

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const ok: Outcome = { verdict: "ok", latencyMs: 1 };

describe("Prober", () => {
  test("answers every run once, many to a message, and parses settings once a spec", async () => {
    const { send, outcomes, messages, parsed, until } = startProber(async () => ok);
    send({ type: "define", specs: ids(1, 10).map((key) => spec(key)) });
    for (let round = 0; round < 500; round++) {
      send({
        type: "run",
        runs: packRuns(
          ids(1, 10).map((key) => ({ checkId: round * 10 + key, specKey: key, dueAtMs: Date.now(), alone: false })),
        ),
      });
    }
    await until(() => outcomes.length >= 5_000);
    expect(new Set(outcomes.map(({ checkId }) => checkId)).size).toBe(5_000);
    expect(outcomes).toHaveLength(5_000);
    expect(messages.filter(({ type }) => type === "results").length).toBeLessThan(2_500);
    expect(parsed).toHaveLength(10);
  });

  test("a check of an anonymous caller is dialled with the public transport", async () => {
    const given = new Map<string, Transport>();
    const { send, outcomes, until } = startProber(async (url, context) => {
      given.set(url, context.transport);
      return ok;
    });
    send({ type: "define", specs: [spec(1), spec(2, { isPublic: true })] });
    send({ type: "run", runs: packRuns(runs(1, 2)) });
    await until(() => outcomes.length === 2);
    expect(given.get("u1")).toBe(OURS);
    expect(given.get("u2")).toBe(FOR_ANONYMOUS);
  });

  test("a slow check holds up no other, and is ended at its deadline although it ignores the signal", async () => {
    const { send, outcomes, until } = startProber((url) =>
      url === "u1" ? new Promise(() => {}) : Promise.resolve(ok),
    );
    send({ type: "define", specs: [spec(1, { timeoutMs: 60 }), spec(2)] });
    send({ type: "run", runs: packRuns(runs(1, 2)) });
    await until(() => outcomes.length === 2);
    expect(outcomes).toMatchObject([
      { checkId: 2, verdict: "ok" },
      { checkId: 1, verdict: "timeout" },
    ]);
  });

  test("deadlines of different lengths are kept in any order", async () => {
    const { send, outcomes, until } = startProber(() => new Promise(() => {}));
    const timeouts = [80, 20, 50, 20, 10];
    send({ type: "define", specs: timeouts.map((timeoutMs, index) => spec(index + 1, { timeoutMs })) });
    send({ type: "run", runs: packRuns(runs(1, 2, 3, 4, 5)) });
    await until(() => outcomes.length === 5);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(Array(5).fill("timeout"));
    // None before its own; how long after is the machine's affair. Timers count in whole ms.
    for (const { checkId, durationMs } of outcomes) {
      expect(durationMs).toBeGreaterThanOrEqual((timeouts[checkId - 1] ?? Number.NaN) - 1);
    }
  });

  test("kinds without a probe are unsupported, settings that no longer parse misconfigured, unknown specs our fault", async () => {
    const { send, outcomes, until } = startProber(async () => ok);
    send({ type: "define", specs: [spec(1, { kind: "tuic" }), spec(2, { settings: {} }), spec(3)] });
    send({ type: "define", specs: [spec(4, { fault: "its secrets cannot be opened" })] });
    send({ type: "forget", specKeys: [3] });
    send({ type: "run", runs: packRuns(runs(1, 2, 3, 4)) });
    await until(() => outcomes.length === 4);
    const ours = ["internal-error", "internal-error"];
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["unsupported", "misconfigured", ...ours]);
    expect(outcomes[3]?.message).toBe("its secrets cannot be opened");
    expect(outcomes[1]?.message).toBe("The monitor's settings cannot be used: url: Missing or invalid url");
  });

  test("alone means alone", async () => {
    let running = 0;
    const seen = new Map<string, number>();
    const { send, outcomes, until } = startProber(async (url) => {
      running++;
      await new Promise((resolve) => setImmediate(resolve));
      seen.set(url, Math.max(seen.get(url) ?? 0, running));
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return ok;
    });
    send({ type: "define", specs: ids(1, 200).map((key) => spec(key)) });
    send({
      type: "run",
      runs: packRuns(runs(...ids(1, 200)).map((run) => ({ ...run, alone: run.checkId % 10 === 0 }))),
    });
    await until(() => outcomes.length === 200);
    for (const key of ids(1, 20)) expect(seen.get(`u${key * 10}`)).toBe(1);
    expect(Math.max(...seen.values())).toBeGreaterThan(1);
  });

  test("never more in flight than its bound", async () => {
    let running = 0;
    let most = 0;
    const { send, outcomes, until } = startProber(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return ok;
    }, 7);
    send({ type: "define", specs: ids(1, 300).map((key) => spec(key)) });
    send({ type: "run", runs: packRuns(runs(...ids(1, 300))) });
    await until(() => outcomes.length === 300);
    expect(most).toBe(7);
  });

  test("after a stall arrived answers count before deadlines do, and what still fails is unfit", async () => {
    const answers: (() => void)[] = [];
    const { send, outcomes, until, clock, touched } = startProber(
      (url) =>
        new Promise((resolve, reject) => {
          if (url === "u1") answers.push(() => resolve(ok));
          if (url === "u2") answers.push(() => reject(Object.assign(new Error("reset"), { code: "ECONNRESET" })));
        }),
    );
    send({ type: "define", specs: ids(1, 3).map((key) => spec(key, { timeoutMs: 2_000 })) });
    send({ type: "run", runs: packRuns(runs(1, 2, 3)) });
    while (touched.length < 3) await new Promise((resolve) => setImmediate(resolve));
    // Five seconds pass in which nothing of this prober ran; the answers are there when it wakes.
    clock.aheadMs = 5_000;
    for (const answer of answers) answer();
    await until(() => outcomes.length === 3);
    const verdicts = new Map(outcomes.map(({ checkId, verdict }) => [checkId, verdict]));
    expect(verdicts).toEqual(
      new Map([
        [1, "ok"],
        [2, "unfit"],
        [3, "unfit"],
      ]),
    );
    expect(outcomes.find(({ checkId }) => checkId === 3)?.message).toMatch(
      /^This checker was unfit: nothing ran for 5\d\d\d ms/,
    );
  });

  describe("a monitor of many configs", () => {
    const many = (key: number, urls: readonly string[], timeoutMs = 5_000): CheckSpec =>
      spec(key, {
        settings: {},
        timeoutMs,
        configs: urls.map((url, at) => ({ id: at + 1, kind: "http", settings: { url } })),
      });

    test("is one check whose configs run side by side, and says how each did", async () => {
      let running = 0;
      let most = 0;
      const { send, outcomes, until } = startProber(async (url) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return url === "good" ? ok : { verdict: "auth-failed", message: "no such user" };
      });
      send({ type: "define", specs: [many(1, ["bad", "good", "bad"])] });
      send({ type: "run", runs: packRuns(runs(1)) });
      await until(() => outcomes.length === 1);
      expect(most).toBe(3);
      expect(outcomes[0]).toMatchObject({ checkId: 1, verdict: "ok", latencyMs: 1 });
      expect(outcomes[0]?.configs).toMatchObject([
        { configId: 1, verdict: "auth-failed", message: "no such user" },
        { configId: 2, verdict: "ok", message: null },
        { configId: 3, verdict: "auth-failed" },
      ]);
    });

    test("one that hangs costs the others nothing but the wait: the deadline ends it alone", async () => {
      const { send, outcomes, until } = startProber((url) =>
        url === "hangs" ? new Promise(() => {}) : Promise.resolve(ok),
      );
      send({ type: "define", specs: [many(1, ["hangs", "good"], 60)] });
      send({ type: "run", runs: packRuns(runs(1)) });
      await until(() => outcomes.length === 1);
      expect(outcomes[0]?.verdict).toBe("ok");
      expect(outcomes[0]?.configs?.map(({ verdict }) => verdict)).toEqual(["timeout", "ok"]);
    });

    test("configs that cannot be run are told one by one", async () => {
      const { send, outcomes, until } = startProber(async () => ok);
      const configs = [
        { id: 7, kind: "http", settings: {} },
        { id: 8, kind: "tuic", settings: {} },
        { id: 9, kind: "http", settings: { url: "u" }, fault: "its secrets cannot be opened" },
      ] as const;
      send({ type: "define", specs: [spec(1, { configs })] });
      send({ type: "run", runs: packRuns(runs(1)) });
      await until(() => outcomes.length === 1);
      expect(outcomes[0]?.configs?.map(({ configId, verdict }) => [configId, verdict])).toEqual([
        [7, "misconfigured"],
        [8, "unsupported"],
        [9, "internal-error"],
      ]);
      expect(outcomes[0]?.verdict).toBe("misconfigured");
    });

    test("each config counts against the prober's bound, and all places come back", async () => {
      let running = 0;
      let most = 0;
      const { send, outcomes, until } = startProber(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return ok;
      }, 10);
      send({ type: "define", specs: ids(1, 40).map((key) => many(key, ["a", "b", "c", "d", "e", "f"])) });
      send({ type: "run", runs: packRuns(runs(...ids(1, 40))) });
      await until(() => outcomes.length === 40);
      // The one that is let in last may stand over.
      expect(most).toBeLessThanOrEqual(15);
    });

    test("a stop cancels it as one", async () => {
      const { send, outcomes, until, prober } = startProber(() => new Promise(() => {}));
      send({ type: "define", specs: [many(1, ["a", "b"])] });
      send({ type: "run", runs: packRuns(runs(1)) });
      send({ type: "stop" });
      await prober.stopped;
      await until(() => outcomes.length === 1);
      expect(outcomes[0]?.verdict).toBe("cancelled");
    });
  });

  test("reports its fitness every second", async () => {
    const { messages, until } = startProber(async () => ok);
    const reports = () =>
      messages.flatMap((message): ProberFitness[] => (message.type === "fitness" ? [message.fitness] : []));
    await until(() => reports().length >= 2);
    expect(reports()[1]).toMatchObject({ inFlight: 0, localRefusals: 0 });
  });

  test("stop cancels what is in flight and what waits, then says so", async () => {
    const { send, outcomes, messages, until, prober } = startProber(() => new Promise(() => {}), 2);
    send({ type: "define", specs: ids(1, 5).map((key) => spec(key)) });
    send({ type: "run", runs: packRuns(runs(1, 2, 3, 4, 5)) });
    send({ type: "stop" });
    await until(() => messages.some(({ type }) => type === "stopped"));
    await prober.stopped;
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(Array(5).fill("cancelled"));
    expect(messages.at(-1)?.type).toBe("stopped");
  });
});

describe("messages of results", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** @returns the checks in each message, when one after the other ends, a millisecond apart */
  async function messagesOf(...sent: (Partial<CheckRun> & { readonly url?: string })[]): Promise<number[][]> {
    const results: number[][] = [];
    let hear: (message: ToProber) => void = () => {};
    const prober = new Prober({
      port: {
        postMessage(message) {
          if (message.type === "results") results.push(unpackOutcomes(message).map(({ checkId }) => checkId));
        },
        on(event: string, listener: (message: ToProber) => void) {
          if (event === "message") hear = listener;
        },
        close() {},
      },
      probes: { http: { settings: z.object({ url: z.string() }), run: async ({ url }) => outcomeOf(url) } },
      transport: OURS,
      now: () => Date.now(),
      wallNowMs: () => Date.now(),
      randomBytes: (sizeBytes) => new Uint8Array(sizeBytes),
      utilization: () => ({ idle: 0, active: 0, utilization: 0 }),
      beat: () => {},
      touch: () => {},
    });
    hear({ type: "define", specs: sent.map(({ url = "up" }, index) => spec(index + 1, { settings: { url } })) });
    for (const [index, { url: _, ...run }] of sent.entries()) {
      hear({ type: "run", runs: packRuns(runs(index + 1).map((one) => ({ ...one, ...run }))) });
      await vi.advanceTimersByTimeAsync(1);
    }
    await vi.advanceTimersByTimeAsync(100);
    hear({ type: "stop" });
    await prober.stopped;
    return results;
  }

  const outcomeOf = (url: string): Outcome => (url === "up" ? ok : { verdict: "refused", message: "It is down" });
  const patient = { isPatient: true };

  test("a pass that no caller waits for comes with later ones, the first after a quiet moment at once", async () => {
    expect(await messagesOf(...ids(1, 10).map(() => patient))).toEqual([[1], ids(2, 10)]);
  });

  test("what a caller waits for comes soon, and brings what waited", async () => {
    expect(await messagesOf(patient, patient, {}, patient, {}, patient)).toEqual([[1], [2, 3], [4, 5], [6]]);
  });

  test("a failure never waits", async () => {
    const failure = { ...patient, url: "down" };
    expect(await messagesOf(patient, patient, patient, failure, patient)).toEqual([[1], [2, 3, 4], [5]]);
  });
});
