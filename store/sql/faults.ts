/** What the databases say when they fail, as one line that tells a person what to do. No address carries credentials. */
import { RowsRefused, StoreError } from "./control-plane.ts";

interface CodedError {
  readonly code?: unknown;
  readonly message?: unknown;
}

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
    return new RowsRefused(`the database ${file} refuses a value: ${message}${code === "" ? "" : ` (${code})`}`, {
      cause: error,
    });
  }
  const advice = SQLITE_ADVICE.find(([prefix]) => code.startsWith(prefix))?.[1](file);
  if (advice !== undefined) return new StoreError(`${advice} (${code})`, { cause: error });
  if (message.includes("bindings file") || code === "ERR_DLOPEN_FAILED") {
    return new StoreError(
      'the native part of better-sqlite3 does not load: run "npm rebuild better-sqlite3" (it needs g++, make and python3)',
      { cause: error },
    );
  }
  return new StoreError(`the database ${file} refused: ${message}${code === "" ? "" : ` (${code})`}`, { cause: error });
}

/** Conditions: https://www.postgresql.org/docs/15/errcodes-appendix.html; the others are Node's. */
const POSTGRES_ADVICE: Readonly<Record<string, string>> = {
  "28P01": "refuses the user or password of SONDE_DATABASE_URL",
  "28000": "refuses the user of SONDE_DATABASE_URL",
  "3D000": "has no such database: create it first",
  "42501": "denies permission: the user of SONDE_DATABASE_URL must own the database's schema",
  "25006": "is read-only: is this a standby?",
  "53100": "has a full disk",
  "53300": "has no free connection: raise max_connections",
  "57014": "did not finish in time",
  "57P01": "is shutting down",
  "57P02": "crashed",
  "57P03": "is starting up",
  ECONNREFUSED: "does not answer (connection refused)",
  ENOTFOUND: "has no address: check the name in SONDE_DATABASE_URL",
  EAI_AGAIN: "has no address right now: check the name in SONDE_DATABASE_URL and the resolver",
  ENOENT: "has no such socket: check SONDE_DATABASE_URL",
  ETIMEDOUT: "does not answer (timeout)",
  EHOSTUNREACH: "cannot be reached",
  ECONNRESET: "closed the connection",
  EPIPE: "closed the connection",
};

/**
 * What is wrong is what was to be written: classes 22 (data exception) and 23 (integrity constraint violation), and 21000, 54000 (a statement
 * meets a row twice, a value exceeds what an index holds). https://www.postgresql.org/docs/15/errcodes-appendix.html
 */
const POSTGRES_REFUSES = /^(22|23)[0-9A-Z]{3}$|^(21000|54000)$/;

/** Deadlock and serialization failure: the transaction was undone and may run again. */
const RETRY_CODES = new Set(["40P01", "40001"]);

export function postgresFault(error: unknown, place: string): StoreError {
  if (error instanceof StoreError) return error;
  const { code, message } = coded(error);
  if (POSTGRES_REFUSES.test(code)) {
    return new RowsRefused(`PostgreSQL at ${place} refuses a value: ${message} (${code})`, { cause: error });
  }
  const advice = POSTGRES_ADVICE[code];
  const words = advice ?? (message === "" ? "failed" : `failed: ${message}`);
  return new StoreError(`PostgreSQL at ${place} ${words}${code === "" ? "" : ` (${code})`}`, { cause: error });
}

export function mayRunAgain(error: unknown): boolean {
  return error instanceof StoreError && RETRY_CODES.has(coded(error.cause).code);
}

function coded(error: unknown): { readonly code: string; readonly message: string } {
  // A dual-stack connect fails with an AggregateError whose first error has the words.
  const source: unknown = error instanceof AggregateError && error.message === "" ? error.errors[0] : error;
  const { code, message } = (source ?? {}) as CodedError;
  return {
    code: typeof code === "string" ? code : "",
    message: typeof message === "string" ? message : String(source),
  };
}
