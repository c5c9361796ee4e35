/**
 * Judges again, in order and before any check runs, what was on disk and not yet in SQL when this process died. When another scheduler has
 * taken a shard meanwhile, its rows leave the spool. A row that SQL refuses for its values is set aside, or the process would
 * never start again.
 */
import type { Spool } from "../store/results/spool.ts";
import type { ControlPlane } from "../store/sql/control-plane.ts";
import type { Holdings } from "./holdings.ts";
import type { Ledger } from "./ledger.ts";
import type { SinkItem } from "./sink-item.ts";
import { type Part, type PartWriter, writeInParts } from "./sink-parts.ts";

/** Under which a shard is taken for the first time: of rows from before there were epochs. */
const FIRST_EPOCH = 1;

export interface Replayed {
  /** Results that were applied. */
  readonly rows: number;
  /** Results of shards that others have taken: dropped. */
  readonly refusedRows: number;
}

export async function replay(
  spool: Spool,
  controlPlane: ControlPlane,
  holdings: Holdings,
  ledger: Ledger,
  writer: PartWriter,
): Promise<Replayed> {
  let rows = 0;
  let refusedRows = 0;
  const appliedSeq = await controlPlane.sink.appliedSeq(spool.name);
  for await (const batch of spool.replay(appliedSeq)) {
    const items: SinkItem[] = [];
    const seqs: number[] = [];
    const refused = new Set<number>();
    for (const [index, line] of batch.lines.entries()) {
      const { monitorId, epoch } = ledger.originOf(line);
      if (holdings.fenceOf(monitorId)?.epoch !== (epoch ?? FIRST_EPOCH)) {
        refused.add(batch.seqs[index] ?? 0);
        continue;
      }
      await ensureKnown(monitorId, controlPlane, ledger);
      const item = ledger.rejudge(line);
      if (item === undefined) continue;
      items.push(item);
      seqs.push(batch.seqs[index] ?? 0);
    }
    await spool.discard(refused);
    const part: Part = { items, seqs, appliedSeq: batch.lastSeq, moved: [], skips: [], discardedInboxIds: [] };
    await writeInParts(part, writer);
    rows += batch.lines.length - refused.size;
    refusedRows += refused.size;
  }
  return { rows, refusedRows };
}

async function ensureKnown(monitorId: number, controlPlane: ControlPlane, ledger: Ledger): Promise<void> {
  if (ledger.monitor(monitorId) !== undefined) return;
  const found = await controlPlane.monitors.recall(monitorId);
  if (found !== undefined) ledger.set(found.monitor, found.live);
}
