/** The archive of a backup: a compressed tar file, the manifest first. Written and read as a stream. */
import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { coded, StoreError } from "../errors.ts";
import { ByteReader } from "./byte-reader.ts";
import { type ArchivedFile, MANIFEST_NAME, type Manifest, MOST_MANIFEST_BYTES, parseManifest } from "./manifest.ts";
import { BLOCK_BYTES, damaged, encodeTarHeader, paddingOf, parseTarHeader } from "./tar.ts";

/** The parts of ClickHouse are compressed already, the rest is text: more costs time and saves little. */
const LEVEL = 1;

/** So many more bytes of files have gone by. */
export type OnBytes = (more: number) => void;

/** Where the bytes of the manifest's files are. */
export type PathOf = (file: ArchivedFile) => string;

/** Writes it, closed to other users, and syncs it. @throws StoreError when the disk is full, or a file is there already */
export async function writeArchive(path: string, manifest: Manifest, pathOf: PathOf, onBytes: OnBytes): Promise<void> {
  try {
    const sink = createWriteStream(path, { flags: "wx", mode: 0o600 });
    await pipeline(Readable.from(archiveOf(manifest, pathOf, onBytes)), createGzip({ level: LEVEL }), sink);
    const written = await open(path, "r");
    try {
      await written.sync();
    } finally {
      await written.close();
    }
  } catch (error) {
    throw archiveFault(error, path);
  }
}

async function* archiveOf(manifest: Manifest, pathOf: PathOf, onBytes: OnBytes): AsyncGenerator<Buffer> {
  const text = Buffer.from(`${JSON.stringify(manifest)}\n`);
  if (text.length > MOST_MANIFEST_BYTES) throw new StoreError("the data folder has too many files for one backup");
  yield encodeTarHeader({ name: MANIFEST_NAME, kind: "file", size: text.length, target: "" });
  yield Buffer.concat([text, Buffer.alloc(paddingOf(text.length))]);
  for (const file of manifest.files) {
    yield encodeTarHeader(file);
    if (file.kind !== "file") continue;
    let read = 0;
    for await (const chunk of createReadStream(pathOf(file))) {
      read += (chunk as Buffer).length;
      onBytes((chunk as Buffer).length);
      yield chunk as Buffer;
    }
    if (read !== file.size) throw new StoreError(`${file.name} changed while it was read: begin the backup again`);
    if (paddingOf(read) > 0) yield Buffer.alloc(paddingOf(read));
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** What is done with the contents of an archive. */
export interface Unpacking {
  /** Before the first file. */
  begin(manifest: Manifest): Promise<void>;
  /** Takes all chunks of a file before it resolves. */
  take(file: ArchivedFile, chunks: AsyncIterable<Uint8Array>): Promise<void>;
}

/** Reads all of it; every file must be the one that the manifest says. @throws StoreError when it is not whole */
export async function readArchive(path: string, unpacking: Unpacking, onBytes: OnBytes): Promise<Manifest> {
  const source = createReadStream(path);
  const unzipped = createGunzip();
  // Destroys both when either fails; the failure reaches the loop below.
  const ended = pipeline(source, unzipped).catch(() => undefined);
  try {
    return await unpack(new ByteReader(unzipped), unpacking, onBytes);
  } catch (error) {
    throw archiveFault(error, path);
  } finally {
    unzipped.destroy();
    source.destroy();
    await ended;
  }
}

async function unpack(reader: ByteReader, unpacking: Unpacking, onBytes: OnBytes): Promise<Manifest> {
  const head = parseTarHeader(await reader.take(BLOCK_BYTES));
  if (head?.name !== MANIFEST_NAME || head.size > MOST_MANIFEST_BYTES) throw damaged("it does not begin as a backup");
  const manifest = parseManifest((await reader.take(head.size)).toString("utf8"));
  await reader.take(paddingOf(head.size));
  await unpacking.begin(manifest);
  for (const file of manifest.files) {
    const entry = parseTarHeader(await reader.take(BLOCK_BYTES));
    const isIt = entry?.name === file.name && entry.kind === file.kind && entry.size === file.size;
    if (!isIt || entry.target !== file.target) throw damaged(`${file.name} is missing`);
    const hash = createHash("sha256");
    await unpacking.take(file, hashed(reader.stream(file.size), hash, onBytes));
    if (file.kind === "file" && hash.digest("hex") !== file.sha256) throw damaged(`${file.name} is not what was saved`);
    await reader.take(paddingOf(file.size));
  }
  for (let block = 0; block < 2; block++) {
    if (parseTarHeader(await reader.take(BLOCK_BYTES)) !== null) throw damaged("it has more files than it says");
  }
  if (!(await reader.isAtEnd())) throw damaged("something follows its end");
  return manifest;
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, hash: Hash, onBytes: OnBytes) {
  for await (const chunk of chunks) {
    hash.update(chunk);
    onBytes(chunk.length);
    yield chunk;
  }
}

const FULL = new Set(["ENOSPC", "EDQUOT"]);

function archiveFault(error: unknown, path: string): unknown {
  if (error instanceof StoreError) return error;
  const { code, message } = coded(error);
  if (FULL.has(code)) return new StoreError(`the disk of ${path} is full: free some space, nothing was changed`);
  if (code === "EEXIST") return new StoreError(`${path} is there already: name another file`);
  if (code.startsWith("Z_")) return damaged(message);
  return code === "" ? error : new StoreError(`cannot use ${path} (${code})`, { cause: error });
}
