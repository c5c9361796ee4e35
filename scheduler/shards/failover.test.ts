/**
 * Two schedulers over one table, one of which pauses or dies: on a clock of its own, with looks at every phase and answers of the database
 * that take a while. What is measured is when the other takes the shards, and when the first one stops to begin checks.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beatMs, LEASE_MS } from "../../model/lease.ts";
import { decideShards, PresenceWatch, SHARD_LEASE_MS } from "../../model/shards.ts";
import { assertProperty } from "../../testkit/property.ts";
import type { Clocks } from "../clock.ts";
import { Tenure } from "../tenure.ts";

const BEAT_MS = beatMs(SHARD_LEASE_MS);
const STEP_MS = 10;
/** A database under load. */
const MOST_ANSWER_MS = 400;

interface Case {
  /** Of the two processes' timers. */
  readonly phases: readonly [number, number];
  /** How long each of their looks takes, ms, in turn. */
  readonly answersMs: readonly number[];
  /** When the first process stands still, and for how long. */
  readonly pauseAtMs: number;
  readonly pauseMs: number;
  /** How often the first one beats, and whether it says so; an older version does neither. */
  readonly beatMs?: number;
}

const cases = fc.record({
  phases: fc.tuple(fc.integer({ min: 0, max: BEAT_MS }), fc.integer({ min: 0, max: BEAT_MS })),
  answersMs: fc.array(fc.integer({ min: 1, max: MOST_ANSWER_MS }), { minLength: 4, maxLength: 12 }),
  pauseAtMs: fc.integer({ min: 5_000, max: 9_000 }),
});

interface Found {
  /** When the other took the shard; null: never. */
  readonly takenAtMs: number | null;
  /** Whether the first one might begin checks afterwards. */
  readonly begunAfterwards: boolean;
}

/** One process's looks: a timer that requests them, one at a time. The database has the beat at once, the process its answer later. */
function looksOf(
  { phaseMs, everyMs, answersMs }: { phaseMs: number; everyMs: number; answersMs: readonly number[] },
  beat: () => void,
  look: (sentAtMs: number) => void,
) {
  let dueAtMs = phaseMs;
  let sentAtMs: number | null = null;
  let count = 0;
  return (nowMs: number): void => {
    if (sentAtMs !== null && nowMs - sentAtMs >= (answersMs[count % answersMs.length] ?? 0)) {
      look(sentAtMs);
      sentAtMs = null;
      count += 1;
    }
    if (sentAtMs !== null || nowMs < dueAtMs) return;
    sentAtMs = nowMs;
    beat();
    // As timers do: what was missed is not made up for.
    while (dueAtMs <= nowMs) dueAtMs += everyMs;
  };
}

function clockOf(nowMs: () => number): Clocks {
  return { monotonicNowMs: nowMs, wallNowMs: nowMs };
}

function play({ phases, answersMs, pauseAtMs, pauseMs, beatMs: firstBeatMs }: Case): Found {
  let nowMs = 0;
  let holder = "first";
  let takenAtMs: number | null = null;
  let begunAfterwards = false;
  const beats = { first: 0, other: 0 };
  const tenure = new Tenure(
    SHARD_LEASE_MS,
    clockOf(() => nowMs),
  );
  const watch = new PresenceWatch(SHARD_LEASE_MS);
  const beatOf = (who: keyof typeof beats) => () => {
    beats[who] += 1;
  };
  const timing = (phaseMs: number, everyMs: number) => ({ phaseMs, everyMs, answersMs });
  const first = looksOf(timing(phases[0], firstBeatMs ?? BEAT_MS), beatOf("first"), (sentAtMs) => {
    // A shard that another has taken is dropped with the same look.
    if (holder === "first") tenure.renew({ monotonicMs: sentAtMs, wallMs: sentAtMs }, false);
  });
  const other = looksOf(timing(phases[1], BEAT_MS), beatOf("other"), () => {
    const rows = [
      { id: "first", beat: beats.first, beatMs: firstBeatMs === undefined ? BEAT_MS : undefined },
      { id: "other", beat: beats.other, beatMs: BEAT_MS },
    ];
    const presence = watch.look(rows, nowMs);
    if (decideShards("other", [{ shard: 0, holder }], presence).take.length === 0) return;
    holder = "other";
    takenAtMs ??= nowMs;
  });
  const endMs = pauseAtMs + Math.min(pauseMs, 20_000) + 40_000;
  for (; nowMs <= endMs; nowMs += STEP_MS) {
    other(nowMs);
    if (nowMs >= pauseAtMs && nowMs < pauseAtMs + pauseMs) continue;
    // Checks come before the look: the process has just woken, and knows nothing.
    if (tenure.mayBegin && takenAtMs !== null) begunAfterwards = true;
    first(nowMs);
  }
  return { takenAtMs, begunAfterwards };
}

