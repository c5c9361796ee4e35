/** The data folder: made on the first start, readable by us alone, and owned by one process at a time. */
import { accessSync, chmodSync, constants, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Sqlite, type SqliteHandle } from "./sqlite-library.ts";

/** The folder cannot be used: one line that says why and what to do. */
export class DataFolderError extends Error {
  override readonly name = "DataFolderError";
}

export interface DataFolder {
  readonly path: string;
  file(name: string): string;
  /** Lets the next process in. */
  release(): void;
}

/** @throws DataFolderError when the folder cannot be made or written, or another process has it */
export function claimDataFolder(path: string): DataFolder {
  makeFolder(path);
  const release = lock(path);
  return { path, file: (name) => join(path, name), release };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new DataFolderError(
      `cannot write the data folder ${path} (${code}): make it writable for this user, or set SONDE_DATA_DIR`,
    );
  }
}

/** What is held: a handle that nobody refers to would be closed by the garbage collector, and its lock let go. */
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
    const code = (error as { code?: string }).code ?? "unknown error";
    if (code === "ERR_DLOPEN_FAILED") {
      throw new DataFolderError(
        "better-sqlite3 was compiled for another Node: run npm start, which compiles it for this one",
      );
    }
    throw new DataFolderError(
      code.startsWith("SQLITE_BUSY")
        ? `another sonde uses the data folder ${path}: stop it first, or set SONDE_DATA_DIR to another folder`
        : `cannot lock the data folder ${path} (${code}): look at its owner.lock and at the disk`,
    );
  }
  const held = database;
  heldLocks.add(held);
  return () => {
    heldLocks.delete(held);
    held.exec("ROLLBACK");
    held.close();
  };
}
