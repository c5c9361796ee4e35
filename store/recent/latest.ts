/**
 * Adds to a page of the result store the rows that it does not have yet: they reach it some seconds after the status. What the status says was
 * checked is in the list all the same, and no reader waits for an insert or causes one.
 */
import type { LiveState } from "../../model/status.ts";
import type { StoredResult } from "../results/result-store.ts";

/** What a live state has of its latest check's row. */
type LatestCheck = Pick<
  LiveState,
  "monitorId" | "lastRowId" | "lastRowStatus" | "lastCheckedAtMs" | "latencyMs" | "connectMs" | "errorMessage"
> & { readonly kind: string };

/** @returns undefined before the first check, and for one that a version before this one judged. Details come with the stored row. */
export function rowOfLatest(check: LatestCheck): StoredResult | undefined {
  const { monitorId, kind, lastRowId, lastRowStatus, lastCheckedAtMs, latencyMs, connectMs, errorMessage } = check;
  if (lastRowId === null || lastRowStatus === null || lastCheckedAtMs === null) return undefined;
  return {
    id: lastRowId,
    monitorId,
    kind,
    status: lastRowStatus,
    latencyMs,
    connectMs,
    testedAtMs: lastCheckedAtMs,
    errorMessage,
    details: null,
  };
}

/**
 * A first page with the rows that are not stored yet, in their places.
 * @param stored newest first @param latest of the same period and status @returns the page, and the rows that were added to it
 */
export function withLatest(
  stored: readonly StoredResult[],
  latest: readonly StoredResult[],
  limit: number,
): { readonly rows: readonly StoredResult[]; readonly added: readonly StoredResult[] } {
  const ids = new Set(stored.map(({ id }) => id));
  const last = stored.at(-1);
  // A row that is older than the last row of a full page is on a later page.
  const isOnPage = (row: StoredResult): boolean =>
    stored.length < limit || last === undefined || newestFirst(row, last) < 0;
  const added = latest.filter((row) => !ids.has(row.id) && isOnPage(row));
  if (added.length === 0) return { rows: stored, added };
  return { rows: [...stored, ...added].sort(newestFirst).slice(0, limit), added };
}

/** Ties go by id, highest first. */
function newestFirst(a: StoredResult, b: StoredResult): number {
  return b.testedAtMs - a.testedAtMs || compareIds(b.id, a.id);
}

/** Of decimal numbers without leading zeros. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
