/** What a start makes of the rows that a death left in the spool: with a real spool and a real file of rows that are set aside. */
import { join } from "node:path";
import { pino } from "pino";
import { beforeEach, expect, it } from "vitest";
import { Spool } from "../../store/results/spool.ts";
import { openSetAside } from "../../store/set-aside.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { SinkBatch } from "../../store/sql/sink/port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { judgedOf, liveOf, monitorOf } from "../fixtures.suite.ts";
import { markApplied } from "./applied-line.ts";
import { replay } from "./replay.ts";
import { StorePartWriter } from "./writer.ts";

const log = pino({ level: "silent" });
let dir = "";
beforeEach(() => {
  dir = temporaryFolder();
});

it("a row that was set aside before a death leaves the spool, though SQL would now take it with those behind it", async () => {
  const spool = await Spool.open({ dir: join(dir, "spool"), log });
  const lines = ["a", "b", "c", "d"].map((id) => JSON.stringify({ id, monitor_id: 1 }));
  await spool.append(lines);
  const file = join(dir, "set-aside.ndjson");
  const before = await openSetAside({ file, log, nowMs: () => 0 });
  await before.add({ store: "sql", monitorId: 1, error: new Error("refused"), line: lines[1] ?? "" });

  const applied: Pick<SinkBatch, "appliedSeq" | "live">[] = [];
  const sink = { apply: async (batch: SinkBatch) => void applied.push(batch), touch: async () => {} };
  const ownedShards = { leaseOf: () => ({ shard: 0, epoch: 1 }) };
  let judged = 0;
  const states = {
    monitor: () => monitorOf({ id: 1 }),
    set() {},
    heal() {},
    originOf: () => ({ monitorId: 1, epoch: 1 }),
    rejudge: (line: string) => judgedOf(liveOf({ monitorId: 1, seq: ++judged }), { line }),
  };
  const writer = new StorePartWriter({
    spool,
    store: sink,
    setAside: await openSetAside({ file, log, nowMs: () => 0 }),
    states,
    steps: { run: (_step, attempt) => attempt(), wait: async () => {}, nowMs: () => 0 },
    events: { onTestsEnded() {}, onLost() {} },
  });
  const plane = { sink: { ...sink, appliedSeq: async () => 0 } } as unknown as ControlPlane;
  await replay(spool, plane, ownedShards, states, writer);

  const left: string[] = [];
  for await (const batch of spool.replay(0)) left.push(...batch.lines);
  expect(left).toEqual([lines[0], lines[2], lines[3]]);
  // The sequence passes it alone, without a state of its own.
  expect(applied.map(({ appliedSeq, live }) => [appliedSeq, live.length])).toEqual([
    [1, 1],
    [2, 0],
    [4, 1],
  ]);
  await spool.close();
});

it("a row that was applied before it reached the disk is judged no second time, and stays", async () => {
  const spool = await Spool.open({ dir: join(dir, "spool"), log });
  const line = JSON.stringify({ id: "a", monitor_id: 1 });
  await spool.append([markApplied(line), line]);
  const applied: Pick<SinkBatch, "appliedSeq" | "live">[] = [];
  const sink = { apply: async (batch: SinkBatch) => void applied.push(batch), touch: async () => {} };
  const writer = new StorePartWriter({
    spool,
    store: sink,
    setAside: { add: async () => {}, has: () => false },
    states: { heal() {} },
    steps: { run: (_step, attempt) => attempt(), wait: async () => {}, nowMs: () => 0 },
    events: { onTestsEnded() {}, onLost() {} },
  });
  const rejudged: string[] = [];
  const states = {
    monitor: () => monitorOf({ id: 1 }),
    set() {},
    originOf: () => ({ monitorId: 1, epoch: 1 }),
    rejudge(one: string) {
      rejudged.push(one);
      return judgedOf(liveOf({ monitorId: 1 }), { line: one });
    },
  };
  const plane = { sink: { ...sink, appliedSeq: async () => 0 } } as unknown as ControlPlane;
  await replay(spool, plane, { leaseOf: () => ({ shard: 0, epoch: 1 }) }, states, writer);
  expect(rejudged).toEqual([line]);
  expect(applied.map(({ appliedSeq, live }) => [appliedSeq, live.length])).toEqual([[2, 1]]);
  expect(spool.rows).toBe(2);
  await spool.close();
});
