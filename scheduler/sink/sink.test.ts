import { pino } from "pino";
import { describe, expect, it, vi } from "vitest";
import { StoreError } from "../../store/errors.ts";
import { FrameLines } from "../../store/results/spool-frame.ts";
import { type ShardLease, ShardsLost } from "../../store/sql/coordination/shards-port.ts";
import type { SinkBatch } from "../../store/sql/sink/port.ts";
import { judgedOf, liveOf } from "../fixtures.suite.ts";
import type { JudgedOutcome } from "./judged-outcome.ts";
import { Sink } from "./sink.ts";

const SILENT = pino({ level: "silent" });

function itemOf(monitorId: number, over: Partial<JudgedOutcome> = {}): JudgedOutcome {
  return judgedOf(liveOf({ monitorId, seq: 7 }), { line: `line ${monitorId}`, ...over });
}

const textsOf = (lines: FrameLines | readonly string[]): readonly string[] =>
  lines instanceof FrameLines ? lines.texts() : lines;

/** Stores that note what reached them in which order, and fail as often as asked. */
function scene(failures: { spool?: number; sql?: number } = {}) {
  const steps: string[] = [];
  const batches: SinkBatch[] = [];
  /** What was published, each behind the step before it. */
  const published: unknown[][] = [];
  const written: (readonly [ids: readonly number[], moved: number])[] = [];
  let left = { spool: failures.spool ?? 0, sql: failures.sql ?? 0 };
  let seq = 0;
  const append = async (lines: FrameLines | readonly string[]): Promise<number> => {
    const texts = textsOf(lines);
    if (left.spool > 0) {
      left = { ...left, spool: left.spool - 1 };
      throw new StoreError("the disk is full");
    }
    steps.push(`spool ${texts.join(",")}`);
    seq += texts.length;
    return seq;
  };
  const sink = new Sink({
    spool: {
      name: "spool",
      append,
      pass: async (rows) => {
        steps.push(`pass ${rows}`);
        seq += rows;
        return seq;
      },
      discard: async () => {},
    },
    store: {
      async apply(batch) {
        if (left.sql > 0) {
          left = { ...left, sql: left.sql - 1 };
          throw new Error("database away");
        }
        steps.push(`sql ${batch.appliedSeq}`);
        batches.push(batch);
      },
      async touch({ live }) {
        steps.push(`touch ${live.map(({ monitorId }) => monitorId).join(",")}`);
      },
    },
    log: SILENT,
    setAside: { add: async () => {}, has: () => false },
    ownedShards: { leaseOf: () => ({ shard: 0, epoch: 1 }), lease: () => ({ shard: 0, epoch: 1 }) },
    states: { live: (monitorId) => liveOf({ monitorId, seq: 7 }), heal() {} },
    events: {
      onSpooled: (items) => void published.push([steps.at(-1), ...items.map(({ live }) => live.monitorId)]),
      onRefused() {},
      onApplied: (appliedSeq) => void steps.push(`applied ${appliedSeq}`),
      onWritten: (items, moved) => void written.push([items.map(({ live }) => live.monitorId), moved.length]),
      onTestsEnded() {},
      onLost() {},
      onHold: (isHeld) => void steps.push(`hold ${isHeld}`),
    },
  });
  return { sink, steps, batches, published, written };
}

describe("Sink", () => {
  it("writes to the spool, then to SQL, then says so; one batch for what came together", async () => {
    const { sink, steps, batches, published, written } = scene();
    sink.add(itemOf(1, { inboxId: 9 }));
    sink.add(itemOf(2));
    sink.add(itemOf(1));
    sink.discard(11);
    await sink.flush();
    expect(steps).toEqual(["spool line 1,line 2,line 1", "sql 3", "applied 3"]);
    expect(published).toEqual([["spool line 1,line 2,line 1", 1, 2, 1]]);
    expect(batches[0]?.live.map((live) => live.monitorId)).toEqual([1, 2]);
    expect(batches[0]?.drainedInboxIds).toEqual([11, 9]);
    expect(written).toEqual([[[1, 2, 1], 0]]);
    sink.touch(5);
    await sink.flush();
    expect(written.slice(1)).toEqual([[[], 1]]);
  });

  it("tries SQL again with the same batch, and what came meanwhile follows", async () => {
    const { sink, steps } = scene({ sql: 2 });
    sink.add(itemOf(1));
    const flushed = sink.flush();
    await vi.waitFor(() => expect(sink.trouble).toMatch(/^control plane: database away/));
    sink.add(itemOf(2));
    expect(sink.backlogRows).toBe(2);
    await flushed;
    expect(steps).toEqual(["spool line 1", "sql 1", "applied 1", "spool line 2", "sql 2", "applied 2"]);
    expect(sink.trouble).toBeNull();
  });

  it("writes statuses to SQL when the disk takes no row, which goes there before the next batch, marked as applied", async () => {
    const { sink, steps, batches } = scene({ spool: 3 });
    const item = (monitorId: number) => itemOf(monitorId, { line: `{"n":${monitorId}}` });
    sink.add(item(1));
    // The second try of the same write is that of a stop.
    await sink.flush();
    expect(steps).toEqual(["pass 1", "sql 1", "applied 1"]);
    expect([sink.lateRows, sink.backlogRows, sink.trouble]).toEqual([1, 0, "spool: the disk is full"]);
    sink.add(item(2));
    await sink.flush();
    expect(batches.flatMap(({ live }) => live.map(({ monitorId }) => monitorId))).toEqual([1, 2]);
    // Both went to the disk at its end, when it took rows again.
    expect(steps.slice(3)).toEqual([
      "pass 1",
      "sql 2",
      "applied 2",
      'spool {"n":1,"applied":true},{"n":2,"applied":true}',
      "applied 4",
    ]);
    sink.add(item(3));
    await sink.flush();
    expect(steps.slice(8)).toEqual(['spool {"n":3}', "sql 5", "applied 5"]);
    expect([sink.lateRows, sink.lostRows, sink.trouble]).toEqual([0, 0, null]);
  });

  it("writes states that moved without a check, with a batch or by themselves", async () => {
    const { sink, steps, batches } = scene();
    sink.touch(5);
    sink.touch(4);
    await sink.flush();
    expect(steps).toEqual(["touch 5,4"]);
    sink.add(itemOf(1));
    sink.touch(6);
    await sink.flush();
    expect(batches[0]?.live.map((live) => live.monitorId)).toEqual([1, 6]);
  });

  it("holds dispatch when the backlog is full and lets it go when there is room", async () => {
    const { sink, steps } = scene({ sql: 1 });
    for (let i = 0; i < 102_001; i++) sink.add(itemOf(1, { line: "x" }));
    expect(steps).toEqual(["hold true"]);
    await sink.flush();
    expect(steps.filter((step) => step.startsWith("hold"))).toEqual(["hold true", "hold false"]);
  });
});

