/**
 * Ballast: a file that reserves space for a full disk, on which the engine cannot even drop what has expired. When an insert fails for
 * space, the file is deleted, and inserts are refused until there is room again, so that they do not use up the freed space.
 */
import { randomBytes } from "node:crypto";
import { closeSync, fdatasyncSync, openSync, renameSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

/** NOT_ENOUGH_SPACE, and a write that failed for it: CANNOT_WRITE_TO_FILE_DESCRIPTOR and ErrnoException name ENOSPC in their text. */
const NO_SPACE = /^Code: 243\.|No space left on device|errno: 28\b|Disk quota exceeded/;
/** Inserts go on, and the ballast is written again, when this many times its size is free. */
const ROOM_FACTOR = 2;
const BLOCK_BYTES = 1024 * 1024;

export interface Ballast {
  /** Whether the ballast was deleted and there is no room to write it again yet. */
  readonly isFreed: boolean;
  /** @returns true when this error made us delete it now */
  onError(message: string): boolean;
  /** Writes it again when there is room. @returns true when that ended a shortage */
  restore(): boolean;
}

export function layBallast(dir: string, bytes: number): Ballast {
  const path = join(dir, "ballast");
  let isFreed = !lay(path, bytes, dir);
  return {
    get isFreed() {
      return isFreed;
    },
    onError(message) {
      if (isFreed || !NO_SPACE.test(message)) return false;
      rmSync(path, { force: true });
      isFreed = true;
      return true;
    },
    restore() {
      if (!isFreed || !lay(path, bytes, dir)) return false;
      isFreed = false;
      return true;
    },
  };
}

/** Random bytes, because a file system that compresses would reserve no space for zeros. */
function lay(path: string, bytes: number, dir: string): boolean {
  if (sizeOf(path) >= bytes) return true;
  const { bavail, bsize } = statfsSync(dir);
  if (bavail * bsize < bytes * ROOM_FACTOR) return false;
  const draft = `${path}.new`;
  try {
    const file = openSync(draft, "w", 0o600);
    try {
      const block = randomBytes(BLOCK_BYTES);
      for (let at = 0; at < bytes; at += BLOCK_BYTES) writeSync(file, block);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
    return true;
  } catch {
    rmSync(draft, { force: true });
    return false;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
