/**
 * Leases: a right that one process has at a time. The holder raises a beat. Another process takes the right when the beat that it saw
 * has not changed for long enough by its own clock, so no two clocks are ever compared. The epoch counts takings: a write that asserts
 * it fails in a process that lost the right.
 */
export interface Lease {
  readonly holder: string | null;
  readonly epoch: number;
  readonly beat: number;
}

export interface Leases {
  read(name: string): Promise<Lease | undefined>;
  /** Takes the lease if it is still as it was seen. @returns the new epoch; undefined when another process was faster, or the holder has beaten */
  take(name: string, holder: string, seen: Lease | undefined): Promise<number | undefined>;
  /** @returns false when another process has taken it */
  beat(name: string, epoch: number): Promise<boolean>;
  /** Frees the lease, so that the next process that wants it need not wait. */
  release(name: string, epoch: number): Promise<void>;
}

/** Another process has taken the right meanwhile. */
export class LeaseLost extends Error {
  override readonly name: string = "LeaseLost";
}

/** The right to send webhooks. */
export const SENDER_LEASE = "sender";
