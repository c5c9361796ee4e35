/**
 * Spool: where results wait on disk between the check and the stores.
 *
 * A folder of segments, each a file of frames (spool-frame.ts) named after the sequence number of its first row. One segment is open;
 * sealed ones go to the result store, oldest first, and are then deleted. One file always stays, because its name keeps the sequence
 * number when all rows are released. When the spool is full, rows without a change of status are dropped first, oldest segment first.
 */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { SerialQueue } from "../../model/serial-queue.ts";
import { makeFolder } from "../../native/make-folder.ts";
import { StoreError } from "../errors.ts";
import { FrameLines, isChange, linesOf, numberFrame } from "./spool-frame.ts";
import {
  createSegment,
  leaveEmpty,
  type OpenSegment,
  readLines,
  readSegment,
  recoverSegments,
  removeSegment,
  type Segment,
  thinSegment,
} from "./spool-segment.ts";

export interface ReplayedRows {
  readonly lastSeq: number;
  readonly lines: readonly string[];
  /** The sequence number of each line. */
  readonly seqs: readonly number[];
}

export interface SpoolSegment {
  /** The same for this segment at every try: the deduplication token of its insert. */
  readonly token: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows: number;
  /** The lines, each with its newline. */
  read(): Promise<Uint8Array>;
}

export interface SpoolOptions {
  readonly dir: string;
  readonly log: Logger;
  /** Default 2 GiB (docs/decisions/0002-one-check-one-way.md). */
  readonly maxBytes?: number;
  /** A segment is sealed by itself at this size. Default 8 MiB: about 20,000 rows, one block of ClickHouse. */
  readonly segmentBytes?: number;
  /** Sequence numbers start behind this, also when segments were lost: what the control plane has applied of the spool of that name. */
  readonly afterSeq?: (name: string) => Promise<number>;
}

const MAX_BYTES = 2 * 1024 ** 3;
const SEGMENT_BYTES = 8 * 1024 ** 2;
/** When the spool is full, this share of it is freed at once, so that not every append rewrites a file. */
const FREED_SHARE = 1 / 16;
/** Lines of one replayed batch. */
const REPLAY_ROWS = 2_000;

/** The contents of the folder when the spool is opened. */
interface FoundSpool {
  readonly name: string;
  readonly segments: Segment[];
  readonly nextSeq: number;
}

interface Append {
  /** Not numbered yet; null: it has no rows. */
  readonly frame: Buffer | null;
  readonly rows: number;
  readonly resolve: (lastSeq: number) => void;
  readonly reject: (error: unknown) => void;
}

export class Spool {
  /** Unique among all spools, also when a folder was lost. */
  readonly name: string;
  readonly #dir: string;
  readonly #log: Logger;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  /** Oldest first. */
  readonly #sealed: Segment[];
  #open: OpenSegment | undefined;
  #nextSeq: number;
  readonly #changes = new SerialQueue();
  #waiting: Append[] = [];
  #droppedRows = 0;
  #isClosed = false;

  private constructor({ dir, log, maxBytes, segmentBytes }: SpoolOptions, found: FoundSpool) {
    this.name = found.name;
    this.#dir = dir;
    this.#log = log;
    this.#maxBytes = maxBytes ?? MAX_BYTES;
    this.#segmentBytes = segmentBytes ?? SEGMENT_BYTES;
    this.#sealed = found.segments;
    this.#nextSeq = found.nextSeq;
  }

  /** Opens the spool of a folder, which is created when missing, and recovers what an earlier run left in it. */
  static async open(options: SpoolOptions): Promise<Spool> {
    const { dir, log } = options;
    makeFolder(dir);
    const name = await nameOf(dir);
    const { segments, nextSeq } = await recoverSegments(dir, log);
    const appliedSeq = (await options.afterSeq?.(name)) ?? 0;
    return new Spool(options, { name, segments, nextSeq: Math.max(nextSeq, appliedSeq + 1) });
  }

  /** Of the last line on disk; 0 before the first. */
  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  get sizeBytes(): number {
    return this.#all().reduce((sum, segment) => sum + segment.bytes, 0);
  }

