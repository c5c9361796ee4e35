/** Durations as people write them: `90s`, `5m`, `1h30m`, `2d`. Pure. */

const WHOLE = /^(?:\d{1,9}[smhdw]){1,5}$/;
const PART = /(\d{1,9})([smhdw])/g;
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** @returns whole seconds; undefined for what is no duration */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit = ""] of text.matchAll(PART)) total += Number(count) * (SECONDS[unit] ?? 0);
  return Number.isSafeInteger(total) ? total : undefined;
}
