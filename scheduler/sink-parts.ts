/**
 * Writes a batch of the sink whole or in parts. When SQL refuses a part for its values, the part is halved until the bad row is alone; that row
 * is set aside, and all others are written in the order of the spool.
 *
 * Each part is a transaction that moves the applied sequence up to its last row, with the live states as they were after its own
 * rows. So after a crash between two parts exactly the rows behind the first are replayed. A row that is set aside leaves the spool before the
 * sequence passes its number: a crash before that finds it again, a crash after it does not, and no store has it.
 */
import type { LiveState } from "../model/status.ts";
import { isAboutValues } from "../store/sql/control-plane.ts";
import type { JobEnd } from "../store/sql/ports/jobs.ts";
import { type Fence, ShardsLost, type Skips } from "../store/sql/ports/shards.ts";
import type { SinkItem } from "./sink-item.ts";

/** Items of one write, each under its shard's epoch when the batch was taken. */
export interface Part {
  readonly items: readonly SinkItem[];
  /** Of the items. */
  readonly seqs: readonly number[];
  /** The spool's sequence that is applied with it; 0: it has no rows and moves no sequence. */
  readonly appliedSeq: number;
  /** Live states that moved without a check. */
  readonly moved: readonly { readonly live: LiveState; readonly fence: Fence }[];
  readonly skips: readonly { readonly turns: number; readonly fence: Fence }[];
  readonly discardedInboxIds: readonly number[];
}

/** How parts are written; temporary errors are tried again inside. */
export interface PartWriter {
  /** In one transaction. @throws ShardsLost, or what isAboutValues() knows; nothing was written then */
  write(part: Part): Promise<void>;
  /** Other schedulers have taken these shards: their rows leave the spool. @param fences under which they were to be written */
  lose(fences: readonly Fence[], rows: readonly number[]): Promise<void>;
  /** One row, or one state that moved without a check, is refused alone. It leaves the spool and is kept for the operator. */
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
export async function writeInParts(whole: Part, writer: PartWriter): Promise<readonly SinkItem[]> {
  const written: SinkItem[] = [];
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
        const fences = fencesOf(part).filter(({ shard }) => lost.has(shard));
        const rows = left.flatMap((one) => seqsOf(one, lost));
        await writer.lose(fences, rows);
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

/** Rows and states; turns and calls, which are only numbers, go with the last row. */
function sizeOf({ items, moved }: Part): number {
  return items.length + moved.length;
}

/** Rows first, in their order; then what moved without one. */
function halves(part: Part): readonly [Part, Part] {
  const { items, seqs, moved } = part;
  const bare = { items: [], seqs: [], moved: [], skips: [], discardedInboxIds: [] };
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

function seqsOf({ items, seqs }: Part, shards: ReadonlySet<number>): readonly number[] {
  return seqs.filter((_seq, index) => shards.has(items[index]?.fence.shard ?? -1));
}

function withoutShards(part: Part, shards: ReadonlySet<number>): Part {
  const isKept = ({ fence }: { readonly fence: Fence }): boolean => !shards.has(fence.shard);
  const { items, seqs, moved, skips } = part;
  return {
    ...part,
    items: items.filter(isKept),
    seqs: seqs.filter((_seq, index) => !shards.has(items[index]?.fence.shard ?? -1)),
    moved: moved.filter(isKept),
    skips: skips.filter(isKept),
  };
}

export function fencesOf({ items, moved, skips }: Pick<Part, "items" | "moved" | "skips">): readonly Fence[] {
  const fences = new Map<number, Fence>();
  for (const { fence } of [...items, ...moved, ...skips]) fences.set(fence.shard, fence);
  return [...fences.values()];
}

export const skipsOf = ({ skips }: Pick<Part, "skips">): readonly Skips[] =>
  skips.map(({ turns, fence: { shard } }) => ({ shard, turns }));

const UNSTORABLE_MESSAGE = "The result could not be stored";

/** The batch that moves the sequence past a refused row: its heartbeat call is done, and its test ends as a fault of ours. */
export function withoutRow({ items, discardedInboxIds, appliedSeq }: Part, nowMs: number) {
  const [item] = items;
  const jobEnds: JobEnd[] =
    item?.jobEnd === undefined
      ? []
      : [
          {
            ...item.jobEnd,
            end: {
              ...item.jobEnd.end,
              reason: "expired",
              status: "unknown",
              latencyMs: null,
              connectMs: null,
              message: UNSTORABLE_MESSAGE,
              testedAtMs: nowMs,
            },
          },
        ];
  const inboxIds = item?.inboxId == null ? [] : [item.inboxId];
  return { appliedSeq, jobEnds, drainedInboxIds: [...discardedInboxIds, ...inboxIds] };
}
