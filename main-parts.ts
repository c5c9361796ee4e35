/** What the wiring of every role needs: a free port, and a start that is whole or undone. */
import { createServer } from "node:net";
import { dirname, extname } from "node:path";
import type { Logger } from "pino";
import { type Config, ConfigError } from "./config.ts";
import { protectionHere } from "./engine/cores/protection.ts";
import type { EngineOptions } from "./engine/options.ts";
import { type Pool, startPool } from "./engine/pool.ts";
import { type Listener, type RunningOwn, watchOwnEndpoints } from "./own-endpoints.ts";
import { type SchedulerHandle, StartError } from "./scheduler/handle.ts";
import type { SchedulerData } from "./scheduler/worker.ts";
import { claimDataFolder, type DataFolder, warnOfPermissions } from "./store/data-folder.ts";
import { openFollowedSealing, sealRowsLater, sealRowsNow } from "./store/row-form.ts";
import type { Sealing, SealingOptions } from "./store/sealing.ts";
import { keyFileWarning } from "./store/sealing-keys.ts";
import type { ControlPlane } from "./store/sql/control-plane.ts";

/** What must be undone, last first. */
export type Closers = (() => Promise<void>)[];

export type Whole<Running> = Running & {
  /** Drains and stops everything, in reverse order. */
  close(): Promise<void>;
};

/** What the start pushes is undone when it fails, and when it is told to. */
export async function startWhole<Running>(
  log: Logger,
  start: (closers: Closers) => Promise<Running>,
): Promise<Whole<Running>> {
  const closers: Closers = [];
  const close = async (): Promise<void> => {
    for (const undo of closers.splice(0).reverse()) await undo();
  };
  try {
    return { ...(await start(closers)), close };
  } catch (error) {
    await close().catch((failure: unknown) => log.error({ err: failure }, "stopping after a failed start failed too"));
    throw error;
  }
}

/** Ours until the end; says what of it was open to other users. @throws DataFolderError */
export function claimFolder(path: string, log: Logger, closers: Closers): DataFolder {
  const folder = claimDataFolder(path);
  closers.push(async () => folder.release());
  warnOfPermissions(folder, log.warn.bind(log));
  return folder;
}

/**
 * The sealing of a process that schedules. What a version before left in clear is sealed at once in a data folder, which is ours alone, and
 * beside other processes when they allow it.
 * @throws what openFollowedSealing throws
 */
export async function openSealingOf(
  controlPlane: ControlPlane,
  options: SealingOptions,
  log: Logger,
  closers: Closers,
): Promise<Sealing> {
  const followed = await openFollowedSealing(controlPlane.meta, options);
  closers.push(async () => followed.close());
  if (controlPlane.dialect === "sqlite") await sealRowsNow(controlPlane, followed, log);
  else {
    const rows = sealRowsLater(controlPlane, followed.sealing, log);
    closers.push(() => rows.close());
  }
  return followed.sealing;
}

export interface ServerUrls {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly clickhouseUrl: string;
}

/** Roles apart meet in servers. @throws ConfigError that names what is missing */
export function requireServers(config: Config, role: string): ServerUrls {
  const { databaseUrl, redisUrl, clickhouseUrl } = config;
  if (databaseUrl !== null && redisUrl !== null && clickhouseUrl !== null) {
    return { databaseUrl, redisUrl, clickhouseUrl };
  }
  const urls = { SONDE_DATABASE_URL: databaseUrl, SONDE_REDIS_URL: redisUrl, SONDE_CLICKHOUSE_URL: clickhouseUrl };
  const missing = Object.entries(urls).flatMap(([name, url]) => (url === null ? [name] : []));
  throw new ConfigError(
    `sonde ${role} shares PostgreSQL, Redis and ClickHouse with the other roles: set ${missing.join(" and ")}, or run everything in one process with sonde up`,
  );
}

/** Asks for the port before anything is made; 0 becomes a free one, because the guard must know it. @throws StartError */
export function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const advice =
        error.code === "EADDRINUSE" ? "stop what uses it, or set SONDE_PORT" : "set SONDE_HOST and SONDE_PORT";
      reject(new StartError(`cannot listen on ${host}:${port} (${error.code}): ${advice}`));
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : port));
    });
  });
}

/** A listener's port 0 becomes a free one, because the guard must know it. @throws StartError */
export async function withFreePort<Place extends { readonly host: string; readonly port: number }>(
  listen: Place | null,
): Promise<Place | null> {
  return listen?.port === 0 ? { ...listen, port: await freePort(listen.host, 0) } : listen;
}

/** What listens on behalf of this process, watched until it ends. */
export async function openOwn(
  closers: Closers,
  log: Logger,
  listener: Listener | null,
  storeUrls: readonly (string | null)[],
): Promise<RunningOwn> {
  const own = await watchOwnEndpoints({ listeners: [listener], storeUrls, log });
  closers.push(async () => own.close());
  return own;
}

/** What cannot start says so to the operator. @throws StartError */
export async function startedOr<T>(starting: Promise<T>): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error));
  }
}

/** Tells of a key that other users can read; what the service manager gives has modes of its own (systemd.exec(5), LoadCredential=). */
export function lookAtKeyFile(keyFile: string | null, { credentialsDir }: Config, log: Logger): void {
  // The data folder's own is closed to others when the folder is claimed.
  if (keyFile === null) return;
  if (credentialsDir !== null && dirname(keyFile) === credentialsDir) return;
  const warning = keyFileWarning(keyFile);
  if (warning !== null) log.warn(warning);
}

/** What other processes can reach of ours, and our children of everything: one line, and what to do where it is little. */
export function tellProtection(config: Config, log: Logger): void {
  const { words, isWhole, advice } = protectionHere();
  const seen = config.isDebuggable ? "; SONDE_DEBUGGABLE: other processes of this user may look into this one" : "";
  if (isWhole && !config.isDebuggable) log.info(words);
  else log.warn(`${words}${seen}${advice === "" ? "" : `; ${advice}`}`);
}

/** The scheduler's thread, and prober threads beside it. */
export function openSchedulerPool(
  workers: number,
  engine: EngineOptions,
  log: Logger,
  scheduler: SchedulerHandle,
  rest: Omit<SchedulerData, "port">,
): Promise<Pool> {
  const data: SchedulerData = { port: scheduler.port, ...rest };
  return startPool({
    workers,
    engine,
    scheduler: {
      file: new URL(`./scheduler/worker${extname(import.meta.url)}`, import.meta.url),
      data,
      transfer: [scheduler.port],
    },
    log,
    onFatal(error) {
      if (scheduler.fail(error.cause instanceof Error ? error.cause : error)) return;
      log.fatal(
        { err: error },
        "nothing can be checked any more: ending, so that whoever supervises us starts us again",
      );
      process.exit(1);
    },
  });
}
