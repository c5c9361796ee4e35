/** Makes a backup of a data folder, beside its service: a snapshot, the archive of it, and a look at what was written. */
import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { claimDataFolder } from "../data-folder.ts";
import { StoreError } from "../errors.ts";
import { syncFolder } from "../sync-folder.ts";
import { type OnBytes, readArchive, writeArchive } from "./archive.ts";
import type { Manifest } from "./manifest.ts";
import { CONTROL, type SnapshotOptions, takeSnapshot } from "./snapshot.ts";

export interface BackupOptions extends Omit<SnapshotOptions, "to"> {
  /** The archive; there must be no such file. */
  readonly out: string;
}

export interface Backup {
  readonly manifest: Manifest;
  /** Of the archive. */
  readonly bytes: number;
  /** In the data folder and not in the backup. */
  readonly leftOut: readonly string[];
}

/** Where the snapshot stands until it is in the archive. */
const STAGING = ".backup";
/** Of a service that runs, and of ours: nothing is lost with them. */
const OF_NO_USE = /^(?:owner\.lock.*|.*\.sqlite-(?:wal|shm|journal)|\.backup|lost\+found)$/;

/** @throws StoreError, one line that says what to do; there is no archive then */
export async function backUp({ out, ...options }: BackupOptions): Promise<Backup> {
  const { dataDir, progress } = options;
  if (!existsSync(join(dataDir, CONTROL)))
    throw new StoreError(`there is no control plane in ${dataDir}: set SONDE_DATA_DIR to the folder that is meant`);
  if (existsSync(out)) throw new StoreError(`${out} is there already: name another file with --out`);
  const staging = join(dataDir, STAGING);
  const draft = join(dirname(out), `.${basename(out)}.part`);
  // One backup at a time; what a killed one left goes.
  const claim = claimDataFolder(staging);
  try {
    for (const name of readdirSync(staging)) {
      if (!name.startsWith("owner.lock")) rmSync(join(staging, name), { recursive: true });
    }
    rmSync(draft, { force: true });
    const manifest = await takeSnapshot({ ...options, to: staging });
    const total = manifest.files.reduce((sum, { size }) => sum + size, 0);
    await writeArchive(draft, manifest, ({ name }) => join(staging, name), sharesOf(total, "writing", progress));
    await readArchive(draft, LOOKED_AT, sharesOf(total, "checking what was written", progress));
    renameSync(draft, out);
    syncFolder(dirname(out));
    return { manifest, bytes: lstatSync(out).size, leftOut: leftOutOf(dataDir, manifest) };
  } finally {
    rmSync(draft, { force: true });
    claim.release();
    rmSync(staging, { recursive: true, force: true });
  }
}

/** @returns a stream that counts bytes and reports progress */
export function sharesOf(total: number, words: string, progress: SnapshotOptions["progress"]): OnBytes {
  let bytes = 0;
  return (more) => {
    bytes += more;
    progress(words, total === 0 ? 1 : bytes / total);
  };
}

const LOOKED_AT = {
  begin: async () => {},
  async take(_file: unknown, chunks: AsyncIterable<Uint8Array>) {
    for await (const _chunk of chunks);
  },
};

function leftOutOf(dataDir: string, { files }: Manifest): readonly string[] {
  const saved = new Set(files.map(({ name }) => name));
  return readdirSync(dataDir).filter((name) => !saved.has(name) && !OF_NO_USE.test(name));
}
