/**
 * A data folder as it stands at one moment, beside the service that uses it. SQL is asked first and keeps its answer; while its lock for writers
 * is held, no result moves from the spool into ClickHouse unless SQL had it before. So each result of the copy is in SQL, and in ClickHouse or in
 * the spool.
 */
import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { StoreError } from "../errors.ts";
import { sqliteGuard } from "../sqlite-faults.ts";
import { Sqlite, type SqliteHandle } from "../sqlite-library.ts";
import { copyEngine, filesOf } from "./engine-files.ts";
import { type ArchivedFile, FORMAT, type Manifest } from "./manifest.ts";

/** Files of a data folder. */
export const CONTROL = "control.sqlite";
const STATE = "state.sqlite";
const SPOOL = "spool";
const CLICKHOUSE = "clickhouse";
/** The embedded engine's one database. */
const DATABASE = "sonde";
/** A writer holds the file for milliseconds; one that seals anew, for seconds. */
const BUSY_TIMEOUT_MS = 15_000;
/** Pages that are copied between two turns of this process, 4 KiB each. */
const PAGES_AT_ONCE = 2_000;
/** A segment goes away when ClickHouse has its rows, every two seconds. */
const MOST_TRIES = 20;

export interface SnapshotOptions {
  readonly dataDir: string;
  /** An empty folder on the same disk. */
  readonly to: string;
  readonly version: string;
  /** Further files of the data folder that are taken along: keys. */
  readonly keyFiles: readonly { readonly name: string; readonly path: string }[];
  /** What is being done, and how far it is. */
  readonly progress: (words: string, share?: number) => void;
}

/** @throws StoreError when the database cannot be read */
export async function takeSnapshot(options: SnapshotOptions): Promise<Manifest> {
  const { dataDir, to, version, keyFiles, progress } = options;
  const control = join(dataDir, CONTROL);
  const run = sqliteGuard(control);
  progress("taking a snapshot");
  const reader = run(() => new Sqlite(control, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true }));
  let results: Readonly<Record<string, number>> = {};
  try {
    holdingWriters(control, () => {
      reader.exec("BEGIN");
      // Only a read begins the transaction.
      reader.prepare("select count(*) from sqlite_master").get();
      copySpool(join(dataDir, SPOOL), join(to, SPOOL));
      results = copyResults(dataDir, to);
    });
    await copyDatabase(reader, join(to, CONTROL), (share) => progress("copying the database", share));
  } finally {
    reader.close();
  }
  await copyState(join(dataDir, STATE), join(to, STATE));
  for (const { name, path } of keyFiles) copyFileSync(path, join(to, name));
  const facts = factsOf(join(to, CONTROL));
  progress("reading what was copied");
  const files = await listFiles(to);
  return { format: FORMAT, version, madeAt: new Date().toISOString(), host: hostname(), ...facts, results, files };
}

function holdingWriters(file: string, work: () => void): void {
  const lock = sqliteGuard(file)(() => new Sqlite(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true }));
  try {
    sqliteGuard(file)(() => lock.exec("BEGIN IMMEDIATE"));
    work();
  } finally {
    if (lock.inTransaction) lock.exec("ROLLBACK");
    lock.close();
  }
}

function copySpool(from: string, to: string): void {
  for (let tries = 1; ; tries++) {
    mkdirSync(to, { mode: 0o700 });
    try {
      const names = filesOf(from).filter((name) => !name.endsWith(".new"));
      for (const name of names) copyFileSync(join(from, name), join(to, name));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === MOST_TRIES) throw error;
      rmSync(to, { recursive: true });
    }
  }
}

function copyResults(dataDir: string, to: string): Readonly<Record<string, number>> {
  const engine = join(dataDir, CLICKHOUSE, "engine");
  if (lstatSync(engine, { throwIfNoEntry: false }) === undefined) return {};
  mkdirSync(join(to, CLICKHOUSE), { mode: 0o700 });
  return copyEngine(engine, join(to, CLICKHOUSE, "engine"), DATABASE);
}

/** As of the reader's transaction, whatever is written meanwhile. */
async function copyDatabase(reader: SqliteHandle, to: string, onShare: (share: number) => void): Promise<void> {
  await reader.backup(to, {
    progress({ totalPages, remainingPages }) {
      onShare(totalPages === 0 ? 1 : 1 - remainingPages / totalPages);
      return PAGES_AT_ONCE;
    },
  });
}

async function copyState(from: string, to: string): Promise<void> {
  if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return;
  const counters = sqliteGuard(from)(() => new Sqlite(from, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true }));
  try {
    await counters.backup(to);
  } finally {
    counters.close();
  }
}

/** What the copy of the database holds. @throws StoreError when it is damaged */
export function factsOf(file: string): Pick<Manifest, "schema" | "sealingKeyId" | "tables"> {
  const run = sqliteGuard(file);
  const copy = run(() => new Sqlite(file, { fileMustExist: true }));
  try {
    return run(() => {
      // One file, without a log beside it: the service turns the log on again.
      copy.pragma("journal_mode = DELETE");
      if (copy.pragma("quick_check(1)", { simple: true }) !== "ok") throw new StoreError(`${file} is damaged`);
      const names = column(
        copy,
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name",
      );
      const count = (name: string) => copy.prepare(`select count(*) from "${name}"`).pluck().get() as number;
      const [check] = column(copy, "select value from meta where name = 'sealing_check'");
      return {
        schema: column(copy, "select name from kysely_migration order by name"),
        sealingKeyId: check?.split(".")[1] ?? null,
        tables: Object.fromEntries(names.map((name) => [name, count(name)])),
      };
    });
  } finally {
    copy.close();
  }
}

function column(handle: SqliteHandle, sql: string): readonly string[] {
  return handle.prepare(sql).pluck().all() as string[];
}

/** Everything in the folder, with its checksum, folders before what is in them. */
async function listFiles(root: string): Promise<readonly ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  const look = async (folder: string): Promise<void> => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const path = join(root, name);
      const other = { name, size: 0, sha256: "", target: "" };
      if (entry.isSymbolicLink()) files.push({ ...other, kind: "link", target: readlinkSync(path) });
      else if (entry.isDirectory()) {
        files.push({ ...other, kind: "folder" });
        await look(name);
      } else {
        files.push({ ...other, kind: "file", size: lstatSync(path).size, sha256: await checksumOf(path) });
      }
    }
  };
  await look("");
  return files.filter(({ name }) => !name.startsWith("owner.lock"));
}

async function checksumOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
