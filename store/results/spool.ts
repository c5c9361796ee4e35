/** Spool: where results wait on disk between the check and the stores. Contract here; see the header of the implementation below it. */

export interface Spool {
  /**
   * Appends lines with consecutive sequence numbers and syncs once. Resolves when they are on disk.
   * @returns the sequence number of the last line
   */
  append(lines: readonly string[]): Promise<number>;
  /** Lines after a sequence number, oldest first, in batches: what a restart replays into the control plane. */
  replay(afterSeq: number): AsyncIterable<{ readonly lastSeq: number; readonly lines: readonly string[] }>;
  /** Ends the current segment; the next append starts a new one. */
  seal(): Promise<void>;
  /** Oldest sealed segment that is not yet in the result store; undefined when all are. */
  next(): Promise<SpoolSegment | undefined>;
  /** Forgets a segment once it is inserted. Keeps nothing of it; sequence numbers go on. */
  release(segment: SpoolSegment): Promise<void>;
  readonly sizeBytes: number;
  readonly rows: number;
  /** Rows dropped because the spool was full: those without a change of status first. */
  readonly droppedRows: number;
  close(): Promise<void>;
}

export interface SpoolSegment {
  /** Names the segment for ever: the deduplication token of its insert. */
  readonly token: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows: number;
  read(): Promise<Uint8Array>;
}
