import { expect, it } from "vitest";
import { openWorld } from "../testkit/api/world.suite.ts";
import { routes } from "./endpoints/index.ts";
import { ApiError } from "./errors.ts";
import { isRefusable, ReadGate, type Source } from "./read-gate.ts";
import type { Route } from "./route.ts";

const LIST = { method: "GET", path: "/servers", scope: "project" } as Route;
const ONE = { method: "GET", path: "/servers/{id}", scope: "project" } as Route;
const CHANGE = { method: "PUT", path: "/servers/{id}", scope: "project" } as Route;

/** A process whose checks are late. */
function busy() {
  const at = { nowMs: 0, usedMs: 0, begun: 0, late: 0, lateShare: 0 };
  const pass = (ms: number): void => {
    at.nowMs += ms;
    at.begun += 5 * ms;
    at.late += 5 * ms * at.lateShare;
  };
  const clock = { nowMs: () => at.nowMs, threadMs: () => at.usedMs };
  const gate = new ReadGate({ ...clock, checks: at, pause: async (ms) => pass(ms) });
  /** @returns the ms it waited, or the seconds after which it may come again */
  const read = async (route: Route, query: string, costMs: number, source: Source = "made") => {
    const fromMs = at.nowMs;
    try {
      const leave = await gate.enter(route, { query }, source);
      at.usedMs += costMs;
      leave();
      return { waitedMs: at.nowMs - fromMs };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503) throw error;
      return { refusedS: error.extras.retryAfterS ?? 0 };
    }
  };
  const second = async (lateShare: number, each: () => Promise<void> = async () => {}): Promise<void> => {
    at.lateShare = lateShare;
    for (let step = 0; step < 10; step++) {
      pass(100);
      await each();
    }
  };
  return { at, gate, read, second };
}

it("refuses reads of a loop with when to come again, the dear ones first, and changes never", async () => {
  const { gate, read, second } = busy();
  const answers = { dear: 0, cheap: 0, refused: 0 };
  const loop = async (): Promise<void> => {
    const refused = [];
    for (let n = 0; n < 3; n++) refused.push((await read(LIST, "family=all&limit=1000", 100)).refusedS);
    for (const waitS of refused) {
      if (waitS === undefined) answers.dear += 1;
      else answers.refused += 1;
      if (waitS !== undefined) expect(waitS).toBeGreaterThanOrEqual(1);
    }
    if ((await read(ONE, "", 0.2)).refusedS === undefined) answers.cheap += 1;
  };
  for (let warm = 0; warm < 5; warm++) await second(0.3, loop);
  Object.assign(answers, { dear: 0, cheap: 0, refused: 0 });
  for (let lasting = 0; lasting < 10; lasting++) await second(0.3, loop);
  expect(answers.cheap).toBe(100);
  expect(answers.dear).toBeLessThan(100);
  expect(answers.refused).toBeGreaterThan(200);
  expect(gate.refused).toBeGreaterThan(200);
  expect([gate.isRefusing, gate.share]).toEqual([true, 0.05]);
  for (let n = 0; n < 1_000; n++) expect(await read(CHANGE, "", 1)).toEqual({ waitedMs: 0 });
});

it("lets a caller wait who asks one thing after the other, and refuses him nothing", async () => {
  const { gate, read, second } = busy();
  const waits: number[] = [];
  const loop = async (): Promise<void> => {
    const { waitedMs = Number.NaN } = await read(LIST, "", 20);
    waits.push(waitedMs);
  };
  for (let lasting = 0; lasting < 20; lasting++) await second(0.3, loop);
  expect(gate.share).toBe(0.05);
  expect(gate.refused).toBe(0);
  expect(Math.max(...waits)).toBeGreaterThan(200);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
});

it("lets a few wait at one time, and refuses more", async () => {
  const { at, gate, read, second } = busy();
  for (let warm = 0; warm < 10; warm++) await second(0.3, async () => void (await read(LIST, "", 40)));
  at.usedMs += 60;
  const all = await Promise.all(Array.from({ length: 20 }, () => read(LIST, "", 40)));
  expect(all.filter(({ refusedS }) => refusedS !== undefined).length).toBeGreaterThanOrEqual(14);
  expect(gate.isRefusing).toBe(true);
});

