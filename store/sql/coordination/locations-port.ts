/** Locations whose checkers are processes of their own. Their keys are sealed; checkers have them in a file, other processes read them here. */
export interface Location {
  /** `any` or a lowercase two-letter country. */
  readonly code: string;
  /** The key that seals what is sent to the location's checkers. */
  readonly sealedKey: string;
  /** The next key of a rotation that is not finished: texts under it can be opened already. */
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
  /** Removes the location: its checkers get no more runs. @returns false when it was not there */
  remove(code: string): Promise<boolean>;
}
