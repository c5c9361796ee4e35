/** `sonde backup`: a copy of the data folder in one file, beside the service or without it. */
import { accessSync, constants, existsSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Config, OWNER_KEY_FILE } from "../../config.ts";
import type { Backup } from "../../store/backup/backup.ts";
import { VERSION } from "../../version.ts";
import { CommandError } from "../command.ts";
import { loadOwnConfig } from "../own-config.ts";
import { serviceDatabase } from "../service-data.ts";
import { printJson } from "../service-options.ts";
import { ProgressLine } from "./progress.ts";
import { megabytes, nearPath, rowsOf } from "./words.ts";

export interface BackupCommandOptions {
  readonly out?: string;
  readonly withKey?: boolean;
  readonly json?: boolean;
}

export async function runBackup(options: BackupCommandOptions): Promise<void> {
  const config = loadOwnConfig();
  if (config.databaseUrl !== null) {
    throw new CommandError(
      "the database of SONDE_DATABASE_URL is backed up by PostgreSQL's own tools (docs/operate/backup.md), or carried into a data folder by sonde move",
    );
  }
  serviceDatabase(config.dataDir);
  const out = resolve(options.out ?? `sonde-${hostname()}-${stamp(new Date())}.tar.gz`);
  const keyFile = config.sealingKeyFile ?? join(config.dataDir, "sealing.key");
  requireFolder(out);
  const progress = new ProgressLine();
  const { backUp } = await import("../../store/backup/backup.ts");
  const backup = await backUp({
    dataDir: config.dataDir,
    out,
    version: VERSION,
    keyFiles: options.withKey === true ? keysOf(config, keyFile) : [],
    progress: progress.tell,
  }).finally(() => progress.close());
  const facts = factsOf(backup, { out, keyFile, hasKey: options.withKey === true, config });
  if (options.json === true) printJson(facts);
  else process.stdout.write(textOf(facts));
}

/** Before the snapshot is taken: it would be for nothing. */
function requireFolder(out: string): void {
  try {
    accessSync(dirname(out), constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot write into ${dirname(out)} (${code}): name another place with --out`);
  }
}

function stamp(now: Date): string {
  return now.toISOString().slice(0, 19).replaceAll(":", "");
}

function keysOf({ dataDir }: Config, keyFile: string): readonly { readonly name: string; readonly path: string }[] {
  const files = [
    { name: "sealing.key", path: keyFile },
    { name: OWNER_KEY_FILE, path: join(dataDir, OWNER_KEY_FILE) },
  ];
  return files.filter(({ path }) => existsSync(path));
}

type Facts = ReturnType<typeof factsOf>;

function factsOf(
  { manifest, bytes, leftOut }: Backup,
  { out, keyFile, hasKey, config }: { out: string; keyFile: string; hasKey: boolean; config: Config },
) {
  const { tables, results, sealingKeyId, files } = manifest;
  return {
    file: out,
    bytes,
    files: files.length,
    tables,
    results,
    results_elsewhere: config.clickhouseUrl !== null,
    sealing_key: { id: sealingKeyId, file: keyFile, included: hasKey },
    left_out: leftOut,
  };
}

function textOf({ file, bytes, tables, results, results_elsewhere, sealing_key, left_out }: Facts): string {
  const { monitors = 0 } = tables;
  const lines = [
    `${nearPath(file)}: ${megabytes(bytes)}, ${rowsOf(monitors, "monitor")}, ${rowsOf(results.results ?? 0, "result")}; it was read back and is whole.`,
    sealing_key.included
      ? "It holds the sealing key: the file alone opens every secret in it."
      : `It does not hold the sealing key: keep a copy of ${nearPath(sealing_key.file)} in another place.`,
  ];
  if (results_elsewhere) lines.push("Results are in the ClickHouse of SONDE_CLICKHOUSE_URL, and not in this backup.");
  if (left_out.length > 0) lines.push(`Left out: ${left_out.join(", ")}.`);
  return `${lines.join("\n")}\n`;
}
