/** Endpoint counts that wait to be written: small, because routes and keys are few. */
import type { EndpointUsage } from "./state.ts";
import { dayOf } from "./windows.ts";

export interface PendingUsage extends EndpointUsage {
  readonly organizationId: number;
}

/** Bound while the store is away; beyond it new combinations are not counted. */
const MOST_PENDING = 50_000;

export interface UsageBuffer {
  count(organizationId: number, keyId: number, endpoint: string, isError: boolean, nowMs: number): void;
  /** What waits, without taking it. */
  waiting(): readonly PendingUsage[];
  /** Takes everything. */
  take(): readonly PendingUsage[];
  /** Puts back what could not be written. */
  giveBack(counts: readonly PendingUsage[]): void;
}

export function createUsageBuffer(): UsageBuffer {
  let pending = new Map<string, PendingUsage>();
  const add = (more: PendingUsage): void => {
    const { organizationId, keyId, day, endpoint } = more;
    const name = `${organizationId} ${keyId} ${day} ${endpoint}`;
    const known = pending.get(name);
    if (known === undefined && pending.size >= MOST_PENDING) return;
    const requests = (known?.requests ?? 0) + more.requests;
    pending.set(name, { ...more, requests, errors: (known?.errors ?? 0) + more.errors });
  };
  return {
    count(organizationId, keyId, endpoint, isError, nowMs) {
      add({ organizationId, keyId, endpoint, day: dayOf(nowMs), requests: 1, errors: isError ? 1 : 0 });
    },
    waiting: () => [...pending.values()],
    take() {
      const taken = [...pending.values()];
      pending = new Map();
      return taken;
    },
    giveBack: (counts) => counts.forEach(add),
  };
}
