/** What Prometheus' text says of checks: turns that were skipped, and how late checks were. Pure. */

export interface Metrics {
  readonly skipped: number;
  /** Upper bound, s, to the checks that were not later: a histogram's buckets, each with all below it. */
  readonly buckets: ReadonlyMap<number, number>;
}

const BUCKET = /^sonde_check_lateness_seconds_bucket\{(?:[^}]*,)?le="([^"]+)"[^}]*\} (\d+(?:\.\d+)?)$/;
const SKIPPED = /^sonde_turns_skipped_total(?:\{[^}]*\})? (\d+)$/;

export function readMetrics(text: string): Metrics {
  let skipped = 0;
  const buckets = new Map<number, number>();
  for (const line of text.split("\n")) {
    const bucket = BUCKET.exec(line);
    if (bucket !== null) {
      const bound = bucket[1] === "+Inf" ? Number.POSITIVE_INFINITY : Number(bucket[1]);
      buckets.set(bound, (buckets.get(bound) ?? 0) + Number(bucket[2]));
    }
    skipped += Number(SKIPPED.exec(line)?.[1] ?? 0);
  }
  return { skipped, buckets };
}

export interface Checks {
  readonly skipped: number;
  /** Within what time a share of the checks began, in words: the least bound that holds for it. */
  late(share: number): string;
}

export function checksBetween(before: Metrics, after: Metrics): Checks {
  const bounds = [...after.buckets.keys()].sort((a, b) => a - b);
  const within = (bound: number): number => (after.buckets.get(bound) ?? 0) - (before.buckets.get(bound) ?? 0);
  const all = within(Number.POSITIVE_INFINITY);
  return {
    skipped: after.skipped - before.skipped,
    late(share) {
      const bound = bounds.find((one) => within(one) >= share * all);
      if (bound === undefined || all === 0) return "nothing";
      return Number.isFinite(bound) ? `${bound * 1_000} ms` : "more than the largest bound";
    },
  };
}
