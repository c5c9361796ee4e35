/**
 * Spool: where results wait on disk between the check and the stores.
 *
 * A folder of segments, each a file of frames (spool-frame.ts) named after the sequence number of its first row. One segment is open;
 * sealed ones go to the result store, oldest first, and are then deleted. One file always stays, because its name keeps the sequence
 * number when all rows are released. When the spool is full, rows without a change of status are dropped first, oldest segment first.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { StoreError } from "../sql/control-plane.ts";
import { encodeFrame, isChange, linesOf } from "./spool-frame.ts";
import {
  createSegment,
  leaveEmpty,
  type OpenSegment,
  readSegment,
  recoverSegments,
  removeSegment,
  type Segment,
  thinSegment,
} from "./spool-segment.ts";

export interface Spool {
  /** No other spool has it, also when a folder was lost. */
  readonly name: string;
  /**
   * Appends lines with consecutive sequence numbers and syncs once. Resolves when they are on disk.
   * @returns the sequence number of the last line
   * @throws StoreError when the disk is full or fails; nothing was appended then, and a later call may succeed
   */
  append(lines: readonly string[]): Promise<number>;
  /** Lines after a sequence number, oldest first, in batches: what a restart replays into the control plane. */
  replay(afterSeq: number): AsyncIterable<ReplayedRows>;
  /** Drops rows that must not be stored, before they are applied: their sequence numbers stay empty. */
  discard(seqs: ReadonlySet<number>): Promise<void>;
  /** Ends the current segment; the next append starts a new one. */
  seal(): Promise<void>;
  /** Oldest sealed segment that is not yet in the result store; undefined when all are. */
  next(): Promise<SpoolSegment | undefined>;
  /** Forgets a segment once it is inserted. Keeps nothing of it; sequence numbers go on. */
  release(segment: SpoolSegment): Promise<void>;
  /** Of the last line on disk; 0 before the first. */
  readonly lastSeq: number;
  readonly sizeBytes: number;
  readonly rows: number;
  /** Rows dropped because the spool was full: those without a change of status first. */
  readonly droppedRows: number;
  close(): Promise<void>;
}

export interface ReplayedRows {
  readonly lastSeq: number;
  readonly lines: readonly string[];
  /** Of each line. */
  readonly seqs: readonly number[];
}

export interface SpoolSegment {
  /** Names the segment for ever: the deduplication token of its insert. */
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

interface Append {
  readonly lines: readonly string[];
  readonly resolve: (lastSeq: number) => void;
  readonly reject: (error: unknown) => void;
}

export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { dir, log, maxBytes = MAX_BYTES, segmentBytes = SEGMENT_BYTES } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const name = await nameOf(dir);
  const recovered = await recoverSegments(dir, log);
  const sealed: Segment[] = [...recovered.segments];
  let nextSeq = Math.max(recovered.nextSeq, ((await options.afterSeq?.(name)) ?? 0) + 1);
  let open: OpenSegment | undefined;
  let waiting: Append[] = [];
  let droppedRows = 0;
  let isClosed = false;
  let tail: Promise<unknown> = Promise.resolve();

  /** One at a time, in the order of the calls. */
  function exclusive<T>(act: () => Promise<T>): Promise<T> {
    const result = tail.then(act);
    tail = result.catch(() => undefined);
    return result;
  }

  const all = (): Segment[] => (open === undefined ? sealed : [...sealed, open]);
  const sizeBytes = () => all().reduce((sum, segment) => sum + segment.bytes, 0);

  async function sealOpen(): Promise<void> {
    if (open === undefined) return;
    const ended = open;
    open = undefined;
    sealed.push(ended);
    await ended.end();
  }

  /** Makes room for so many bytes: first by dropping rows that changed no status, then whole segments, oldest first. */
  async function makeRoom(bytes: number): Promise<void> {
    let excess = sizeBytes() + bytes - maxBytes;
    if (excess <= 0) return;
    excess += maxBytes * FREED_SHARE;
    const droppedBefore = droppedRows;
    await sealOpen();
    for (const segment of sealed) {
      if (excess <= 0) break;
      const before = { rows: segment.rows, bytes: segment.bytes };
      if (!segment.isThinned) await thinSegment(segment, isChange);
      droppedRows += before.rows - segment.rows;
      excess -= before.bytes - segment.bytes;
    }
    while (excess > maxBytes * FREED_SHARE && sealed.length > 0) excess -= await dropOldest();
    log.error({ droppedRows: droppedRows - droppedBefore, maxBytes }, "results: the spool is full, rows were dropped");
  }

