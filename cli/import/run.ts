/** `sonde import`: reads files of another program, writes a document and says what became of each thing. Nothing else is changed. */
import { createReadStream } from "node:fs";
import { open, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, extname, join, resolve, sep } from "node:path";
import { writeDocument } from "../../model/document/write.ts";
import { readStdin } from "../check/stdin.ts";
import { CommandError, usageError } from "../command.ts";
import { ProgressLine } from "../transfer/progress.ts";
import { atOnce, CHECK_PATH, ImportError, type Imported, type ImportFile, type ImportOptions } from "./importer.ts";
import { importerNamed, importers } from "./index.ts";
import { readKumaDatabase, readKumaFolder } from "./kuma/database.ts";
import { convertKuma } from "./kuma.ts";
import { reportOf, reportText } from "./report.ts";
import { withoutSecrets } from "./secrets.ts";

export interface RunOptions extends ImportOptions {
  readonly out: string;
  readonly report: "md" | "json";
  readonly secrets: boolean;
}

/** Bytes of one file. A configuration of 10,000 monitors has about 4 MiB. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Of a folder. */
const MOST_FILES = 500;
const READ_IN_FOLDERS: ReadonlySet<string> = new Set([".yaml", ".yml", ".json", ".csv", ".env"]);
/** The first bytes of every database (SQLite's file format, section 1.3). */
const SQLITE_HEAD = "SQLite format 3\u0000";
const OWNER_ONLY = 0o600;

export async function runImport(source: string, paths: readonly string[], options: RunOptions): Promise<void> {
  const importer = importerNamed(source);
  if (importer === undefined)
    throw usageError(`${source} is no source: it must be one of ${importers.map((one) => one.source).join(", ")}`);
  try {
    const imported = await convert(source, paths, options);
    await writeResult(importer.title, imported, options);
  } catch (error) {
    throw error instanceof ImportError ? new CommandError(error.message) : error;
  }
}

async function convert(source: string, paths: readonly string[], options: RunOptions): Promise<Imported> {
  const [path] = paths;
  if (source === "kuma" && paths.length === 1 && path !== undefined && path !== "-") {
    const workplace = options.out === "-" ? "." : dirname(options.out);
    const isFolder = (await statOf(path)).isDirectory();
    if (isFolder || (await isDatabase(path))) {
      const progress = new ProgressLine();
      const read = isFolder ? readKumaFolder : readKumaDatabase;
      const tables = await read(path, workplace, progress.tell).finally(() => progress.close());
      return atOnce(convertKuma(tables, options));
    }
  }
  const importer = importerNamed(source);
  const files = (await Promise.all(paths.map(filesAt))).flat();
  if (importer === undefined || files.length === 0)
    throw new ImportError(
      `${paths.join(", ")}: there is no file to read`,
      "name a file, or a folder with .yaml, .json, .csv or .env files",
    );
  const named = await namedFiles(importer.references?.(files) ?? [], files);
  return atOnce(importer.convert([...files, ...named], options));
}

async function isDatabase(path: string): Promise<boolean> {
  if ([".db", ".sqlite", ".sqlite3"].includes(extname(path).toLowerCase())) return true;
  const handle = await open(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(SQLITE_HEAD.length), 0, SQLITE_HEAD.length, 0);
    return buffer.subarray(0, bytesRead).toString("latin1") === SQLITE_HEAD;
  } finally {
    await handle.close();
  }
}

/** A file, a folder's files by name, or stdin. */
async function filesAt(path: string): Promise<readonly ImportFile[]> {
  if (path === "-") {
    return [{ name: "stdin", text: await readStdin(MOST_BYTES, tooLarge("stdin")) }];
  }
  const found = await statOf(path);
  if (!found.isDirectory()) return [await fileAt(path)];
  const names = (await readdir(path, { recursive: true })).filter((name) =>
    READ_IN_FOLDERS.has(extname(name).toLowerCase()),
  );
  if (names.length > MOST_FILES)
    throw new ImportError(`${path}: it has more than ${MOST_FILES} files`, "name those that are meant");
  return Promise.all(names.sort().map((name) => fileAt(join(path, name))));
}

/** Files that others name, beside the first of them or below it. What is not there, or elsewhere, is the importer's to say. */
async function namedFiles(names: readonly string[], files: readonly ImportFile[]): Promise<readonly ImportFile[]> {
  const folder = resolve(dirname(files[0]?.name ?? "."));
  const known = new Set(files.map(({ name }) => resolve(name)));
  const found = await Promise.all(
    [...new Set(names)].slice(0, MOST_FILES).map(async (name) => {
      const path = resolve(folder, name);
      const isBeside = path.startsWith(`${folder}${sep}`);
      const isFile = isBeside && !known.has(path) && (await stat(path).catch(() => undefined))?.isFile() === true;
      return isFile ? [await fileAt(path)] : [];
    }),
  );
  return found.flat();
}

/** A pipe and a device report no size. */
async function fileAt(path: string): Promise<ImportFile> {
  const { size } = await statOf(path);
  if (size > MOST_BYTES) throw tooLarge(path);
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path, { end: MOST_BYTES })) chunks.push(chunk as Buffer);
  } catch (error) {
    throw unreadable(path, error);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length > MOST_BYTES) throw tooLarge(path);
  return { name: path, text: bytes.toString("utf8") };
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): ImportError {
  const code = error instanceof Error && "code" in error ? error.code : "?";
  return new ImportError(`${path}: it cannot be read (${code})`, CHECK_PATH);
}

function tooLarge(name: string): CommandError {
  return new CommandError(
    `${name}: it is larger than ${MOST_BYTES / 1_048_576} MiB; split it, and import its parts one after the other`,
  );
}

/** Writes the document, and prints the report and what to do next. */
async function writeResult(title: string, { document, notes }: Imported, options: RunOptions): Promise<void> {
  const { document: written, variables } = options.secrets ? { document, variables: [] } : withoutSecrets(document);
  const text = writeDocument(written, [`Imported from ${title}. Its monitors are known by their keys: keep them.`]);
  const report = reportOf(title, written, notes);
  const isPiped = options.out === "-";
  if (isPiped) process.stdout.write(text);
  else await writeNew(options.out, text);
  const file = isPiped ? "FILE" : options.out;
  const next = [`sonde apply ${file} --plan`, `sonde apply ${file}`];
  const stream = isPiped ? process.stderr : process.stdout;
  if (options.report === "json") {
    const out = isPiped ? null : options.out;
    stream.write(`${JSON.stringify({ ...report, out, variables, next })}\n`);
    return;
  }
  stream.write(reportText(report));
  if (variables.length > 0) stream.write(`\nThe document needs these variables: ${variables.join(", ")}\n`);
  if (!isPiped)
    stream.write(`\nWritten to ${options.out}, which only you can read. See what would be done, then do it:\n`);
  if (!isPiped) stream.write(`  ${next.join("\n  ")}\n`);
}

/** A file that is there may have been edited since. */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx", mode: OWNER_ONLY });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw usageError(`${path} exists already: --out names another file`);
    throw new CommandError(
      `${path}: it cannot be written (${error instanceof Error && "code" in error ? error.code : error}); --out names another place`,
    );
  }
}
