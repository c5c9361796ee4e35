/** Everything that is sealed, for a rotation of the key. */

/** What seals and opens; the shape of store/sealing.ts. */
interface Sealer {
  readonly keyId: string;
  seal(purpose: string, plaintext: string): string;
  open(purpose: string, sealed: string): string;
}

export interface ResealCounts {
  readonly resealed: number;
  /** Could not be opened, and stay as they are: `heartbeats 7: why`. */
  readonly unreadable: readonly string[];
}

export interface Sealed {
  /** Seals anew, with the key that seals now, whatever was sealed with another. Safe beside a service that runs. */
  reseal(sealer: Sealer): Promise<ResealCounts>;
  /** Ids of all keys that something is sealed with. */
  keyIds(): Promise<ReadonlySet<string>>;
}
