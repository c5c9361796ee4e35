import { MessageChannel, type MessagePort } from "node:worker_threads";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckRun, CheckSpec, FromPool, FromProber, ToPool, ToProber } from "../contract/messages.ts";
import { packOutcomes, unpackRuns } from "../prober/packed.ts";
import { connectProbers, type HarmOfRun, type Probers } from "./probers.ts";

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

  answer(checkIds: readonly number[], verdict: CheckOutcome["verdict"] = "ok", heldMs?: number): void {
    for (const id of checkIds) {
      const index = this.runs.findIndex(({ checkId }) => checkId === id);
      if (index >= 0) this.runs.splice(index, 1);
    }
    this.port.postMessage({
      type: "results",
      ...packOutcomes(checkIds.map((id) => ({ ...outcome(id, verdict), ...(heldMs === undefined ? {} : { heldMs }) }))),
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
  const harms: (HarmOfRun & { readonly checkId: number })[] = [];
  const clock = { nowMs: 1_000 };
  const probers: Probers = connectProbers(
    port2,
    {
      onOutcomes: (batch) => outcomes.push(...batch),
      onFitness: () => {},
      onHarm: ({ checkId }, harm) => harms.push({ checkId, ...harm }),
      onChange: ({ type }) => events.push(type),
    },
    () => clock.nowMs,
  );
  const puppets = new Map<number, PuppetProber>();
  let lastId = 0;
  const asked: ToPool[] = [];
  port1.on("message", (message: ToPool) => asked.push(message));
  const up = (isAside = false) => {
    const channel = new MessageChannel();
    const puppet = new PuppetProber(++lastId, channel.port1);
    open.push({ close: () => channel.port1.close() });
    puppets.set(puppet.id, puppet);
    const message: FromPool = { type: "prober-up", prober: puppet.id, port: channel.port2, isAside };
    port1.postMessage(message, [channel.port2]);
    return puppet;
  };
  const post = (message: FromPool) => port1.postMessage(message);
  const kill = (puppet: PuppetProber, suspect: number | null = null, hangs = false) => {
    puppets.delete(puppet.id);
    post({ type: "prober-down", prober: puppet.id, reason: "killed", hangs, suspect, suspectConfig: null });
  };
  open.push({ close: () => port1.close() });
  const first = Array.from({ length: probersUp }, () => up());
  return { probers, puppets, first, up, kill, post, outcomes, harms, asked, events, clock };
}

/** Until all messages between the ports of this thread have arrived: each hop takes a turn of the loop. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function spec(key: number): CheckSpec {
  return { key, kind: "http", settings: { url: `http://${key}` }, timeoutMs: 1_000 };
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
    const aside = up(true);
    await quiet();
    expect(aside.runs).toMatchObject([{ checkId: 77, alone: true }]);
    kill(aside, 77);
    const third = second;
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 77, verdict: "internal-error" });
    expect(outcomes.at(-1)?.message).toMatch(/quarantined/);
    expect(third.runs.map(({ checkId }) => checkId).toSorted((a, b) => a - b)).toEqual(
      ids(51, 100).filter((id) => id !== 77),
    );
    expect(third.runs.some(({ alone }) => alone)).toBe(false);
    expect(events).toEqual(["up", "down", "up", "up", "down", "quarantined"]);
    // Later runs of it are answered without being run, until some minutes have passed or its monitor has changed.
    probers.run([run(200, 77)]);
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 200, verdict: "internal-error" });
    clock.nowMs += 300_000;
    probers.run([run(201, 77)]);
    await quiet();
    const again = up(true);
    await quiet();
    expect(again.runs).toMatchObject([{ checkId: 201 }]);
  });

  test("a prober that hangs in native code: its suspect is never run again, the others are re-run like any other", async () => {
    const { probers, first, up, kill, outcomes, events, harms } = start(1);
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
    expect(harms).toEqual([{ checkId: 77, reason: "killed", configId: null, spec: spec(77) }]);
    // The same configuration under another key, as of a monitor that was made again.
    probers.define([{ ...spec(77), key: 200 }]);
    probers.run([run(201, 200)]);
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 201, verdict: "internal-error" });
  });

  test("of a monitor of many configs the one that did it is named, and nothing that has it is run", async () => {
    const { probers, first, up, post, outcomes, harms } = start(1);
    const config = (id: number) => ({ id, kind: "vless", settings: { address: `${id}` } }) as const;
    const group = (key: number, ...ids: number[]): CheckSpec => ({ ...spec(key), configs: ids.map(config) });
    await quiet();
    probers.define([group(1, 11, 12), group(2, 12, 13), group(3, 11, 13), spec(4)]);
    probers.run([run(1), run(4)]);
    await quiet();
    expect(first[0]?.runs).toHaveLength(2);
    post({ type: "prober-down", prober: 1, reason: "killed", hangs: true, suspect: 1, suspectConfig: 12 });
    const second = up();
    await quiet();
    expect(harms).toMatchObject([{ checkId: 1, configId: 12 }]);
    probers.run([run(5, 2), run(6, 3)]);
    await quiet();
    expect(second.runs.map(({ checkId }) => checkId)).toEqual([4, 6]);
    expect(outcomes.map(({ checkId }) => checkId)).toEqual([1, 5]);
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

  test("a check that ran when a prober died is suspected before those that waited to run alone", async () => {
    const { probers, first, up, kill, outcomes } = start(1);
    await quiet();
    probers.define(ids(1, 10).map(spec));
    probers.run(ids(1, 5).map((id) => run(id)));
    await quiet();
    if (first[0] !== undefined) kill(first[0]);
    const second = up();
    await quiet();
    probers.run([run(6)]);
    await quiet();
    kill(second, 6);
    const third = up();
    const aside = up(true);
    await quiet();
    expect(outcomes).toEqual([]);
    expect(third.runs.map(({ checkId, alone }) => [checkId, alone])).toEqual(ids(1, 5).map((id) => [id, true]));
    expect(aside.runs.map(({ checkId }) => checkId)).toEqual([6]);
    third.answer(ids(1, 5));
    aside.answer([6]);
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

  test("a check that may hold the thread is run apart, one at a time; one that does rests, one that does not goes back", async () => {
    const { probers, first, up, outcomes, asked, events, clock } = start(1);
    await quiet();
    probers.define(ids(1, 20).map(spec));
    first[0]?.port.postMessage({
      type: "held",
      holds: new Map([
        [1, 1_500],
        [2, 1_500],
        [3, 200],
      ]),
    } satisfies FromProber);
    await quiet();
    expect(asked).toEqual([]);
    probers.run(ids(1, 20).map((id) => run(id)));
    await quiet();
    expect(first[0]?.runs.map(({ checkId }) => checkId)).toEqual(ids(3, 20));
    expect(asked).toEqual([{ type: "want-aside", isWanted: true }]);
    const aside = up(true);
    await quiet();
    expect([probers.size, probers.inFlight]).toEqual([1, 20]);
    expect(aside.runs.map(({ checkId, alone }) => [checkId, alone])).toEqual([[1, true]]);
    aside.answer([1], "ok", 1_400);
    await quiet();
    expect(outcomes).toMatchObject([{ checkId: 1, verdict: "ok" }]);
    expect(outcomes[0]?.explanation?.hint).toMatch(/held its checker's thread for 1400 ms.*at most every 70 s/);
    expect(outcomes[0]).not.toHaveProperty("heldMs");
    expect([probers.overBudget, events.at(-1)]).toEqual([1, "over budget"]);
    aside.answer([2], "ok", 1);
    await quiet();
    probers.run([run(101, 1), run(102, 2)]);
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 101, verdict: "cancelled", isSpent: true });
    aside.answer([102], "ok", 1);
    await quiet();
    // The second has proved that it is light.
    probers.run([run(202, 2)]);
    await quiet();
    expect(first[0]?.runs.at(-1)?.checkId).toBe(202);
    clock.nowMs += 70_000;
    probers.run([run(301, 1)]);
    await quiet();
    expect(aside.runs.map(({ checkId }) => checkId)).toEqual([301]);
    // A changed monitor begins anew.
    probers.define([spec(1)]);
    probers.run([run(401, 1)]);
    await quiet();
    expect(first[0]?.runs.at(-1)?.checkId).toBe(401);
  });

  test("whatever ends the prober set aside is the doing of its one run; who waited too long is not run", async () => {
    const { probers, first, up, kill, outcomes, clock } = start(1);
    await quiet();
    probers.define(ids(1, 3).map(spec));
    first[0]?.port.postMessage({
      type: "held",
      holds: new Map(ids(1, 3).map((key) => [key, 1_500])),
    } satisfies FromProber);
    await quiet();
    const aside = up(true);
    await quiet();
    probers.run([run(1), run(2)]);
    await quiet();
    kill(aside);
    await quiet();
    expect(outcomes).toMatchObject([{ checkId: 1, verdict: "internal-error" }]);
    expect(first[0]?.runs).toEqual([]);
    clock.nowMs += 5_000;
    const next = up(true);
    await quiet();
    expect(outcomes.at(-1)).toMatchObject({ checkId: 2, verdict: "cancelled", isSpent: true });
    probers.run([run(3)]);
    await quiet();
    expect(next.runs.map(({ checkId }) => checkId)).toEqual([3]);
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
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant("charge" as const),
          key: fc.integer({ min: 1, max: 30 }),
          isUp: fc.boolean(),
        }),
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
          else if (each.type === "charge") {
            list[0]?.port.postMessage({ type: "held", holds: new Map([[each.key, 1_000]]) } satisfies FromProber);
            if (each.isUp) up(true);
          } else {
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
        up(true);
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
