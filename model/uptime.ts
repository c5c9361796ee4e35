/** The share of time that a monitor was not down. Counting results would not do: old ones are thinned (retention.ts). Pure. */

/** A stretch of time, Unix ms; without an end it lasts. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number | null;
}

/** What is known of a monitor's past, newest first. Incidents do not overlap. */
export interface Downtime {
  /** Incidents at the level down, from the first failed check on. */
  readonly down: readonly Span[];
  readonly pauseEvents: readonly { readonly type: "paused" | "resumed"; readonly atMs: number }[];
  /** Unix ms; the monitor did not exist before it, or nothing older was read. */
  readonly knownFromMs: number;
}

/**
 * Percent of the watched time, to three decimals. Watched is the time in which the monitor existed and was not paused. The time counts as
 * down from an incident's first failed check until it recovers; degraded is not down.
 * @param period Unix ms
 * @returns null when nothing was watched
 */
export function uptimePercent(
  { down, pauseEvents, knownFromMs }: Downtime,
  period: { readonly fromMs: number; readonly toMs: number },
): number | null {
  const from = Math.max(period.fromMs, knownFromMs);
  const watched = watchedSpans(pauseEvents, from, period.toMs);
  let watchedMs = 0;
  let downMs = 0;
  for (const span of watched) {
    watchedMs += span.toMs - span.fromMs;
    for (const one of down) downMs += overlapMs(one, span);
  }
  if (watchedMs <= 0) return null;
  return Math.round(Math.max(0, 1 - downMs / watchedMs) * 100_000) / 1_000;
}

interface Watched {
  readonly fromMs: number;
  readonly toMs: number;
}

function watchedSpans(pauseEvents: Downtime["pauseEvents"], fromMs: number, toMs: number): readonly Watched[] {
  const spans: Watched[] = [];
  // The oldest turn says what was before it.
  let beganMs: number | null = pauseEvents.at(-1)?.type === "resumed" ? null : fromMs;
  for (const { type, atMs } of pauseEvents.toReversed()) {
    if (type === "paused" && beganMs !== null) spans.push({ fromMs: beganMs, toMs: Math.min(atMs, toMs) });
    if (type === "paused") beganMs = null;
    else beganMs ??= Math.max(atMs, fromMs);
  }
  if (beganMs !== null) spans.push({ fromMs: beganMs, toMs });
  return spans.filter((span) => span.toMs > span.fromMs);
}

function overlapMs(down: Span, watched: Watched): number {
  const endMs = Math.min(down.toMs ?? watched.toMs, watched.toMs);
  return Math.max(0, endMs - Math.max(down.fromMs, watched.fromMs));
}
