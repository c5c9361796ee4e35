/**
 * Phase: when in its interval each monitor is due. It is due at the times `k * interval + phase` of wall time, so a restart does
 * not shift the pattern, and five thousand monitors that start together are due one after the other.
 */

/**
 * 2^32 divided by the golden ratio, odd. Neighbouring ids land far apart and any run of ids covers the interval more evenly than
 * random numbers would (Knuth, The Art of Computer Programming 3, section 6.4, multiplicative hashing; three-distance theorem).
 */
const GOLDEN = 0x9e3779b1;
const TWO_TO_32 = 4_294_967_296;

/** An interval has 2^5 moments, and the monitors of a block of 2^7 ids are due at these: four at each. */
const MOMENT_BITS = 5;
const BLOCK_BITS = 7;

/**
 * A few neighbours share each moment, because a wake-up costs an idle machine more than a check does (docs/develop/cost.md). The blocks of neighbours
 * are spread evenly between the moments, so that thousands come nearly one by one.
 * @returns the monitor's offset within its interval, whole ms, 0 to below the interval
 */
export function phaseOf(monitorId: number, location: string, intervalMs: number): number {
  const moment = spread(monitorId) >>> (32 - MOMENT_BITS);
  const between = spread(Math.floor(monitorId / 2 ** BLOCK_BITS)) >>> MOMENT_BITS;
  const share = ((moment << (32 - MOMENT_BITS)) + between + hashText(location)) >>> 0;
  return Math.floor((share / TWO_TO_32) * intervalMs);
}

/** @returns 32 bits */
function spread(id: number): number {
  return Math.imul(id, GOLDEN) >>> 0;
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
