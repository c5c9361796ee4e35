/** What a backup says of itself: the first file of the archive. */

import { isFields } from "../../model/plain-values.ts";
import { StoreError } from "../errors.ts";
import { damaged, isPlainPath, staysInside } from "./tar.ts";

/** Raised when a release before could not restore what is written now. */
export const FORMAT = 1;
export const MANIFEST_NAME = "manifest.json";
/** Names and checksums of some hundred thousand files. */
export const MOST_MANIFEST_BYTES = 64 * 2 ** 20;
const MOST_FILES = 500_000;

export interface ArchivedFile {
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
  readonly size: number;
  /** Of a file's bytes, hex; empty for others. */
  readonly sha256: string;
  /** Of a link; empty for others. */
  readonly target: string;
}

export interface Manifest {
  readonly format: number;
  /** The release that made it. */
  readonly version: string;
  /** ISO 8601. */
  readonly madeAt: string;
  readonly host: string;
  /** Migrations that the database has run. */
  readonly schema: readonly string[];
  /** Id of the key that its secrets need; null: nothing was sealed. */
  readonly sealingKeyId: string | null;
  /** Rows by table, of SQL and of the results. */
  readonly tables: Readonly<Record<string, number>>;
  readonly results: Readonly<Record<string, number>>;
  readonly files: readonly ArchivedFile[];
}

/** @throws StoreError when it is none, or of a format that is newer */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged("its manifest is no JSON");
  }
  const read = objectOf(value, "the manifest");
  const format = read.format;
  if (typeof format !== "number") throw damaged("its manifest has no format");
  if (format > FORMAT) throw newer(`it has the format ${format}`);
  const { version, madeAt, host, sealingKeyId, schema, files } = read;
  if (!isText(version) || !isText(madeAt) || !isText(host)) throw damaged("its manifest lacks what it says of itself");
  if (sealingKeyId !== null && !(isText(sealingKeyId) && /^[0-9a-f]{8}$/.test(sealingKeyId)))
    throw damaged("its manifest names no key");
  if (!Array.isArray(schema) || !schema.every(isText)) throw damaged("its manifest has no schema");
  if (!Array.isArray(files) || files.length > MOST_FILES) throw damaged("its manifest has no list of files");
  const tables = countsOf(read.tables);
  const results = countsOf(read.results);
  const list = files.map(fileOf);
  refuseStray(list);
  return { format, version, madeAt, host, schema, sealingKeyId, tables, results, files: list };
}

/** What to do with a backup of a release that came later. */
export function newer(what: string): StoreError {
  return new StoreError(
    `the backup was made by a newer version of Sonde (${what}): restore it with that version, nothing was changed`,
  );
}

/** Each is in a folder of the list that comes before it, never behind a link, and has a name of its own. */
function refuseStray(files: readonly ArchivedFile[]): void {
  const folders = new Set([""]);
  const names = new Set<string>([MANIFEST_NAME]);
  for (const { name, kind } of files) {
    const above = name.slice(0, Math.max(0, name.lastIndexOf("/")));
    if (!folders.has(above) || names.has(name)) throw damaged(`${name} is out of its place`);
    names.add(name);
    if (kind === "folder") folders.add(name);
  }
}

function fileOf(value: unknown): ArchivedFile {
  const { name, kind, size, sha256, target } = objectOf(value, "a file of the manifest");
  const isKind = kind === "file" || kind === "folder" || kind === "link";
  if (!isText(name) || !isPlainPath(name) || !isKind) throw damaged("its manifest names no plain file");
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) throw damaged(`${name} has no size`);
  if (!isText(sha256) || !/^(?:[0-9a-f]{64})?$/.test(sha256)) throw damaged(`${name} has no checksum`);
  if (!isText(target) || (kind === "link" && !staysInside(name, target))) throw damaged(`${name} leads nowhere`);
  return { name, kind, size, sha256, target };
}

function countsOf(value: unknown): Readonly<Record<string, number>> {
  const counts = Object.entries(objectOf(value, "a count of the manifest"));
  if (!counts.every(([, count]) => typeof count === "number")) throw damaged("a count is no number");
  return Object.fromEntries(counts) as Record<string, number>;
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isFields(value)) throw damaged(`${what} is no object`);
  return value;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
