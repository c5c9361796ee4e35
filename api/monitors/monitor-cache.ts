/**
 * Answers with one monitor's record, kept while nothing at all was committed to the control plane since it was read: a caller that asks
 * for the same record often, such as a dashboard, costs neither a query nor the serialisation.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import type { AuthCache } from "../auth-cache.ts";
import type { ApiResponse } from "../http.ts";

/** Bounds memory: about 1 KiB each. */
const MOST_KEPT = 10_000;
/** A record shows days until a certificate ends, so it may be this old at most, ms. */
const KEPT_MS = 1_000;

export interface MonitorCache {
  find(projectId: number, id: number, nowMs: number): ApiResponse | undefined;
  /** @param stamp of the access before the record was read: what was committed meanwhile makes it stale */
  keep(projectId: number, id: number, stamp: number | null, nowMs: number, answer: ApiResponse): void;
}

interface Kept {
  readonly projectId: number;
  readonly stamp: number;
  readonly atMs: number;
  readonly answer: ApiResponse;
}

export function createMonitorCache(auth: Pick<AuthCache, "stamp">): MonitorCache {
  const kept = new BoundedMap<number, Kept>(MOST_KEPT);
  return {
    find(projectId, id, nowMs) {
      const one = kept.get(id);
      if (one === undefined || one.stamp !== auth.stamp() || one.projectId !== projectId) return undefined;
      return nowMs >= one.atMs && nowMs - one.atMs < KEPT_MS ? one.answer : undefined;
    },
    keep(projectId, id, stamp, nowMs, answer) {
      if (stamp === null) return;
      kept.set(id, { projectId, stamp, atMs: nowMs, answer });
    },
  };
}
