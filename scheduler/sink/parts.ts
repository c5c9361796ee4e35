/**
 * Writes a batch of the sink whole or in parts. When SQL refuses a part for its values, the part is halved until the bad row is alone; that row
 * is set aside, and all others are written in the order of the spool.
 *
 * Each part is a transaction that moves the applied sequence up to its last row, with the live states as they were after its own
 * rows. So after a crash between two parts exactly the rows behind the first are replayed. A row that is set aside leaves the spool before the
 * sequence passes its number: a crash before that finds it again, a crash after it does not, and no store has it.
 */
import type { LiveState } from "../../model/status.ts";
import { isAboutValues } from "../../store/errors.ts";
import { type ShardLease, ShardsLost, type Skips } from "../../store/sql/coordination/shards-port.ts";
import type { EndedTest } from "../../store/sql/jobs/port.ts";
import type { JudgedRow } from "./judged-outcome.ts";

/** Items of one write, each under its shard's epoch when the batch was taken. */
export interface Part {
  readonly items: readonly JudgedRow[];
  /** Of the items. */
  readonly seqs: readonly number[];
  /** The spool's sequence that is applied with it; 0: it has no rows and moves no sequence. */
  readonly appliedSeq: number;
  /** Live states that moved without a check. */
  readonly moved: readonly { readonly live: LiveState; readonly lease: ShardLease }[];
  readonly skips: readonly { readonly turns: number; readonly lease: ShardLease }[];
  readonly discardedInboxIds: readonly number[];
  /** The spool's line of an item. @param seq of the item */
  readonly lineOf: (seq: number) => string;
}

/** How parts are written; temporary errors are tried again inside. */
export interface PartWriter {
  /** In one transaction. @throws ShardsLost, or what isAboutValues() knows; nothing was written then */
  write(part: Part): Promise<void>;
  /** Other schedulers have taken these shards: their rows leave the spool. @param leases under which they were to be written */
  lose(leases: readonly ShardLease[], rows: readonly number[]): Promise<void>;
  /** SQL refuses one row, or one state that changed without a check. The row leaves the spool and is kept for the operator. */
  setAside(refused: Part, error: unknown): Promise<void>;
  /** The wait between two tries of the same part, and before many rows in a row are given up. */
  pause(isLong: boolean): Promise<void>;
}

/**
 * After so many refused rows without a written one, the rows are hardly the cause. So from there on there is a wait before each, and the
 * next row is tried like any other.
 */
const REFUSED_IN_A_ROW = 32;

/** @returns the items that were written */
export async function writeInParts(whole: Part, writer: PartWriter): Promise<readonly JudgedRow[]> {
  const written: JudgedRow[] = [];
  let left: Part[] = [whole];
  let inARow = 0;
  for (let part = left[0]; part !== undefined; part = left[0]) {
    // The whole batch and a single row get a second try: the cause may have been another.
    const tries = part === whole || sizeOf(part) === 1 ? 2 : 1;
    try {
      await attempt(part, tries, writer);
      written.push(...part.items);
      if (part.items.length > 0) inARow = 0;
      left.shift();
    } catch (error) {
      if (error instanceof ShardsLost) {
        const lost = new Set(error.shards);
        const leases = leasesOf(part).filter(({ shard }) => lost.has(shard));
        const rows = left.flatMap((one) => seqsOf(one, lost));
        await writer.lose(leases, rows);
        left = left.map((one) => withoutShards(one, lost));
      } else if (!isAboutValues(error)) {
        throw error;
      } else if (sizeOf(part) > 1) {
        left.splice(0, 1, ...halves(part));
      } else {
        inARow += 1;
        if (inARow > REFUSED_IN_A_ROW) await writer.pause(true);
        await writer.setAside(part, error);
        left.shift();
      }
    }
  }
  return written;
}

async function attempt(part: Part, tries: number, writer: PartWriter): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await writer.write(part);
    } catch (error) {
      if (tried >= tries || error instanceof ShardsLost) throw error;
      await writer.pause(false);
    }
  }
}

