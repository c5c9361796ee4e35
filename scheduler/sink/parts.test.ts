import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StoreError } from "../../store/errors.ts";
import { type ShardLease, ShardsLost } from "../../store/sql/coordination/shards-port.ts";
import { property } from "../../testkit/property.ts";
import { judgedOf, liveOf } from "../fixtures.suite.ts";
import type { JudgedOutcome } from "./judged-outcome.ts";
import { cutAround, type Part, writeInParts } from "./parts.ts";
import { changesOf } from "./writer.ts";

const leaseOf = (shard: number): ShardLease => ({ shard, epoch: 1 });

function itemOf(n: number, over: Partial<JudgedOutcome> = {}): JudgedOutcome {
  const live = liveOf({ monitorId: n % 5, seq: n });
  return judgedOf(live, { lease: leaseOf(n % 3), line: `line ${n}`, ...over });
}

function partOf(count: number, moved = 0): Part {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return {
    items: numbers.map((n) => itemOf(n)),
    seqs: numbers,
    appliedSeq: count,
    moved: Array.from({ length: moved }, (_, index) => ({
      live: liveOf({ monitorId: 100 + index }),
      lease: leaseOf(0),
    })),
    skips: [{ turns: 3, lease: leaseOf(0) }],
    discardedInboxIds: [9],
    lineOf: (seq) => `line ${seq}`,
  };
}

/** A store with a sequence, that refuses parts with some rows, and shards that others have. */
function scene(
  bad: ReadonlySet<number>,
  taken: ReadonlySet<number> = new Set(),
  badMoved: ReadonlySet<number> = new Set(),
) {
  const state = { applied: 0, transactions: 0, skips: 0, drained: 0 };
  const rows: number[] = [];
  const aside: number[] = [];
  const lost: number[] = [];
  const moved: number[] = [];
  const writer = {
    async write(part: Part) {
      state.transactions += 1;
      const shards = [...part.items, ...part.moved].map(({ lease }) => lease.shard).filter((shard) => taken.has(shard));
      if (shards.length > 0) throw new ShardsLost([...new Set(shards)]);
      if (part.seqs.some((seq) => bad.has(seq))) throw new StoreError("a value", { kind: "refused" });
      if (part.moved.some(({ live }) => badMoved.has(live.monitorId)))
        throw new StoreError("a state", { kind: "refused" });
      expect(part.items).toHaveLength(part.seqs.length);
      if (part.appliedSeq > 0) {
        // Forward only, and never past a row that is still to come.
        expect(part.appliedSeq).toBeGreaterThanOrEqual(state.applied);
        for (const seq of part.seqs) expect(seq).toBeGreaterThan(state.applied);
        state.applied = part.appliedSeq;
      } else expect(part.items).toEqual([]);
      rows.push(...part.seqs);
      moved.push(...part.moved.map(({ live }) => live.monitorId));
      state.skips += part.skips.length;
      state.drained += part.discardedInboxIds.length;
    },
    async lose(_leases: readonly ShardLease[], seqs: readonly number[]) {
      lost.push(...seqs);
    },
    async setAside(part: Part) {
      expect(part.items.length + part.moved.length).toBe(1);
      aside.push(...part.seqs, ...part.moved.map(({ live }) => live.monitorId));
      state.applied = Math.max(state.applied, part.appliedSeq);
      state.skips += part.skips.length;
      state.drained += part.discardedInboxIds.length;
    },
    pause: async () => {},
  };
  return { writer, state, rows, aside, lost, moved };
}

