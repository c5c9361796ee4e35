import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StoreError } from "../errors.ts";
import { openControlPlane } from "../sql/control-plane/open.ts";
import { Sqlite } from "../sqlite-library.ts";
import { createCells } from "./cells.ts";
import { openInProcess } from "./in-process.ts";
import { stateSuite } from "./state.suite.ts";
import { openThreadNotices } from "./thread-notices.ts";
import { createUsageBuffer } from "./usage.ts";

function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "sonde-state-"));
}

stateSuite("this process", {
  runs: 5_000,
  async make() {
    const folder = temporaryFolder();
    const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
    return { place: { file: join(folder, "state.db") }, remove };
  },
});

const UNLIMITED = { perMinute: null, perDay: null, perMonth: null };

/** A timer of its own: the thread's shared one may have been set, by what another test left, before the timers were made false ones. */
const byTimer = (everyMs: number, run: () => void): (() => void) => {
  const timer = setInterval(run, everyMs);
  return () => clearInterval(timer);
};

describe("the counters' file", () => {
  let folder = "";
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => {
    vi.useRealTimers();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is written every second, so that a killed process loses no more", async () => {
    vi.useFakeTimers();
    const file = join(folder, "state.db");
    const state = await openInProcess({ file }, Date.now, byTimer);
    await state.counters.takeRequest(1, UNLIMITED, Date.now());
    state.counters.countEndpoint(1, 2, "GET /servers", false, Date.now());
    vi.advanceTimersByTime(1_000);
    const reader = new Sqlite(file);
    expect(reader.prepare("select count(*) as n from counters").get()).toEqual({ n: 1 });
    expect(reader.prepare("select requests from endpoint_usage").get()).toEqual({ requests: 1 });
    reader.close();
    await state.close();
  });

  it("may be the control plane's", async () => {
    const file = join(folder, "sonde.db");
    const plane = await openControlPlane({ file }, { role: "api" });
    const state = await openInProcess({ file });
    await state.counters.takeRequest(1, UNLIMITED, Date.now());
    await plane.meta.set("a", "1");
    await state.close();
    await plane.close();
    const again = await openControlPlane({ file }, { role: "api" });
    expect(await again.meta.get("a")).toBe("1");
    await again.close();
  });

  it("that cannot be written is said by ping, and nothing is lost when it can be again", async () => {
    vi.useFakeTimers();
    const file = join(folder, "state.db");
    const state = await openInProcess({ file }, Date.now, byTimer);
    const nowMs = Date.now();
    const other = new Sqlite(file);
    other.exec("begin immediate");
    await state.counters.takeRequest(1, UNLIMITED, nowMs);
    state.counters.countEndpoint(1, 2, "GET /servers", false, nowMs);
    vi.advanceTimersByTime(1_000);
    await expect(state.ping()).rejects.toThrow(StoreError);
    expect((await state.counters.takeRequest(1, UNLIMITED, nowMs)).usedInMinute).toBe(2);
    other.exec("rollback");
    vi.advanceTimersByTime(1_000);
    await state.ping();
    expect(other.prepare("select requests from endpoint_usage").get()).toEqual({ requests: 1 });
    other.close();
    await state.close();
    const again = await openInProcess({ file });
    expect((await again.counters.usage(1, nowMs)).month).toBe(2);
    await again.close();
  });

  it("forgets what has expired and days beyond 31", async () => {
    vi.useFakeTimers();
    const file = join(folder, "state.db");
    const state = await openInProcess({ file }, Date.now, byTimer);
    await state.counters.takeFrom("a", 1, 60_000, Date.now());
    state.counters.countEndpoint(1, 2, "GET /servers", false, Date.now());
    state.counters.countEndpoint(1, 2, "GET /servers", false, Date.now() - 31 * 86_400_000);
    vi.advanceTimersByTime(181_000);
    const reader = new Sqlite(file);
    expect(reader.prepare("select count(*) as n from counters").get()).toEqual({ n: 0 });
    expect(reader.prepare("select count(*) as n from endpoint_usage").get()).toEqual({ n: 1 });
    reader.close();
    await state.close();
  });

  it("is refused in one line when it is no database, or newer than the code", async () => {
    const notes = join(folder, "notes");
    writeFileSync(notes, "notes of a user ".repeat(500));
    await expect(openInProcess({ file: notes })).rejects.toThrow(/is not a database: move it away/);
    const file = join(folder, "state.db");
    await (await openInProcess({ file })).close();
    const raw = new Sqlite(file);
    raw.exec("update counter_schema set version = 2");
    raw.close();
    await expect(openInProcess({ file })).rejects.toThrow(/newer version of Sonde/);
  });

  it("keeps counting in the later window when the clock steps back", async () => {
    const state = await openInProcess({ file: join(folder, "state.db") });
    const limits = { perMinute: 1, perDay: null, perMonth: null };
    const nowMs = Date.UTC(2026, 10, 21, 6, 10);
    expect((await state.counters.takeRequest(1, limits, nowMs)).refusedBy).toBeNull();
    expect((await state.counters.takeRequest(1, limits, nowMs - 30_000)).refusedBy).toBe("minute");
    expect((await state.counters.takeRequest(1, limits, nowMs + 60_000)).refusedBy).toBeNull();
    await state.close();
  });
});

describe("bounds", () => {
  it("lets the oldest cell make room", () => {
    const cells = createCells(3);
    for (const name of ["a", "b", "c"]) cells.set(name, { values: [], expiresAtMs: 10 });
    cells.set("a", { values: [1], expiresAtMs: 10 });
    cells.set("d", { values: [], expiresAtMs: 20 });
    expect(["a", "b", "c", "d"].map((name) => cells.get(name, 5) !== undefined)).toEqual([true, false, true, true]);
    expect(
      cells
        .takeChanged()
        .map(([name]) => name)
        .sort(),
    ).toEqual(["a", "c", "d"]);
    expect(cells.takeChanged()).toEqual([]);
    expect(cells.get("a", 10)).toBeUndefined();
    cells.dropExpired(10);
    expect(cells.size).toBe(1);
  });

  it("counts no endpoint without end while nothing can be written", () => {
    const usage = createUsageBuffer();
    for (let key = 0; key < 60_000; key++) usage.count(1, key, "GET /servers", false, 0);
    expect(usage.waiting()).toHaveLength(50_000);
    usage.count(1, 7, "GET /servers", true, 0);
    const taken = usage.take();
    expect(taken.find((one) => one.keyId === 7)).toMatchObject({ requests: 2, errors: 1 });
    expect(usage.waiting()).toEqual([]);
  });
});

it("tells of rows that another thread has published when it is asked to, before their event", async () => {
  const folder = temporaryFolder();
  const place = { file: join(folder, "state.db") };
  const [here, elsewhere] = [openThreadNotices(place.file), openThreadNotices(place.file)];
  try {
    const heard: string[] = [];
    here.rows.catchUp?.();
    here.rows.subscribe(
      (text) => heard.push(text),
      () => {},
    );
    for (const text of ["first", "second"]) elsewhere.rows.publish(text);
    expect(heard).toEqual([]);
    here.rows.catchUp?.();
    expect(heard).toEqual(["first", "second"]);
    elsewhere.rows.publish("third");
    await expect.poll(() => heard).toEqual(["first", "second", "third"]);
  } finally {
    await Promise.all([here.close(), elsewhere.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
});