  async function dropOldest(): Promise<number> {
    const oldest = sealed[0];
    if (oldest === undefined) return 0;
    if (sealed.length === 1) await leaveEmpty(oldest, nextSeq);
    else await removeSegment(oldest);
    sealed.shift();
    droppedRows += oldest.rows;
    return oldest.bytes;
  }

  /** Writes everything that waits with one sync. */
  async function flush(): Promise<void> {
    const appends = waiting;
    waiting = [];
    if (appends.length === 0) return;
    try {
      let seq = nextSeq;
      const frames: Buffer[] = [];
      for (const { lines } of appends) {
        if (lines.length > 0) frames.push(encodeFrame(seq, lines));
        seq += lines.length;
      }
      const bytes = frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
      await makeRoom(bytes.length);
      if (bytes.length > 0) {
        open ??= await createSegment(dir, nextSeq);
        await open.write(bytes, seq - 1, seq - nextSeq);
      }
    } catch (error) {
      for (const append of appends) append.reject(spoolError(error, dir));
      return;
    }
    for (const { lines, resolve } of appends) {
      nextSeq += lines.length;
      resolve(nextSeq - 1);
    }
    if (open !== undefined && open.bytes >= segmentBytes) await sealOpen();
  }

  async function* replay(afterSeq: number) {
    let lines: string[] = [];
    let seqs: number[] = [];
    let lastSeq = afterSeq;
    for (const segment of [...all()]) {
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

  async function discard(seqs: ReadonlySet<number>): Promise<void> {
    if (seqs.size === 0) return;
    const [first, last] = [Math.min(...seqs), Math.max(...seqs)];
    await sealOpen();
    for (const segment of sealed) {
      if (segment.lastSeq < first || segment.firstSeq > last) continue;
      await thinSegment(segment, (_line, seq) => !seqs.has(seq));
    }
  }

  function offer(segment: Segment): SpoolSegment {
    const { firstSeq, lastSeq, rows } = segment;
    const read = async () => Buffer.concat((await readSegment(segment)).map((frame) => frame.payload));
    return { token: `${name}-${firstSeq}-${lastSeq}`, firstSeq, lastSeq, rows, read };
  }

  return {
    name,
    append(lines) {
      if (isClosed) return Promise.reject(new StoreError("the spool is closed"));
      if (lines.some((line) => line.includes("\n")))
        return Promise.reject(new TypeError("a line of the spool holds a newline"));
      return new Promise((resolve, reject) => {
        waiting.push({ lines, resolve, reject });
        void exclusive(flush).catch(reject);
      });
    },
    replay,
    discard: (seqs) => exclusive(() => discard(seqs)),
    seal: () => exclusive(sealOpen),
    next: async () => (sealed[0] === undefined ? undefined : offer(sealed[0])),
    release: (segment) =>
      exclusive(async () => {
        const index = sealed.findIndex(({ firstSeq }) => firstSeq === segment.firstSeq);
        const released = sealed[index];
        if (released === undefined) return;
        const isLastFile = sealed.length === 1 && open === undefined;
        if (isLastFile) await leaveEmpty(released, nextSeq);
        else await removeSegment(released);
        sealed.splice(index, 1);
      }),
    get lastSeq() {
      return nextSeq - 1;
    },
    get sizeBytes() {
      return sizeBytes();
    },
    get rows() {
      return all().reduce((sum, segment) => sum + segment.rows, 0);
    },
    get droppedRows() {
      return droppedRows;
    },
    close: () => {
      isClosed = true;
      return exclusive(async () => {
        await open?.end();
        open = undefined;
      });
    },
  };
}

/** Two spools never give the same token, also when a folder was lost. */
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