it("charges reads that wait for another store side by side for what each of them used", async () => {
  const { at, gate, read, second } = busy();
  const together = async (): Promise<void> => {
    const leaves = [];
    for (let reader = 0; reader < 8; reader++) leaves.push(await gate.enter(ONE, { query: "explain=1" }));
    at.usedMs += 8;
    for (const leave of leaves) leave();
  };
  for (let warm = 0; warm < 10; warm++) await together();
  // Checks are late now, and each read is known to cost 1 ms, not 8: all eight of a crowd are let in again each second.
  for (let lasting = 0; lasting < 5; lasting++) {
    await second(0.3);
    await together();
  }
  expect(gate.refused).toBe(0);
  expect(await read(ONE, "explain=1", 1)).toEqual({ waitedMs: 0 });
});

it("refuses no answer that is in memory while dear reads have used up what they may, and lets it wait when those are many, too", async () => {
  const { at, gate, read, second } = busy();
  const dear: number[] = [];
  let waitedMs = 0;
  let refused = 0;
  const loop = async (): Promise<void> => {
    for (let n = 0; n < 3; n++) dear.push((await read(LIST, "limit=1000", 100)).refusedS ?? 0);
    for (let n = 0; n < 400; n++) {
      const one = await read(LIST, "limit=50", 0.1, "memory");
      waitedMs = Math.max(waitedMs, one.waitedMs ?? 0);
      if (one.refusedS !== undefined) refused += 1;
    }
  };
  for (let lasting = 0; lasting < 5; lasting++) await second(0.3, loop);
  expect([refused, gate.share]).toEqual([0, 0.05]);
  expect(dear.filter((waitS) => waitS > 0).length).toBeGreaterThan(100);
  expect(waitedMs).toBeGreaterThan(0);
  expect(waitedMs).toBeLessThan(300);
  const usedMs = at.usedMs;
  await second(0.3, loop);
  expect(at.usedMs - usedMs).toBeLessThan(1_000);
});

it("lets what is made for all be made three times as often as what is made for each, and keeps lists being kept meanwhile", async () => {
  const { at, gate, read, second } = busy();
  const loop = async (): Promise<void> => {
    for (let n = 0; n < 12; n++) await read(LIST, "limit=50", 1, "shared");
    for (let n = 0; n < 30; n++) await read(LIST, "limit=50", 0.01, "memory");
  };
  for (let lasting = 0; lasting < 10; lasting++) await second(0.3, loop);
  expect([gate.refused, gate.areMany]).toEqual([0, true]);
  const [usedMs, fromMs] = [at.usedMs, at.nowMs];
  const longer = async (): Promise<void> =>
    void (await Promise.all(Array.from({ length: 8 }, () => read(LIST, "", 10, "shared"))));
  for (let lasting = 0; lasting < 10; lasting++) await second(0.3, longer);
  const rate = ((at.usedMs - usedMs) * 1_000) / (at.nowMs - fromMs);
  expect(rate).toBeGreaterThan(100);
  expect(rate).toBeLessThan(250);
  expect([gate.isPressed, gate.share]).toEqual([true, 1]);
});

it("tells whether reads are many, and for ten seconds more, also where no checks are scheduled", async () => {
  const at = { nowMs: 0, usedMs: 0 };
  const gate = new ReadGate({ nowMs: () => at.nowMs, threadMs: () => at.usedMs, checks: { begun: 0, late: 0 } });
  const seconds = async (count: number, usedMs: number): Promise<void> => {
    for (let n = 0; n < count * 10; n++) {
      at.nowMs += 100;
      const leave = await gate.enter(LIST, { query: "" }, n % 2 === 0 ? "memory" : "made");
      at.usedMs += usedMs / 10;
      leave();
    }
  };
  await seconds(5, 200);
  expect(gate.areMany).toBe(false);
  await seconds(5, 400);
  expect(gate.areMany).toBe(true);
  await seconds(9, 10);
  expect(gate.areMany).toBe(true);
  await seconds(2, 10);
  expect([gate.areMany, gate.isPressed, gate.refused]).toEqual([false, false, 0]);
  expect(new ReadGate(null).areMany).toBe(false);
});

it("lets all in again when checks are in time, and says so", async () => {
  const { at, gate, read, second } = busy();
  const loop = async (): Promise<void> => void (await read(LIST, "", 30));
  for (let warm = 0; warm < 5; warm++) await second(0.3, loop);
  for (let calm = 0; calm < 12; calm++) await second(0, loop);
  const before = gate.refused;
  await second(0, loop);
  expect([gate.share, gate.refused - before]).toEqual([1, 0]);
  at.nowMs += 60_000;
  expect(gate.isRefusing).toBe(false);
});

