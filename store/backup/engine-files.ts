/**
 * Files of an embedded ClickHouse that runs, as they stand at one moment. A part is a folder that is written under another name, renamed when
 * it is whole, and never changed; parts that were merged into others stay for minutes. So links to the files of each part are a copy that takes
 * no time, and everything else is small and is copied.
 */
import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** The engine's lock, what is half-written, and what it has put away as broken. */
const PASSED_OVER = /^(?:status|tmp|tmp_.*|delete_tmp_.*|detached|.*\.tmp)$/;
/** `<partition>_<first block>_<last block>_<level>`, and the number of the latest mutation. */
const PART = /^(.+?)_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/;
/** Of a table: which part each token of an insert made. */
const TOKENS = "deduplication_logs";
/** `1` (added), the part, the token. The last line may be half-written. */
const TOKEN = /^1\t([^\t]+)\t[^\t\n]+\n$/;
/** The folder is looked through anew when a part goes away meanwhile: it was merged minutes ago, or its day was dropped. */
const MOST_TRIES = 5;

/** @returns rows by table of the database */
export function copyEngine(from: string, to: string, database: string): Readonly<Record<string, number>> {
  for (let tries = 1; ; tries++) {
    try {
      copyFolder(from, to);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === MOST_TRIES) throw error;
      rmSync(to, { recursive: true });
    }
  }
  return rowsByTable(to, database);
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  const entries = readdirSync(from, { withFileTypes: true }).filter(({ name }) => !PASSED_OVER.test(name));
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const parts = newestParts(folders);
  for (const part of parts) linkPart(join(from, part), join(to, part));
  for (const name of folders) {
    if (name === TOKENS) copyTokens(join(from, name), join(to, name), parts);
    else if (!PART.test(name)) copyFolder(join(from, name), join(to, name));
  }
  for (const entry of entries) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isFile()) copyFileSync(source, copy);
    // The engine makes them anew where they are missing.
    else if (entry.isSymbolicLink() && !readlinkSync(source).startsWith("/")) symlinkSync(readlinkSync(source), copy);
  }
}

function linkPart(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkPart(source, copy);
    else linkOrCopy(source, copy);
  }
}

/**
 * The service inserts meanwhile. A token whose part is not in the copy would let the engine pass over the rows of that insert, which wait in the copy of the
 * spool.
 */
function copyTokens(from: string, to: string, parts: readonly string[]): void {
  mkdirSync(to, { mode: 0o700 });
  const newest = new Map<string, number>();
  for (const part of parts) {
    const [, partition = "", , last = ""] = PART.exec(part) ?? [];
    newest.set(partition, Math.max(newest.get(partition) ?? 0, Number(last)));
  }
  const isKept = (line: string): boolean => {
    const [, part = ""] = TOKEN.exec(line) ?? [];
    const [, partition = "", first] = PART.exec(part) ?? [];
    return first === undefined ? line.endsWith("\n") : Number(first) <= (newest.get(partition) ?? 0);
  };
  for (const name of filesOf(from)) {
    const lines = readFileSync(join(from, name), "utf8").split(/(?<=\n)/);
    writeFileSync(join(to, name), lines.filter(isKept).join(""), { mode: 0o600 });
  }
}

/** None where there is no folder. */
export function filesOf(folder: string): readonly string[] {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
}

/** Where the kernel or the file system makes no links, a copy is as good and takes longer. */
function linkOrCopy(source: string, copy: string): void {
  try {
    linkSync(source, copy);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw error;
    copyFileSync(source, copy);
  }
}

/** Without those that a later part covers: the engine would drop them at its start. */
export function newestParts(names: readonly string[]): readonly string[] {
  const parts = names.flatMap((name) => {
    const [, partition = "", first, last, level, mutation = "0"] = PART.exec(name) ?? [];
    if (first === undefined) return [];
    return [{ name, partition, first: Number(first), last: Number(last), version: [Number(level), Number(mutation)] }];
  });
  const isNewer = ([level = 0, mutation = 0]: number[], [other = 0, otherMutation = 0]: number[]): boolean =>
    level > other || (level === other && mutation > otherMutation);
  const byPartition = new Map<string, typeof parts>();
  for (const part of parts) byPartition.set(part.partition, [...(byPartition.get(part.partition) ?? []), part]);
  return parts
    .filter(
      (part) =>
        !(byPartition.get(part.partition) ?? []).some(
          (other) =>
            other.first <= part.first &&
            other.last >= part.last &&
            other !== part &&
            isNewer(other.version, part.version),
        ),
    )
    .map(({ name }) => name);
}

function rowsByTable(engine: string, database: string): Readonly<Record<string, number>> {
  const tables = join(engine, "data", database);
  if (lstatSync(tables, { throwIfNoEntry: false }) === undefined) return {};
  return Object.fromEntries(
    readdirSync(tables).map((name) => {
      const parts = readdirSync(join(tables, name)).filter((part) => PART.test(part));
      return [
        name,
        parts.reduce((sum, part) => sum + Number(readFileSync(join(tables, name, part, "count.txt"), "utf8")), 0),
      ];
    }),
  );
}
