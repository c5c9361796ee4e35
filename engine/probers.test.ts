import { MessageChannel, type MessagePort } from "node:worker_threads";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { CheckOutcome } from "../model/result.ts";
import type { CheckRun, CheckSpec, FromPool, FromProber, ToProber } from "./check.ts";
import { packOutcomes, unpackRuns } from "./packed.ts";
import { connectProbers, type Probers } from "./probers.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A prober that does only what the test tells it; like a real one it runs alone runs one by one, in order. */
class PuppetProber {
  readonly id: number;
  readonly port: MessagePort;
  readonly specs = new Map<number, CheckSpec>();
  readonly runs: CheckRun[] = [];
  stopAsked = false;
  constructor(id: number, port: MessagePort) {
    this.id = id;
    this.port = port;
    port.on("message", (message: ToProber) => {
      if (message.type === "define") for (const spec of message.specs) this.specs.set(spec.key, spec);
      if (message.type === "forget") for (const key of message.specKeys) this.specs.delete(key);
      if (message.type === "run") this.runs.push(...unpackRuns(message.runs));
      if (message.type === "stop") {
        this.stopAsked = true;
        this.answer(
          this.runs.map(({ checkId }) => checkId),
          "cancelled",
        );
        this.port.postMessage({ type: "stopped" } satisfies FromProber);
      }
    });
  }

  answer(checkIds: readonly number[], verdict: CheckOutcome["verdict"] = "ok"): void {
    for (const id of checkIds) {
      const index = this.runs.findIndex(({ checkId }) => checkId === id);
      if (index >= 0) this.runs.splice(index, 1);
    }
    this.port.postMessage({
      type: "results",
      ...packOutcomes(checkIds.map((id) => outcome(id, verdict))),
    } satisfies FromProber);
  }
}

function outcome(checkId: number, verdict: CheckOutcome["verdict"]): CheckOutcome {
  return {
    checkId,
    verdict,
    startedAtMs: 0,
    latenessMs: 0,
    durationMs: 0,
    latencyMs: null,
    connectMs: null,
    peerAnswered: false,
    message: null,
    phases: {},
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
  };
}

function start(probersUp: number) {
  const { port1, port2 } = new MessageChannel();
  const outcomes: CheckOutcome[] = [];
  const events: string[] = [];
  const clock = { nowMs: 1_000 };
  const probers: Probers = connectProbers(
    port2,
    {
      onOutcomes: (batch) => outcomes.push(...batch),
      onFitness: () => {},
      onChange: ({ type }) => events.push(type),
    },
    () => clock.nowMs,
  );
  const puppets = new Map<number, PuppetProber>();
  let lastId = 0;
  const up = () => {
    const channel = new MessageChannel();
    const puppet = new PuppetProber(++lastId, channel.port1);
    open.push({ close: () => channel.port1.close() });
    puppets.set(puppet.id, puppet);
    port1.postMessage({ type: "prober-up", prober: puppet.id, port: channel.port2 } satisfies FromPool, [
      channel.port2,
    ]);
    return puppet;
  };
  const post = (message: FromPool) => port1.postMessage(message);
  const kill = (puppet: PuppetProber, suspect: number | null = null, hangs = false) => {
    puppets.delete(puppet.id);
    post({ type: "prober-down", prober: puppet.id, reason: "killed", hangs, suspect });
  };
  open.push({ close: () => port1.close() });
  const first = Array.from({ length: probersUp }, up);
  return { probers, puppets, first, up, kill, post, outcomes, events, clock };
}

