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
  /** Whose run did it last; null: of no monitor. */
  readonly monitorId: number | null;
  readonly location: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly untilMs: number;
}

export type Harm = Pick<QuarantineRecord, "fingerprint" | "kind" | "reason" | "monitorId" | "location">;

export interface Quarantines {
  /** Held now, and struck before: those that are remembered; the latest first. */
  all(): Promise<readonly QuarantineRecord[]>;
  held(nowMs: number): Promise<readonly QuarantineRecord[]>;
  /** Held now. */
  find(fingerprint: string, nowMs: number): Promise<QuarantineRecord | undefined>;
  /** It did it (again); the same event told twice counts once. */
  strike(harm: Harm, nowMs: number): Promise<QuarantineRecord>;
  /** Forgets it with its strikes. @returns undefined when it was not there */
  lift(id: number): Promise<QuarantineRecord | undefined>;
}
