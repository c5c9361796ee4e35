import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../testkit/property.ts";
import { decide, type GroupMember, type GroupState, isFolded, type Say } from "./alerting.ts";
import { type AlertRule, DEFAULT_RULE } from "./alerting-rule.ts";
import type { QuietHours } from "./quiet-hours.ts";

const S = 1_000;
const NIGHT: QuietHours = {
  id: 1,
  name: "Night",
  timezone: "UTC",
  spans: [{ days: [1, 2, 3, 4, 5, 6, 7], from: "00:00", to: "00:10" }],
  mode: "hold",
  letThrough: { severity: [], tags: [] },
};

const NEW: GroupState = {
  isNotice: false,
  isFold: false,
  firstToldAtMs: null,
  toldAtMs: null,
  repeats: 0,
  step: 0,
  members: [],
};

function member(subject: string, joinedAtMs: number, more: Partial<GroupMember> = {}): GroupMember {
  return {
    subject,
    firing: true,
    told: "no",
    severity: "critical",
    toldSeverity: null,
    tags: [],
    joinedAtMs,
    acknowledged: false,
    heldUntilMs: null,
    isUnwatched: false,
    ...more,
  };
}

function rule(more: Partial<AlertRule> = {}): AlertRule {
  return { ...DEFAULT_RULE, waitS: 10, intervalS: 60, ...more };
}

/** One group over time: what changes it, and what it says. */
class Watched {
  state: GroupState = NEW;
  isOver = false;
  /** `begun`: subjects whose beginning it is the first to report. */
  readonly said: { readonly atMs: number; readonly say: Say; readonly begun: readonly string[] }[] = [];
  /** Nothing is due before something joins: an empty group would be over at once. */
  #dueAtMs: number | null = null;
  readonly #rule: AlertRule;
  readonly #quiet: QuietHours | null;

  constructor(of: AlertRule, quiet: QuietHours | null = null) {
    this.#rule = of;
    this.#quiet = quiet;
  }

  join(joined: GroupMember): void {
    this.state = { ...this.state, members: [...this.state.members, joined] };
    this.#dueAtMs = 0;
  }

  change(subject: string, change: Partial<GroupMember>): void {
    const members = this.state.members.map((one) => (one.subject === subject ? { ...one, ...change } : one));
    this.state = { ...this.state, members };
    this.#dueAtMs = 0;
  }

