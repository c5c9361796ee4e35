/** Finds monitors without a result for two intervals: checks that stop must be visible (docs/decisions/0003-whose-fault.md). */
import type { Entry } from "./entry.ts";
import { patienceMs } from "./heartbeats.ts";

/** Our own slack on top of two intervals and the check's own time, ms: a batch, a tick, a second look. */
const SLACK_MS = 5_000;

/** Entries whose last sign is older than it may be. */
export function silentEntries(entries: Iterable<Entry>, nowMs: number): readonly Entry[] {
  const silent: Entry[] = [];
  for (const entry of entries) if (nowMs - entry.lastSignAtMs > allowanceMs(entry)) silent.push(entry);
  return silent;
}

function allowanceMs(entry: Entry): number {
  if (entry.spec === null) return 2 * patienceMs(entry.monitor) + SLACK_MS;
  return 2 * entry.intervalMs + entry.spec.timeoutMs + SLACK_MS;
}
