/** The data folder: made on the first start, readable by us alone, and owned by one process at a time. */
import { accessSync, chmodSync, constants, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { makeFolder } from "../native/make-folder.ts";
import { coded, StoreError } from "./errors.ts";
import { finishRestore } from "./restored-folder.ts";
import { sqliteFault } from "./sqlite-faults.ts";
import { Sqlite, type SqliteHandle } from "./sqlite-library.ts";

export interface DataFolder {
  readonly path: string;
  file(name: string): string;
  /** Names of files and folders that other users could read or enter until now, and of those that stay so because they belong to another user. */
  readonly tightened: readonly string[];
  readonly open: readonly string[];
  /** Releases the folder for the next process. */
  release(): void;
}

/** @throws StoreError when the folder cannot be made or written, or another process has it */
export function claimDataFolder(path: string): DataFolder {
  // The umask: SQLite and ClickHouse make files with the permissions that it leaves. Only the main thread can set it; worker threads inherit it.
  if (isMainThread) process.umask(OTHERS);
  makeDataFolder(path);
  const release = lock(path);
  finishRestore(path);
  return { path, file: (name) => join(path, name), ...tighten(path), release };
}

/** Permission bits of the group and of all others. */
const OTHERS = 0o077;
/** Below this depth a closed folder protects what is in it. */
const TIGHTENED_DEPTH = 2;

/** A backup or a copy keeps permissions: what an earlier version left readable is closed. Links are not followed. */
function tighten(path: string): Pick<DataFolder, "tightened" | "open"> {
  const tightened: string[] = [];
  const open: string[] = [];
  const look = (folder: string, prefix: string, depth: number): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isFile() && !entry.isDirectory()) continue;
      const name = prefix + entry.name;
      const full = join(folder, entry.name);
      try {
        const { mode } = lstatSync(full);
        if ((mode & OTHERS) !== 0) {
          chmodSync(full, mode & 0o700);
          tightened.push(name);
        }
        if (entry.isDirectory() && depth < TIGHTENED_DEPTH) look(full, `${name}/`, depth + 1);
      } catch (error) {
        // The file has gone meanwhile, as files of the write-ahead log do.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") open.push(name);
      }
    }
  };
  look(path, "", 1);
  return { tightened, open };
}

/** What a start says about permissions that it found. */
export function warnOfPermissions({ path, tightened, open }: DataFolder, warn: (what: object, text: string) => void) {
  const some = (names: readonly string[]): object => ({ path, files: names.length, first: names.slice(0, 5) });
  if (tightened.length > 0)
    warn(some(tightened), "files of the data folder were open to other users and are closed now");
  if (open.length > 0) warn(some(open), "files of the data folder belong to another user and could not be looked at");
}

/** Closed to other users. @throws StoreError when it cannot be made or written */
export function makeDataFolder(path: string): void {
  try {
    makeFolder(path);
    chmodSync(path, 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    if (code === "EEXIST" || code === "ENOTDIR")
      throw new StoreError(`${path} cannot be the data folder (${code}): a file is in its place, set SONDE_DATA_DIR`);
    throw new StoreError(
      `cannot write the data folder ${path} (${code}): make it writable for this user, or set SONDE_DATA_DIR`,
    );
  }
}

/** Keeps the handles referenced: the garbage collector would close one without a reference and release its lock. */
const heldLocks = new Set<SqliteHandle>();

/** SQLite's lock is the kernel's: it goes with the process, also on SIGKILL, and works wherever our database works. */
function lock(path: string): () => void {
  let database: SqliteHandle | undefined;
  try {
    database = new Sqlite(join(path, "owner.lock"), { timeout: 0 });
    database.pragma("locking_mode = EXCLUSIVE");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database?.close();
    if (coded(error).code.startsWith("SQLITE_BUSY"))
      throw new StoreError(
        `another sonde uses the data folder ${path}: stop it first, or set SONDE_DATA_DIR to another folder`,
      );
    throw sqliteFault(error, join(path, "owner.lock"));
  }
  const held = database;
  heldLocks.add(held);
  return () => {
    heldLocks.delete(held);
    held.exec("ROLLBACK");
    held.close();
  };
}
