/**
 * Configurations that brought a prober down, so that no process runs them again for a while: not after a restart, not at another checker,
 * not for another monitor. A row names one by a keyed hash (engine/contract/fingerprint.ts) and holds nothing of it.
 */
export interface QuarantineRecord {
  readonly id: number;
  readonly fingerprint: string;
  readonly kind: string;
  /** How the prober ended. */
  readonly reason: string;
  readonly strikes: number;
  /** The monitor whose run did it last; null: a check without a monitor. */
  readonly monitorId: number | null;
  readonly location: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly untilMs: number;
}

export type Harm = Pick<QuarantineRecord, "fingerprint" | "kind" | "reason" | "monitorId" | "location">;

export interface Quarantines {
  /** All entries that are remembered, also those that are not held now; the latest first. */
  all(): Promise<readonly QuarantineRecord[]>;
  held(nowMs: number): Promise<readonly QuarantineRecord[]>;
  /** Entries that are held now. */
  find(fingerprint: string, nowMs: number): Promise<QuarantineRecord | undefined>;
  /** Records that the configuration brought a prober down. The same event counts once, also when it is reported twice. */
  strike(harm: Harm, nowMs: number): Promise<QuarantineRecord>;
  /** Deletes the entry with its strikes. @returns undefined when it was not there */
  lift(id: number): Promise<QuarantineRecord | undefined>;
}