describe("writeInParts", () => {
  it("is one transaction where nothing is refused", async () => {
    const { writer, state, rows, moved } = scene(new Set());
    const written = await writeInParts(partOf(2_000, 2), writer);
    expect([written.length, rows.length, state.transactions, moved]).toEqual([2_000, 2_000, 1, [100, 101]]);
  });

  it("finds one row of 2,000 in a few transactions, and writes all others in order", async () => {
    const { writer, state, rows, aside } = scene(new Set([1_234]));
    await writeInParts(partOf(2_000), writer);
    expect(aside).toEqual([1_234]);
    expect(rows).toEqual(partOf(2_000).seqs.filter((seq) => seq !== 1_234));
    expect(state).toMatchObject({ applied: 2_000, skips: 1, drained: 1 });
    expect(state.transactions).toBeLessThanOrEqual(2 + 2 * 12);
  });

  it("gives each part the live states as they were after its own rows", () => {
    const { items } = partOf(10);
    expect(changesOf(items.slice(0, 5)).live.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(changesOf(items).live.map(({ seq }) => seq)).toEqual([6, 7, 8, 9, 10]);
  });

  it("tries a refused whole, and a refused row alone, twice: what was in the way may have gone", async () => {
    let left = 1;
    const { writer, aside, state } = scene(new Set());
    const once = {
      ...writer,
      async write(part: Part) {
        if (left-- > 0) throw new StoreError("passing", { kind: "refused" });
        await writer.write(part);
      },
    };
    await writeInParts(partOf(50), once);
    expect([aside, state.transactions]).toEqual([[], 1]);
  });

  it("passes on what is not about values: the store is away", async () => {
    const { writer } = scene(new Set());
    const away = async (): Promise<void> => {
      throw new StoreError("away");
    };
    await expect(writeInParts(partOf(5), { ...writer, write: away })).rejects.toThrow("away");
  });

  it("waits between rows once many in a row are refused: the rows are hardly the cause then", async () => {
    const pauses: boolean[] = [];
    const { writer, aside } = scene(new Set(Array.from({ length: 40 }, (_, index) => index + 1)));
    await writeInParts(partOf(40), { ...writer, pause: async (isLong) => void pauses.push(isLong) });
    expect(aside).toHaveLength(40);
    expect(pauses.filter((isLong) => isLong)).toHaveLength(8);
  });

  it("each row is written once, in order, or set aside, or lost with its shard", async () => {
    const written = fc.asyncProperty(
      fc.nat({ max: 60 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 12 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
      fc.uniqueArray(fc.integer({ min: 100, max: 103 })),
      async (count, bad, taken, badMoved) => {
        const world = scene(new Set(bad), new Set(taken), new Set(badMoved));
        const whole = partOf(count + 1, 4);
        await writeInParts(whole, world.writer);
        const shardOf = (seq: number): number => seq % 3;
        expect(world.rows).toEqual(whole.seqs.filter((seq) => !bad.includes(seq) && !taken.includes(shardOf(seq))));
        const rowsAside = world.aside.filter((one) => one < 100);
        // A row is found bad before its shard is found lost, or the other way round.
        for (const seq of whole.seqs) {
          const places = [world.rows, rowsAside, world.lost].filter((some) => some.includes(seq));
          expect(places).toHaveLength(1);
        }
        expect(world.state.applied).toBe(count + 1);
        if (!taken.includes(0)) {
          expect([...world.moved, ...world.aside.filter((one) => one >= 100)].sort()).toEqual([100, 101, 102, 103]);
        }
        expect(world.state.drained).toBe(1);
      },
    );
    await fc.assert(written);
  });
});

describe("a part cut around rows", () => {
  property([fc.integer({ min: 0, max: 12 }), fc.array(fc.integer({ min: 1, max: 12 })), fc.nat(2)])(
    "keeps every row once in its order; each of those rows is alone, and the rest goes with the last",
    (count, alone, moved) => {
      const part = partOf(count, moved);
      const wanted = new Set(alone);
      const pieces = cutAround(part, (seq) => wanted.has(seq));
      expect(pieces.flatMap(({ items }) => items)).toEqual(part.items);
      expect(pieces.flatMap(({ seqs }) => seqs)).toEqual(part.seqs);
      for (const { items, seqs } of pieces) if (seqs.some((seq) => wanted.has(seq))) expect(items).toHaveLength(1);
      expect(pieces.map(({ appliedSeq, seqs }) => appliedSeq - (seqs.at(-1) ?? 0))).toEqual(pieces.map(() => 0));
      expect(pieces.flatMap((piece) => piece.moved)).toEqual(part.moved);
      expect(pieces.flatMap((piece) => piece.skips)).toEqual(part.skips);
    },
  );
});