describe("failover of shards", () => {
  it("comes within 10 s of the last beat of a scheduler that is gone", () => {
    assertProperty(
      fc.property(cases, (situation) => {
        const { takenAtMs } = play({ ...situation, pauseMs: Number.POSITIVE_INFINITY });
        expect(takenAtMs).not.toBeNull();
        expect((takenAtMs ?? 0) - situation.pauseAtMs).toBeLessThan(9_500);
      }),
      { numRuns: 300 },
    );
  });

  it("takes nothing from one that pauses for 3 s, whenever that is", () => {
    assertProperty(
      fc.property(cases, (situation) => {
        expect(play({ ...situation, pauseMs: 3_000 }).takenAtMs).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  it("leaves no moment at which both begin checks, however long the first one pauses", () => {
    assertProperty(
      fc.property(cases, fc.integer({ min: 3_000, max: 20_000 }), (situation, pauseMs) => {
        expect(play({ ...situation, pauseMs }).begunAfterwards).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it("gives a scheduler of an older version the time that it was made for", () => {
    assertProperty(
      fc.property(cases, (situation) => {
        const old = { ...situation, beatMs: beatMs(LEASE_MS) };
        expect(play({ ...old, pauseMs: 15_000 }).takenAtMs).toBeNull();
        expect(play({ ...old, pauseMs: Number.POSITIVE_INFINITY }).takenAtMs).not.toBeNull();
      }),
      { numRuns: 50 },
    );
  });
});

describe("Tenure", () => {
  it("ends without beats before the shards may be taken, and not where no process can take them", () => {
    let nowMs = 0;
    const clocks = clockOf(() => nowMs);
    const shared = new Tenure(1_000, clocks);
    const own = new Tenure(null, clocks);
    expect([shared.mayBegin, own.mayBegin]).toEqual([false, true]);
    shared.renew(shared.moment(), false);
    nowMs = 699;
    expect([shared.mayBegin, shared.leftMs]).toEqual([true, 1]);
    nowMs = 700;
    expect([shared.mayBegin, own.mayBegin]).toEqual([false, true]);
    // The last scheduler of all goes on while the database is away.
    shared.renew(shared.moment(), true);
    nowMs = 1e9;
    expect(shared.mayBegin).toBe(true);
    // But for one that hears of another, which takes shards.
    shared.doubt();
    own.doubt();
    expect([shared.mayBegin, own.mayBegin]).toEqual([false, true]);
    shared.renew(shared.moment(), true);
    expect(shared.mayBegin).toBe(true);
  });

  it("ends when the machine was suspended, which the monotonic clock does not tell", () => {
    let [monotonicMs, wallMs] = [0, 1_763_700_000_000];
    const tenure = new Tenure(1_000, { monotonicNowMs: () => monotonicMs, wallNowMs: () => wallMs });
    tenure.renew(tenure.moment(), false);
    wallMs += 700;
    expect(tenure.mayBegin).toBe(false);
    // A wall clock that was set back lengthens nothing.
    wallMs -= 60_000;
    monotonicMs += 699;
    expect(tenure.leftMs).toBe(1);
  });
});
