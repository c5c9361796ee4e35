/**
 * The file of sealing keys. The first key seals; those after it only open what was sealed before a rotation.
 *
 * One key: 32 bytes as they are, or written as hex or base64. Several: text, one key a line, `#` begins a comment.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { StoreError } from "../errors.ts";
import { syncFolder } from "../sync-folder.ts";

const KEY_BYTES = 32;

export interface SealingKey {
  /** Eight hex digits that sealed texts name it by. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The one that seals first; never empty. */
export type KeyRing = readonly [SealingKey, ...SealingKey[]];

/** @throws StoreError, one line that says what to do */
export function readKeyRing(keyFile: string): KeyRing {
  let content: Buffer;
  try {
    content = readFileSync(keyFile);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StoreError(`cannot read the sealing key ${keyFile} (${code}): check SONDE_SEALING_KEY_FILE`, {
      cause: error,
    });
  }
  const keys = content.length === KEY_BYTES ? [content] : linesOf(content).map(parseKey);
  const [first, ...others] = keys.flatMap((bytes) => (bytes === undefined ? [] : [{ id: keyIdOf(bytes), bytes }]));
  if (first === undefined || others.length + 1 !== keys.length) {
    throw new StoreError(
      `the sealing key ${keyFile} holds no key: 32 bytes are needed, as they are or as hex or base64 (openssl rand -base64 32)`,
    );
  }
  return [first, ...others];
}

/** Bits of a mode for the group and for all others. */
const OF_OTHERS = 0o077;

/** @returns what to do about a key file that others than its owner may read or write, in one line; null when nothing */
export function keyFileWarning(keyFile: string): string | null {
  const mode = statSync(keyFile, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OF_OTHERS) === 0) return null;
  const written = (mode & 0o777).toString(8).padStart(4, "0");
  return `the key file ${keyFile} has mode ${written}, so that other users may use it: make it its reader's own (chown), and chmod 0400`;
}

/** A key that belongs in no file of ours. @returns it as a line of a key file */
export function newKeyLine(): string {
  return randomBytes(KEY_BYTES).toString("base64");
}

/** Lines of a key file, as they are kept elsewhere. */
export function keyRingOf(lines: readonly [string, ...string[]]): KeyRing {
  const [first, ...others] = lines.map((line) => {
    const bytes = parseKey(line);
    if (bytes === undefined) throw new StoreError("a location's key is not one");
    return { id: keyIdOf(bytes), bytes };
  });
  if (first === undefined) throw new StoreError("a location has no key");
  return [first, ...others];
}

/** Shows whether the file is the one that was read; undefined while there is none. */
export function stampOf(keyFile: string): string | undefined {
  const found = statSync(keyFile, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** Made only where there is none; of two starts at once one wins. */
export function createKeyFile(keyFile: string): void {
  writeWhole(keyFile, randomBytes(KEY_BYTES), (draft) => {
    try {
      linkSync(draft, keyFile);
    } catch (error) {
      // A file system without hard links.
      if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
      renameSync(draft, keyFile);
    }
  });
}

/** Puts a new key before the others. @returns what the file holds then */
export function addKey(keyFile: string): KeyRing {
  const bytes = randomBytes(KEY_BYTES);
  const ring: KeyRing = [{ id: keyIdOf(bytes), bytes }, ...readKeyRing(keyFile)];
  replaceKeys(keyFile, ring);
  return ring;
}

export function replaceKeys(keyFile: string, ring: KeyRing): void {
  const [first, ...others] = ring.map(({ id, bytes }) => `# ${id}\n${bytes.toString("base64")}`);
  const text = `# Sonde: this key seals\n${first}\n${others.length === 0 ? "" : `# these open what was sealed before\n${others.join("\n")}\n`}`;
  const { uid, gid, mode } = statSync(keyFile);
  writeWhole(keyFile, Buffer.from(text), (draft) => {
    // Rotated by root, read by the service's own user.
    if (process.geteuid?.() === 0) chownSync(draft, uid, gid);
    chmodSync(draft, mode & 0o777);
    renameSync(draft, keyFile);
  });
}

function linesOf(content: Buffer): readonly string[] {
  return content
    .toString("latin1")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");
}

function parseKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text) || /^[A-Za-z0-9_-]{43}=?$/.test(text)) return Buffer.from(text, "base64");
  return undefined;
}

function keyIdOf(bytes: Buffer): string {
  return createHash("sha256").update("sonde key id\0").update(bytes).digest("hex").slice(0, 8);
}

/** Whole or not at all: written beside, synced, then put in its place. */
function writeWhole(keyFile: string, content: Buffer, place: (draft: string) => void): void {
  const draft = `${keyFile}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    place(draft);
    syncFolder(dirname(keyFile));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    throw new StoreError(
      `cannot make the sealing key ${keyFile} (${code}): make its folder writable, or set SONDE_SEALING_KEY_FILE`,
      { cause: error },
    );
  } finally {
    rmSync(draft, { force: true });
  }
}
