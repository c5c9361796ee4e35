/** The word of a list that was most likely meant. */

/** Longer words are no slips of the pen of ours, and comparing costs the product of the lengths. */
const LONGEST = 64;
/** Letters that may be wrong, left out or too many. */
const FARTHEST = 3;

/** @returns undefined when none is near */
export function nearestOf(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  let nearest: string | undefined;
  let least = FARTHEST + 1;
  for (const one of known) {
    const apart = distance(word, one);
    if (apart < least) {
      least = apart;
      nearest = one;
    }
  }
  return nearest;
}

/** Levenshtein's: how many letters must be put in, left out or exchanged. */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const here = [row];
    for (let column = 1; column <= other.length; column++) {
      const exchanged = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      here.push(Math.min(exchanged, (above[column] ?? 0) + 1, (here[column - 1] ?? 0) + 1));
    }
    above = here;
  }
  return above[other.length] ?? 0;
}