it("refuses nothing in a process that schedules no checks", async () => {
  const gate = new ReadGate(null);
  (await gate.enter(LIST, { query: "" }))();
  gate.watch()();
  expect([gate.isRefusing, gate.refused, gate.share]).toEqual([false, 0, 1]);
});

it("is before no route that changes something, signs in, streams, or tells of health", () => {
  const refusable = routes.filter(isRefusable);
  expect(refusable.map(({ path }) => path)).toEqual(
    expect.arrayContaining(["/servers", "/results", "/overview", "/incidents"]),
  );
  expect(refusable.filter(({ method, scope }) => method !== "GET" || scope !== "project")).toEqual([]);
  expect(refusable.filter(({ path }) => /^\/(session|health|metrics|live|ping|ack)/.test(path))).toEqual([]);
});

it("answers 503 over HTTP with when to come again, which health and metrics say too, while changes go on", async () => {
  const at = { nowMs: 0, usedMs: 0, begun: 0, late: 0 };
  // Each look at the thread's time finds it 80 ms later, as if a read had taken them.
  const threadMs = (): number => {
    at.usedMs += 80;
    return at.usedMs;
  };
  const pause = async (ms: number): Promise<void> => {
    at.nowMs += ms;
  };
  const world = await openWorld("net", {}, {}, { pressure: { nowMs: () => at.nowMs, threadMs, checks: at, pause } });
  try {
    const statuses = new Set<number>();
    let refused = await world.send("GET", "/api/v1/incidents");
    for (let n = 0; n < 200 && refused.status !== 503; n++) {
      at.nowMs += 60;
      at.begun += 300;
      at.late += 100;
      refused = await world.send("GET", "/api/v1/incidents");
      statuses.add(refused.status);
    }
    expect([...statuses]).toEqual([200, 503]);
    expect(Number(refused.headers["retry-after"])).toBe(refused.body.retry_after);
    expect(refused.body).toMatchObject({
      error: true,
      code: 503,
      message: expect.stringContaining("busy with checks"),
    });
    const body = { type: "http", name: "Shop", url: "https://shop.test-site.org/" };
    expect((await world.send("POST", "/api/v1/servers", { body })).status).toBe(200);
    expect((await world.send("GET", "/api/v1/whoami")).status).toBe(200);
    const deep = await world.send("GET", "/api/v1/health/deep");
    expect([deep.status, deep.body.warnings]).toEqual([200, ["reads_refused"]]);
    expect((await world.send("GET", "/metrics")).text).toMatch(/^sonde_reads_refused_total 1$/m);
  } finally {
    await world.close();
  }
});

it("lets a workspace in that asks now and then, beside one that asks without end", async () => {
  const at = { nowMs: 0, usedMs: 0, begun: 0, late: 0 };
  const sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  const pause = (ms: number): Promise<void> =>
    new Promise((wake) => void sleepers.push({ untilMs: at.nowMs + ms, wake }));
  const gate = new ReadGate({ nowMs: () => at.nowMs, threadMs: () => at.usedMs, checks: at, pause });
  const answered = new Map<number, number>();
  const ask = async (workspace: number): Promise<void> => {
    try {
      const leave = await gate.enter(LIST, { query: "" }, "made", workspace);
      at.usedMs += 4;
      leave();
      answered.set(workspace, (answered.get(workspace) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  };
  const asked: Promise<void>[] = [];
  for (; at.nowMs < 20_000; at.nowMs += 5) {
    at.begun += 25;
    at.late += 5;
    for (const { wake } of sleepers.filter(({ untilMs }) => untilMs <= at.nowMs)) wake();
    sleepers.splice(0, sleepers.length, ...sleepers.filter(({ untilMs }) => untilMs > at.nowMs));
    for (let turn = 0; turn < 10; turn++) await null;
    asked.push(ask(1));
    if (at.nowMs % 1_000 === 500) asked.push(ask(2));
  }
  // The first ones come while nothing is refused yet, or the price of all is not known.
  expect(answered.get(2)).toBeGreaterThan(16);
  expect(answered.get(1)).toBeGreaterThan(50);
});
