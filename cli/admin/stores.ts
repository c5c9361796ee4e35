/**
 * The stores of a service as `sonde admin` opens them: beside a running one, or with none running. SQLite's write-ahead log and PostgreSQL
 * both allow it, and every change raises the generation, so a running service sees it at its next request.
 */
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import type { SealingOptions } from "../../store/sealing/sealing.ts";
import type { SqlLocation } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { StateLocation } from "../../store/state/open.ts";
import { CommandError } from "../command.ts";
import { loadOwnConfig } from "../own-config.ts";
import { serviceDatabase } from "../service-data.ts";

export interface AdminStores {
  readonly controlPlane: ControlPlane;
  readonly config: Config;
  /** Unix ms: one time for everything that the command does. */
  readonly nowMs: number;
  readonly stateLocation: StateLocation;
  readonly sealingFile: SealingOptions;
  /** Opened when it is asked for: most acts touch no secret. */
  sealing(): Promise<Sealing>;
}

/** Opens the control plane of SONDE_DATABASE_URL or of the data folder, and closes it when the work is done or has failed. */
export async function withControlPlane<T>(work: (stores: AdminStores) => Promise<T>): Promise<T> {
  const config = loadOwnConfig();
  const sql = sqlLocationOf(config);
  // Loaded only now: help and mistyped options do not wait for a database driver.
  const { openControlPlane } = await import("../../store/sql/control-plane/open.ts");
  const controlPlane = await openControlPlane(sql, { role: "api", schema: "expect" });
  try {
    if (await controlPlane.accounts.isEmpty())
      throw new CommandError(`${locationText(config)} is empty: ${START_FIRST}`);
    const sealingFile = {
      keyFile: config.sealingKeyFile ?? join(config.dataDir, "sealing.key"),
      createIfMissing: false,
    };
    return await work({
      controlPlane,
      config,
      nowMs: Date.now(),
      stateLocation:
        config.redisUrl === null ? { file: join(config.dataDir, "state.sqlite") } : { url: config.redisUrl },
      sealingFile,
      async sealing() {
        const { openCheckedSealing } = await import("../../store/sealing/sealing.ts");
        return openCheckedSealing(controlPlane.meta, sealingFile);
      },
    });
  } finally {
    await controlPlane.close();
  }
}

const START_FIRST =
  "start the service once (sonde up), or set SONDE_DATA_DIR or SONDE_DATABASE_URL to the one that is meant";

function sqlLocationOf({ databaseUrl, dataDir }: Config): SqlLocation {
  return databaseUrl === null ? { file: serviceDatabase(dataDir) } : { url: databaseUrl };
}

function locationText(config: Config): string {
  return config.databaseUrl === null ? `the database in ${config.dataDir}` : "the database of SONDE_DATABASE_URL";
}
