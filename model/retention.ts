/** Retention: which result rows are kept (docs/api-contract.md#results). The plain model of what the result store does. */

/** Every row is kept for this long. */
export const FULL_RETENTION_MS = 24 * 3_600_000;
/** No row is kept for longer: no period reaches further than 7 days. */
export const MAX_RETENTION_MS = 8 * 24 * 3_600_000;
/** Rows of each monitor that are kept between the two, whatever they say. */
export const NEWEST_KEPT = 100;

interface RowAge {
  /** Since the row's tested_at. */
  readonly ageMs: number;
  /** Among the monitor's rows; 1 is the newest. */
  readonly rankFromNewest: number;
}

/** @param row `changed` is 1 when its status differs from that of the monitor's row before it, or there was none */
export function isKept(row: { readonly changed: 0 | 1 }, { ageMs, rankFromNewest }: RowAge): boolean {
  if (ageMs > MAX_RETENTION_MS) return false;
  return ageMs <= FULL_RETENTION_MS || row.changed === 1 || rankFromNewest <= NEWEST_KEPT;
}
