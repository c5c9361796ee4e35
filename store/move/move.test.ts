/** A move that dies at any of its steps and is begun again ends as one that did not die. On two SQLite files, and results in memory. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf, writeEverything } from "../../testkit/store/everything.suite.ts";
import { writeSince } from "../../testkit/store/everything-since.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { StoreError } from "../errors.ts";
import type { CopiedResults } from "../results/copied-tables.ts";
import { openControlPlane } from "../sql/control-plane/open.ts";
import { COPIED_TABLES } from "../sql/copy/copied-tables.ts";
import { highestId } from "../sql/copy/rows.ts";
import { setSkippedTurns, skippedTurns } from "../sql/copy/turns.ts";
import { type Database, statement } from "../sql/db/database.ts";
import { openSqlite } from "../sql/db/sqlite.ts";
import { openInProcess } from "../state/in-process.ts";
import { type MovedResults, type MoveSide, move } from "./move.ts";

const root = temporaryFolder();
const opened: Database[] = [];
const NOW_MS = Date.UTC(2026, 10, 21, 7);
let folders = 0;
let source: MoveSide;

class MemoryResults implements MovedResults {
  readonly tables = new Map<string, string[]>();
  readonly #tokens = new Set<string>();
  isFeeding = true;
  /** Called before and after each write. */
  onStep: () => void = () => undefined;

  prepare = async (): Promise<void> => {};
  async stopFeeding(): Promise<void> {
    this.isFeeding = false;
  }
  async feedAgain(): Promise<void> {
    this.isFeeding = true;
  }
  empty = async ({ name }: CopiedResults): Promise<void> => void this.tables.delete(name);
  isEmpty = async ({ name }: CopiedResults): Promise<boolean> => this.#of(name).length === 0;

  async read({ name }: CopiedResults, after: readonly string[] | null) {
    const lines = this.#of(name);
    const from = after === null ? 0 : lines.indexOf(after[0] ?? "") + 1;
    const some = lines.slice(from, from + 2);
    const last = some.at(-1);
    return {
      bytes: Buffer.from(some.map((line) => `${line}\n`).join("")),
      rows: some.length,
      last: last === undefined ? null : [last],
    };
  }

  async write({ name }: CopiedResults, { bytes }: { bytes: Buffer }, token: string): Promise<void> {
    this.onStep();
    if (this.isFeeding) throw new Error("rows would be counted twice");
    if (!this.#tokens.has(token)) this.tables.set(name, [...this.#of(name), ...bytes.toString().trimEnd().split("\n")]);
    this.#tokens.add(token);
    this.onStep();
  }

  sum = async ({ name }: CopiedResults) => ({ rows: this.#of(name).length, sum: [...this.#of(name)].sort().join() });

  #of(name: string): string[] {
    return this.tables.get(name) ?? [];
  }
}

async function openDatabase(): Promise<Database> {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  const database = await openSqlite({ file: join(folder, "control.sqlite"), durable: false });
  opened.push(database);
  return database;
}

const sideOf = (database: Database, results: MovedResults): MoveSide => ({
  database,
  results,
  state: { file: join(root, String(folders), "state.sqlite") },
  name: `side ${folders}`,
});

beforeAll(async () => {
  const database = await openDatabase();
  const file = join(root, "1", "control.sqlite");
  const plane = await openControlPlane({ file }, { role: "api" });
  await writeEverything(plane);
  await writeSince(plane);
  await plane.close();
  await database.write((session) => setSkippedTurns(session, 7));
  const results = new MemoryResults();
  for (const name of ["results", "recent", "hours"])
    results.tables.set(
      name,
      [1, 2, 3, 4, 5].map((at) => `${name} ${at}`),
    );
  source = sideOf(database, results);
  const state = await openInProcess({ file: join(root, "1", "state.sqlite") }, () => NOW_MS);
  await state.counters.takeRequest(1, { perMinute: null, perDay: null, perMonth: null }, NOW_MS);
  state.counters.countEndpoint(1, 1, "GET /servers", false, NOW_MS);
  await state.close();
});
afterAll(async () => {
  for (const database of opened) await database.close();
});

const run = (to: MoveSide, isAnew = false) =>
  move({ from: source, to, isAnew, nowMs: () => NOW_MS, progress: () => undefined });

/** Everything that was carried. */
async function contents({ database, results }: MoveSide): Promise<unknown> {
  const ids: Record<string, number | null> = {};
  for (const table of COPIED_TABLES) ids[table.name] = await highestId(database, table);
  const rows = await rowsOf(
    database.read,
    COPIED_TABLES.map(({ name }) => name),
  );
  return {
    ids,
    rows,
    skipped: await skippedTurns(database),
    results: Object.fromEntries((results as MemoryResults).tables),
  };
}

describe("a move", () => {
  it("carries every table, the ids that come next, results, counters, skipped turns, and tells what was missed", async () => {
    const to = sideOf(await openDatabase(), new MemoryResults());
    const moved = await run(to);
    expect(await contents(to)).toEqual(await contents(source));
    expect(moved).toMatchObject({ counters: 1, isResumed: false, results: { hours: { rows: 5 } } });
    expect(moved.tables.monitors?.rows).toBeGreaterThan(3);
    const empty = COPIED_TABLES.filter(({ name }) => (moved.tables[name]?.rows ?? 0) === 0);
    // A call of a heartbeat stays in it until a scheduler has seen it.
    expect(empty.map(({ name }) => name)).toEqual(["heartbeat_inbox", "outbox"]);
    expect(moved.missed.turns).toBeGreaterThan(0);
    expect((to.results as MemoryResults).isFeeding).toBe(true);
    await expect(run(to)).rejects.toThrow(/in use/);
  });

  it("ends alike when it died at any step", async () => {
    for (let step = 1; ; step += step < 8 ? 1 : 5) {
      const database = await openDatabase();
      const results = new MemoryResults();
      let left = step;
      const live = (): void => {
        left--;
        if (left === 0) throw new Error("dead");
      };
      results.onStep = live;
      const dying: Database = {
        ...database,
        async write(work) {
          live();
          const done = await database.write(work);
          live();
          return done;
        },
      };
      const died = await run(sideOf(dying, results)).then(
        () => false,
        (error: Error) => error.message === "dead",
      );
      left = Number.POSITIVE_INFINITY;
      const to = sideOf(database, results);
      if (!died) {
        expect(step).toBeGreaterThan(60);
        expect(left).toBeGreaterThan(0);
        break;
      }
      const isOver = await run(to).then(
        () => true,
        (error: Error) => /in use/.test(error.message),
      );
      expect(isOver, `step ${step}`).toBe(true);
      expect(await contents(to), `step ${step}`).toEqual(await contents(source));
    }
  });

  it("is no source and no place for a service before it has ended, and begins anew when it is told to", async () => {
    const database = await openDatabase();
    const file = join(root, String(folders), "control.sqlite");
    const results = new MemoryResults();
    results.onStep = () => {
      throw new Error("dead");
    };
    const to = sideOf(database, results);
    await expect(run(to)).rejects.toThrow("dead");
    await expect(openControlPlane({ file }, { role: "api" })).rejects.toThrow(
      /move into this database was not finished/,
    );
    results.onStep = () => undefined;
    const before = source;
    source = to;
    await expect(run(before)).rejects.toThrow(StoreError);
    source = before;
    await source.database.write((session) =>
      session.query(statement("raise", "update generation set value = value + 1")),
    );
    await expect(run(to)).rejects.toThrow(/changed since.*--anew/);
    expect(await run(to, true)).toMatchObject({ isResumed: false });
    expect(await contents(to)).toEqual(await contents(source));
  });

  it("finds what differs, and leaves the target closed", async () => {
    const to = sideOf(await openDatabase(), new MemoryResults());
    const write = to.database.write.bind(to.database);
    let isChanged = false;
    const changing: Database = {
      ...to.database,
      write: (work) =>
        write(async (session) => {
          const done = await work(session);
          const [row] = await session.query<{ count: number }>(
            statement("look", "select count(*) as count from incidents"),
          );
          if (!isChanged && (row?.count ?? 0) > 0) {
            isChanged = true;
            await session.query(statement("change", "update incidents set error_message = error_message || '!'"));
          }
          return done;
        }),
    };
    await expect(run({ ...to, database: changing })).rejects.toThrow(/incidents of side 1 and side \d+ differ/);
    expect(await run(to, true)).toMatchObject({ isResumed: false });
  });
});
