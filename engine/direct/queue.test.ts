import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CheckOutcome } from "../../model/result.ts";
import type { Verdict } from "../../model/verdict.ts";
import { DirectQueue, type QueuedCheck } from "./queue.ts";

function outcome(verdict: Verdict): CheckOutcome {
  return {
    checkId: 0,
    verdict,
    startedAtMs: 0,
    latenessMs: 0,
    durationMs: 1,
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

/** A queue and what was settled, by name. */
function open(concurrency: number, perHost: number | null = null) {
  const queue = new DirectQueue(concurrency, perHost);
  const settled = new Map<number, Verdict>();
  const add = (name: number, identity: string | null = null, target: string | null = null) => {
    const spec = { key: name, kind: "http" as const, settings: {}, timeoutMs: 1 };
    const settle = ({ verdict }: CheckOutcome) => {
      expect(settled.has(name)).toBe(false);
      settled.set(name, verdict);
    };
    queue.add({ spec, identity, host: null, target, settle });
  };
  const end = (check: QueuedCheck, verdict: Verdict, isCrowded = false) => {
    check.wasCrowded = isCrowded;
    queue.ended(check);
    queue.judge(check, outcome(verdict));
  };
  return { queue, settled, add, end };
}

const names = (checks: readonly QueuedCheck[]) => checks.map(({ spec }) => spec.key);

describe("the queue", () => {
  it("starts as many as may be in flight, and has room for as many again", () => {
    const { queue, add, end, settled } = open(2);
    for (const name of [1, 2, 3]) add(name);
    const [first, second] = queue.next();
    expect([first?.spec.key, second?.spec.key, queue.running, queue.waiting, queue.hasRoom]).toEqual([
      1,
      2,
      2,
      1,
      true,
    ]);
    add(4);
    expect(queue.hasRoom).toBe(false);
    expect(queue.next()).toEqual([]);
    if (first !== undefined) end(first, "refused");
    expect(names(queue.next())).toEqual([3]);
    expect([...settled]).toEqual([[1, "refused"]]);
  });

  it("runs no more at one host than may be there, and others meanwhile", () => {
    const { queue, add, end } = open(10, 2);
    for (const name of [1, 2, 3]) add(name, null, "a.example");
    add(4, null, "b.example");
    const started = queue.next();
    expect(names(started)).toEqual([1, 2, 4]);
    expect(queue.waiting).toBe(1);
    if (started[1] !== undefined) end(started[1], "ok");
    expect(names(queue.next())).toEqual([3]);
  });

  it("never runs an identity twice at once, and keeps its order", () => {
    const { queue, add, end } = open(10);
    add(1, "a");
    add(2, "a");
    add(3, "a");
    add(4, "b");
    const started = queue.next();
    expect(names(started)).toEqual([1, 4]);
    expect(queue.waiting).toBe(2);
    for (const check of started) end(check, "ok");
    const next = queue.next();
    expect(names(next)).toEqual([2]);
    for (const check of next) end(check, "ok");
    expect(names(queue.next())).toEqual([3]);
  });

  it("takes a second look at a failure of a crowded moment once nothing else waits, and believes it", () => {
    const { queue, add, end, settled } = open(1);
    add(1);
    add(2);
    for (const check of queue.next()) end(check, "timeout", true);
    expect([queue.undecided, settled.size]).toEqual([1, 0]);
    const other = queue.next();
    expect(names(other)).toEqual([2]);
    for (const check of other) end(check, "ok");
    const look = queue.next();
    expect([names(look), queue.secondLooks]).toEqual([[1], 1]);
    for (const check of look) end(check, "ok");
    expect([...settled]).toEqual([
      [2, "ok"],
      [1, "ok"],
    ]);
  });

  it("leaves second looks for the end as long as more is to come, unless many have gathered", () => {
    const { queue, add, end } = open(300);
    for (let name = 1; name < 1_200; name++) add(name);
    for (let wave = 0; wave < 4; wave++) for (const check of queue.next(true)) end(check, "timeout", true);
    expect(queue.next(true)).toEqual([]);
    add(1_200);
    for (const check of queue.next(true)) end(check, "timeout", true);
    expect(names(queue.next(true))).toHaveLength(32);
  });

  it("takes none at what was quiet, and none at a second failure", () => {
    const { queue, add, end, settled } = open(2);
    add(1);
    add(2);
    const [quiet, crowded] = queue.next();
    if (quiet !== undefined) end(quiet, "timeout");
    if (crowded !== undefined) end(crowded, "timeout", true);
    for (const check of queue.next()) end(check, "unreachable", true);
    expect([...settled]).toEqual([
      [1, "timeout"],
      [2, "unreachable"],
    ]);
    expect(queue.next()).toEqual([]);
  });

  it("runs what was unfit up to three times", () => {
    const { queue, add, end, settled } = open(1);
    add(1);
    for (let run = 1; run <= 3; run++) {
      expect(settled.size).toBe(0);
      for (const check of queue.next()) end(check, "unfit");
    }
    expect([...settled]).toEqual([[1, "unfit"]]);
  });

  it("counts failures as they are when a row of looks found them all again, and samples on", () => {
    const { queue, add, end, settled } = open(1_000);
    for (let name = 1; name <= 600; name++) add(name);
    for (const check of queue.next()) end(check, "timeout", true);
    expect(settled.size).toBe(0);
    const looks = queue.next();
    expect(looks).toHaveLength(32);
    for (const check of looks) end(check, "timeout", true);
    expect(settled.size).toBe(600);
    // Of 1,000 places sixteen take further looks, beside others who wait.
    for (let name = 601; name <= 632; name++) add(name);
    for (const check of queue.next(true)) end(check, "timeout", true);
    expect(settled.size).toBe(616);
    // One that passes brings the full care back.
    const [one, ...others] = queue.next(true);
    expect(others).toHaveLength(15);
    if (one !== undefined) end(one, "ok");
    for (const check of others) end(check, "timeout", true);
    expect(settled.size).toBe(632);
    for (let name = 633; name <= 640; name++) add(name);
    for (const check of queue.next(true)) end(check, "timeout", true);
    expect(settled.size).toBe(632);
    expect(queue.undecided).toBe(8);
  });

  it("takes no further looks at the end: one more time-out for what a row of them has found by now", () => {
    const { queue, add, end, settled } = open(1_000);
    for (let name = 1; name <= 600; name++) add(name);
    for (const check of queue.next()) end(check, "timeout", true);
    for (const check of queue.next()) end(check, "timeout", true);
    expect(settled.size).toBe(600);
    for (let name = 601; name <= 632; name++) add(name);
    for (const check of queue.next()) end(check, "timeout", true);
    expect([settled.size, queue.undecided]).toEqual([632, 0]);
  });

  it.each([256, 512])(
    "with %i in flight takes for a list, half of it dead, hardly longer than the time-outs of the dead",
    (concurrency) => {
      const [count, timeoutMs, aliveMs] = [5_000, 10_000, 300];
      const { queue, add, end, settled } = open(concurrency);
      const running: { readonly check: QueuedCheck; readonly atMs: number }[] = [];
      let added = 0;
      let nowMs = 0;
      while (settled.size < count) {
        while (added < count && queue.hasRoom) add(added++);
        for (const check of queue.next(added < count)) {
          const atMs = nowMs + (check.spec.key % 2 === 0 ? aliveMs : timeoutMs);
          running.splice(running.findLastIndex((other) => other.atMs <= atMs) + 1, 0, { check, atMs });
        }
        const next = running.shift();
        if (next === undefined) throw new Error("nothing runs, and not all is settled");
        nowMs = next.atMs;
        const isAlive = next.check.spec.key % 2 === 0;
        end(next.check, isAlive ? "ok" : "timeout", !isAlive && queue.running > 256);
      }
      expect(nowMs / ((count / 2 / concurrency) * timeoutMs)).toBeLessThan(1.1);
      expect([...settled].every(([name, verdict]) => (name % 2 === 0) === (verdict === "ok"))).toBe(true);
    },
  );

  it("asks for nothing new while too much is undecided", () => {
    const { queue, add } = open(10_000);
    for (let name = 1; name <= 4_096; name++) add(name);
    for (const check of queue.next()) queue.ended(check);
    expect([queue.undecided, queue.hasRoom]).toEqual([4_096, false]);
  });

  it("settles everything exactly once, whatever happens, within its bounds", () => {
    const verdicts: readonly Verdict[] = ["ok", "timeout", "refused", "unfit", "closed", "auth-failed"];
    const step = fc.record({ verdict: fc.constantFrom(...verdicts), isCrowded: fc.boolean(), pick: fc.nat() });
    const given = fc.array(fc.option(fc.constantFrom("a", "b", "c")), { maxLength: 120 });
    fc.assert(
      fc.property(given, fc.integer({ min: 1, max: 20 }), fc.array(step), (identities, concurrency, steps) => {
        const { queue, settled, add, end } = open(concurrency);
        for (const [name, identity] of identities.entries()) add(name, identity);
        const running: QueuedCheck[] = [];
        for (let turn = 0; settled.size < identities.length; turn++) {
          running.push(...queue.next());
          const busy = running.flatMap(({ identity }) => identity ?? []);
          expect(new Set(busy).size).toBe(busy.length);
          expect(running.length).toBe(queue.running);
          expect(running.length).toBeLessThanOrEqual(concurrency);
          expect(running.length).toBeGreaterThan(0);
          const { verdict, isCrowded, pick } = steps[turn] ?? { verdict: "ok" as const, isCrowded: false, pick: 0 };
          const [check] = running.splice(pick % running.length, 1);
          if (check !== undefined) end(check, verdict, isCrowded);
        }
        expect([queue.running, queue.waiting, queue.undecided]).toEqual([0, 0, 0]);
      }),
    );
  });

  it("hands everything back that will not run", () => {
    const { queue, add, end } = open(3);
    for (const name of [1, 2, 3, 4]) add(name, name < 3 ? "a" : null);
    const [first] = queue.next();
    if (first !== undefined) end(first, "timeout", true);
    expect(names(queue.takeAll()).sort()).toEqual([1, 2]);
    expect(queue.takeAll()).toEqual([]);
  });
});
