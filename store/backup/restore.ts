/** Puts a backup into an empty data folder: all of it or nothing, whenever it dies. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, symlinkSync } from "node:fs";
import { chmod, open } from "node:fs/promises";
import { join } from "node:path";
import { claimDataFolder } from "../data-folder.ts";
import { coded, StoreError } from "../errors.ts";
import { decideRestore, RESTORING } from "../restored-folder.ts";
import { readKeyRing } from "../sealing/keys.ts";
import { openCheckedSealing } from "../sealing/sealing.ts";
import { migrations } from "../sql/schema/migrations/index.ts";
import { Sqlite } from "../sqlite-library.ts";
import { syncFolder } from "../sync-folder.ts";
import { type OnBytes, readArchive, type Unpacking } from "./archive.ts";
import { sharesOf } from "./backup.ts";
import { type ArchivedFile, type Manifest, newer } from "./manifest.ts";
import { CONTROL, factsOf } from "./snapshot.ts";

export interface RestoreOptions {
  readonly file: string;
  readonly dataDir: string;
  /** Copied into the folder; null: it is in the archive, in the folder, or stays where `keyElsewhere` says. */
  readonly keyFile: string | null;
  /** SONDE_SEALING_KEY_FILE: read from there by the service, too. */
  readonly keyElsewhere: string | null;
  readonly progress: (words: string, share?: number) => void;
}

const KEY = "sealing.key";
/** What may be in an empty folder: our lock, what a death left, a file system's own. */
const MAY_BE_THERE = new Set(["owner.lock", "owner.lock-journal", RESTORING, "lost+found", KEY]);
const KEEP_FREE_BYTES = 16 * 2 ** 20;

/** @throws StoreError, one line that says what to do; the folder is as it was then */
export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const { file, dataDir, progress } = options;
  if (!existsSync(file)) throw new StoreError(`there is no backup ${file}`);
  const claim = claimDataFolder(dataDir);
  const staging = join(dataDir, RESTORING);
  try {
    refuseFull(dataDir);
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(staging, { mode: 0o700 });
    const unpacking = new Staging(staging, progress);
    const manifest = await readArchive(file, unpacking, (more) => unpacking.count(more));
    progress("checking");
    refuseOther(manifest, staging);
    await placeKey(options, manifest, staging);
    syncTree(staging, manifest);
    decideRestore(dataDir);
    return manifest;
  } catch (error) {
    throw restoreFault(error, dataDir);
  } finally {
    rmSync(staging, { recursive: true, force: true });
    claim.release();
  }
}

function refuseFull(dataDir: string): void {
  const [first] = readdirSync(dataDir).filter((name) => !MAY_BE_THERE.has(name));
  if (first === undefined) return;
  throw new StoreError(
    `the data folder ${dataDir} is not empty (${first}): restore into an empty one, or move away what is in it`,
  );
}

/** Writes the files of an archive into a folder. */
class Staging implements Unpacking {
  readonly #root: string;
  readonly #progress: RestoreOptions["progress"];
  /** Known when the manifest is. */
  count: OnBytes = () => undefined;

  constructor(root: string, progress: RestoreOptions["progress"]) {
    this.#root = root;
    this.#progress = progress;
  }

  async begin({ schema, files }: Manifest): Promise<void> {
    const unknown = schema.find((name) => !Object.hasOwn(migrations, name));
    if (unknown !== undefined) throw newer(`it has ${unknown}`);
    const { bavail, bsize } = statfsSync(this.#root);
    const total = files.reduce((sum, { size }) => sum + size, 0);
    const needed = total + KEEP_FREE_BYTES;
    this.count = sharesOf(total, "unpacking", this.#progress);
    if (bavail * bsize < needed)
      throw new StoreError(
        `the backup needs ${Math.ceil(needed / 2 ** 20)} MiB, and the disk of ${this.#root} has less`,
      );
  }

  async take({ name, kind, target }: ArchivedFile, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const path = join(this.#root, name);
    if (kind === "folder") mkdirSync(path, { mode: 0o700 });
    else if (kind === "link") symlinkSync(target, path);
    else {
      const file = await open(path, "wx", 0o600);
      try {
        for await (const chunk of chunks) await file.writeFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }
}

async function synced(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The files are what was saved; this looks at what they hold. */
function refuseOther(manifest: Manifest, staging: string): void {
  const { tables, sealingKeyId } = factsOf(join(staging, CONTROL));
  const [other] = Object.entries(manifest.tables).filter(([name, rows]) => tables[name] !== rows);
  if (other !== undefined || sealingKeyId !== manifest.sealingKeyId)
    throw new StoreError(`the backup's database is not what its manifest says (${other?.[0] ?? "the sealing key"})`);
}

/** Puts the key in its place when it opens what the backup holds. @throws StoreError when it does not, or none was named */
async function placeKey({ dataDir, keyFile, keyElsewhere }: RestoreOptions, manifest: Manifest, staging: string) {
  const { sealingKeyId } = manifest;
  if (sealingKeyId === null) return;
  const inArchive = join(staging, KEY);
  const inFolder = join(dataDir, KEY);
  const used = keyFile ?? [keyElsewhere, inArchive, inFolder].find((path) => path !== null && existsSync(path));
  if (used === undefined || used === null)
    throw new StoreError(`the backup's secrets were sealed with key ${sealingKeyId}: name its file with --key`);
  readKeyRing(used);
  await refuseWrongKey(join(staging, CONTROL), used);
  if (used !== keyFile) return;
  copyFileSync(used, inArchive);
  await chmod(inArchive, 0o600);
  await synced(inArchive);
}

async function refuseWrongKey(database: string, keyFile: string): Promise<void> {
  const handle = new Sqlite(database, { fileMustExist: true, readonly: true });
  const read = handle.prepare("select value from meta where name = ?").pluck();
  try {
    const meta = { get: async (name: string) => read.get(name) as string | undefined, set: async () => {} };
    await openCheckedSealing(meta, { keyFile, createIfMissing: false, namedBy: "--key" });
  } finally {
    handle.close();
  }
}

/** Names of files and folders, too: the files themselves are synced. */
function syncTree(staging: string, { files }: Manifest): void {
  for (const { name, kind } of files) if (kind === "folder") syncFolder(join(staging, name));
  syncFolder(staging);
}

function restoreFault(error: unknown, dataDir: string): unknown {
  const { code } = coded(error);
  if (error instanceof StoreError || (code !== "ENOSPC" && code !== "EDQUOT")) return error;
  return new StoreError(`the disk of ${dataDir} is full: free some space, nothing was changed`);
}
