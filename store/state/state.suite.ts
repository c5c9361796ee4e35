/** What every state must do, whatever it is kept in. Each test gets an empty one. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBroadcasts, openNotices, openState, type StateLocation } from "./open.ts";
import type { EndpointUsage, RequestLimits, RequestTake, State } from "./state.ts";

/** Makes an empty place and takes it away again. */
export interface StateLocationMaker {
  make(): Promise<{ readonly place: StateLocation; remove(): Promise<void> }>;
  /** Sequences of the property tests: a server across a socket is slower than memory. */
  readonly runs: number;
}

const NOW_MS = Date.UTC(2026, 10, 21, 6, 10, 30);
const MINUTE_MS = 60_000;
const UNLIMITED: RequestLimits = { perMinute: null, perDay: null, perMonth: null };

export function stateSuite(name: string, places: StateLocationMaker): void {
  describe(`state on ${name}`, () => {
    let place: Awaited<ReturnType<StateLocationMaker["make"]>>;
    let state: State;

    beforeEach(async () => {
      place = await places.make();
      state = await openState(place.place);
    });
    afterEach(async () => {
      await state.close();
      await place.remove();
    });

    const given = (): State => state;
    const reopen = async (): Promise<State> => {
      await state.close();
      state = await openState(place.place);
      return state;
    };
    requestTests(given, places.runs);
    restartTests(given, reopen);
    usageTests(given, reopen);
    gateTests(given, places.runs);
    noticeTests(given, () => place.place);
    rowTests(given, () => place.place);
    broadcastTests(given, () => place.place);
    answerTests(given);
  });
}

function rowTests(currentState: () => State, place: () => StateLocation): void {
  it("carries rows to every listener, here and elsewhere, in order, until it leaves", async () => {
    const elsewhere = await openNotices(place());
    try {
      const heard: string[] = [];
      const elsewhereHeard: string[] = [];
      const onLost = (): void => {};
      const leave = currentState().rows.subscribe((text) => heard.push(text), onLost);
      elsewhere.rows.subscribe((text) => elsewhereHeard.push(text), onLost);
      // What was published before a listener was there is not for it.
      await expect
        .poll(() => {
          currentState().rows.publish("first");
          return elsewhereHeard.length;
        })
        .toBeGreaterThan(0);
      const texts = Array.from({ length: 50 }, (_, number) => `${number} ${"é".repeat(number * 1_000)}`);
      for (const text of texts) currentState().rows.publish(text);
      await expect.poll(() => elsewhereHeard.slice(-50)).toEqual(texts);
      await expect.poll(() => heard.slice(-50)).toEqual(texts);
      leave();
      elsewhere.rows.publish("last");
      await expect.poll(() => elsewhereHeard.at(-1)).toBe("last");
      expect(heard.at(-1)).toBe(texts.at(-1));
    } finally {
      await elsewhere.close();
    }
    elsewhere.rows.publish("after its end");
  });
}

function answerTests(currentState: () => State): void {
  describe("answers that are kept", () => {
    it("one of many is first; the others wait, then get its answer", async () => {
      const { answers } = currentState();
      const begun = await Promise.all(Array.from({ length: 20 }, () => answers.begin("a", "r", MINUTE_MS, NOW_MS)));
      expect(begun.map(({ type }) => type).sort()).toEqual(["first", ...Array(19).fill("running")]);
      await answers.keep("a", "r", "the answer, of é", MINUTE_MS, NOW_MS);
      expect(await answers.begin("a", "r", MINUTE_MS, NOW_MS)).toEqual({
        type: "answered",
        answer: "the answer, of é",
      });
    });

    it("stand for one request each, until they are forgotten", async () => {
      const { answers } = currentState();
      await answers.begin("a", "r", MINUTE_MS, NOW_MS);
      expect((await answers.begin("a", "s", MINUTE_MS, NOW_MS)).type).toBe("other");
      expect((await answers.begin("b", "s", MINUTE_MS, NOW_MS)).type).toBe("first");
      await answers.forget("a");
      await answers.forget("never");
      expect((await answers.begin("a", "s", MINUTE_MS, NOW_MS)).type).toBe("first");
    });
  });
}

