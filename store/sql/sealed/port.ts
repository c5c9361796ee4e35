/** Everything that is sealed, for a rotation of the key. */
import type { Sealing } from "../../sealed-text.ts";

export interface ResealCounts {
  readonly resealed: number;
  /** Could not be opened, and stay as they are: `heartbeats 7: why`. */
  readonly unreadable: readonly string[];
}

export interface Sealed {
  /**
   * Seals anew whatever is not sealed as it would be now, with the key that seals now. Where rows are bound it also seals the addresses
   * that stand in clear. Safe beside a service that runs.
   */
  reseal(sealing: Sealing): Promise<ResealCounts>;
  /** Ids of all keys that something is sealed with. */
  keyIds(): Promise<ReadonlySet<string>>;
  /** After secrets were taken out of clear columns: leaves nothing of them in the database's files, as far as it can. */
  scrub(): Promise<void>;
}
