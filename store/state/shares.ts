/** Token buckets by name: so much a second for each, and a burst. Names are few and chosen by our own code. Time comes in. */
export interface Shares {
  /** @returns false when the bucket is empty. One taking may bring it below 0; the refill makes up for that first. */
  take(name: string, amount: number, nowMs: number): boolean;
}

export function createShares({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }): Shares {
  const left = new Map<string, { amount: number; atMs: number }>();
  return {
    take(name, amount, nowMs) {
      const known = left.get(name) ?? { amount: burst, atMs: nowMs };
      left.set(name, known);
      known.amount = Math.min(burst, known.amount + ((nowMs - known.atMs) / 1_000) * perSecond);
      known.atMs = nowMs;
      if (known.amount <= 0) return false;
      known.amount = Math.max(-burst, known.amount - amount);
      return true;
    },
  };
}
