/** Opens state, or only its notices for a thread that counts nothing. */
import type { MessageSealing } from "../sealed-text.ts";
import type { OpenAccountLeases } from "./accounts.ts";
import type { CheckerWatch, CheckerWatchOptions } from "./checkers.ts";
import type { CheckServer, CheckServerOptions, Checks } from "./checks.ts";
import { type InProcessPlace, openInProcess } from "./in-process.ts";
import type { OpenNotices } from "./notices.ts";
import type { RedisPlace } from "./redis.ts";
import type { RunSender, RunSenderOptions } from "./runs.ts";
import type { State } from "./state.ts";
import { openThreadCheckServer, openThreadChecks } from "./thread-checks.ts";
import { openThreadNotices } from "./thread-notices.ts";

/** In this process, counters kept in an SQLite file, or in Redis. Plain data: it crosses threads. */
export type StatePlace = InProcessPlace | RedisPlace;
/** The same place as the state's. */
export type NoticesPlace = StatePlace;

/** Once per process for a file: its counters are in this process's memory. */
export async function openState(place: StatePlace): Promise<State> {
  return "url" in place ? (await loadRedis()).openRedis(place) : openInProcess(place);
}

export async function openNotices(place: NoticesPlace): Promise<OpenNotices> {
  return "url" in place ? (await loadRedis()).openRedisNotices(place) : openThreadNotices(place.file);
}

/**
 * Asks checkers, wherever they are.
 * @param sealingOf for what leaves this process, by the location it goes to; undefined: that location has no checkers
 * @param refreshKeys brings it up to date
 * @param onRefused so many messages from a location were no valid answer
 */
export async function openChecks(
  place: StatePlace,
  sealingOf: (location: string) => MessageSealing | undefined,
  refreshKeys: () => Promise<void> = async () => {},
  onRefused: (location: string, count: number, reason: string) => void = () => {},
): Promise<Checks> {
  return "url" in place
    ? (await loadRedisChecks()).openRedisChecks(place, sealingOf, refreshKeys, onRefused)
    : openThreadChecks(place.file);
}

/** A checker's side of the same. */
export async function openCheckServer(
  place: StatePlace,
  sealing: MessageSealing,
  options: CheckServerOptions,
): Promise<CheckServer> {
  return "url" in place
    ? (await loadRedisChecks()).openRedisCheckServer(place, sealing, options)
    : openThreadCheckServer(place.file, options);
}

/** Roles apart have no other place: they meet in Redis. The checker's side is in redis-run-server.ts: this file also loads SQLite. */
export async function openRunSender<Spec>(place: RedisPlace, options: RunSenderOptions): Promise<RunSender<Spec>> {
  return (await import("./redis-runs.ts")).openRedisRunSender<Spec>(place, options);
}

export async function watchCheckers(place: RedisPlace, options: CheckerWatchOptions): Promise<CheckerWatch> {
  return (await import("./redis-checkers.ts")).watchRedisCheckers(place, options);
}

export async function openAccountLeases(place: RedisPlace): Promise<OpenAccountLeases> {
  return (await import("./redis-accounts.ts")).openRedisAccounts(place);
}

/** Its client takes a tenth of a second to load, in each thread: loaded only where it is used. */
const loadRedis = () => import("./redis.ts");
const loadRedisChecks = () => import("./redis-checks.ts");
