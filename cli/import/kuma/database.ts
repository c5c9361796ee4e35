/**
 * Uptime Kuma's database. It may be gigabytes of heartbeats, it may be in use, and it may be damaged or made by another program: a copy on disk is
 * opened, only the tables that are needed are read, and each of them with a bound.
 */
import { constants, createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdtemp, readdir, readFile, rm, stat, statfs } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Sqlite, type SqliteHandle } from "../../../store/sqlite-library.ts";
import { CHECK_PATH, ImportError } from "../importer.ts";
import { type Fields, fieldsIn, jsonIn, memberOf, quoted } from "../values.ts";
import { type KumaTables, TABLES, type TableName } from "./tables.ts";

/** A project has 10,000 monitors at most, each with several tags and notifications. */
const MOST_ROWS = 200_000;
/** Characters of one cell: a picture or a style sheet. */
const LONGEST_CELL = 1_000_000;
/** Characters of all that is read. */
const MOST_CHARACTERS = 64_000_000;
/** Bytes copied between two lines of progress. */
const COPIED_AT_ONCE = 1_048_576;
/** Turns in which the database may be written while it is copied. */
const MOST_TRIES = 5;
/** Bytes of a picture of a status page. */
const MOST_PICTURE = 262_144;
const MOST_PICTURES = 200;
const PICTURE_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".svg": "image/svg+xml",
};
/** Rows that are counted for the report. */
const COUNTED = {
  user: "user accounts",
  api_key: "API keys",
  docker_host: "Docker hosts",
  remote_browser: "remote browsers",
};
const DATABASE = "kuma.db";
const MEND =
  "copy it again with kuma.db-wal while Uptime Kuma is stopped, take a backup of it, or save what is left: sqlite3 kuma.db .recover | sqlite3 saved.db";
const REMOVE = "delete in Uptime Kuma what is no longer needed, and import it then";
/** Without them nothing of a monitor can be said: every version until now has them. */
const COLUMNS_OF_MONITORS = ["id", "name", "type"];

/** @param share of 1; absent: it is not known */
export type OnProgress = (words: string, share?: number) => void;

/** @param folder data folder of Uptime Kuma @param workplace where a copy may be for a moment */
export async function readKumaFolder(folder: string, workplace: string, progress: OnProgress): Promise<KumaTables> {
  const config = fieldsIn(jsonIn(await readFile(join(folder, "db-config.json"), "utf8").catch(() => "")));
  const type = memberOf(config, "type");
  if (type !== undefined && type !== "sqlite")
    throw new ImportError(
      `${join(folder, "db-config.json")}: this Uptime Kuma keeps its data in ${quoted(type)}; only SQLite (kuma.db) and JSON backups can be read`,
      "write its monitors into a document by hand, which sonde schema helps an editor with",
    );
  const tables = await readKumaDatabase(join(folder, DATABASE), workplace, progress);
  return { ...tables, pictures: await picturesIn(join(folder, "upload")) };
}

/** @throws ImportError naming the file, and the table in it */
export async function readKumaDatabase(path: string, workplace: string, progress: OnProgress): Promise<KumaTables> {
  const place = await mkdtemp(join(workplace, ".sonde-import-")).catch((error: unknown) => {
    throw new ImportError(
      `${workplace}: no copy of ${basename(path)} can be made there (${codeOf(error)})`,
      "name an --out in a folder that is there, and in which you may write",
    );
  });
  try {
    const copy = join(place, DATABASE);
    await copyWhole(path, copy, progress);
    progress(`reading ${basename(path)}`);
    return tablesOf(copy, path);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/**
 * What is written since the last checkpoint is in the file `-wal`. Both belong together as long as the database itself does not change between
 * the two copies; an end of `-wal` that is being written is ignored by SQLite.
 */
async function copyWhole(path: string, copy: string, progress: OnProgress): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = await changeOf(path);
    try {
      await copyLarge(path, copy, progress);
      await rm(`${copy}-wal`, { force: true });
      await copyFile(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE).catch(ignoreMissing);
    } catch (error) {
      if (error instanceof ImportError) throw error;
      throw new ImportError(
        `${path}: it cannot be copied (${codeOf(error)})`,
        "see that you may read it, and write in the folder of --out",
      );
    }
    if ((await changeOf(path)) === before) return;
  }
  throw new ImportError(`${path}: it is being written all the time`, "stop Uptime Kuma, or try again");
}

/** A file system that can shares the blocks of both, at once and without room. Others take seconds for each gigabyte. */
async function copyLarge(path: string, copy: string, progress: OnProgress): Promise<void> {
  const isShared = await copyFile(path, copy, constants.COPYFILE_FICLONE_FORCE).then(
    () => true,
    () => false,
  );
  if (isShared) return;
  const { size } = await stat(path);
  const { bavail, bsize } = await statfs(dirname(copy));
  const [needed, free] = [size, bavail * bsize].map((bytes) => Math.ceil(bytes / 1_048_576));
  if (size > bavail * bsize)
    throw new ImportError(
      `${path}: a copy of it needs ${needed} MiB, and ${dirname(dirname(copy))} has ${free}`,
      "make room there, or name an --out on another disk",
    );
  const words = `copying ${basename(path)}, ${needed} MiB`;
  let copied = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      copied += chunk.length;
      progress(words, size === 0 ? 1 : Math.min(1, copied / size));
      yield chunk;
    }
  };
  await pipeline(createReadStream(path, { highWaterMark: COPIED_AT_ONCE }), counted, createWriteStream(copy));
}

