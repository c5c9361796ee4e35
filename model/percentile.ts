/** @returns the least of the numbers that this share of them does not exceed (nearest rank); null for none */
export function percentileOf(numbers: readonly number[], share: number): number | null {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
