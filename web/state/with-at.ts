/** @returns the list with another item in that place; null: without it */
export function withAt<T>(items: readonly T[], at: number, next: T | null): readonly T[] {
  return items.flatMap((one, index) => (index !== at ? [one] : next === null ? [] : [next]));
}