/** Rows and states. Skipped turns and calls are only numbers and go with the last row, so they do not count. */
function sizeOf({ items, moved }: Part): number {
  return items.length + moved.length;
}

/** Rows first, in their order; then what moved without one. */
function halves(part: Part): readonly [Part, Part] {
  const { items, seqs, moved } = part;
  const bare = { items: [], seqs: [], moved: [], skips: [], discardedInboxIds: [], lineOf: part.lineOf };
  if (items.length > 0 && moved.length > 0) {
    return [
      { ...part, moved: [] },
      { ...bare, moved, appliedSeq: 0 },
    ];
  }
  const half = Math.ceil(sizeOf(part) / 2);
  return [
    {
      ...bare,
      items: items.slice(0, half),
      seqs: seqs.slice(0, half),
      moved: moved.slice(0, half),
      appliedSeq: seqs[half - 1] ?? part.appliedSeq,
    },
    { ...part, items: items.slice(half), seqs: seqs.slice(half), moved: moved.slice(half) },
  ];
}

/** Cuts a part so that each of some rows is alone, in the order of the spool. What goes with no row goes with the last of them. */
export function cutAround(part: Part, isAlone: (seq: number) => boolean): readonly Part[] {
  const { items, seqs, appliedSeq } = part;
  const cuts = seqs.flatMap((seq, index) => (isAlone(seq) ? [index, index + 1] : []));
  if (cuts.length === 0) return [part];
  const edges = [...new Set([0, ...cuts, items.length])];
  return edges.slice(1).map((to, index) => {
    const from = edges[index] ?? 0;
    const piece = { ...part, items: items.slice(from, to), seqs: seqs.slice(from, to) };
    if (to === items.length) return piece;
    return { ...piece, appliedSeq: seqs[to - 1] ?? appliedSeq, moved: [], skips: [], discardedInboxIds: [] };
  });
}

function seqsOf({ items, seqs }: Part, shards: ReadonlySet<number>): readonly number[] {
  return seqs.filter((_seq, index) => shards.has(items[index]?.lease.shard ?? -1));
}

function withoutShards(part: Part, shards: ReadonlySet<number>): Part {
  const isKept = ({ lease }: { readonly lease: ShardLease }): boolean => !shards.has(lease.shard);
  const { items, seqs, moved, skips } = part;
  return {
    ...part,
    items: items.filter(isKept),
    seqs: seqs.filter((_seq, index) => !shards.has(items[index]?.lease.shard ?? -1)),
    moved: moved.filter(isKept),
    skips: skips.filter(isKept),
  };
}

export function leasesOf({ items, moved, skips }: Pick<Part, "items" | "moved" | "skips">): readonly ShardLease[] {
  const leases = new Map<number, ShardLease>();
  for (const { lease } of [...items, ...moved, ...skips]) leases.set(lease.shard, lease);
  return [...leases.values()];
}

export const skipsOf = ({ skips }: Pick<Part, "skips">): readonly Skips[] =>
  skips.map(({ turns, lease: { shard } }) => ({ shard, turns }));

const UNSTORABLE_MESSAGE = "The result could not be stored";

/** The batch that moves the sequence past a refused row: its heartbeat call is done, and its test ends as a fault of ours. */
export function withoutRow({ items, discardedInboxIds, appliedSeq }: Part, nowMs: number) {
  const [item] = items;
  const endedTests = item?.endedTest === undefined ? [] : [unstored(item.endedTest, nowMs)];
  const inboxIds = item?.inboxId == null ? [] : [item.inboxId];
  return { appliedSeq, endedTests, drainedInboxIds: [...discardedInboxIds, ...inboxIds] };
}

function unstored({ end, ...test }: EndedTest, nowMs: number): EndedTest {
  const nothing = { latencyMs: null, connectMs: null, message: UNSTORABLE_MESSAGE, testedAtMs: nowMs };
  return { ...test, end: { ...end, reason: "expired", status: "unknown", ...nothing } };
}
