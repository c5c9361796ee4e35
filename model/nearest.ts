/** The word of a list that was most likely meant. */

/** Longer words are no slips of the pen of ours, and comparing costs the product of the lengths. */
const LONGEST = 64;
/** Letters that may be wrong, left out or too many. */
const FARTHEST = 3;
/** Words that are compared: a document has up to 20,000 keys. */
export const MOST_COMPARED = 500;

/** @returns undefined when none is near */
export function nearestOf(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  let nearest: string | undefined;
  let least = FARTHEST + 1;
  let compared = 0;
  for (const one of known) {
    const apart = editDistance(word, one, least - 1);
    if (apart < least) {
      least = apart;
      nearest = one;
    }
    if (++compared >= MOST_COMPARED) break;
  }
  return nearest;
}

/**
 * Letters that are put in, left out, replaced, or swapped with their neighbour (optimal string alignment).
 * @param most what lies further apart is not worked out
 * @returns at most one more than `most`
 */
export function editDistance(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const now = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      now[column] = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    // A further row is never less than the one before it.
    if (Math.min(...now) > most) return most + 1;
    before = last;
    last = now;
  }
  return Math.min(last[to.length] ?? 0, most + 1);
}
