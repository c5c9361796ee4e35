/**
 * The spool as the sink uses it: it takes every batch. Rows that the disk refuses wait in memory with their numbers of the spool's sequence, so
 * that SQL gets their statuses and incidents at once. They go to the disk as soon as it takes a batch again, marked as applied: a replay must
 * not judge them a second time.
 */
import { isAboutValues } from "../../store/errors.ts";
import type { Spool } from "../../store/results/spool.ts";
import type { FrameLines } from "../../store/results/spool-frame.ts";
import { markApplied } from "./applied-line.ts";
import type { Trouble } from "./trouble.ts";

/** Most rows in memory; about 60 MB. */
const MOST_ROWS = 100_000;
/** Rows of one write; a segment of the spool has some thousand rows. */
const WRITTEN_ROWS = 2_000;

interface LateRow {
  readonly seq: number;
  readonly line: string;
}

export class LateRows {
  readonly #spool: Pick<Spool, "name" | "append" | "pass" | "discard">;
  readonly #trouble: Trouble;
  readonly #most: number;
  #rows: LateRow[] = [];
  #lost = 0;

  constructor(spool: Pick<Spool, "name" | "append" | "pass" | "discard">, trouble: Trouble, most: number = MOST_ROWS) {
    this.#spool = spool;
    this.#trouble = trouble;
    this.#most = most;
  }

  get name(): string {
    return this.#spool.name;
  }

  /** Rows in memory that are applied and on no disk. */
  get waiting(): number {
    return this.#rows.length;
  }

  /** Rows that were dropped, oldest first, because too many waited. */
  get lost(): number {
    return this.#lost;
  }

  /** @param lines must stay as they are meanwhile @returns the sequence number of the last line, whether it is on disk or not */
  async append(lines: FrameLines): Promise<number> {
    try {
      await this.flush();
      const lastSeq = await this.#spool.append(lines);
      this.#trouble.isOver();
      return lastSeq;
    } catch (error) {
      if (isAboutValues(error)) throw error;
      this.#trouble.is("spool", error);
    }
    const lastSeq = await this.#spool.pass(lines.count);
    const firstSeq = lastSeq - lines.count + 1;
    this.#keep(lines.texts().map((line, index) => ({ line, seq: firstSeq + index })));
    return lastSeq;
  }

  /** Writes what waits. @returns the sequence number of the last row; 0 when none waited. @throws StoreError when the disk still takes nothing */
  async flush(): Promise<number> {
    let lastSeq = 0;
    while (this.#rows.length > 0) {
      const some = this.#rows.slice(0, WRITTEN_ROWS);
      lastSeq = await this.#spool.append(some.map(({ line }) => markApplied(line)));
      this.#rows = this.#rows.slice(some.length);
    }
    if (lastSeq > 0) this.#trouble.isOver();
    return lastSeq;
  }

  /** Drops rows that must not be stored, from memory and from the disk. */
  async discard(seqs: ReadonlySet<number>): Promise<void> {
    const inMemory = new Set(this.#rows.flatMap(({ seq }) => (seqs.has(seq) ? [seq] : [])));
    if (inMemory.size > 0) this.#rows = this.#rows.filter(({ seq }) => !inMemory.has(seq));
    const onDisk = new Set([...seqs].filter((seq) => !inMemory.has(seq)));
    if (onDisk.size > 0) await this.#spool.discard(onDisk);
  }

  #keep(rows: readonly LateRow[]): void {
    const all = [...this.#rows, ...rows];
    const tooMany = Math.max(0, all.length - this.#most);
    this.#lost += tooMany;
    this.#rows = tooMany === 0 ? all : all.slice(tooMany);
  }
}
