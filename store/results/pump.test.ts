import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { StoreError } from "../errors.ts";
import type { SetAside } from "../set-aside.ts";
import { Pump, type PumpClock } from "./pump.ts";
import { wellFormed } from "./segment-insert.ts";
import { Spool } from "./spool.ts";

const log = pino({ level: "silent" });
let dir = "";
let spool: Spool;
let pump: Pump | undefined;
const timers: { atMs: number; act: () => void }[] = [];
let nowMs = 0;
const clock: PumpClock = {
  nowMs: () => nowMs,
  after(delayMs, act) {
    const timer = { atMs: nowMs + delayMs, act };
    timers.push(timer);
    return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
  },
};

/** Runs the earliest timer. */
function tick(): void {
  timers.sort((a, b) => a.atMs - b.atMs);
  const timer = timers.shift();
  if (timer === undefined) return;
  nowMs = Math.max(nowMs, timer.atMs);
  timer.act();
}

/** Turns the clock until something holds. */
const until = (holds: () => boolean) =>
  vi.waitFor(
    () => {
      tick();
      expect(holds()).toBe(true);
    },
    { timeout: 10_000, interval: 1 },
  );

beforeEach(async () => {
  dir = temporaryFolder();
  spool = await Spool.open({ dir: join(dir, "spool"), log });
});
afterEach(async () => {
  await pump?.stop(0);
  pump = undefined;
  await spool.close();
  timers.length = 0;
});

/** A store that applies each token once, as ClickHouse does. */
function fakeStore(fail: (lines: readonly string[], attempt: number) => Error | undefined = () => undefined) {
  const seen = new Map<string, string[]>();
  let attempts = 0;
  return {
    attempts: () => attempts,
    rows: () => [...seen.values()].flat(),
    async insert({ token, lines, rows }: { token: string; lines: Uint8Array; rows: number }) {
      const given = Buffer.from(lines).toString("utf8").split("\n").slice(0, -1);
      expect(given).toHaveLength(rows);
      attempts += 1;
      const error = fail(given, attempts);
      if (error !== undefined) throw error;
      if (!seen.has(token)) seen.set(token, given);
    },
  };
}

/** Writes the row alone, without what is said beside it. */
const asideIn = (folder: string): Pick<SetAside, "add"> => ({
  add: async ({ line }) => appendFileSync(join(folder, "rejected"), `${line}\n`),
});
const rowsOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => JSON.stringify({ n: from + i }));
const start = (results: ReturnType<typeof fakeStore>, appliedSeq = 0, mayWait = false, settle = async () => {}) => {
  pump = new Pump({ spool, results, log, setAside: asideIn(dir), appliedSeq, settle, mayWait, clock });
  return pump;
};

