/** Where the demo keeps its data: in a folder of its own, and in another place only when the user says so. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";

/** A file in each folder that a demo made. */
const MARK = "demo";
/** In each folder that a service has used. */
const TRACES = ["control.sqlite", "clickhouse", "spool"] as const;

export interface DemoData {
  /** The settings with the folder in them. */
  readonly config: Config;
  /** Nothing but demos uses it. */
  readonly isOwn: boolean;
}

/** A place that is not the demo's, and nothing allows to use it. */
export class ForeignDataError extends Error {
  override readonly name = "ForeignDataError";
}

/**
 * @param isFolderGiven SONDE_DATA_DIR is set: its folder is meant, and not the one beside it
 * @param ask null where no person can be asked
 * @throws ForeignDataError of one line that says what to do
 */
export async function chooseDemoData(
  config: Config,
  isFolderGiven: boolean,
  ask: ((question: string) => Promise<boolean>) | null,
): Promise<DemoData> {
  const chosen = isFolderGiven ? config : { ...config, dataDir: `${config.dataDir}-demo` };
  const foreign = foreignIn(chosen, isFolderGiven);
  if (foreign === undefined) return { config: chosen, isOwn: true };
  const isAllowed = ask !== null && (await ask(`The demo creates monitors. Use ${foreign} for them?`));
  if (isAllowed) return { config: chosen, isOwn: false };
  throw new ForeignDataError(
    `the demo does not use ${foreign}: start it without SONDE_DATA_DIR and without addresses of stores, or set SONDE_DATA_DIR to a new folder`,
  );
}

/** The demo's monitors are in it from now on. */
export function markDemoFolder({ dataDir }: Config): void {
  writeFileSync(join(dataDir, MARK), "The data of sonde up --demo. This folder can be deleted.\n", { mode: 0o600 });
}

/** @returns what holds data that is not the demo's */
function foreignIn(config: Config, isFolderGiven: boolean): string | undefined {
  const stores = [
    ["SONDE_DATABASE_URL", config.databaseUrl],
    ["SONDE_CLICKHOUSE_URL", config.clickhouseUrl],
    ["SONDE_REDIS_URL", config.redisUrl],
  ] as const;
  for (const [name, url] of stores) if (url !== null) return `the store of ${name}`;
  const isUsed = TRACES.some((name) => existsSync(join(config.dataDir, name)));
  const isDemos = !isFolderGiven || existsSync(join(config.dataDir, MARK));
  return isUsed && !isDemos ? `the data folder ${config.dataDir}, which has the data of a service` : undefined;
}
