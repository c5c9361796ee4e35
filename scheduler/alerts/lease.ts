/**
 * Keeping a lease: one process sends at a time. The holder beats; another takes over when the beat it saw stood still for LEASE_MS by its
 * own clock. What was begun within mayBeginMs after a beat has ended before another process can take over.
 */
import { type Lease, LeaseLost, type Leases } from "../../store/sql/ports/leases.ts";
import { ATTEMPT_MS } from "./post.ts";

const BEAT_MS = 3_000;
/** A holder that was silent for this long is taken to be gone. */
export const LEASE_MS = 30_000;
/** An attempt and its record must fit between the last beat and the end of the lease, with something to spare. */
const MAY_BEGIN_MS = LEASE_MS - ATTEMPT_MS - 5_000;

export interface LeaseOptions {
  readonly leases: Leases;
  readonly name: string;
  /** Names this process. */
  readonly holder: string;
  /** No other living process can have it: the control plane is in a data folder, which has one owner. */
  readonly isSoleOwner: boolean;
  readonly monotonicNowMs: () => number;
}

export interface LeaseKeeper {
  /** Beats when it is time, or tries to take it. @returns the epoch while it is held */
  keep(): Promise<number | undefined>;
  /** Whether what takes an attempt's time may begin now. */
  mayBegin(): boolean;
  /** Runs a write that asserts the epoch; when it says that the lease is lost, it is. */
  asserting<T>(write: () => Promise<T>): Promise<T>;
  release(): Promise<void>;
}

export function createLeaseKeeper({ leases, name, holder, isSoleOwner, monotonicNowMs }: LeaseOptions): LeaseKeeper {
  let epoch: number | undefined;
  /** When the last beat that succeeded was sent. */
  let beatAtMs = 0;
  /** Another holder's lease, and since when it is unchanged. */
  let seen: { readonly lease: Lease; readonly sinceMs: number } | undefined;

  async function beat(held: number): Promise<void> {
    const sentAtMs = monotonicNowMs();
    if (sentAtMs - beatAtMs < BEAT_MS) return;
    if (await leases.beat(name, held)) beatAtMs = sentAtMs;
    else epoch = undefined;
  }

  async function take(): Promise<void> {
    const nowMs = monotonicNowMs();
    const lease = await leases.read(name);
    if (lease !== undefined && !mayTake(lease, nowMs)) return;
    epoch = await leases.take(name, holder, lease);
    beatAtMs = nowMs;
    seen = undefined;
  }

  function mayTake(lease: Lease, nowMs: number): boolean {
    if (lease.holder === null || isSoleOwner) return true;
    const isSame = seen !== undefined && seen.lease.epoch === lease.epoch && seen.lease.beat === lease.beat;
    if (!isSame) seen = { lease, sinceMs: nowMs };
    return seen !== undefined && nowMs - seen.sinceMs >= LEASE_MS;
  }

  return {
    async keep() {
      if (epoch === undefined) await take();
      else await beat(epoch);
      return epoch;
    },
    mayBegin: () => epoch !== undefined && monotonicNowMs() - beatAtMs < MAY_BEGIN_MS,
    async asserting(write) {
      try {
        return await write();
      } catch (error) {
        if (error instanceof LeaseLost) epoch = undefined;
        throw error;
      }
    },
    async release() {
      if (epoch !== undefined) await leases.release(name, epoch);
      epoch = undefined;
    },
  };
}
