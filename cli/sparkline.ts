/** Latencies as a line of blocks, the oldest first. Pure. */

const BLOCKS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
/** A check without a latency: it failed. */
const FAILED = "×";

/**
 * The lowest block is 0, the highest the greatest latency: small differences of a steady target are no mountains.
 * @param latencies ms, null for a check that failed
 * @param columns at most; the latest are shown
 */
export function sparkline(latencies: readonly (number | null)[], columns: number): string {
  const shown = latencies.slice(Math.max(0, latencies.length - columns));
  const greatest = shown.reduce<number>((most, latency) => Math.max(most, latency ?? 0), 1);
  return shown.map((latency) => (latency === null ? FAILED : blockOf(latency / greatest))).join("");
}

function blockOf(share: number): string {
  return BLOCKS[Math.min(BLOCKS.length - 1, Math.floor(share * BLOCKS.length))] ?? "";
}
