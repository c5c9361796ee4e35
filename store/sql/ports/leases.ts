/**
 * Leases: a right that one process has at a time. A holder beats; whoever wants the right takes it when the beat he saw has stood still
 * for long enough by his own clock, so that no two clocks are ever compared. The epoch counts takings: a write that asserts it cannot be
 * made by somebody who lost the right.
 */
export interface Lease {
  readonly holder: string | null;
  readonly epoch: number;
  readonly beat: number;
}

export interface Leases {
  read(name: string): Promise<Lease | undefined>;
  /** Takes it if it is still as it was seen. @returns the new epoch; undefined when somebody was faster, or it beat */
  take(name: string, holder: string, seen: Lease | undefined): Promise<number | undefined>;
  /** @returns false when another has taken it */
  beat(name: string, epoch: number): Promise<boolean>;
  /** Whoever wants it next need not wait. */
  release(name: string, epoch: number): Promise<void>;
}

/** Another process has taken the right meanwhile. */
export class LeaseLost extends Error {
  override readonly name: string = "LeaseLost";
}

/** The right to send webhooks. */
export const SENDER_LEASE = "sender";
