/** Replay: what was on disk and not yet in SQL when this shard's owner died is judged again, in order, before anything new runs. */
import type { Spool } from "../store/results/spool.ts";
import type { ControlPlane } from "../store/sql/control-plane.ts";
import type { Ledger } from "./ledger.ts";
import { changesOf, type SinkItem } from "./sink.ts";

/** @returns how many results were applied */
export async function replay(shard: number, spool: Spool, controlPlane: ControlPlane, ledger: Ledger): Promise<number> {
  let rows = 0;
  const appliedSeq = await controlPlane.sink.appliedSeq(shard);
  for await (const batch of spool.replay(appliedSeq)) {
    const items: SinkItem[] = [];
    for (const line of batch.lines) {
      await ensureKnown(line, controlPlane, ledger);
      const item = ledger.rejudge(line);
      if (item !== undefined) items.push(item);
    }
    await controlPlane.sink.apply({ shard, appliedSeq: batch.lastSeq, ...changesOf(items, ledger.live) });
    rows += batch.lines.length;
  }
  return rows;
}

async function ensureKnown(line: string, controlPlane: ControlPlane, ledger: Ledger): Promise<void> {
  const monitorId = ledger.monitorOf(line);
  if (ledger.monitor(monitorId) !== undefined) return;
  const found = await controlPlane.monitors.recall(monitorId);
  if (found !== undefined) ledger.set(found.monitor, found.live);
}