function requestTests(currentState: () => State, runs: number): void {
  describe("requests", () => {
    const limits: RequestLimits = { perMinute: 3, perDay: 5, perMonth: 7 };
    const take = async (organizationId: number, nowMs: number, of = limits): Promise<RequestTake> =>
      currentState().counters.takeRequest(organizationId, of, nowMs);

    it("refuses by the minute, the day and the month, and counts nothing then", async () => {
      for (const used of [1, 2, 3]) expect(await take(1, NOW_MS)).toEqual({ refusedBy: null, usedInMinute: used });
      expect(await take(1, NOW_MS)).toEqual({ refusedBy: "minute", usedInMinute: 3 });
      const nextMinuteMs = NOW_MS + 30_000;
      expect(await take(1, nextMinuteMs - 1)).toEqual({ refusedBy: "minute", usedInMinute: 3 });
      for (const used of [1, 2]) expect(await take(1, nextMinuteMs)).toEqual({ refusedBy: null, usedInMinute: used });
      expect(await take(1, nextMinuteMs)).toEqual({ refusedBy: "day", usedInMinute: 2 });
      expect(await currentState().counters.usage(1, nextMinuteMs)).toEqual({ minute: 2, day: 5, month: 5 });
      const nextDayMs = Date.UTC(2026, 10, 22);
      expect((await take(1, nextDayMs - 1)).refusedBy).toBe("day");
      for (const used of [1, 2]) expect(await take(1, nextDayMs)).toEqual({ refusedBy: null, usedInMinute: used });
      expect(await take(1, nextDayMs)).toEqual({ refusedBy: "month", usedInMinute: 2 });
      const nextMonthMs = Date.UTC(2026, 11, 1);
      expect((await take(1, nextMonthMs - 1)).refusedBy).toBe("month");
      expect(await take(1, nextMonthMs)).toEqual({ refusedBy: null, usedInMinute: 1 });
      expect(await currentState().counters.usage(1, nextMonthMs)).toEqual({ minute: 1, day: 1, month: 1 });
    });

    it("knows no limit for null, and nothing for zero; workspaces are apart", async () => {
      for (let used = 1; used <= 20; used++)
        expect(await take(1, NOW_MS, UNLIMITED)).toEqual({ refusedBy: null, usedInMinute: used });
      const none = { perMinute: 0, perDay: 0, perMonth: 0 };
      expect(await take(2, NOW_MS, none)).toEqual({ refusedBy: "minute", usedInMinute: 0 });
      expect(await currentState().counters.usage(2, NOW_MS)).toEqual({ minute: 0, day: 0, month: 0 });
      expect(await take(2, NOW_MS, { ...UNLIMITED, perMonth: 0 })).toEqual({ refusedBy: "month", usedInMinute: 0 });
    });

    it("takes no more than the limit of many at once", async () => {
      const takes = await Promise.all(
        Array.from({ length: 50 }, () => take(1, NOW_MS, { ...UNLIMITED, perMinute: 10 })),
      );
      expect(takes.filter((one) => one.refusedBy === null)).toHaveLength(10);
    });

    it("agrees with a plain list of requests", async () => {
      const limit = fc.option(fc.integer({ min: 0, max: 4 }), { nil: null });
      const step = fc.record({
        waitMs: fc.oneof(fc.nat(20_000), fc.nat(5 * 3_600_000), fc.nat(20 * 86_400_000)),
        limits: fc.record({ perMinute: limit, perDay: limit, perMonth: limit }),
      });
      let organizationId = 1_000;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          organizationId += 1;
          const takenAtMs: number[] = [];
          let nowMs = NOW_MS;
          for (const { waitMs, limits } of steps) {
            nowMs += waitMs;
            const expected = expectedTake(takenAtMs, limits, nowMs);
            expect(await currentState().counters.takeRequest(organizationId, limits, nowMs)).toEqual(expected);
            if (expected.refusedBy === null) takenAtMs.push(nowMs);
          }
        }),
        { numRuns: runs },
      );
    });
  });
}

/** The rule as one would say it: how many were taken since the start of this minute, day, month. */
function expectedTake(takenAtMs: readonly number[], limits: RequestLimits, nowMs: number): RequestTake {
  const now = new Date(nowMs).toISOString();
  const within = (length: number): number =>
    takenAtMs.filter((atMs) => new Date(atMs).toISOString().slice(0, length) === now.slice(0, length)).length;
  const [minute, day, month] = [within(16), within(10), within(7)];
  const isFull = (limit: number | null, used: number): boolean => limit !== null && used >= limit;
  if (isFull(limits.perMinute, minute)) return { refusedBy: "minute", usedInMinute: minute };
  if (isFull(limits.perDay, day)) return { refusedBy: "day", usedInMinute: minute };
  if (isFull(limits.perMonth, month)) return { refusedBy: "month", usedInMinute: minute };
  return { refusedBy: null, usedInMinute: minute + 1 };
}