describe("Sink when another scheduler has taken a shard", () => {
  /** Two shards; those in `taken` are another scheduler's in SQL, and in memory once a write was refused. */
  function shared() {
    const steps: string[] = [];
    const appended: (readonly string[])[] = [];
    const taken = new Set<number>();
    const held = new Map<number, ShardLease>([
      [0, { shard: 0, epoch: 4 }],
      [1, { shard: 1, epoch: 7 }],
    ]);
    const refuse = (leases: readonly ShardLease[] = []): void => {
      const lost = leases.filter(({ shard }) => taken.has(shard)).map(({ shard }) => shard);
      if (lost.length > 0) throw new ShardsLost(lost);
    };
    let seq = 0;
    const sink = new Sink({
      spool: {
        name: "spool",
        append: async (lines) => {
          appended.push(textsOf(lines));
          seq += textsOf(lines).length;
          return seq;
        },
        pass: async () => seq,
        discard: async (seqs: ReadonlySet<number>) => void steps.push(`discard ${[...seqs].join(",")}`),
      },
      store: {
        async apply({ leases, live, skips, appliedSeq }) {
          refuse(leases);
          steps.push(`apply ${appliedSeq} of ${live.map(({ monitorId }) => monitorId)} skips ${JSON.stringify(skips)}`);
        },
        async touch({ leases, live }) {
          refuse(leases);
          steps.push(`touch ${live.map(({ monitorId }) => monitorId)}`);
        },
      },
      log: SILENT,
      setAside: { add: async () => {}, has: () => false },
      // Odd monitors are of shard 1.
      ownedShards: { leaseOf: (monitorId) => held.get(monitorId % 2), lease: (shard) => held.get(shard) },
      states: { live: (monitorId) => liveOf({ monitorId }), heal() {} },
      events: {
        onSpooled() {},
        onRefused() {},
        onApplied: (appliedSeq) => void steps.push(`applied ${appliedSeq}`),
        onWritten() {},
        onTestsEnded() {},
        onLost(leases) {
          for (const { shard } of leases) held.delete(shard);
          steps.push(`lost ${leases.map(({ shard, epoch }) => `${shard}@${epoch}`)}`);
          sink.drop();
        },
        onHold() {},
      },
    });
    const item = (monitorId: number): JudgedOutcome =>
      itemOf(monitorId, { lease: held.get(monitorId % 2) ?? { shard: 9, epoch: 9 } });
    return { sink, steps, appended, taken, held, item };
  }

  it("writes the others' rows, drops the lost one's from the spool, and says so", async () => {
    const { sink, steps, taken, item } = shared();
    for (const id of [1, 2, 3, 4]) sink.add(item(id));
    sink.touch(5);
    sink.skip(0, 2);
    sink.skip(1, 3);
    taken.add(1);
    await sink.flush();
    expect(steps).toEqual(["lost 1@7", "discard 1,3", 'apply 4 of 2,4 skips [{"shard":0,"turns":2}]', "applied 4"]);
    expect(sink.refusedRows).toBe(2);
  });

  it("drops what waits of a shard that is lost, also when it comes back under another epoch before the batch", async () => {
    const { sink, steps, appended, held, item } = shared();
    sink.add(item(1));
    sink.add(item(2));
    held.set(1, { shard: 1, epoch: 9 });
    sink.drop();
    sink.add(item(3));
    await sink.flush();
    expect(appended).toEqual([["line 2", "line 3"]]);
    expect(steps).toEqual(["apply 2 of 2,3 skips []", "applied 2"]);
    expect(sink.refusedRows).toBe(1);
  });

  it("does not write a state that moved under an epoch that is over", async () => {
    const { sink, steps, taken } = shared();
    sink.touch(1);
    sink.touch(2);
    taken.add(1);
    await sink.flush();
    expect(steps).toEqual(["lost 1@7", "touch 2"]);
  });
});
