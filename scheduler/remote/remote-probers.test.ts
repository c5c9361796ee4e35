import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CheckRun, CheckSpec, RunTarget } from "../../engine/contract/messages.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckerReport } from "../../store/state/checkers.ts";
import type { CheckerName, RunBatch, RunSender } from "../../store/state/runs.ts";
import { outcomeOf } from "../fixtures.suite.ts";
import { FINAL_WITHIN_MS, RETURN_WITHIN_MS, RemoteProbers, START_WITHIN_MS } from "./remote-probers.ts";

const TIMEOUT_MS = 10_000;
const SPEC: CheckSpec = { key: 1, kind: "http", settings: {}, timeoutMs: TIMEOUT_MS };
/** After it a run that was sent at 0 is missed. */
const DEADLINE_MS = START_WITHIN_MS + TIMEOUT_MS + RETURN_WITHIN_MS;
const AHEAD_MS = 700;

function checkerOf(id: string, over: Partial<CheckerReport> = {}): CheckerReport {
  return {
    location: "any",
    id,
    name: id,
    version: "1",
    atMs: 0,
    clockOffsetMs: 0,
    room: 100,
    inFlight: 0,
    isFit: true,
    reasons: [],
    isLeaving: false,
    ...over,
  };
}

type Answer = Awaited<ReturnType<RunSender<CheckSpec>["send"]>>;

interface Sent {
  readonly checker: CheckerName;
  readonly batch: RunBatch<CheckSpec>;
}

let lastId = 0;
function runOf(over: Partial<RunTarget> = {}): CheckRun {
  lastId += 1;
  const place = {
    location: "any",
    home: lastId,
    elsewhere: false,
    expiresAtMs: 60_000,
    host: null,
    wasHealthy: false,
    account: null,
    ...over,
  };
  return { checkId: lastId, specKey: 1, dueAtMs: 0, alone: false, place };
}