function restartTests(currentState: () => State, reopen: () => Promise<State>): void {
  it("forgets no counter over a restart", async () => {
    // The place itself drops what has expired, so these are of the present.
    const nowMs = Date.now();
    const { counters } = currentState();
    await counters.takeRequest(7, UNLIMITED, nowMs);
    await counters.takeRequest(7, UNLIMITED, nowMs);
    for (let wrong = 0; wrong < 10; wrong++) await counters.wrongKey("192.0.2.1", nowMs);
    const dayMs = 86_400_000;
    for (let taken = 0; taken < 3; taken++) expect(await counters.takeFrom("public", 3, dayMs, nowMs)).toBe(true);
    const again = (await reopen()).counters;
    expect(await again.usage(7, nowMs)).toEqual({ minute: 2, day: 2, month: 2 });
    expect(await again.mayTryKey("192.0.2.1", nowMs)).toBe(false);
    expect(await again.takeFrom("public", 3, dayMs, nowMs)).toBe(false);
    expect((await again.takeRequest(7, UNLIMITED, nowMs)).usedInMinute).toBe(3);
  });
}

function usageTests(currentState: () => State, reopen: () => Promise<State>): void {
  it("counts endpoints by key and day, over a restart", async () => {
    const { counters } = currentState();
    const dayMs = 86_400_000;
    counters.countEndpoint(1, 31, "GET /servers/{id}", false, NOW_MS);
    counters.countEndpoint(1, 31, "GET /servers/{id}", true, NOW_MS);
    counters.countEndpoint(1, 32, "GET /servers/{id}", false, NOW_MS);
    counters.countEndpoint(1, 31, "POST /servers", false, NOW_MS - dayMs);
    counters.countEndpoint(1, 31, "POST /servers", false, NOW_MS - 40 * dayMs);
    counters.countEndpoint(2, 40, "POST /servers", false, NOW_MS);
    const today = "2026-11-21";
    const first: EndpointUsage[] = [
      { day: today, keyId: 31, endpoint: "GET /servers/{id}", requests: 2, errors: 1 },
      { day: today, keyId: 32, endpoint: "GET /servers/{id}", requests: 1, errors: 0 },
      { day: "2026-11-20", keyId: 31, endpoint: "POST /servers", requests: 1, errors: 0 },
    ];
    expect(sorted(await counters.endpointUsage(1, 30, NOW_MS))).toEqual(first);
    expect(sorted(await counters.endpointUsage(1, 1, NOW_MS))).toEqual(first.slice(0, 2));
    const again = (await reopen()).counters;
    again.countEndpoint(1, 32, "GET /servers/{id}", true, NOW_MS);
    const [one, two, three] = first;
    expect(sorted(await again.endpointUsage(1, 30, NOW_MS))).toEqual([one, { ...two, requests: 2, errors: 1 }, three]);
    expect(await again.endpointUsage(3, 30, NOW_MS)).toEqual([]);
  });
}

function sorted(usage: readonly EndpointUsage[]): readonly EndpointUsage[] {
  return [...usage].sort(
    (a, b) => b.day.localeCompare(a.day) || a.keyId - b.keyId || a.endpoint.localeCompare(b.endpoint),
  );
}

