/**
 * What the wiring of every role needs: a free port, and a start that is whole or undone. A checker loads it, so it must not load what opens
 * a database; that is in scheduling.ts.
 */

import { dirname } from "node:path";
import type { Logger } from "pino";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { type Config, ConfigError } from "../config.ts";
import { protectionHere } from "../engine/cores/protection.ts";
import { freePort } from "../engine/transport/free-port.ts";
import { shareHeapArenas } from "../native/heap-arenas.ts";
import { giveBackStartPages } from "../native/start-pages.ts";
import { StartError } from "../scheduler/role/handle.ts";
import { keyFileWarning } from "../store/sealing/keys.ts";
import { VERSION } from "../version.ts";
import { measureLoopLag, NO_LIBRARY_LOOKS_MS } from "./loop-lag.ts";
import { type Listener, type WatchedEndpoints, watchOwnEndpoints } from "./own-endpoints.ts";

/** What must be undone, last first. */
export type Closers = (() => Promise<void>)[];

export type Whole<Running> = Running & {
  /** Drains and stops everything, in reverse order. */
  close(): Promise<void>;
};

/** What the start adds is closed when the start fails, and when the process stops. */
export async function startWhole<Running>(
  log: Logger,
  start: (closers: Closers) => Promise<Running>,
): Promise<Whole<Running>> {
  shareHeapArenas();
  const closers: Closers = [];
  const close = async (): Promise<void> => {
    for (const undo of closers.splice(0).reverse()) await undo();
  };
  try {
    const running = await start(closers);
    giveBackStartPages();
    return { ...running, close };
  } catch (error) {
    await close().catch((failure: unknown) => log.error({ err: failure }, "stopping after a failed start failed too"));
    throw error;
  }
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
export async function requirePort(host: string, port: number): Promise<number> {
  try {
    return await freePort(host, port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice = code === "EADDRINUSE" ? "stop what uses it, or set SONDE_PORT" : "set SONDE_HOST and SONDE_PORT";
    throw new StartError(`cannot listen on ${host}:${port} (${code}): ${advice}`);
  }
}

/** A listener's port 0 becomes a free one, because the guard must know it. @throws StartError */
export async function withFreePort<Address extends { readonly host: string; readonly port: number }>(
  listen: Address | null,
): Promise<Address | null> {
  return listen?.port === 0 ? { ...listen, port: await requirePort(listen.host, 0) } : listen;
}

/** What listens on behalf of this process, watched until it ends. */
export async function openOwnEndpoints(
  closers: Closers,
  log: Logger,
  listener: Listener | null,
  storeUrls: readonly (string | null)[],
): Promise<WatchedEndpoints> {
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

/** Warns of a key that other users can read; keys of the service manager have modes of their own (systemd.exec(5), LoadCredential=). */
export function lookAtKeyFile(keyFile: string | null, { credentialsDir }: Config, log: Logger): void {
  // The data folder's own is closed to others when the folder is claimed.
  if (keyFile === null) return;
  if (credentialsDir !== null && dirname(keyFile) === credentialsDir) return;
  const warning = keyFileWarning(keyFile);
  if (warning !== null) log.warn(warning);
}

/** What other processes can reach of ours, and our children of everything: one line, and what to do where it is little. */
export async function tellProtection(config: Config, log: Logger): Promise<void> {
  const { words, isWhole, advice } = await protectionHere();
  const seen = config.isDebuggable ? "; SONDE_DEBUGGABLE: other processes of this user may look into this one" : "";
  if (isWhole && !config.isDebuggable) log.info(words);
  else log.warn(`${words}${seen}${advice === "" ? "" : `; ${advice}`}`);
}

/** Closed when the start fails, or with the role. @returns the part itself */
export function closing<Part extends { close(): Promise<void> | void }>(closers: Closers, part: Part): Part {
  closers.push(async () => part.close());
  return part;
}

/** Metrics of this process itself, and the registry that they are in. */
export function processMetrics(role: "up" | "api" | "scheduler" | "checker"): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NO_LIBRARY_LOOKS_MS });
  measureLoopLag(registry);
  new Gauge({
    name: "sonde_build_info",
    help: "1; the release and the role that this process runs, and its Node.js",
    labelNames: ["version", "role", "node"],
    registers: [registry],
  }).set({ version: VERSION, role, node: process.version }, 1);
  return registry;
}