describe("RemoteProbers", () => {
  let now = { wallMs: 0, monotonicMs: 0 };
  const made: RemoteProbers[] = [];
  beforeEach(() => {
    now = { wallMs: 0, monotonicMs: 0 };
  });
  afterEach(async () => {
    for (const one of made.splice(0)) await one.close();
  });

  function scene(checkers: CheckerReport[]) {
    const outcomes: CheckOutcome[] = [];
    const pending: CheckOutcome[] = [];
    const sent: Sent[] = [];
    const refused: string[] = [];
    const own: CheckRun[] = [];
    const harmed: number[] = [];
    let machineAheadMs = 0;
    const at = {
      checkers,
      dead: new Set<string>(),
      answer: (_to: CheckerName): Answer => "sent",
      tenureLeftMs: Number.POSITIVE_INFINITY,
    };
    const probers = new RemoteProbers({
      callbacks: {
        onOutcomes: (some) => void outcomes.push(...some),
        onPending: (some) => void pending.push(...some),
        onHarm: ({ checkId }) => void harmed.push(checkId),
      },
      onRefused: (location, count, reason) => void refused.push(`${location} ${count} ${reason}`),
      watch: { healthy: () => at.checkers, clockOffsetMs: () => AHEAD_MS },
      clocks: { wallNowMs: () => now.wallMs, monotonicNowMs: () => now.monotonicMs },
      machineAheadMs: () => machineAheadMs,
      after: () => () => {},
      gatherMs: 0,
      tenureLeftMs: () => at.tenureLeftMs,
      standIn: { run: (runs) => void own.push(...runs), forget: () => {}, close: async () => {} },
    });
    made.push(probers);
    probers.define([SPEC]);
    probers.connect({
      async send(checker, batch) {
        const answer = at.answer(checker);
        if (answer === "sent" || answer === "unknown") sent.push({ checker, batch });
        return answer;
      },
      isThere: async ({ id }) => !at.dead.has(id),
      close: async () => {},
    });
    return {
      probers,
      own,
      harmed,
      setMachineAhead: (ms: number) => {
        machineAheadMs = ms;
      },
      outcomes,
      pending,
      refused,
      sent,
      at,
      homeOf: (id: number) => sent.find((one) => has(one, id))?.checker.id,
    };
  }
  const has = ({ batch }: Sent, checkId: number): boolean => batch.runs.some((run) => run.checkId === checkId);

  async function pass(ms: number): Promise<void> {
    now = { wallMs: now.wallMs + ms, monotonicMs: now.monotonicMs + ms };
    for (const probers of made) probers.look();
    // What was sent is answered.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }

  it("drops outcomes that cannot be of their run, says so, and takes a right one after it", () => {
    now.wallMs = 10_000_000;
    const { probers, outcomes, pending, refused } = scene([checkerOf("a")]);
    probers.define([{ ...SPEC, key: 2, configs: [{ id: 5, kind: "vless", settings: {} }] }]);
    const run = { ...runOf({ expiresAtMs: 20_000_000 }), dueAtMs: 10_000_000, specKey: 2 };
    probers.run([run]);
    const config = {
      verdict: "ok",
      totalMs: 1,
      peerAnswered: true,
      message: null,
      publicIp: null,
      engineUsed: null,
    } as const;
    const startedAtMs = now.wallMs - AHEAD_MS;
    const good = { ...outcomeOf(run.checkId), startedAtMs };
    const poison = [
      { ...good, startedAtMs: startedAtMs + 61_000 },
      { ...good, startedAtMs: startedAtMs - 61_000 },
      { ...good, startedAtMs: startedAtMs + 61_000, withheld: true as const },
      // Another server's.
      { ...good, configs: [{ ...config, configId: 6 }] },
      {
        ...good,
        configs: [
          { ...config, configId: 5 },
          { ...config, configId: 5 },
        ],
      },
    ];
    for (const one of poison) probers.take("any", [one]);
    expect(refused).toHaveLength(poison.length);
    expect([outcomes, pending]).toEqual([[], []]);
    probers.take("any", [{ ...good, configs: [{ ...config, configId: 5 }] }]);
    expect(outcomes).toHaveLength(1);
  });

  it("believes a location no more than ten harmful configurations at once, and ten an hour", async () => {
    const { probers, harmed, refused, outcomes } = scene([checkerOf("a"), checkerOf("b", { location: "de" })]);
    const say = async (count: number, location: string): Promise<void> => {
      const runs = Array.from({ length: count }, () => runOf({ location, expiresAtMs: now.wallMs + 60_000 }));
      probers.run(runs.map((run) => ({ ...run, dueAtMs: now.wallMs })));
      await pass(0);
      const harm = { reason: "it says so", configId: null };
      const startedAtMs = now.wallMs - AHEAD_MS;
      probers.take(
        location,
        runs.map(({ checkId }) => ({ ...outcomeOf(checkId), startedAtMs, harm })),
      );
    };
    await say(13, "de");
    expect([harmed.length, outcomes.length]).toEqual([10, 13]);
    expect(refused).toEqual(new Array(3).fill("de 1 more harmful configurations than are believed"));
    await say(2, "any");
    expect(harmed.length).toBe(12);
    await pass(3_600_000);
    await say(13, "de");
    expect(harmed.length).toBe(22);
  });

  it("waits for a location that has more to say, and for no other", async () => {
    now.wallMs = 10_000;
    const { probers, outcomes } = scene([checkerOf("a"), checkerOf("b", { location: "de" })]);
    const [here, there] = [runOf({ expiresAtMs: 0 }), runOf({ expiresAtMs: 0, location: "de" })];
    probers.run([here, there]);
    await pass(60_000);
    probers.caughtUp(now.monotonicMs, new Set(["de"]));
    await pass(1);
    expect(outcomes.map(({ checkId }) => checkId)).toEqual([here.checkId]);
    probers.caughtUp(now.monotonicMs);
    await pass(1);
    expect(outcomes.map(({ checkId }) => checkId)).toEqual([here.checkId, there.checkId]);
  });

  it("sends a run with what it measures, in Redis's time, and takes its outcome back once, in ours", async () => {
    now.wallMs = 10_000;
    const { probers, outcomes, sent } = scene([checkerOf("a")]);
    const run = { ...runOf(), dueAtMs: 9_990 };
    probers.run([run]);
    expect(sent[0]?.batch.specs).toEqual([SPEC]);
    expect(sent[0]?.batch.runs[0]).toMatchObject({
      checkId: run.checkId,
      dueAtMs: 9_990 - AHEAD_MS,
      startByMs: 10_000 + START_WITHIN_MS - AHEAD_MS,
    });
    const outcome = outcomeOf(run.checkId, { startedAtMs: 9_300 });
    probers.take("nl", [outcome]);
    expect(outcomes).toEqual([]);
    probers.take("any", [outcome, outcome]);
    probers.take("any", [outcome]);
    expect(outcomes).toEqual([{ ...outcome, startedAtMs: 10_000 }]);
    expect(probers.inFlight).toBe(0);
  });

  it("says at once that a run is over whose checker doubts its own network, and what came of it when the checker knows", () => {
    const { probers, outcomes, pending } = scene([checkerOf("a")]);
    const run = runOf();
    probers.run([run]);
    const failed = outcomeOf(run.checkId, { verdict: "refused", startedAtMs: 5 });
    probers.take("any", [{ ...failed, withheld: true }]);
    probers.take("any", [{ ...failed, withheld: true }]);
    expect([pending, outcomes]).toEqual([[{ ...failed, startedAtMs: 5 + AHEAD_MS }], []]);
    probers.take("any", [{ ...failed, verdict: "unfit" }]);
    expect(outcomes).toEqual([{ ...failed, verdict: "unfit", startedAtMs: 5 + AHEAD_MS }]);
    expect(probers.inFlight).toBe(0);
  });

  it("does not repeat a run that is over, and reports it as cancelled when its outcome never comes", async () => {
    const { probers, outcomes, sent } = scene([checkerOf("a"), checkerOf("b")]);
    const run = runOf();
    probers.run([run]);
    probers.take("any", [{ ...outcomeOf(run.checkId, { verdict: "refused" }), withheld: true }]);
    await pass(FINAL_WITHIN_MS);
    probers.caughtUp(now.monotonicMs);
    expect(outcomes).toEqual([]);
    await pass(1);
    probers.caughtUp(now.monotonicMs);
    await pass(0);
    expect(outcomes.map(({ checkId, verdict }) => [checkId, verdict])).toEqual([[run.checkId, "cancelled"]]);
    expect([sent.length, probers.inFlight]).toEqual([1, 0]);
  });

  it("keeps a monitor at one checker, spreads monitors, and confirms elsewhere", () => {
    const { probers, sent, homeOf } = scene([checkerOf("a"), checkerOf("b"), checkerOf("c")]);
    const homes = new Map<string, number>();
    for (let home = 1; home <= 300; home++) {
      const [first, again, confirming] = [runOf({ home }), runOf({ home }), runOf({ home, elsewhere: true })];
      probers.run([first]);
      probers.run([again]);
      probers.run([confirming]);
      const at = homeOf(first.checkId) ?? "";
      homes.set(at, (homes.get(at) ?? 0) + 1);
      expect(homeOf(again.checkId)).toBe(at);
      expect(homeOf(confirming.checkId)).not.toBe(at);
      for (const { checkId } of [first, again, confirming]) probers.take("any", [outcomeOf(checkId)]);
    }
    expect(sent).toHaveLength(900);
    expect([...homes.values()].every((count) => count > 60)).toBe(true);
  });

  it("moves only the monitors of a checker that is gone", () => {
    const { probers, at, homeOf } = scene([checkerOf("a"), checkerOf("b"), checkerOf("c")]);
    const before = Array.from({ length: 100 }, (_, index) => runOf({ home: index }));
    probers.run(before);
    at.checkers = [checkerOf("a"), checkerOf("b")];
    const after = before.map(({ place }) => runOf(place));
    probers.run(after);
    for (const [index, run] of before.entries()) {
      const was = homeOf(run.checkId);
      if (was !== "c") expect(homeOf(after[index]?.checkId ?? 0)).toBe(was);
    }
  });

  it("confirms at the only checker where there is no elsewhere, and asks unfit ones only for want of others", () => {
    const { probers, at, homeOf } = scene([checkerOf("a")]);
    const [alone, fit] = [runOf({ elsewhere: true }), runOf()];
    probers.run([alone]);
    expect(homeOf(alone.checkId)).toBe("a");
    at.checkers = [checkerOf("a", { isFit: false }), checkerOf("b")];
    for (let i = 0; i < 20; i++) probers.run([runOf()]);
    probers.run([fit]);
    expect(homeOf(fit.checkId)).toBe("b");
  });

  it("runs elsewhere at once what a checker that is not there was sent, or that left unread", async () => {
    const { probers, at, sent, outcomes } = scene([checkerOf("a"), checkerOf("b")]);
    at.answer = ({ id }) => (id === "a" ? "absent" : "sent");
    const runs = Array.from({ length: 20 }, () => runOf());
    probers.run(runs);
    await pass(0);
    expect(new Set(sent.map(({ checker }) => checker.id))).toEqual(new Set(["b"]));
    expect(runs.every(({ checkId }) => sent.some((one) => has(one, checkId)))).toBe(true);
    at.answer = () => "sent";
    await pass(1_000);
    probers.take("any", [outcomeOf(runs[0]?.checkId ?? 0, { verdict: "cancelled" })]);
    expect(sent.at(-1)?.checker.id).toBe("a");
    expect(outcomes).toEqual([]);
  });

  it("misses a run only once everything that had arrived was read, and then runs it elsewhere", async () => {
    const { probers, sent, homeOf } = scene([checkerOf("a"), checkerOf("b")]);
    const run = runOf();
    probers.run([run]);
    const home = homeOf(run.checkId);
    await pass(DEADLINE_MS + 1);
    probers.caughtUp(DEADLINE_MS);
    expect(sent).toHaveLength(1);
    probers.caughtUp(DEADLINE_MS + 1);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.checker.id).not.toBe(home);
    // The first answer counts.
    probers.take("any", [outcomeOf(run.checkId)]);
    expect(probers.inFlight).toBe(0);
  });

  it("does not wait for a checker that gives no sign of life, but for an account's sake", async () => {
    const { probers, at, sent } = scene([checkerOf("a")]);
    probers.define([{ ...SPEC, key: 2, kind: "wireguard" }]);
    const [site, tunnel] = [runOf(), { ...runOf(), specKey: 2 }];
    probers.run([site, tunnel]);
    at.checkers = [checkerOf("b")];
    await pass(1_900);
    const late = runOf();
    at.checkers = [checkerOf("a")];
    probers.run([late]);
    at.checkers = [checkerOf("b")];
    await pass(101);
    expect(sent).toHaveLength(2);
    at.dead.add("a");
    await pass(0);
    // All that it had, as soon as one of them made the scheduler ask.
    expect(sent.slice(2).map(({ checker, batch }) => [checker.id, batch.runs.map(({ checkId }) => checkId)])).toEqual([
      ["b", [site.checkId, late.checkId]],
    ]);
  });

  it("does not wait for a checker that doubts its own network, but for an account's sake, and where there is no other", async () => {
    const { probers, at, sent } = scene([checkerOf("a"), checkerOf("d", { location: "de" })]);
    probers.define([{ ...SPEC, key: 2, kind: "wireguard" }]);
    const [site, tunnel] = [runOf(), { ...runOf(), specKey: 2 }];
    probers.run([site, tunnel, runOf({ location: "de" })]);
    await pass(1_900);
    probers.run([runOf()]);
    const before = sent.length;
    at.checkers = [checkerOf("a", { isFit: false }), checkerOf("b"), checkerOf("d", { location: "de", isFit: false })];
    await pass(100);
    expect(sent).toHaveLength(before);
    await pass(1);
    expect(sent.slice(before).map(({ checker, batch }) => [checker.id, batch.runs.map((run) => run.checkId)])).toEqual([
      ["b", [site.checkId]],
    ]);
  });

  it("sends no run that could not begin before another scheduler may run it", async () => {
    const { probers, at, sent } = scene([checkerOf("a")]);
    at.tenureLeftMs = 1_500;
    const first = runOf();
    probers.run([first]);
    expect(sent[0]?.batch.runs[0]?.startByMs).toBe(1_500 - AHEAD_MS);
    at.tenureLeftMs = 0;
    probers.run([runOf()]);
    await pass(250);
    expect(sent).toHaveLength(1);
    at.tenureLeftMs = 5_600;
    await pass(250);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.batch.runs[0]?.startByMs).toBe(now.wallMs + START_WITHIN_MS - AHEAD_MS);
  });

  describe("while Redis is away", () => {
    /** Redis is silent for so long that it counts as away. */
    async function goAway(): Promise<void> {
      await pass(2_001);
      for (let look = 0; look < 3; look += 1) await pass(250);
    }

    it("has what is due in the general pool run by the stand-in, but for an account's sake, until Redis is back", async () => {
      const { probers, at, own, outcomes, sent } = scene([checkerOf("a"), checkerOf("d", { location: "de" })]);
      const account = { identity: "ada@vpn", timeoutMs: TIMEOUT_MS };
      const atChecker = runOf();
      probers.run([atChecker]);
      at.answer = () => "away";
      await goAway();
      expect(probers.isStoodInFor).toBe(true);
      // What a checker has is run here as well: the first outcome counts.
      expect(own.map(({ checkId }) => checkId)).toEqual([atChecker.checkId]);
      const [ours, elsewhere, tunnel] = [runOf(), runOf({ location: "de" }), runOf({ account })];
      probers.run([ours, elsewhere, tunnel]);
      await pass(250);
      expect(own.map(({ checkId }) => checkId)).toEqual([atChecker.checkId, ours.checkId]);
      probers.takeOwn([outcomeOf(ours.checkId), outcomeOf(ours.checkId)]);
      probers.take("any", [outcomeOf(atChecker.checkId)]);
      probers.takeOwn([outcomeOf(atChecker.checkId)]);
      expect(outcomes.map(({ checkId }) => checkId)).toEqual([ours.checkId, atChecker.checkId]);
      at.answer = () => "sent";
      probers.caughtUp(now.monotonicMs);
      await pass(250);
      expect(probers.isStoodInFor).toBe(false);
      expect(sent.slice(1).flatMap(({ batch }) => batch.runs.map(({ checkId }) => checkId))).toEqual([
        elsewhere.checkId,
        tunnel.checkId,
      ]);
      expect(own).toHaveLength(2);
    });

    it("has the stand-in run by the machine's clock, and takes what it says in the common time", async () => {
      const { probers, at, own, outcomes, pending, setMachineAhead } = scene([checkerOf("a")]);
      setMachineAhead(3_600_000);
      at.answer = () => "away";
      await goAway();
      const [run, other] = [runOf(), runOf()];
      probers.run([run, other]);
      expect(own.map(({ dueAtMs }) => dueAtMs)).toEqual([3_600_000, 3_600_000]);
      probers.takeOwn([outcomeOf(run.checkId, { startedAtMs: 3_600_005 })]);
      probers.takeOwnPending([outcomeOf(other.checkId, { startedAtMs: 3_600_006 })]);
      expect([...outcomes, ...pending].map(({ startedAtMs }) => startedAtMs)).toEqual([5, 6]);
    });

    it("counts a run as over when the stand-in doubts its own network, and takes its word later", async () => {
      const { probers, at, outcomes, pending } = scene([checkerOf("a")]);
      at.answer = () => "away";
      const run = runOf();
      await goAway();
      probers.run([run]);
      const failed = outcomeOf(run.checkId, { verdict: "timeout" });
      probers.takeOwnPending([failed, failed]);
      expect([pending.length, outcomes.length, probers.inFlight]).toEqual([1, 0, 1]);
      probers.takeOwn([outcomeOf(run.checkId, { verdict: "unfit" })]);
      expect([outcomes.map(({ verdict }) => verdict), probers.inFlight]).toEqual([["unfit"], 0]);
    });

    it("does not call it away because this process stood still", async () => {
      const { probers, own } = scene([checkerOf("a")]);
      probers.run([runOf()]);
      await pass(30_000);
      await pass(250);
      probers.caughtUp(now.monotonicMs);
      await pass(250);
      expect([probers.isStoodInFor, own.length]).toEqual([false, 0]);
    });
  });

  it("sends again what may have arrived, and takes what comes first; but nothing behind which an account stands", async () => {
    const { probers, at, outcomes, sent } = scene([checkerOf("a"), checkerOf("b")]);
    probers.define([{ ...SPEC, key: 2, kind: "wireguard" }]);
    at.answer = () => "unknown";
    const [website, tunnel] = [runOf(), { ...runOf(), specKey: 2 }];
    probers.run([website, tunnel]);
    await pass(0);
    at.answer = () => "sent";
    await pass(250);
    await pass(DEADLINE_MS - 251);
    expect(sent.filter((one) => has(one, website.checkId))).toHaveLength(2);
    expect(sent.filter((one) => has(one, tunnel.checkId))).toHaveLength(1);
    probers.take("any", [outcomeOf(website.checkId)]);
    probers.take("any", [outcomeOf(website.checkId)]);
    expect(outcomes).toHaveLength(1);
  });

  it("keeps runs while Redis is away or no checker is there, and ends them as cancelled when they have expired", async () => {
    const { probers, at, outcomes, sent } = scene([]);
    const [early, late] = [runOf({ expiresAtMs: 2_000 }), runOf({ expiresAtMs: 9_000 })];
    probers.run([early, late]);
    await pass(1_000);
    at.checkers = [checkerOf("a")];
    at.answer = () => "away";
    await pass(1_500);
    expect(outcomes.map(({ checkId, verdict }) => [checkId, verdict])).toEqual([[early.checkId, "cancelled"]]);
    at.answer = () => "sent";
    await pass(500);
    expect(sent).toHaveLength(1);
    expect(has(sent[0] as Sent, late.checkId)).toBe(true);
  });

  it("gives up a run that came to nothing three times", async () => {
    const { probers, outcomes, sent } = scene([checkerOf("a")]);
    const run = runOf({ expiresAtMs: 1_000_000 });
    probers.run([run]);
    for (let i = 1; i <= 3; i++) {
      await pass(DEADLINE_MS + 1);
      probers.caughtUp(now.monotonicMs);
      await pass(0);
    }
    expect(sent).toHaveLength(3);
    expect(outcomes).toMatchObject([{ checkId: run.checkId, verdict: "cancelled" }]);
  });

  it("never gives a checker more than it has room for", async () => {
    const { probers, at, sent } = scene([checkerOf("a", { room: 2 })]);
    const runs = [runOf(), runOf(), runOf()];
    probers.run(runs);
    expect(sent.flatMap(({ batch }) => batch.runs)).toHaveLength(2);
    probers.take("any", [outcomeOf(runs[0]?.checkId ?? 0)]);
    await pass(250);
    expect(sent.flatMap(({ batch }) => batch.runs)).toHaveLength(3);
    expect(at.checkers).toHaveLength(1);
  });

  it("sends large configurations few at a time", () => {
    const { probers, sent } = scene([checkerOf("a")]);
    probers.define([1, 2, 3].map((key) => ({ ...SPEC, key, settings: { config: "x".repeat(150_000) } })));
    probers.run([1, 2, 3].map((specKey) => ({ ...runOf(), specKey })));
    expect(sent.map(({ batch }) => [batch.specs.length, batch.runs.length])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it("answers for everything when it closes, and for what comes after", async () => {
    const { probers, outcomes } = scene([checkerOf("a")]);
    probers.run([runOf(), runOf({ location: "nl" })]);
    await probers.close();
    probers.run([runOf()]);
    await pass(0);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(probers.inFlight).toBe(0);
  });

  it("drops what waits when its monitor was changed", async () => {
    const { probers, outcomes } = scene([]);
    probers.run([runOf()]);
    probers.forget([SPEC.key]);
    await pass(250);
    expect(outcomes).toMatchObject([{ verdict: "cancelled" }]);
  });
});