function gateTests(currentState: () => State, runs: number): void {
  describe("gates", () => {
    it("refuses an address after ten wrong keys, then lets one through every 6 s", async () => {
      const { counters } = currentState();
      for (let wrong = 0; wrong < 10; wrong++) {
        expect(await counters.mayTryKey("192.0.2.1", NOW_MS)).toBe(true);
        await counters.wrongKey("192.0.2.1", NOW_MS);
      }
      expect(await counters.mayTryKey("192.0.2.1", NOW_MS)).toBe(false);
      expect(await counters.mayTryKey("192.0.2.2", NOW_MS)).toBe(true);
      expect(await counters.mayTryKey("192.0.2.1", NOW_MS + 5_999)).toBe(false);
      expect(await counters.mayTryKey("192.0.2.1", NOW_MS + 6_000)).toBe(true);
      await counters.wrongKey("192.0.2.1", NOW_MS + 6_000);
      expect(await counters.mayTryKey("192.0.2.1", NOW_MS + 6_000)).toBe(false);
      expect(await counters.mayTryKey("192.0.2.1", NOW_MS + 12_000)).toBe(true);
      // Wrong keys of requests that were on their way when the bucket ran empty do not make it deeper.
      for (let wrong = 0; wrong < 30; wrong++) await counters.wrongKey("192.0.2.1", NOW_MS + 12_000);
      expect(await counters.mayTryKey("192.0.2.1", NOW_MS + 18_000)).toBe(true);
    });

    it("agrees with a plain bucket", async () => {
      const step = fc.record({ waitMs: fc.oneof(fc.constant(0), fc.nat(15_000)), isWrong: fc.boolean() });
      let address = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          address += 1;
          let nowMs = NOW_MS;
          let tokens = 60_000;
          for (const { waitMs, isWrong } of steps) {
            nowMs += waitMs;
            tokens = Math.min(60_000, tokens + waitMs);
            expect(await currentState().counters.mayTryKey(`a${address}`, nowMs)).toBe(tokens >= 6_000);
            if (!isWrong) continue;
            await currentState().counters.wrongKey(`a${address}`, nowMs);
            tokens = Math.max(0, tokens - 6_000);
          }
        }),
        { numRuns: runs },
      );
    });

    it("takes at most so many from a window", async () => {
      const { counters } = currentState();
      const startMs = NOW_MS - (NOW_MS % MINUTE_MS);
      for (let taken = 0; taken < 60; taken++)
        expect(await counters.takeFrom("push:a", 60, MINUTE_MS, startMs)).toBe(true);
      expect(await counters.takeFrom("push:a", 60, MINUTE_MS, startMs + 59_999)).toBe(false);
      expect(await counters.takeFrom("push:b", 60, MINUTE_MS, startMs)).toBe(true);
      expect(await counters.takeFrom("push:a", 60, MINUTE_MS, startMs + MINUTE_MS)).toBe(true);
      expect(await counters.takeFrom("none", 0, MINUTE_MS, startMs)).toBe(false);
    });

    it("takes at most so many in any stretch, and takes back", async () => {
      const { counters } = currentState();
      const take = (atMs: number, name = "a") => counters.takeSliding(name, 2, MINUTE_MS, atMs);
      const first = await take(NOW_MS);
      expect(first).toEqual({ ticket: expect.any(String), heldAtMs: [NOW_MS] });
      const second = await take(NOW_MS + 40_000);
      expect(second.heldAtMs).toEqual([NOW_MS, NOW_MS + 40_000]);
      expect(await take(NOW_MS + 59_999)).toEqual({ ticket: null, heldAtMs: [NOW_MS, NOW_MS + 40_000] });
      expect((await take(NOW_MS + 40_000, "b")).ticket).not.toBeNull();
      expect((await take(NOW_MS + 60_000)).heldAtMs).toEqual([NOW_MS + 40_000, NOW_MS + 60_000]);
      await counters.giveBack("a", second.ticket ?? "");
      await counters.giveBack("a", second.ticket ?? "");
      await counters.giveBack("c", second.ticket ?? "");
      expect(await counters.heldSliding("a", MINUTE_MS, NOW_MS + 60_000)).toEqual([NOW_MS + 60_000]);
      expect(await counters.heldSliding("a", MINUTE_MS, NOW_MS + 120_000)).toEqual([]);
      expect(await counters.heldSliding("c", MINUTE_MS, NOW_MS)).toEqual([]);
      // Sixty in an hour, however many ask at the same moment; the first that was taken says when the next is free.
      const hour = await Promise.all(
        Array.from({ length: 80 }, (_, at) => counters.takeSliding("e", 60, 3_600_000, NOW_MS + (at % 2))),
      );
      expect(hour.filter(({ ticket }) => ticket !== null)).toHaveLength(60);
      expect(hour.findLast(({ ticket }) => ticket === null)?.heldAtMs[0]).toBe(NOW_MS);
      expect((await counters.takeSliding("e", 60, 3_600_000, NOW_MS + 3_599_999)).ticket).toBeNull();
      expect((await counters.takeSliding("e", 60, 3_600_000, NOW_MS + 3_600_000)).ticket).not.toBeNull();
      const many = await Promise.all(Array.from({ length: 20 }, () => counters.takeSliding("d", 5, MINUTE_MS, NOW_MS)));
      expect(many.filter(({ ticket }) => ticket !== null)).toHaveLength(5);
    });

    it("agrees with a plain list in any stretch", async () => {
      const step = fc.record({ waitMs: fc.oneof(fc.constant(0), fc.nat(40_000)), isGivenBack: fc.boolean() });
      let name = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
          name += 1;
          let nowMs = NOW_MS;
          let held: number[] = [];
          for (const { waitMs, isGivenBack } of steps) {
            nowMs += waitMs;
            held = held.filter((atMs) => atMs > nowMs - MINUTE_MS);
            const take = await currentState().counters.takeSliding(`s${name}`, 3, MINUTE_MS, nowMs);
            expect(take.ticket !== null).toBe(held.length < 3);
            if (take.ticket !== null) held.push(nowMs);
            expect(take.heldAtMs).toEqual(held);
            if (!isGivenBack || take.ticket === null) continue;
            await currentState().counters.giveBack(`s${name}`, take.ticket);
            held.pop();
          }
        }),
        { numRuns: runs },
      );
    });
  });
}