describe("pump", () => {
  it("carries what is applied, and never what is not", async () => {
    const store = fakeStore();
    const running = start(store);
    await spool.append(rowsOf(1, 3));
    running.wake(3);
    await until(() => store.rows().length === 3);
    await spool.append(rowsOf(4, 5));
    await spool.seal();
    running.wake(4);
    // A turn that has ended plans the next one, because rows wait.
    for (let turn = 0; turn < 3; turn += 1) {
      tick();
      await vi.waitFor(() => expect(timers.length).toBeGreaterThan(0), { interval: 1 });
    }
    expect(store.rows()).toEqual(rowsOf(1, 3));
    running.wake(5);
    await until(() => store.rows().length === 5);
    expect(store.rows()).toEqual(rowsOf(1, 5));
    await until(() => running.state.waitingRows === 0);
    expect(running.state).toMatchObject({ lastError: null, insertedRows: 5, rejectedRows: 0 });
  });

  it("carries nothing before what is applied would survive a power cut", async () => {
    const store = fakeStore();
    let failures = 1;
    const settles: number[] = [];
    const running = start(store, 0, false, async () => {
      settles.push(store.attempts());
      if (failures-- > 0) throw new StoreError("the disk is gone");
    });
    await spool.append(rowsOf(1, 3));
    running.wake(3);
    await until(() => running.state.lastError !== null);
    expect(running.state).toMatchObject({ lastError: "the disk is gone", waitingRows: 3, insertedRows: 0 });
    await until(() => running.state.waitingRows === 0);
    expect(settles).toEqual([0, 0]);
    expect(store.rows()).toEqual(rowsOf(1, 3));
  });

  it("tries again with longer pauses while the store is away, says why, and recovers", async () => {
    const atMs: number[] = [];
    const store = fakeStore((_, attempt) => {
      atMs.push(nowMs);
      return attempt < 6 ? new StoreError("gone", { kind: "unavailable" }) : undefined;
    });
    const running = start(store);
    await spool.append(rowsOf(1, 2));
    running.wake(2);
    await until(() => store.attempts() === 1);
    await vi.waitFor(() => expect(running.state.lastError).toBe("gone"));
    await until(() => store.rows().length === 2);
    expect(atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0))).toEqual([250, 500, 1_000, 2_000, 4_000]);
    await vi.waitFor(() => expect(running.state.lastError).toBeNull());
  });

  it("grows one segment while the store is away instead of sealing one a second", async () => {
    let isAway = true;
    const store = fakeStore(() => (isAway ? new StoreError("gone", { kind: "unavailable" }) : undefined));
    const running = start(store);
    for (let seq = 1; seq <= 50; seq += 1) {
      await spool.append(rowsOf(seq, seq));
      running.wake(seq);
      tick();
      await new Promise((resolve) => setImmediate(resolve));
    }
    isAway = false;
    const before = store.attempts();
    await until(() => store.rows().length === 50);
    expect(store.attempts() - before).toBeLessThanOrEqual(3);
    expect(store.rows()).toEqual(rowsOf(1, 50));
  });

  it("sets a poisoned row aside, carries the others, and is not held up", async () => {
    const bad = new Set(['{"n":7}', '{"n":31}']);
    const store = fakeStore((lines) =>
      lines.some((line) => bad.has(line)) ? new StoreError("bad", { kind: "refused" }) : undefined,
    );
    const running = start(store);
    await spool.append(rowsOf(1, 40));
    running.wake(40);
    await until(() => running.state.waitingRows === 0);
    expect(store.rows()).toEqual(rowsOf(1, 40).filter((line) => !bad.has(line)));
    expect(running.state.rejectedRows).toBe(2);
    expect(readFileSync(join(dir, "rejected"), "utf8")).toBe('{"n":7}\n{"n":31}\n');
  });

  it("mends a lone surrogate instead of rejecting its row", async () => {
    const store = fakeStore((lines) =>
      lines.some((line) => line.includes("\\ud800")) ? new StoreError("bad", { kind: "refused" }) : undefined,
    );
    const running = start(store);
    await spool.append(['{"n":1}', '{"error_message":"a\\ud800b"}', '{"n":3}']);
    running.wake(3);
    await until(() => running.state.waitingRows === 0);
    expect(store.rows()).toEqual(['{"n":1}', '{"error_message":"a\ufffdb"}', '{"n":3}']);
    expect(running.state.rejectedRows).toBe(0);
    expect(existsSync(join(dir, "rejected"))).toBe(false);
  });

  it("an outage in the middle of looking for a bad row doubles nothing", async () => {
    const store = fakeStore((lines, attempt) => {
      if (attempt % 3 === 0) return new StoreError("gone", { kind: "unavailable" });
      return lines.includes('{"n":5}') ? new StoreError("bad", { kind: "refused" }) : undefined;
    });
    const running = start(store);
    await spool.append(rowsOf(1, 8));
    running.wake(8);
    await until(() => running.state.waitingRows === 0);
    expect(store.rows().sort()).toEqual(rowsOf(1, 8).filter((line) => line !== '{"n":5}'));
  });

  it("on stop carries what it can within the time", async () => {
    const store = fakeStore();
    const running = start(store);
    await spool.append(rowsOf(1, 4));
    running.wake(4);
    await running.stop(1_000);
    expect(store.rows()).toEqual(rowsOf(1, 4));
  });

  it("lets few rows wait for more of them, and inserts them as soon as they are wanted", async () => {
    const store = fakeStore();
    const running = start(store, 0, true);
    const add = async (from: number, to: number): Promise<void> => {
      await spool.append(rowsOf(from, to));
      running.wake(to);
    };
    await add(1, 1);
    await until(() => running.state.waitingRows === 0);
    const firstAtMs = nowMs;
    await add(2, 3);
    expect(timers.map(({ atMs }) => atMs - firstAtMs)).toEqual([60_000]);
    await running.want();
    expect(store.rows()).toEqual(rowsOf(1, 3));
    expect(timers).toEqual([]);
    // Who reads once reads again.
    await add(4, 4);
    expect(timers.map(({ atMs }) => atMs - firstAtMs)).toEqual([2_000]);
    nowMs += 500;
    await running.want();
    expect(store.rows()).toEqual(rowsOf(1, 3));
    await until(() => running.state.waitingRows === 0);
    nowMs += 60_000;
    await add(5, 5);
    await until(() => running.state.waitingRows === 0);
    await add(6, 6);
    expect(timers.map(({ atMs }) => atMs - nowMs)).toEqual([60_000]);
  });

  it("does not let many rows wait", async () => {
    const store = fakeStore();
    const running = start(store, 0, true);
    await spool.append(rowsOf(1, 1));
    running.wake(1);
    await until(() => running.state.waitingRows === 0);
    await spool.append(rowsOf(2, 100));
    running.wake(100);
    expect(timers.map(({ atMs }) => atMs - nowMs)).toEqual([60_000]);
    await spool.append(rowsOf(101, 101));
    running.wake(101);
    expect(timers.map(({ atMs }) => atMs - nowMs)).toEqual([2_000]);
  });

  it("knows which lines it can mend", () => {
    expect(wellFormed(Buffer.from('{"a":"\\ud83d\\ude00"}\n'))).toBeUndefined();
    expect(wellFormed(Buffer.from("no json\n"))).toBeUndefined();
  });
});
