/**
 * Phase: when in its interval each monitor is due. It is due at the times `k * interval + phase` of wall time, so a restart does
 * not shift the pattern and five thousand monitors that start together still come one by one.
 */

/**
 * 2^32 divided by the golden ratio, odd. Neighbouring ids land far apart and any run of ids covers the interval more evenly than
 * random numbers would (Knuth, The Art of Computer Programming 3, section 6.4, multiplicative hashing; three-distance theorem).
 */
const GOLDEN = 0x9e3779b1;
const TWO_TO_32 = 4_294_967_296;

/** @returns the monitor's offset within its interval, whole ms, 0 to below the interval */
export function phaseOf(monitorId: number, location: string, intervalMs: number): number {
  const hash = (Math.imul(monitorId, GOLDEN) + hashText(location)) >>> 0;
  return Math.floor((hash / TWO_TO_32) * intervalMs);
}

/** @returns the first turn after that time, strictly later; Unix ms */
export function nextDue(afterMs: number, intervalMs: number, phaseMs: number): number {
  const sinceTurnMs = (afterMs - phaseMs) % intervalMs;
  return afterMs - sinceTurnMs + (sinceTurnMs < 0 ? 0 : intervalMs);
}

/** FNV-1a, 32 bits, over UTF-16 units: moves all turns of a location by the same share of the interval. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
