/** Days of the week as a document writes them: `mon`, or a range such as `mon-fri`. */

const DAY_WORDS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** @returns 1 for Monday to 7 for Sunday, in their order; undefined when one of them is no day */
export function dayNumbers(words: readonly string[]): readonly number[] | undefined {
  const days = new Set<number>();
  for (const word of words) {
    const [first = "", last = first, more] = word.trim().toLowerCase().split("-", 3);
    const [from, to] = [numberOf(first), numberOf(last)];
    if (from === 0 || to === 0 || more !== undefined) return undefined;
    // A range may go over Sunday.
    for (let day = from; ; day = (day % 7) + 1) {
      days.add(day);
      if (day === to) break;
    }
  }
  return [...days].sort((one, other) => one - other);
}

export function dayWords(days: readonly number[]): readonly string[] {
  return days.map((day) => DAY_WORDS[day - 1] ?? "");
}

function numberOf(word: string): number {
  return (DAY_WORDS as readonly string[]).indexOf(word) + 1;
}