/** Until all messages between the ports of this thread have arrived: each hop takes a turn of the loop. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function spec(key: number): CheckSpec {
  return { key, kind: "http", settings: {}, timeoutMs: 1_000 };
}

function run(checkId: number, specKey = checkId): CheckRun {
  return { checkId, specKey, dueAtMs: 0, alone: false };
}

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe("connectProbers", () => {
  test("spreads runs, sends each spec once, and keeps a spec with its prober", async () => {
    const { probers, first, outcomes } = start(2);
    await quiet();
    probers.define(ids(1, 40).map(spec));
    probers.run(ids(1, 40).map((id) => run(id)));
    await quiet();
    expect(first.map(({ runs }) => runs.length)).toEqual([20, 20]);
    const homes = first.map(({ runs }) => new Set(runs.map(({ specKey }) => specKey)));
    for (const each of first) each.answer(each.runs.map(({ checkId }) => checkId));
    await quiet();
    expect(outcomes).toHaveLength(40);
    expect(probers.inFlight).toBe(0);
    probers.run(ids(1, 40).map((id) => run(100 + id, id)));
    await quiet();
    expect(first.map(({ runs }) => new Set(runs.map(({ specKey }) => specKey)))).toEqual(homes);
    expect(first.map(({ specs }) => specs.size)).toEqual([20, 20]);
  });

  test("runs wait for a prober; a changed or forgotten spec is not run", async () => {
    const { probers, up, outcomes } = start(0);
    probers.define([spec(1)]);
    probers.run([run(1)]);
    expect(probers.inFlight).toBe(1);
    const puppet = up();
    await quiet();
    expect(puppet.runs).toHaveLength(1);
    probers.forget([1]);
    probers.run([run(2, 1)]);
    await quiet();
    expect(puppet.specs.size).toBe(0);
    expect(outcomes).toMatchObject([{ checkId: 2, verdict: "cancelled" }]);
  });

  test("a dead prober's checks are re-run alone; the second time it is quarantined, the others go on", async () => {
    const { probers, first, up, kill, outcomes, events, clock } = start(1);
    await quiet();
    probers.define(ids(1, 100).map(spec));
    probers.run(ids(1, 100).map((id) => run(id)));
    await quiet();
    first[0]?.answer(ids(1, 50));
    // The results above may still be on their way when the death is announced.
    if (first[0] !== undefined) kill(first[0], 77);
    const second = up();
    await quiet();
    expect(outcomes).toHaveLength(50);
    expect(second.runs[0]).toMatchObject({ checkId: 77, alone: true });
    expect(second.runs.every(({ alone }) => alone)).toBe(true);
    kill(second, 77);
    const third = up();
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 77, verdict: "internal-error" });
    expect(outcomes.at(-1)?.message).toMatch(/quarantined/);
    expect(third.runs.map(({ checkId }) => checkId).toSorted((a, b) => a - b)).toEqual(
      ids(51, 100).filter((id) => id !== 77),
    );
    expect(third.runs.some(({ alone }) => alone)).toBe(false);
    expect(events).toEqual(["up", "down", "up", "down", "quarantined", "up"]);
    // Later runs of it are answered without being run, until an hour has passed or its monitor has changed.
    probers.run([run(200, 77)]);
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 200, verdict: "internal-error" });
    clock.nowMs += 3_600_000;
    probers.run([run(201, 77)]);
    await quiet();
    expect(third.runs.at(-1)).toMatchObject({ checkId: 201 });
  });

  test("a prober that hangs in native code: its suspect is never run again, the others are re-run like any other", async () => {
    const { probers, first, up, kill, outcomes, events } = start(1);
    await quiet();
    probers.define(ids(1, 100).map(spec));
    probers.run(ids(1, 100).map((id) => run(id)));
    await quiet();
    if (first[0] !== undefined) kill(first[0], 77, true);
    const second = up();
    await quiet();
    expect(outcomes).toMatchObject([{ checkId: 77, verdict: "internal-error" }]);
    expect(outcomes[0]?.message).toMatch(/quarantined/);
    expect(second.runs.map(({ checkId }) => checkId)).toEqual(ids(1, 100).filter((id) => id !== 77));
    expect(second.runs.some(({ alone }) => alone)).toBe(false);
    expect(events).toEqual(["up", "down", "quarantined", "up"]);
  });

  test("nothing is sent to a prober that is being ended", async () => {
    const { probers, first, post, outcomes } = start(2);
    await quiet();
    probers.define([spec(1), spec(2)]);
    probers.run([run(1), run(2)]);
    await quiet();
    post({ type: "prober-silent", prober: 1 });
    await quiet();
    probers.run(ids(11, 20).map((id) => run(id, (id % 2) + 1)));
    await quiet();
    expect(first.map(({ runs }) => runs.length)).toEqual([1, 11]);
    post({ type: "prober-silent", prober: 2 });
    await quiet();
    probers.run([run(30, 1)]);
    await quiet();
    expect(first.map(({ runs }) => runs.length)).toEqual([1, 11]);
    expect([probers.size, probers.inFlight, outcomes.length]).toEqual([0, 13, 0]);
  });

  test("where as many hang as may, only what ran before is run", async () => {
    const { probers, first, post, outcomes } = start(1);
    await quiet();
    probers.define([spec(1), spec(2)]);
    probers.run([run(1)]);
    await quiet();
    first[0]?.answer([1]);
    post({ type: "hung-probers", isFull: true });
    await quiet();
    probers.run([run(11, 1), run(12, 2)]);
    await quiet();
    expect(first[0]?.runs.map(({ checkId }) => checkId)).toEqual([11]);
    expect(outcomes.at(-1)).toMatchObject({ checkId: 12, verdict: "internal-error" });
    post({ type: "hung-probers", isFull: false });
    await quiet();
    probers.run([run(22, 2)]);
    await quiet();
    expect(first[0]?.runs.map(({ checkId }) => checkId)).toEqual([11, 22]);
  });

  test("whoever was at work when a prober died is suspected before those that waited for their turn alone", async () => {
    const { probers, first, up, kill, outcomes } = start(1);
    await quiet();
    probers.define(ids(1, 10).map(spec));
    probers.run(ids(1, 5).map((id) => run(id)));
    await quiet();
    if (first[0] !== undefined) kill(first[0], 3);
    const second = up();
    await quiet();
    probers.run([run(6)]);
    await quiet();
    kill(second, 6);
    const third = up();
    await quiet();
    expect(outcomes).toEqual([]);
    third.answer(third.runs.map(({ checkId }) => checkId));
    await quiet();
    third.answer(third.runs.map(({ checkId }) => checkId));
    await quiet();
    expect(outcomes.map(({ checkId }) => checkId).toSorted()).toEqual(ids(1, 6));
  });

  test("without a suspect each of them is tried, the first without an answer is to blame", async () => {
    const { probers, first, up, kill, outcomes } = start(1);
    await quiet();
    probers.define(ids(1, 100).map(spec));
    probers.run(ids(1, 100).map((id) => run(id)));
    await quiet();
    if (first[0] !== undefined) kill(first[0]);
    const second = up();
    await quiet();
    second.answer([1, 2, 3]);
    kill(second);
    const third = up();
    await quiet();
    expect(outcomes.map(({ checkId }) => checkId)).toEqual([1, 2, 3, 4]);
    expect(outcomes[3]?.verdict).toBe("internal-error");
    third.answer(third.runs.map(({ checkId }) => checkId));
    await quiet();
    expect(outcomes).toHaveLength(100);
    expect(probers.inFlight).toBe(0);
  });

  test("close ends every run as cancelled and stops the probers", async () => {
    const { probers, first, outcomes } = start(2);
    await quiet();
    probers.define([spec(1), spec(2)]);
    probers.run([run(1), run(2)]);
    await quiet();
    await probers.close();
    expect(first.every(({ stopAsked }) => stopAsked)).toBe(true);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["cancelled", "cancelled"]);
    probers.run([run(3, 1)]);
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 3, verdict: "cancelled" });
  });

  test("whatever dies when: every run is answered exactly once", { timeout: 120_000 }, async () => {
    const act = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ type: fc.constant("run" as const), count: fc.integer({ min: 1, max: 60 }) }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          type: fc.constant("answer" as const),
          prober: fc.nat(3),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          type: fc.constant("kill" as const),
          prober: fc.nat(3),
          hint: fc.boolean(),
          hangs: fc.boolean(),
          restart: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant("forget" as const), key: fc.integer({ min: 1, max: 30 }) }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 15 }), fc.boolean(), async (acts, quietly) => {
        const { probers, puppets, up, kill, outcomes } = start(2);
        probers.define(ids(1, 30).map(spec));
        let asked = 0;
        for (const each of acts) {
          if (quietly) await quiet();
          const list = [...puppets.values()];
          if (each.type === "run") {
            probers.run(ids(asked + 1, asked + each.count).map((id) => run(id, (id % 30) + 1)));
            asked += each.count;
          } else if (each.type === "forget") probers.forget([each.key]);
          else {
            const puppet = list[each.prober % Math.max(1, list.length)];
            if (puppet === undefined) continue;
            if (each.type === "answer") {
              puppet.answer(
                puppet.runs.slice(0, Math.ceil(puppet.runs.length * each.share)).map(({ checkId }) => checkId),
              );
            } else {
              kill(puppet, each.hint ? (puppet.runs.at(-1)?.checkId ?? null) : null, each.hangs);
              if (each.restart) up();
            }
          }
        }
        up();
        for (let round = 0; outcomes.length < asked && round < 200; round++) {
          await quiet();
          for (const puppet of puppets.values()) puppet.answer(puppet.runs.map(({ checkId }) => checkId));
        }
        await quiet();
        expect(outcomes.map(({ checkId }) => checkId).toSorted((a, b) => a - b)).toEqual(ids(1, asked));
        expect(probers.inFlight).toBe(0);
        await probers.close();
        for (const each of open.splice(0)) await each.close();
      }),
      { numRuns: 3_000 },
    );
  });
});
