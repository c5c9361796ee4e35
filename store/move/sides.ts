/** The two kinds of stores, opened for a move: those of a data folder, and servers. */
import { chmodSync, copyFileSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { claimDataFolder } from "../data-folder.ts";
import { StoreError } from "../errors.ts";
import { EmbeddedClickHouse } from "../results/embedded/child.ts";
import { ResultsCopy } from "../results/results-copy.ts";
import { openCheckedSealing } from "../sealing/sealing.ts";
import { createMeta } from "../sql/coordination/meta.ts";
import { beatsOf } from "../sql/copy/turns.ts";
import type { Database } from "../sql/db/database.ts";
import { openPostgres } from "../sql/db/postgres.ts";
import { openSqlite } from "../sql/db/sqlite.ts";
import type { MoveSide } from "./move.ts";

/** `source` must be there, `target` is made. */
export type SideUse = "source" | "target";

export interface OpenSide extends MoveSide {
  close(): Promise<void>;
}

export interface Servers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly clickhouseUrl: string;
}

/** Longer than two beats of a scheduler. */
const BEAT_WAIT_MS = 2_000;
const STORES = ["control.sqlite", "state.sqlite", "clickhouse"];

/** @throws StoreError when a service uses it, or when it is not what the use needs */
export async function openFolderSide(dataDir: string, use: SideUse, log: Logger): Promise<OpenSide> {
  const file = join(dataDir, "control.sqlite");
  if (use === "source" && !existsSync(file))
    throw new StoreError(`there is no control plane in ${dataDir}: set SONDE_DATA_DIR to the folder that is meant`);
  const claim = claimDataFolder(dataDir);
  const closing: (() => Promise<void> | void)[] = [() => claim.release()];
  const close = async (): Promise<void> => {
    for (const undo of closing.splice(0).reverse()) await undo();
  };
  try {
    if (use === "source") refuseWaiting(join(dataDir, "spool"));
    else refuseOther(dataDir);
    const database = await openSqlite({ file, durable: true, schema: use === "source" ? "expect" : "make" });
    closing.push(() => database.close());
    const embedded = await EmbeddedClickHouse.start({ dir: join(dataDir, "clickhouse"), log });
    closing.push(() => embedded.close());
    await embedded.ready;
    const results = new ResultsCopy(embedded.url, log);
    closing.push(() => results.close());
    return { database, results, state: { file: join(dataDir, "state.sqlite") }, name: dataDir, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws StoreError when one does not answer, or a scheduler runs on them */
export async function openServerSide(servers: Servers, use: SideUse, log: Logger): Promise<OpenSide> {
  const database = await openPostgres(servers.databaseUrl, use === "source" ? "expect" : "make");
  const results = new ResultsCopy(servers.clickhouseUrl, log);
  const close = async (): Promise<void> => {
    await results.close();
    await database.close();
  };
  try {
    await refuseRunning(database);
    return { database, results, state: { url: servers.redisUrl }, name: "the servers", close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The key of both sides. @throws StoreError when it is not the one that the source's secrets were sealed with */
export async function refuseOtherKey(source: MoveSide, keyFile: string): Promise<void> {
  if (!existsSync(keyFile))
    throw new StoreError(
      `there is no sealing key ${keyFile}: copy the source's there first, secrets stay sealed with it`,
    );
  const { get } = createMeta(source.database);
  await openCheckedSealing({ get, set: async () => {} }, { keyFile, createIfMissing: false });
}

/** For a service that is configured without a key file. */
export function placeKey(keyFile: string, dataDir: string): void {
  const file = join(dataDir, "sealing.key");
  if (existsSync(file)) return;
  copyFileSync(keyFile, file);
  chmodSync(file, 0o600);
}

function refuseWaiting(spool: string): void {
  const files = existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith(".seg")) : [];
  if (files.every((name) => statSync(join(spool, name)).size === 0)) return;
  throw new StoreError(
    `results wait in ${spool}: start the service, and stop it with SIGTERM, so that they are written`,
  );
}

/** A folder of stores that no move has begun is not written over; openSqlite and the mark decide about others. */
function refuseOther(dataDir: string): void {
  if (existsSync(join(dataDir, "control.sqlite"))) return;
  const [found] = STORES.filter((name) => existsSync(join(dataDir, name)));
  if (found !== undefined) throw new StoreError(`${dataDir} holds ${found}: a move needs an empty folder`);
}

async function refuseRunning(database: Database): Promise<void> {
  const before = await beatsOf(database);
  if (before === "[]") return;
  await delay(BEAT_WAIT_MS);
  if ((await beatsOf(database)) !== before)
    throw new StoreError("a scheduler runs on the database of SONDE_DATABASE_URL: stop every process on it first");
}