  get rows(): number {
    return this.#all().reduce((sum, segment) => sum + segment.rows, 0);
  }

  /** When the oldest row on disk was written, Unix ms; null: there is none. */
  get oldestAtMs(): number | null {
    return this.#all().find(({ rows }) => rows > 0)?.writtenAtMs ?? null;
  }

  /** Rows dropped because the spool was full: those without a change of status first. */
  get droppedRows(): number {
    return this.#droppedRows;
  }

  /**
   * Appends lines with consecutive sequence numbers and syncs once. Resolves when they are on disk.
   * @param lines must stay as they are until then
   * @returns the sequence number of the last line
   * @throws StoreError when the disk is full or fails; nothing was appended then, and a later call may succeed
   */
  append(lines: FrameLines | readonly string[]): Promise<number> {
    if (this.#isClosed) return Promise.reject(new StoreError("the spool is closed"));
    return new Promise((resolve, reject) => {
      const all = lines instanceof FrameLines ? lines : FrameLines.of(lines);
      const frame = all.count === 0 ? null : all.frame();
      this.#waiting.push({ frame, rows: all.count, resolve, reject });
      void this.#changes.run(() => this.#flush()).catch(reject);
    });
  }

  /** Numbers rows that are not on disk. @returns the last number */
  pass(rows: number): Promise<number> {
    return this.#changes.run(async () => {
      this.#nextSeq += rows;
      return this.#nextSeq - 1;
    });
  }

  /** Writes all waiting appends with one sync. */
  async #flush(): Promise<void> {
    const appends = this.#waiting;
    this.#waiting = [];
    if (appends.length === 0) return;
    try {
      await this.#write(appends);
    } catch (error) {
      for (const append of appends) append.reject(spoolError(error, this.#dir));
      return;
    }
    for (const { rows, resolve } of appends) {
      this.#nextSeq += rows;
      resolve(this.#nextSeq - 1);
    }
    if (this.#open !== undefined && this.#open.bytes >= this.#segmentBytes) await this.#sealOpen();
  }

  async #write(appends: readonly Append[]): Promise<void> {
    let seq = this.#nextSeq;
    const frames: Buffer[] = [];
    for (const { frame, rows } of appends) {
      if (frame !== null) frames.push(numberFrame(frame, seq));
      seq += rows;
    }
    const bytes = frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
    await this.#makeRoom(bytes.length);
    if (bytes.length === 0) return;
    this.#open ??= await createSegment(this.#dir, this.#nextSeq);
    await this.#open.write(bytes, seq - 1, seq - this.#nextSeq);
  }

  /** Makes room for so many bytes: first by dropping rows that changed no status, then whole segments, oldest first. */
  async #makeRoom(bytes: number): Promise<void> {
    const reserveBytes = this.#maxBytes * FREED_SHARE;
    let excess = this.sizeBytes + bytes - this.#maxBytes;
    if (excess <= 0) return;
    excess += reserveBytes;
    const droppedBefore = this.#droppedRows;
    await this.#sealOpen();
    for (const segment of this.#sealed) {
      if (excess <= 0) break;
      const before = { rows: segment.rows, bytes: segment.bytes };
      if (!segment.isThinned) await thinSegment(segment, isChange);
      this.#droppedRows += before.rows - segment.rows;
      excess -= before.bytes - segment.bytes;
    }
    while (excess > reserveBytes && this.#sealed.length > 0) excess -= await this.#dropOldest();
    this.#log.error(
      { droppedRows: this.#droppedRows - droppedBefore, maxBytes: this.#maxBytes },
      "results: the spool is full, rows were dropped",
    );
  }

  /** @returns the bytes that are free now */
  async #dropOldest(): Promise<number> {
    const oldest = this.#sealed[0];
    if (oldest === undefined) return 0;
    if (this.#sealed.length === 1) await leaveEmpty(oldest, this.#nextSeq);
    else await removeSegment(oldest);
    this.#sealed.shift();
    this.#droppedRows += oldest.rows;
    return oldest.bytes;
  }

  /** Lines after a sequence number, oldest first, in batches: what a restart replays into the control plane. */
  async *replay(afterSeq: number): AsyncIterable<ReplayedRows> {
    let lines: string[] = [];
    let seqs: number[] = [];
    let lastSeq = afterSeq;
    for (const segment of [...this.#all()]) {
      if (segment.lastSeq <= afterSeq) continue;
      for (const frame of await readSegment(segment)) {
        const skipped = Math.max(0, afterSeq + 1 - frame.firstSeq);
        if (skipped >= frame.rows) continue;
        lines.push(...linesOf(frame).slice(skipped));
        lastSeq = frame.firstSeq + frame.rows - 1;
        for (let seq = frame.firstSeq + skipped; seq <= lastSeq; seq += 1) seqs.push(seq);
        if (lines.length < REPLAY_ROWS) continue;
        yield { lastSeq, lines, seqs };
        lines = [];
        seqs = [];
      }
    }
    if (lines.length > 0) yield { lastSeq, lines, seqs };
  }

  /** Drops rows that must not be stored, before they are applied: their sequence numbers stay empty. */
  discard(seqs: ReadonlySet<number>): Promise<void> {
    return this.#changes.run(() => this.#discard(seqs));
  }

  async #discard(seqs: ReadonlySet<number>): Promise<void> {
    if (seqs.size === 0) return;
    const [first, last] = [Math.min(...seqs), Math.max(...seqs)];
    await this.#sealOpen();
    for (const segment of this.#sealed) {
      if (segment.lastSeq < first || segment.firstSeq > last) continue;
      await thinSegment(segment, (_line, seq) => !seqs.has(seq));
    }
  }

  /** Ends the current segment; the next append starts a new one. */
  seal(): Promise<void> {
    return this.#changes.run(() => this.#sealOpen());
  }

  async #sealOpen(): Promise<void> {
    if (this.#open === undefined) return;
    const ended = this.#open;
    this.#open = undefined;
    this.#sealed.push(ended);
    await ended.end();
  }

  /** Oldest sealed segment that is not yet in the result store; undefined when all are. */
  async next(): Promise<SpoolSegment | undefined> {
    const [segment] = this.#sealed;
    if (segment === undefined) return undefined;
    const { firstSeq, lastSeq, rows } = segment;
    const token = `${this.name}-${firstSeq}-${lastSeq}`;
    return { token, firstSeq, lastSeq, rows, read: () => readLines(segment) };
  }

  /** Deletes a segment that is in the result store. Sequence numbers continue. */
  release(segment: Pick<SpoolSegment, "firstSeq">): Promise<void> {
    return this.#changes.run(() => this.#release(segment.firstSeq));
  }

  async #release(firstSeq: number): Promise<void> {
    const index = this.#sealed.findIndex((segment) => segment.firstSeq === firstSeq);
    const released = this.#sealed[index];
    if (released === undefined) return;
    const isLastFile = this.#sealed.length === 1 && this.#open === undefined;
    if (isLastFile) await leaveEmpty(released, this.#nextSeq);
    else await removeSegment(released);
    this.#sealed.splice(index, 1);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#changes.run(async () => {
      await this.#open?.end();
      this.#open = undefined;
    });
  }

  #all(): readonly Segment[] {
    return this.#open === undefined ? this.#sealed : [...this.#sealed, this.#open];
  }
}

/** A new folder gets a new name, so that two spools never use the same token. */
async function nameOf(dir: string): Promise<string> {
  const path = join(dir, "name");
  try {
    const name = await readFile(path, "utf8");
    if (/^[0-9a-f-]{36}$/.test(name)) return name;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw spoolError(error, dir);
  }
  const name = randomUUID();
  await writeFile(path, name, { mode: 0o600, flush: true });
  return name;
}

function spoolError(error: unknown, dir: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  return new StoreError(
    isFull
      ? `the disk is full: results cannot be kept in ${dir}, free some space`
      : `results cannot be kept in ${dir} (${code})`,
    { cause: error },
  );
}
