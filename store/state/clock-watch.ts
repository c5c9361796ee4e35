/** Samples of another clock. The quickest of the latest is used, because an answer that waited in a queue is inexact. */
export function createClockWatch(): { take(sample: { offsetMs: number; tookMs: number }): void; offsetMs(): number } {
  const samples: { offsetMs: number; tookMs: number }[] = [];
  return {
    take(sample) {
      // A clock that was set is used at once.
      if (samples.some(({ offsetMs, tookMs }) => Math.abs(offsetMs - sample.offsetMs) > tookMs + sample.tookMs + 1)) {
        samples.length = 0;
      }
      samples.push(sample);
      if (samples.length > 16) samples.shift();
    },
    offsetMs: () => samples.reduce((best, one) => (one.tookMs < best.tookMs ? one : best), samples[0] ?? NONE).offsetMs,
  };
}
const NONE = { offsetMs: 0, tookMs: 0 };
