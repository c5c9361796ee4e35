import { expect, it } from "vitest";
import { openWorld } from "../testkit/api/world.suite.ts";
import { routes } from "./endpoints/index.ts";
import { ApiError } from "./errors.ts";
import { isRefusable, ReadGate } from "./read-gate.ts";
import type { Route } from "./route.ts";

const LIST = { method: "GET", path: "/servers", scope: "project" } as Route;
const ONE = { method: "GET", path: "/servers/{id}", scope: "project" } as Route;
const CHANGE = { method: "PUT", path: "/servers/{id}", scope: "project" } as Route;

/** A process whose checks are late. */
function busy() {
  const at = { nowMs: 0, usedMs: 0, begun: 0, late: 0 };
  const gate = new ReadGate({ nowMs: () => at.nowMs, threadMs: () => at.usedMs, checks: at });
  const read = (route: Route, query: string, costMs: number): number | null => {
    try {
      const leave = gate.enter(route, { query });
      at.usedMs += costMs;
      leave();
      return null;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503) throw error;
      return error.extras.retryAfterS ?? 0;
    }
  };
  const second = (lateShare: number, each: () => void = () => {}): void => {
    for (let step = 0; step < 10; step++) {
      at.nowMs += 100;
      at.begun += 500;
      at.late += 500 * lateShare;
      each();
    }
  };
  return { at, gate, read, second };
}

it("refuses reads of a loop with when to come again, the dear ones first, and changes never", () => {
  const { gate, read, second } = busy();
  const answers = { dear: 0, cheap: 0, refused: 0 };
  const loop = (): void => {
    for (let n = 0; n < 3; n++) {
      const waitS = read(LIST, "family=all&limit=1000", 30);
      if (waitS === null) answers.dear += 1;
      else answers.refused += 1;
      if (waitS !== null) expect(waitS).toBeGreaterThanOrEqual(1);
    }
    if (read(ONE, "", 0.2) === null) answers.cheap += 1;
  };
  for (let warm = 0; warm < 5; warm++) second(0.3, loop);
  Object.assign(answers, { dear: 0, cheap: 0, refused: 0 });
  for (let lasting = 0; lasting < 10; lasting++) second(0.3, loop);
  expect(answers.cheap).toBeGreaterThan(50);
  expect(answers.dear).toBeLessThan(30);
  expect(answers.refused).toBeGreaterThan(200);
  expect(gate.refused).toBeGreaterThan(200);
  expect([gate.isRefusing, gate.share]).toEqual([true, 0.05]);
  for (let n = 0; n < 1_000; n++) expect(read(CHANGE, "", 1)).toBeNull();
});

it("lets all in again when checks are in time, and says so", () => {
  const { at, gate, read, second } = busy();
  const loop = (): void => void read(LIST, "", 30);
  for (let warm = 0; warm < 5; warm++) second(0.3, loop);
  for (let calm = 0; calm < 12; calm++) second(0, loop);
  const before = gate.refused;
  second(0, loop);
  expect([gate.share, gate.refused - before]).toEqual([1, 0]);
  at.nowMs += 60_000;
  expect(gate.isRefusing).toBe(false);
});

it("refuses nothing in a process that schedules no checks", () => {
  const gate = new ReadGate(null);
  gate.enter(LIST, { query: "" })();
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
  // Each look at the thread's time finds it 40 ms later, as if a read had taken them.
  const threadMs = (): number => {
    at.usedMs += 40;
    return at.usedMs;
  };
  const world = await openWorld("net", {}, {}, { pressure: { nowMs: () => at.nowMs, threadMs, checks: at } });
  try {
    const statuses = new Set<number>();
    let refused = await world.send("GET", "/api/v1/servers");
    for (let n = 0; n < 200 && refused.status !== 503; n++) {
      at.nowMs += 60;
      at.begun += 300;
      at.late += 100;
      refused = await world.send("GET", "/api/v1/servers");
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
