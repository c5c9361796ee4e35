/** Locations whose checkers are processes of their own. Their keys are sealed; checkers have them in a file, other processes read them here. */
export interface Location {
  /** `any` or a lowercase two-letter country. */
  readonly code: string;
  /** What is sent there is sealed with it. */
  readonly sealedKey: string;
  /** Of a rotation that is not finished: it opens already. */
  readonly nextSealedKey: string | null;
  readonly createdAtMs: number;
}

export interface Locations {
  /** By code. */
  all(): Promise<readonly Location[]>;
  find(code: string): Promise<Location | undefined>;
  /** False when it is there already. */
  add(code: string, sealedKey: string, nowMs: number): Promise<boolean>;
  /** Begins a rotation: both keys open from now on, the first still seals. False when there is no such location, or one is under way. */
  addKey(code: string, nextSealedKey: string): Promise<boolean>;
  /** Ends a rotation: the key before is forgotten. False when none is under way. */
  promoteKey(code: string): Promise<boolean>;
  /** Its checkers get nothing any more. False when it was not there. */
  remove(code: string): Promise<boolean>;
}