  /** What the sender and its store do when they see that the clock went back. */
  lookAgain(nowMs: number): void {
    const members = this.state.members.map((one) => ({ ...one, joinedAtMs: Math.min(one.joinedAtMs, nowMs) }));
    this.state = { ...this.state, members };
    if (this.#dueAtMs !== null) this.#dueAtMs = 0;
  }

  /** Turns until then, each when it is due, as the sender makes them. */
  until(nowMs: number, fromMs: number): void {
    for (let atMs = fromMs; this.#dueAtMs !== null && !this.isOver; ) {
      atMs = Math.max(atMs, this.#dueAtMs);
      if (atMs > nowMs) return;
      const { say, after, dueAtMs, isOver } = decide(this.state, this.#rule, this.#quiet, atMs);
      const unsaid = new Set(this.state.members.filter(isUnsaid).map(({ subject }) => subject));
      const begun = after.members.filter((one) => one.firing && !isUnsaid(one) && unsaid.has(one.subject));
      if (say !== null) this.said.push({ atMs, say, begun: begun.map(({ subject }) => subject) });
      this.state = after;
      this.#dueAtMs = dueAtMs;
      this.isOver = isOver;
      if (dueAtMs !== null && dueAtMs <= atMs) throw new Error("due again at once");
    }
  }

  get words(): readonly string[] {
    return this.said.map(({ atMs, say }) => `${atMs / S} ${say.reason} ${say.subjects.join(",")}`.trim());
  }
}

function isUnsaid({ told }: GroupMember): boolean {
  return told === "no" || told === "held";
}

describe("decide", () => {
  it("waits, tells of what is new once in an interval, and of the end", () => {
    const group = new Watched(rule());
    group.join(member("a", 0));
    group.until(9 * S, 0);
    expect(group.words).toEqual([]);
    group.join(member("b", 9 * S));
    group.until(20 * S, 9 * S);
    group.join(member("c", 20 * S));
    group.until(80 * S, 20 * S);
    expect(group.words).toEqual(["10 opened a,b", "70 opened c"]);
    for (const subject of ["a", "b", "c"]) group.change(subject, { firing: false });
    group.until(1_000 * S, 80 * S);
    expect(group.words.slice(2)).toEqual(["130 recovered a,b,c"]);
    expect(group.isOver).toBe(true);
  });

  it("counts at the end of a storm what came and went between two of its messages, and names it nowhere before", () => {
    const group = new Watched(rule());
    group.state = { ...NEW, isFold: true };
    group.join(member("a", 0));
    group.until(5 * S, 0);
    group.join(member("b", 5 * S));
    group.until(20 * S, 5 * S);
    group.change("b", { firing: false });
    group.until(25 * S, 20 * S);
    expect(group.state.members.map(({ told }) => told)).toEqual(["firing", "no"]);
    group.change("a", { firing: false });
    group.until(1_000 * S, 25 * S);
    expect(group.words).toEqual(["0 opened a", "60 recovered a"]);
    expect(group.state.members.map(({ told }) => told)).toEqual(["ended", "ended"]);
    expect(group.isOver).toBe(true);
  });

  it("says nothing of what is over before its delay", () => {
    const group = new Watched(rule({ delayS: 300 }));
    group.join(member("a", 0));
    group.until(299 * S, 0);
    group.change("a", { firing: false });
    group.until(10_000 * S, 299 * S);
    expect(group.said).toEqual([]);
    expect(group.isOver).toBe(true);
  });

  it("reminds ever later, a day apart at most, until it is acknowledged", () => {
    const group = new Watched(rule({ waitS: 0, repeatS: 3_600, repeatGrowth: 10 }));
    group.join(member("a", 0));
    group.until(400_000 * S, 0);
    expect(group.words).toEqual([
      "0 opened a",
      "3600 reminder",
      "39600 reminder",
      "126000 reminder",
      "212400 reminder",
      "298800 reminder",
      "385200 reminder",
    ]);
    group.change("a", { acknowledged: true });
    group.until(4_000_000 * S, 400_000 * S);
    expect(group.words.slice(7)).toEqual(["400000 acknowledged a"]);
  });

  it("takes along with a reminder what is new, worse or over, where reminders come sooner than the interval", () => {
    const group = new Watched(rule({ waitS: 0, intervalS: 300, repeatS: 60, repeatGrowth: 1 }));
    group.join(member("a", 0));
    group.join(member("b", 0, { severity: "warning" }));
    group.until(10 * S, 0);
    group.join(member("c", 10 * S));
    group.until(70 * S, 10 * S);
    group.change("b", { severity: "critical" });
    group.until(130 * S, 70 * S);
    group.change("c", { firing: false });
    group.until(190 * S, 130 * S);
    expect(group.words).toEqual(["0 opened a,b", "60 opened c", "120 raised b", "180 changed c"]);
  });

  it("escalates step by step to others, unless it is acknowledged", () => {
    const escalation = [
      { afterS: 900, channels: [7] },
      { afterS: 1_800, channels: [8] },
    ];
    const group = new Watched(rule({ waitS: 0, escalation }));
    group.join(member("a", 0));
    group.until(1_000 * S, 0);
    expect(group.said.map(({ atMs, say }) => [atMs / S, say.reason, say.onlyStep])).toEqual([
      [0, "opened", false],
      [900, "opened", true],
    ]);
    expect(group.state.step).toBe(1);
    group.change("a", { acknowledged: true });
    group.until(10_000 * S, 1_000 * S);
    expect(group.words.slice(2)).toEqual(["1000 acknowledged a"]);
  });

  it("tells that a person has it in hand, once, and not what is over by then", () => {
    const group = new Watched(rule({ waitS: 0 }));
    for (const subject of ["a", "b", "c"]) group.join(member(subject, 0));
    group.until(1 * S, 0);
    group.change("a", { acknowledged: true });
    group.change("b", { acknowledged: true, firing: false });
    group.until(500 * S, 1 * S);
    group.change("a", { firing: false });
    group.change("c", { firing: false });
    group.until(1_000 * S, 500 * S);
    expect(group.words).toEqual(["0 opened a,b,c", "60 changed b,a", "500 recovered a,c"]);
  });

  it("closes what it told of monitors that are gone, and does not speak while others of the group still fail", () => {
    const group = new Watched(rule({ waitS: 0 }));
    group.join(member("a", 0));
    group.join(member("b", 0));
    group.until(1 * S, 0);
    group.change("a", { firing: false, isUnwatched: true });
    group.until(500 * S, 1 * S);
    group.change("b", { firing: false });
    group.until(1_000 * S, 500 * S);
    expect(group.words).toEqual(["0 opened a,b", "500 recovered a,b"]);
    const alone = new Watched(rule({ waitS: 0 }));
    alone.join(member("a", 0));
    alone.until(1 * S, 0);
    alone.change("a", { firing: false, isUnwatched: true });
    alone.until(500 * S, 1 * S);
    expect(alone.words).toEqual(["0 opened a", "60 recovered a"]);
  });

  it("holds what is in maintenance, and tells of it at its end", () => {
    const group = new Watched(rule({ waitS: 0 }));
    group.join(member("a", 0, { heldUntilMs: 500 * S }));
    group.until(499 * S, 0);
    expect(group.said).toEqual([]);
    group.until(500 * S, 499 * S);
    expect(group.words).toEqual(["500 opened a"]);
  });

  it("tells of what got worse", () => {
    const group = new Watched(rule({ waitS: 0 }));
    group.join(member("a", 0, { severity: "warning" }));
    group.until(30 * S, 0);
    group.change("a", { severity: "critical" });
    group.until(1_000 * S, 30 * S);
    expect(group.words).toEqual(["0 opened a", "60 raised a"]);
  });

  it("says at the end of quiet hours what still holds, and counts what came and went; dropped, it is not counted", () => {
    for (const mode of ["hold", "drop"] as const) {
      const group = new Watched(rule({ waitS: 0 }), { ...NIGHT, mode });
      group.join(member("a", 0));
      group.join(member("b", 0));
      group.until(60 * S, 0);
      group.change("b", { firing: false });
      group.until(599 * S, 60 * S);
      expect(group.said).toEqual([]);
      group.until(700 * S, 599 * S);
      expect(group.words).toEqual([mode === "hold" ? "600 digest a,b" : "600 opened a"]);
      expect(group.said[0]?.say.cameAndWent).toBe(mode === "hold" ? 1 : 0);
    }
  });

  it("lets through what is let through", () => {
    const letThrough = { severity: [], tags: ["prod"] };
    const group = new Watched(rule({ waitS: 0 }), { ...NIGHT, letThrough });
    group.join(member("a", 0));
    group.until(60 * S, 0);
    group.join(member("b", 60 * S, { tags: ["prod"] }));
    group.until(70 * S, 60 * S);
    expect(group.words).toEqual(["60 digest a,b"]);
  });

  it("lets through what becomes due after something else was held", () => {
    const letThrough = { severity: ["critical" as const], tags: [] };
    const group = new Watched(rule({ waitS: 0, delayS: 30 }), { ...NIGHT, letThrough });
    group.join(member("a", 0, { severity: "warning" }));
    group.until(10 * S, 0);
    group.join(member("b", 10 * S));
    group.until(100 * S, 10 * S);
    expect(group.words).toEqual(["40 digest a,b"]);
  });

  it("tells a notice once", () => {
    const group = new Watched(rule());
    group.state = { ...NEW, isNotice: true };
    group.join(member("srv_1:certificate", 0, { severity: "warning" }));
    group.until(1_000_000 * S, 0);
    expect(group.words).toEqual(["10 notice srv_1:certificate"]);
    expect(group.isOver).toBe(true);
  });

  it("closes in silence where the end is not wanted", () => {
    const group = new Watched(rule({ waitS: 0, recovered: false }));
    group.join(member("a", 0));
    group.until(5 * S, 0);
    group.change("a", { firing: false });
    group.until(5 * S, 5 * S);
    expect(group.words).toEqual(["0 opened a"]);
    expect(group.isOver).toBe(true);
  });
});

describe("isFolded", () => {
  it("makes one of more than ten, of those that join a storm, and of what quiet hours held", () => {
    expect(isFolded(Array(10).fill("opened"), 0, false)).toBe(false);
    expect(isFolded(Array(11).fill("opened"), 0, false)).toBe(true);
    expect(isFolded(Array(2).fill("opened"), 8, false)).toBe(false);
    expect(isFolded(Array(3).fill("opened"), 8, false)).toBe(true);
    expect(isFolded(["opened"], 0, true)).toBe(true);
    expect(isFolded(["digest", "digest"], 0, false)).toBe(true);
    expect(isFolded(["digest"], 0, false)).toBe(false);
  });
});

const events = fc.array(
  fc.record({
    afterS: fc.integer({ min: 0, max: 200 }),
    subject: fc.constantFrom("a", "b", "c", "d"),
    what: fc.constantFrom("begins", "ends", "acknowledged"),
  }),
  { maxLength: 30 },
);
/** By so much a clock is set, forward or back, s. */
const steps = fc.constantFrom(-86_400, -3_600, -61, -1, 1, 61, 3_600, 86_400);
const rules = fc.record({
  delayS: fc.constantFrom(0, 30, 100),
  waitS: fc.constantFrom(0, 10, 60),
  intervalS: fc.constantFrom(1, 60, 300),
  repeatS: fc.constantFrom(null, 60, 400),
  repeatGrowth: fc.constantFrom(1, 2),
  recovered: fc.boolean(),
});
const quiets = fc.constantFrom(null, NIGHT, { ...NIGHT, mode: "drop" as const });

const LETS_CRITICAL: QuietHours = {
  ...NIGHT,
  spans: [{ days: [1, 2, 3, 4, 5, 6, 7], from: "00:00", to: "02:00" }],
  letThrough: { severity: ["critical"], tags: [] },
};

function severityOf(subject: string): "critical" | "warning" {
  return subject < "c" ? "critical" : "warning";
}

describe("whatever happens when", () => {
  /** Subjects are new each time, as incidents are. */
  function run(
    of: AlertRule,
    quiet: QuietHours | null,
    list: readonly { afterS: number; subject: string; what: string }[],
    isFold = false,
  ) {
    const group = new Watched(of, quiet);
    group.state = { ...NEW, isFold };
    const lives = new Map<string, { readonly fromMs: number; toMs: number | null }>();
    const current = new Map<string, string>();
    let nowMs = 0;
    for (const [index, { afterS, subject, what }] of list.entries()) {
      const before = nowMs;
      nowMs += afterS * S;
      group.until(nowMs, before);
      if (group.isOver) break;
      const name = current.get(subject);
      if (what === "begins" && name === undefined) {
        const begun = `${subject}${index}`;
        current.set(subject, begun);
        lives.set(begun, { fromMs: nowMs, toMs: null });
        group.join(member(begun, nowMs, { severity: severityOf(subject) }));
      } else if (what === "ends" && name !== undefined) {
        current.delete(subject);
        lives.set(name, { fromMs: lives.get(name)?.fromMs ?? 0, toMs: nowMs });
        group.change(name, { firing: false });
      } else if (what === "acknowledged" && name !== undefined) group.change(name, { acknowledged: true });
    }
    group.until(nowMs + 100_000 * S, nowMs);
    return { group, lives };
  }

  it("never tells of a beginning twice, and never keeps silent about what still holds", () => {
    assertProperty(
      fc.property(rules, quiets, events, fc.boolean(), (settings, quiet, list, isFold) => {
        const { group, lives } = run(rule(settings), quiet, list, isFold);
        const told = group.said.flatMap(({ begun }) => begun);
        for (const [subject, { toMs }] of lives) {
          const times = told.filter((one) => one === subject).length;
          if (toMs === null && !group.isOver) expect(times).toBe(1);
        }
        const states = new Map(group.state.members.map((one) => [one.subject, one]));
        for (const [subject, { toMs }] of lives)
          if (toMs === null && states.has(subject))
            expect(["firing", "acknowledged"]).toContain(states.get(subject)?.told);
      }),
      { numRuns: 200 },
    );
  });

  it("tells of what lasts within its delay, wait and interval, whatever else is said, reminded of or held", () => {
    assertProperty(
      fc.property(rules, fc.constantFrom(null, LETS_CRITICAL), events, (settings, quiet, list) => {
        const { group, lives } = run(rule(settings), quiet, list);
        const longestMs = (settings.delayS + settings.waitS + settings.intervalS) * S;
        for (const [subject, { fromMs, toMs }] of lives) {
          if (quiet !== null && severityOf(subject) === "warning") continue;
          if (toMs !== null && toMs <= fromMs + longestMs) continue;
          const first = group.said.find(({ begun }) => begun.includes(subject));
          expect(first?.atMs).toBeLessThanOrEqual(fromMs + longestMs);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("never tells of what was over before it was due, and says each end once", () => {
    assertProperty(
      fc.property(rules, events, fc.boolean(), (settings, list, isFold) => {
        const { group, lives } = run(rule(settings), null, list, isFold);
        const mentioned = new Set(group.said.flatMap(({ say }) => say.subjects));
        for (const [subject, { fromMs, toMs }] of lives)
          if (toMs !== null && toMs < fromMs + settings.delayS * S) expect(mentioned.has(subject)).toBe(false);
        const ends = group.said.filter(({ say }) => say.reason === "recovered" || say.reason === "changed");
        const subjects = ends.flatMap(({ say }) => say.subjects);
        expect(new Set(subjects).size).toBe(subjects.length);
        if (!settings.recovered) expect(ends).toEqual([]);
        const taken = group.said.filter(({ say }) => say.reason === "acknowledged").flatMap(({ say }) => say.subjects);
        expect(new Set(taken).size).toBe(taken.length);
        if (!isFold || !group.isOver || group.said.length === 0) return;
        // Its end counts everything that happened in it since it was first told of.
        const counted = group.state.members.filter(({ told }) => told === "ended").map(({ subject }) => subject);
        const firstMs = group.said[0]?.atMs ?? 0;
        for (const [subject, { fromMs }] of lives) if (fromMs > firstMs) expect(counted).toContain(subject);
      }),
      { numRuns: 200 },
    );
  });

  it("tells of each beginning once, and soon, however the clock is set meanwhile", () => {
    const timed = fc.array(
      fc.record({
        afterS: fc.integer({ min: 0, max: 200 }),
        what: fc.oneof(fc.constantFrom("begins" as const, "ends" as const), steps),
      }),
      { maxLength: 20 },
    );
    assertProperty(
      fc.property(rules, timed, (settings, list) => {
        const group = new Watched(rule(settings));
        const open: string[] = [];
        let nowMs = 1_000_000 * S;
        for (const [index, { afterS, what }] of list.entries()) {
          group.until(nowMs + afterS * S, nowMs);
          nowMs += afterS * S;
          if (group.isOver) return;
          if (what === "begins") {
            open.push(`${index}`);
            group.join(member(`${index}`, nowMs));
          } else if (what === "ends") {
            const subject = open.pop();
            if (subject !== undefined) group.change(subject, { firing: false });
          } else {
            nowMs += what * S;
            if (what < 0) group.lookAgain(nowMs);
          }
        }
        group.until(nowMs + (settings.delayS + settings.waitS + settings.intervalS) * S, nowMs);
        const told = group.said.flatMap(({ begun }) => begun);
        expect(new Set(told).size).toBe(told.length);
        for (const subject of open) expect(told).toContain(subject);
      }),
      { numRuns: 200 },
    );
  });
});
