import { expect, it } from "vitest";
import { StoreError } from "../errors.ts";
import { createAdmissionCounters } from "./in-process.ts";
import type { Counters } from "./state.ts";
import { steadyCounters } from "./steady-counters.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const LIMITS = { perMinute: 2, perDay: null, perMonth: null };

/** Counters that may be away, as Redis's are: they reject with a StoreError. */
function scene() {
  let isAway = false;
  let asked = 0;
  let clockMs = 0;
  const said: string[] = [];
  const shared = new Proxy(createAdmissionCounters(), {
    get:
      (counters, name: keyof ReturnType<typeof createAdmissionCounters>) =>
      async (...words: unknown[]) => {
        asked++;
        if (isAway) throw new StoreError("Redis at r:1 does not answer", { store: "redis" });
        return (counters[name] as (...all: unknown[]) => unknown)(...words);
      },
  }) as unknown as Counters;
  const say = (_fields: object, message: string): void => void said.push(message);
  const counters = steadyCounters(shared, { log: { info: say, warn: say }, monotonicNowMs: () => clockMs });
  return {
    counters,
    said,
    asked: () => asked,
    setAway: (away: boolean) => {
      isAway = away;
    },
    pass: (ms: number) => {
      clockMs += ms;
    },
    take: async () => (await counters.takeRequest(1, LIMITS, NOW_MS)).refusedBy,
  };
}

it("counts for itself while the shared counters are away, and together when they are back", async () => {
  const at = scene();
  expect(await at.take()).toBeNull();
  at.setAway(true);
  // From zero: what was counted together is not known here.
  expect([await at.take(), await at.take(), await at.take()]).toEqual([null, null, "minute"]);
  expect(await at.counters.usage(1, NOW_MS)).toMatchObject({ minute: 2 });
  at.setAway(false);
  at.pass(1_000);
  expect([await at.take(), await at.take()]).toEqual([null, "minute"]);
  expect(at.said).toEqual([expect.stringMatching(/^Redis is away/), expect.stringMatching(/^Redis is back/)]);
});

it("asks what is away once a second, so that requests do not wait for it", async () => {
  const at = scene();
  at.setAway(true);
  for (let i = 0; i < 10; i++) await at.take();
  expect(at.asked()).toBe(1);
  at.pass(999);
  await at.take();
  at.pass(1);
  await Promise.all([at.take(), at.take(), at.take()]);
  expect(at.asked()).toBe(2);
});

it("throttles wrong keys and calls of heartbeats meanwhile", async () => {
  const { counters, setAway } = scene();
  setAway(true);
  for (let i = 0; i < 10; i++) await counters.wrongKey("192.0.2.1", NOW_MS);
  expect(await counters.mayTryKey("192.0.2.1", NOW_MS)).toBe(false);
  expect(await counters.mayTryKey("192.0.2.2", NOW_MS)).toBe(true);
  expect(await counters.takeFrom("push", 1, 60_000, NOW_MS)).toBe(true);
  expect(await counters.takeFrom("push", 1, 60_000, NOW_MS)).toBe(false);
});

it("lets faults of our own through", async () => {
  const counters = steadyCounters({ takeRequest: () => Promise.reject(new TypeError("ours")) } as unknown as Counters, {
    log: { info: () => {}, warn: () => {} },
    monotonicNowMs: () => 0,
  });
  await expect(counters.takeRequest(1, LIMITS, NOW_MS)).rejects.toThrow(TypeError);
});
