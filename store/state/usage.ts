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
  /** @returns the counts that wait, without removing them */
  waiting(): readonly PendingUsage[];
  /** Removes and returns all counts. */
  take(): readonly PendingUsage[];
  /** Adds counts again that could not be written. */
  giveBack(counts: readonly PendingUsage[]): void;
}

type Counted = { -readonly [Field in keyof PendingUsage]: PendingUsage[Field] };

export function createUsageBuffer(): UsageBuffer {
  let pending = new Map<string, Counted>();
  /** By endpoint: the entry that was counted last. One caller sends many requests, and making a name for each would cost more than the count. */
  const latest = new Map<string, Counted>();
  const add = (more: PendingUsage): Counted | undefined => {
    const { organizationId, keyId, day, endpoint } = more;
    const name = `${organizationId} ${keyId} ${day} ${endpoint}`;
    let counted = pending.get(name);
    if (counted === undefined) {
      if (pending.size >= MOST_PENDING) return undefined;
      counted = { ...more, requests: 0, errors: 0 };
      pending.set(name, counted);
    }
    counted.requests += more.requests;
    counted.errors += more.errors;
    return counted;
  };
  return {
    count(organizationId, keyId, endpoint, isError, nowMs) {
      const day = dayOf(nowMs);
      const known = latest.get(endpoint);
      if (known?.keyId === keyId && known.organizationId === organizationId && known.day === day) {
        known.requests += 1;
        if (isError) known.errors += 1;
        return;
      }
      const counted = add({ organizationId, keyId, endpoint, day, requests: 1, errors: isError ? 1 : 0 });
      if (counted !== undefined) latest.set(endpoint, counted);
    },
    waiting: () => [...pending.values()].map((counted) => ({ ...counted })),
    take() {
      const taken = [...pending.values()];
      pending = new Map();
      latest.clear();
      return taken;
    },
    giveBack(counts) {
      for (const count of counts) add(count);
    },
  };
}
