/**
 * Judges again, in order and before any check runs, what was on disk and not yet in SQL when this process died. When another scheduler has
 * taken a shard meanwhile, its rows leave the spool. A row that SQL refuses for its values is set aside, or the process would
 * never start again.
 */
import type { Monitor } from "../../model/monitor.ts";
import type { LiveState } from "../../model/status.ts";
import type { Spool } from "../../store/results/spool.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import { isApplied } from "./applied-line.ts";
import type { JudgedOutcome, JudgedRow } from "./judged-outcome.ts";
import { cutAround, type Part, type PartWriter, writeInParts } from "./parts.ts";

/** The epoch of a shard that is taken for the first time. Rows from before there were epochs count as written under it. */
const FIRST_EPOCH = 1;

export interface Replayed {
  /** Results that were applied. */
  readonly rows: number;
  /** Results of shards that others have taken: dropped. */
  readonly refusedRows: number;
}

export interface ReplayWriter extends PartWriter {
  /** This process died after it had set the row aside, and before the row had left the spool. @param line of the spool */
  wasSetAside(line: string): boolean;
}

/** States of monitors in memory, which judge lines of the spool again. */
export interface RejudgingStates {
  monitor(monitorId: number): Monitor | undefined;
  set(monitor: Monitor, live: LiveState): void;
  /** The monitor of a line, and the epoch of its shard when it was judged; undefined: before there were epochs. */
  originOf(line: string): { readonly monitorId: number; readonly epoch: number | undefined };
  /** @returns undefined for a monitor that is gone */
  rejudge(line: string): JudgedOutcome | undefined;
}

export async function replay(
  spool: Pick<Spool, "name" | "replay" | "discard">,
  controlPlane: Pick<ControlPlane, "sink" | "monitors">,
  ownedShards: Pick<OwnedShards, "leaseOf">,
  states: RejudgingStates,
  writer: ReplayWriter,
): Promise<Replayed> {
  let rows = 0;
  let refusedRows = 0;
  const appliedSeq = await controlPlane.sink.appliedSeq(spool.name);
  for await (const batch of spool.replay(appliedSeq)) {
    const items: JudgedRow[] = [];
    const seqs: number[] = [];
    const lines = new Map<number, string>();
    const refused = new Set<number>();
    for (const [index, line] of batch.lines.entries()) {
      if (isApplied(line)) continue;
      const { monitorId, epoch } = states.originOf(line);
      if (ownedShards.leaseOf(monitorId)?.epoch !== (epoch ?? FIRST_EPOCH)) {
        refused.add(batch.seqs[index] ?? 0);
        continue;
      }
      await ensureKnown(monitorId, controlPlane, states);
      const item = states.rejudge(line);
      if (item === undefined) continue;
      const seq = batch.seqs[index] ?? 0;
      items.push(item);
      seqs.push(seq);
      lines.set(seq, line);
    }
    await spool.discard(refused);
    const lineOf = (seq: number): string => lines.get(seq) ?? "";
    const rest = { moved: [], skips: [], discardedInboxIds: [] };
    const part: Part = { items, seqs, appliedSeq: batch.lastSeq, lineOf, ...rest };
    for (const piece of cutAround(part, (seq) => writer.wasSetAside(lineOf(seq)))) await writePiece(piece, writer);
    rows += batch.lines.length - refused.size;
    refusedRows += refused.size;
  }
  return { rows, refusedRows };
}

/** SQL may take in one batch what it refused in another, and a row that is set aside must be in no store. */
async function writePiece(piece: Part, writer: ReplayWriter): Promise<void> {
  const [first] = piece.seqs;
  if (first !== undefined && writer.wasSetAside(piece.lineOf(first)))
    await writer.setAside(piece, new Error("it was set aside before"));
  else await writeInParts(piece, writer);
}

async function ensureKnown(
  monitorId: number,
  { monitors }: Pick<ControlPlane, "monitors">,
  states: RejudgingStates,
): Promise<void> {
  if (states.monitor(monitorId) !== undefined) return;
  const found = await monitors.recall(monitorId);
  if (found !== undefined) states.set(found.monitor, found.live);
}
