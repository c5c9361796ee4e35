import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Sqlite } from "../../sqlite-library.ts";
import { GroupedWrites } from "./grouped-writes.ts";

/** A database in memory, and what was said to it. */
function open() {
  const handle = new Sqlite(":memory:");
  handle.exec("create table numbers (n integer primary key)");
  const said: string[] = [];
  const connection = {
    exec(sql: string) {
      said.push(sql);
      return handle.exec(sql);
    },
    get inTransaction() {
      return handle.inTransaction;
    },
  };
  let last: Promise<unknown> = Promise.resolve();
  const writes = new GroupedWrites({
    connection,
    turn(work) {
      const mine = last.then(work);
      last = mine.catch(() => {});
      return mine;
    },
    begin: async () => void connection.exec("BEGIN IMMEDIATE"),
    putOnDisk: async () => void said.push("put on disk"),
    run: (work) => work(),
  });
  const add = (n: number): void => void handle.prepare("insert into numbers values (?)").run(n);
  const numbers = () => handle.prepare("select n from numbers order by n").pluck().all();
  return { handle, said, writes, add, numbers };
}

it("commits what comes at once together, in order, and undoes what fails alone", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 150 }), async (fails) => {
      const { said, writes, add, numbers, handle } = open();
      const told: number[] = [];
      const all = fails.map((isFailing, n) =>
        writes.write(async () => {
          add(n);
          if (n % 3 === 0) await turn();
          if (isFailing) throw new Error(`no ${n}`);
          told.push(n);
          return n;
        }),
      );
      const settled = await Promise.allSettled(all);
      const good = fails.flatMap((isFailing, n) => (isFailing ? [] : [n]));
      expect(settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).message))).toEqual(
        fails.map((isFailing, n) => (isFailing ? `no ${n}` : n)),
      );
      expect([numbers(), told]).toEqual([good, good]);
      expect(handle.inTransaction).toBe(false);
      const commits = said.filter((sql) => sql === "COMMIT" || sql === "ROLLBACK").length;
      if (fails.length > 64) expect(commits).toBeLessThan(fails.length);
      handle.close();
    }),
    { numRuns: 25 },
  );
});

it("tells none that it is done before the commit, and all of them when it fails", async () => {
  const { writes, add, numbers, handle } = open();
  const isLate = { now: false };
  const commit = handle.exec.bind(handle);
  handle.exec = (sql: string) => {
    if (sql === "COMMIT" && isLate.now) throw new Error("the disk is full");
    return commit(sql);
  };
  await writes.write(async () => add(1));
  isLate.now = true;
  const some = await Promise.allSettled([2, 3].map((n) => writes.write(async () => add(n))));
  expect(some.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isLate.now = false;
  await writes.write(async () => add(4));
  expect(numbers()).toEqual([1, 4]);
});

it("goes on with the others when the database undid the whole transaction", async () => {
  const { writes, add, numbers, handle } = open();
  const all = await Promise.allSettled([
    writes.write(async () => add(1)),
    writes.write(async () => {
      handle.exec("ROLLBACK");
      throw new Error("the disk is full");
    }),
    writes.write(async () => add(3)),
  ]);
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(numbers()).toEqual([3]);
});

it("puts what a long transaction wrote on the disk before its commit", async () => {
  const { said, writes, add, numbers, handle } = open();
  await writes.write(async () => add(1));
  await writes.write(async () => {
    add(2);
    const endMs = performance.now() + 101;
    while (performance.now() < endMs) await turn();
  });
  expect(said).toEqual(["BEGIN IMMEDIATE", "COMMIT", "BEGIN IMMEDIATE", "put on disk", "COMMIT"]);
  expect(numbers()).toEqual([1, 2]);
  handle.close();
});
