import { expect, it, vi } from "vitest";
import { openWorld } from "../testkit/api/world.suite.ts";
import { ok } from "./http.ts";
import { KeptAnswers } from "./kept-answers.ts";

it("shows an answer for a second, until a monitor changes, and is bounded", () => {
  let generation = 1;
  const kept = new KeptAnswers(() => generation);
  const answer = kept.keep("a", { generation: 1, atMs: 5_000 }, ok({ servers: [] }), true);
  expect(answer.tag).toMatch(/^W\//);
  expect(kept.find("a", 5_899)).toBe(answer);
  expect([kept.find("a", 6_000), kept.find("a", 4_999), kept.find("b", 5_000)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  generation = 2;
  expect(kept.find("a", 5_001)).toBeUndefined();
  const refused = { status: 404, headers: [], body: "" };
  expect(kept.keep("c", { generation: 2, atMs: 5_000 }, refused, true)).toBe(refused);
  expect(kept.find("c", 5_000)).toBeUndefined();
  const body = Buffer.alloc(3 * 1_048_576);
  const keys = Array.from({ length: 8 }, (_, n) => `large ${n}`);
  for (const key of keys) kept.keep(key, { generation: 2, atMs: 5_000 }, { status: 200, headers: [], body }, false);
  expect(keys.filter((key) => kept.find(key, 5_000) !== undefined)).toEqual(keys.slice(3));
  const larger = { status: 200, headers: [], body: Buffer.alloc(17 * 1_048_576) };
  expect(kept.keep("larger", { generation: 2, atMs: 5_000 }, larger, false)).toBe(larger);
  expect(kept.find("larger", 5_000)).toBeUndefined();
});

it("is made anew before its second is over, once, the sooner the longer it takes, and after others that are due", async () => {
  const kept = new KeptAnswers(() => 1);
  const keep = (key: string, tookMs: number) =>
    kept.keep(key, { generation: 1, atMs: 5_000 }, ok({ servers: [] }), true, 5_000 + tookMs);
  const renewed: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (key: string, atMs: number): void =>
    kept.renewIfDue(key, atMs, () => {
      renewed.push(`${key} ${atMs}`);
      return new Promise((resolve) => void ends.push(resolve));
    });
  const [a] = [keep("a", 1), keep("b", 50), keep("c", 1_000), keep("d", 1_000)];
  for (let atMs = 5_500; atMs < 6_000; atMs += 10) for (const key of ["a", "b", "c", "d", "none"]) ask(key, atMs);
  expect(renewed).toEqual([]);
  await vi.waitFor(() => expect(renewed).toEqual(["c 5600"]));
  // Who finds none makes it himself meanwhile.
  keep("d", 1);
  let made = (): void => {};
  const making = kept.make("a", new Promise<void>((resolve) => (made = resolve)));
  expect([kept.find("a", 5_900), kept.find("a", 5_999), kept.find("a", 6_000)]).toEqual([a, a, undefined]);
  ends[0]?.();
  await vi.waitFor(() => expect(renewed).toEqual(["c 5600", "b 5850"]));
  made();
  await making;
  ends[1]?.();
  await vi.waitFor(() => expect(renewed).toEqual(["c 5600", "b 5850", "a 5900"]));
});

it("is of one project, role, way and query, until something is changed in that project", () => {
  const kept = new KeptAnswers(() => 1);
  const callOf = (id: number, role: string, query: string) => ({
    project: { id },
    role,
    params: [],
    request: { query },
  });
  const call = callOf(1, "owner", "limit=5");
  const others = [callOf(2, "owner", "limit=5"), callOf(1, "viewer", "limit=5"), callOf(1, "owner", "limit=6")];
  const before = kept.keyOf("/servers", call);
  expect(new Set([call, ...others].map((one) => kept.keyOf("/servers", one))).size).toBe(4);
  kept.forget(2);
  expect(kept.keyOf("/servers", call)).toBe(before);
  kept.forget(1);
  expect(kept.keyOf("/servers", call)).not.toBe(before);
});

it("may be a second old only while checks begin late, and never older than a change", async () => {
  const at = { nowMs: 0, usedMs: 0, begun: 0, late: 0 };
  const threadMs = (): number => {
    at.usedMs += 25;
    return at.usedMs;
  };
  const pause = async (ms: number): Promise<void> => {
    at.nowMs += ms;
  };
  const world = await openWorld("net", {}, {}, { pressure: { nowMs: () => at.nowMs, threadMs, checks: at, pause } });
  try {
    const create = async (name: string): Promise<void> => {
      const body = { type: "http", name, url: "https://shop.test-site.org/" };
      expect((await world.send("POST", "/api/v1/servers", { body })).status).toBe(200);
    };
    const { monitors, keys } = world.controlPlane;
    const reads = [vi.spyOn(monitors, "list"), vi.spyOn(monitors, "findAll"), vi.spyOn(monitors, "lives")];
    /** Asks for the list after something else was written, as checks do. @returns how often it was read */
    const ask = async (): Promise<number> => {
      at.nowMs += 400;
      await keys.touch(new Map([[world.keyId, at.nowMs]]));
      const before = reads.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      expect((await world.send("GET", "/api/v1/servers?family=all")).status).toBe(200);
      return reads.reduce((sum, { mock }) => sum + mock.calls.length, 0) - before;
    };
    await create("Shop");
    expect([await ask(), await ask()]).toEqual([1, 1]);
    for (let n = 0; n < 3; n++) {
      Object.assign(at, { begun: at.begun + 300, late: at.late + 9 });
      await ask();
    }
    expect([await ask(), await ask()]).toEqual([0, 0]);
    await create("Other");
    expect([await ask(), await ask()]).toEqual([1, 0]);
    world.clock.nowMs += 1_000;
    expect([await ask(), await ask()]).toEqual([1, 0]);
  } finally {
    await world.close();
  }
});

it("is a second old where reads take much of the thread, though no check is late, and never older than a change", async () => {
  const at = { nowMs: 0, usedMs: 0, begun: 0, late: 0 };
  const threadMs = (): number => {
    at.usedMs += 120;
    return at.usedMs;
  };
  const world = await openWorld("net", {}, {}, { pressure: { nowMs: () => at.nowMs, threadMs, checks: at } });
  try {
    const { monitors, keys } = world.controlPlane;
    const reads = [vi.spyOn(monitors, "list"), vi.spyOn(monitors, "findAll"), vi.spyOn(monitors, "lives")];
    const counted = (): number => reads.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    const named = async (): Promise<readonly string[]> => {
      at.nowMs += 300;
      await keys.touch(new Map([[world.keyId, at.nowMs]]));
      const { body, status } = await world.send("GET", "/api/v1/servers?family=all");
      expect(status).toBe(200);
      return (body.servers as readonly { readonly name: string }[]).map(({ name }) => name);
    };
    const create = (name: string) =>
      world.send("POST", "/api/v1/servers", { body: { type: "http", name, url: "https://shop.test-site.org/" } });
    await create("Shop");
    for (let n = 0; n < 5; n++) await named();
    const before = counted();
    expect([await named(), await named(), counted() - before]).toEqual([["Shop"], ["Shop"], 0]);
    await create("Other");
    expect(await named()).toEqual(["Other", "Shop"]);
    world.clock.nowMs += 1_000;
    const later = counted();
    await named();
    expect(counted() - later).toBe(1);
  } finally {
    await world.close();
  }
});