async function changeOf(path: string): Promise<string> {
  try {
    const { mtimeNs, size } = await stat(path, { bigint: true });
    return `${mtimeNs} ${size}`;
  } catch (error) {
    throw new ImportError(`${path}: it cannot be read (${codeOf(error)})`, CHECK_PATH);
  }
}

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

/** @param path what the file is called in errors */
function tablesOf(copy: string, path: string): KumaTables {
  const reader = new TableReader(path);
  let database: SqliteHandle | undefined;
  try {
    database = new Sqlite(copy, { fileMustExist: true });
    return reader.read(database);
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`${path}: ${reader.place}it is damaged, or no database of SQLite (${codeOf(error)})`, MEND);
  } finally {
    database?.close();
  }
}

class TableReader {
  readonly #path: string;
  #table: string | null = null;
  #characters = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get place(): string {
    return this.#table === null ? "" : `table ${this.#table}: `;
  }

  read(database: SqliteHandle): KumaTables {
    // The schema comes from outside: its expressions may call nothing that has effects.
    database.pragma("trusted_schema = OFF");
    database.pragma("cell_size_check = ON");
    const present = plainTables(database);
    if (!present.has("monitor"))
      throw new ImportError(
        `${this.#path}: it has no table monitor, as Uptime Kuma's has`,
        "name the kuma.db of its data folder",
      );
    this.#refuseOtherVersion(database);
    const rows: Partial<Record<TableName, readonly Fields[]>> = {};
    for (const table of TABLES) {
      if (!present.has(table)) continue;
      this.#table = table;
      rows[table] = this.#rows(database, table);
    }
    this.#table = null;
    return { rows, besides: besidesOf(database, present) };
  }

  #refuseOtherVersion(database: SqliteHandle): void {
    const columns = columnsOf(database, "monitor");
    const missing = COLUMNS_OF_MONITORS.filter((name) => !columns.includes(name));
    if (missing.length > 0)
      throw new ImportError(
        `${this.#path}: table monitor has no ${missing.join(" and no ")}: this version of Uptime Kuma is not known here`,
        "start Uptime Kuma 1.23 or 2 on a copy of it once, which brings it up to date, and import the copy",
      );
  }

  #rows(database: SqliteHandle, table: string): readonly Fields[] {
    const cells = columnsOf(database, table).map((name) => {
      const column = `"${name.replaceAll('"', '""')}"`;
      return `CASE WHEN typeof(${column}) IN ('text', 'blob') THEN substr(CAST(${column} AS TEXT), 1, ${LONGEST_CELL + 1}) ELSE ${column} END AS ${column}`;
    });
    const found: Fields[] = [];
    for (const row of database.prepare(`SELECT ${cells.join(", ")} FROM "${table}"`).iterate()) {
      found.push(this.#bounded(row as Fields, table));
      if (found.length > MOST_ROWS)
        throw new ImportError(`${this.#path}: table ${table} has more than ${MOST_ROWS} rows`, REMOVE);
    }
    return found;
  }

  #bounded(row: Fields, table: string): Fields {
    for (const [column, value] of Object.entries(row)) {
      if (typeof value !== "string") continue;
      if (value.length > LONGEST_CELL)
        throw new ImportError(
          `${this.#path}: table ${table}: a cell of ${quoted(column)} is longer than ${LONGEST_CELL} characters`,
          REMOVE,
        );
      this.#characters += value.length;
    }
    if (this.#characters > MOST_CHARACTERS)
      throw new ImportError(`${this.#path}: its tables have more than ${MOST_CHARACTERS} characters`, REMOVE);
    return row;
  }
}

function columnsOf(database: SqliteHandle, table: string): readonly string[] {
  const columns = database.prepare(`PRAGMA table_info("${table}")`).all() as readonly { readonly name: string }[];
  return columns.map(({ name }) => name);
}

/** Views and virtual tables run what their maker wrote. */
function plainTables(database: SqliteHandle): ReadonlySet<string> {
  const rows = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' LIMIT 10000")
    .all() as readonly { readonly name: string }[];
  return new Set(rows.map(({ name }) => name));
}

function besidesOf(database: SqliteHandle, present: ReadonlySet<string>): readonly string[] {
  const counts = Object.entries(COUNTED).flatMap(([table, what]) => {
    if (!present.has(table)) return [];
    const row = database.prepare(`SELECT count(*) AS count FROM "${table}"`).get();
    const count = Number(memberOf(fieldsIn(row), "count"));
    return count > 0 ? [`${count} ${what}`] : [];
  });
  return [...counts, ...(present.has("heartbeat") ? ["results of checks"] : [])];
}

/** By the path that a page has. A folder without pictures has none. */
async function picturesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const pictures = new Map<string, string>();
  const names = await readdir(folder).catch(() => []);
  for (const name of names.slice(0, MOST_PICTURES)) {
    const type = PICTURE_TYPES[extname(name).toLowerCase()];
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (type === undefined || found === undefined || !found.isFile() || found.size > MOST_PICTURE) continue;
    const bytes = await readFile(path).catch(() => undefined);
    if (bytes !== undefined)
      pictures.set(`/upload/${basename(name)}`, `data:${type};base64,${bytes.toString("base64")}`);
  }
  return pictures;
}