function noticeTests(currentState: () => State, place: () => StateLocation): void {
  it("tells every listener of a topic, here and elsewhere, until it leaves", async () => {
    const elsewhere = await openNotices(place());
    try {
      const heard: string[] = [];
      const leave = currentState().notices.subscribe("monitors", () => heard.push("here"));
      elsewhere.subscribe("monitors", () => heard.push("elsewhere"));
      elsewhere.subscribe("keys", () => heard.push("keys"));
      currentState().notices.publish("monitors");
      await expect.poll(() => [...heard].sort()).toEqual(["elsewhere", "here"]);
      leave();
      elsewhere.publish("monitors");
      elsewhere.publish("keys");
      await expect.poll(() => [...heard].sort()).toEqual(["elsewhere", "elsewhere", "here", "keys"]);
    } finally {
      await elsewhere.close();
    }
    elsewhere.publish("monitors");
  });

  it("answers a ping", async () => {
    await currentState().ping();
  });
}

function broadcastTests(currentState: () => State, location: () => StateLocation): void {
  describe("broadcasts", () => {
    it("reach those who listen to the project, here and elsewhere, in order, until they leave", async () => {
      const elsewhere = await openBroadcasts(location());
      try {
        const heard: string[] = [];
        const leave = currentState().broadcasts.listen(7, (text) => void heard.push(`here ${text}`));
        currentState().broadcasts.listen(7, (text) => void heard.push(`again ${text}`));
        elsewhere.listen(7, (text) => void heard.push(`elsewhere ${text}`));
        elsewhere.listen(8, (text) => void heard.push(`other ${text}`));
        // Who publishes learns of listeners a moment later.
        await expect.poll(() => elsewhere.isHeard(7) && currentState().broadcasts.isHeard(8)).toBe(true);
        await expect
          .poll(() => {
            currentState().broadcasts.publish(7, "first");
            return ["here", "again", "elsewhere"].every((who) => heard.includes(`${who} first`));
          })
          .toBe(true);
        heard.length = 0;
        const numbers = Array.from({ length: 50 }, (_, index) => String(index));
        for (const number of numbers) elsewhere.publish(7, number);
        await expect.poll(() => heard.filter((text) => /^here \d/.test(text)).length).toBe(50);
        expect(heard.filter((text) => /^here \d/.test(text))).toEqual(numbers.map((number) => `here ${number}`));
        leave();
        leave();
        heard.length = 0;
        elsewhere.publish(7, "last");
        await expect.poll(() => heard.includes("again last") && heard.includes("elsewhere last")).toBe(true);
        expect(heard).not.toContain("here last");
        expect(heard.some((text) => text.startsWith("other"))).toBe(false);
      } finally {
        await elsewhere.close();
      }
      elsewhere.publish(7, "closed");
    });

    it("are not made for projects without a listener", async () => {
      const elsewhere = await openBroadcasts(location());
      try {
        expect([currentState().broadcasts.isHeard(9), elsewhere.isHeard(9)]).toEqual([false, false]);
        currentState().broadcasts.publish(9, "unheard");
        const leave = currentState().broadcasts.listen(9, () => {});
        await expect.poll(() => elsewhere.isHeard(9)).toBe(true);
        expect(elsewhere.isHeard(10)).toBe(false);
        leave();
        expect(currentState().broadcasts.isHeard(10)).toBe(false);
      } finally {
        await elsewhere.close();
      }
    });

    it("are known to one who begins to publish after the listener came", async () => {
      currentState().broadcasts.listen(11, () => {});
      const late = await openBroadcasts(location());
      try {
        await expect.poll(() => late.isHeard(11)).toBe(true);
      } finally {
        await late.close();
      }
    });
  });
}
