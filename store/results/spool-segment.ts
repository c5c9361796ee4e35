/** Segments of the spool on disk: made, written, recovered after a crash, thinned, removed. */
import { constants } from "node:fs";
import { open, readdir, readFile, rename, stat, truncate, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { decodeFrames, type Frame, joinPayloads, type Keep, keepRows } from "./spool-frame.ts";

export interface Segment {
  path: string;
  readonly firstSeq: number;
  /** firstSeq - 1 while it is empty. */
  lastSeq: number;
  rows: number;
  bytes: number;
  /** Of its first row, of one that an earlier run left its last one: Unix ms. */
  readonly writtenAtMs: number;
  /** Rows were dropped from it. */
  isThinned: boolean;
}

export interface OpenSegment extends Segment {
  /** Appends whole frames and syncs. After an error the file is as it was before. */
  write(frames: Buffer, lastSeq: number, rows: number): Promise<void>;
  end(): Promise<void>;
}

/** Fixed width, so that names sort as numbers do. A thinned segment's name keeps its last sequence number, and sorts before the original. */
const NAME = /^(\d{16})(?:-(\d{16}))?\.seg$/;
/** Of what a thinned segment is written to: one is left when the disk was full, or after a crash. */
const DRAFT = ".seg.new";
const padded = (seq: number) => String(seq).padStart(16, "0");

/** Each write waits for the disk by itself, open(2): a sync of its own would be another task of the thread pool. */
const SYNCED_WRITES = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_DSYNC;

export async function createSegment(dir: string, firstSeq: number): Promise<OpenSegment> {
  const path = join(dir, `${padded(firstSeq)}.seg`);
  // A file of that name may be left from an earlier run. It is empty or was never acknowledged, so it is overwritten.
  const handle = await open(path, SYNCED_WRITES, 0o600);
  await syncFolder(dir);
  const segment: OpenSegment = {
    path,
    firstSeq,
    lastSeq: firstSeq - 1,
    rows: 0,
    bytes: 0,
    writtenAtMs: Date.now(),
    isThinned: false,
    async write(frames, lastSeq, rows) {
      try {
        for (let written = 0; written < frames.length; ) {
          written += (await handle.write(frames, written, frames.length - written, segment.bytes + written))
            .bytesWritten;
        }
      } catch (error) {
        // If this fails too, recovery ignores the rest, because its frames have the same sequence numbers as the next segment.
        await handle.truncate(segment.bytes).catch(() => undefined);
        throw error;
      }
      segment.bytes += frames.length;
      segment.lastSeq = lastSeq;
      segment.rows += rows;
    },
    end: () => handle.close(),
  };
  return segment;
}

/** Recovers the files of an earlier run: torn tails are cut, damage is logged, empty files only give the sequence number. */
export async function recoverSegments(dir: string, log: Logger): Promise<{ segments: Segment[]; nextSeq: number }> {
  const all = await readdir(dir);
  for (const name of all) if (name.endsWith(DRAFT)) await unlink(join(dir, name));
  const names = all.filter((name) => NAME.test(name)).sort();
  const parts = names.map((name) => NAME.exec(name));
  const segments: Segment[] = [];
  let nextSeq = 1;
  for (const [index, name] of names.entries()) {
    const path = join(dir, name);
    const nextFirstSeq = Number(parts[index + 1]?.[1] ?? Number.MAX_SAFE_INTEGER);
    const segment = await recover(path, Number(parts[index]?.[1]), nextFirstSeq, log);
    const thinnedLastSeq = parts[index]?.[2];
    if (thinnedLastSeq !== undefined) Object.assign(segment, { isThinned: true, lastSeq: Number(thinnedLastSeq) });
    nextSeq = Math.max(nextSeq, segment.lastSeq + 1);
    if (segment.rows > 0) segments.push(segment);
    else if (index < names.length - 1) await unlink(path);
  }
  return { segments, nextSeq };
}

async function recover(path: string, firstSeq: number, endSeq: number, log: Logger): Promise<Segment> {
  const bytes = await readFile(path);
  const writtenAtMs = (await stat(path)).mtimeMs;
  const { frames, validBytes, isDamaged } = decodeFrames(bytes);
  const counted = frames.filter((frame) => frame.firstSeq >= firstSeq && frame.firstSeq < endSeq);
  if (validBytes < bytes.length) {
    log.warn({ path, cutBytes: bytes.length - validBytes }, "results: cut the torn end of a spool segment");
    await truncate(path, validBytes);
  }
  if (isDamaged) log.error({ path }, "results: a spool segment is damaged inside, its readable rows are kept");
  const last = counted.at(-1);
  const rows = counted.reduce((sum, frame) => sum + frame.rows, 0);
  const lastSeq = last === undefined ? firstSeq - 1 : last.firstSeq + last.rows - 1;
  return { path, firstSeq, lastSeq, rows, bytes: validBytes, writtenAtMs, isThinned: false };
}

/** Whole frames of the segment, oldest first. */
export async function readSegment(segment: Segment): Promise<readonly Frame[]> {
  const bytes = await readFile(segment.path);
  const { firstSeq, lastSeq } = segment;
  return decodeFrames(bytes).frames.filter((frame) => frame.firstSeq >= firstSeq && frame.firstSeq <= lastSeq);
}

/** Lines of the segment, each with its newline. */
export async function readLines(segment: Segment): Promise<Buffer> {
  return joinPayloads(await readSegment(segment));
}

/** Drops rows for good: even a power cut does not bring them back. */
export async function thinSegment(segment: Segment, keep: Keep): Promise<void> {
  const { bytes, rows } = keepRows(await readSegment(segment), keep);
  const dir = dirname(segment.path);
  const path = join(dir, `${padded(segment.firstSeq)}-${padded(segment.lastSeq)}.seg`);
  const draft = `${path}.new`;
  await writeFile(draft, bytes, { mode: 0o600, flush: true });
  await rename(draft, path);
  await syncFolder(dir);
  if (segment.path !== path) {
    await unlink(segment.path);
    await syncFolder(dir);
  }
  segment.path = path;
  segment.bytes = bytes.length;
  segment.rows = rows;
  segment.isThinned = true;
}

/**
 * The last file of the spool is not removed: renamed to the next sequence number it keeps the sequence, and needs no space for it. A power cut does not bring its
 * rows back: ClickHouse has them, and may have lost the token by which it would know them again.
 */
export async function leaveEmpty(segment: Segment, nextSeq: number): Promise<void> {
  const path = join(dirname(segment.path), `${padded(nextSeq)}.seg`);
  await rename(segment.path, path);
  const file = await open(path, "r+");
  try {
    await file.truncate(0);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

/** For good, as leaveEmpty() does. */
export async function removeSegment(segment: Segment): Promise<void> {
  await unlink(segment.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await syncFolder(dirname(segment.path));
}

/** Syncs the folder: without it a file's name may be gone after a power cut. */
async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
