/** Figures of many measurements. Pure. */
import { percentileOf } from "../model/percentile.ts";

/** @returns what percentileOf() says; NaN for none */
export function percentile(numbers: readonly number[], share: number): number {
  return percentileOf(numbers, share) ?? Number.NaN;
}

/** Of an even number of them, the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = Float64Array.from(numbers).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
