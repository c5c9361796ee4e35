/** Errors of SQLite, as one line that says what to do. */
import { coded, StoreError } from "./errors.ts";

/** Result codes: https://www.sqlite.org/rescode.html; extended ones begin with the plain one. */
const SQLITE_ADVICE: readonly (readonly [code: string, advice: (file: string) => string])[] = [
  ["SQLITE_NOTADB", (file) => `${file} is not a database: move it away or restore a backup`],
  ["SQLITE_CORRUPT", (file) => `the database ${file} is damaged: restore a backup (or try "sqlite3 ${file} .recover")`],
  ["SQLITE_FULL", (file) => `the disk of ${file} is full: free some space, nothing was half-written`],
  [
    "SQLITE_READONLY",
    (file) => `the database ${file} is read-only: make the file and its folder writable for this user`,
  ],
  [
    "SQLITE_CANTOPEN",
    (file) => `cannot open the database ${file}: its folder must exist and be writable for this user`,
  ],
  ["SQLITE_PERM", (file) => `no permission to use the database ${file}: make it readable and writable for this user`],
  ["SQLITE_BUSY", (file) => `the database ${file} stays locked: another process is writing to it; stop that one`],
  [
    "SQLITE_IOERR",
    (file) => `reading or writing the database ${file} failed: look at the disk (full, removed, faulty)`,
  ],
];

/** What is wrong is what was to be written: https://www.sqlite.org/rescode.html */
const SQLITE_REFUSES = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/;

/** The library's own words, of values that no column takes. */
const UNBINDABLE = /can only bind|bound (string|buffer|bigint)/;

export function sqliteFault(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code, message } = coded(error);
  if (SQLITE_REFUSES.test(code) || (code === "" && UNBINDABLE.test(message))) {
    return new StoreError(`the database ${file} refuses a value: ${message}${code === "" ? "" : ` (${code})`}`, {
      kind: "refused",
      cause: error,
    });
  }
  const advice = SQLITE_ADVICE.find(([prefix]) => code.startsWith(prefix))?.[1](file);
  if (advice !== undefined) return new StoreError(`${advice} (${code})`, { cause: error });
  if (message.includes("bindings file") || code === "ERR_DLOPEN_FAILED") {
    return new StoreError(
      'better-sqlite3 is not compiled for this Node: run "npm start", which compiles it, or "npm rebuild better-sqlite3 --ignore-scripts=false" (g++, make and python3 must be there)',
      { cause: error },
    );
  }
  return new StoreError(`the database ${file} refused: ${message}${code === "" ? "" : ` (${code})`}`, { cause: error });
}

/** @returns what runs work on the file and turns what SQLite throws into a StoreError */
export function sqliteGuard(file: string): <T>(work: () => T) => T {
  return (work) => {
    try {
      return work();
    } catch (error) {
      throw sqliteFault(error, file);
    }
  };
}
