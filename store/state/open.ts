/** Opens state, or only its notices for a thread that counts nothing. */
import type { MessageSealing } from "../sealed-text.ts";
import type { OpenAccountLeases } from "./accounts.ts";
import type { OpenBroadcasts } from "./broadcasts.ts";
import type { CheckerWatch, CheckerWatchOptions } from "./checkers.ts";
import type { CheckServer, CheckServerOptions, Checks } from "./checks.ts";
import { type InProcessLocation, openInProcess } from "./in-process.ts";
import type { OpenNotices } from "./notices.ts";
import type { RedisLocation } from "./redis.ts";
import type { RunSender, RunSenderOptions } from "./runs.ts";
import type { State } from "./state.ts";
import { openThreadBroadcasts } from "./thread-broadcasts.ts";
import { openThreadCheckServer, openThreadChecks } from "./thread-checks.ts";
import { openThreadNotices } from "./thread-notices.ts";

/** In this process, counters kept in an SQLite file, or in Redis. Plain data: it crosses threads. */
export type StateLocation = InProcessLocation | RedisLocation;
/** The same location as the state's. */
export type NoticesLocation = StateLocation;

/**
 * Once per process for a file: its counters are in this process's memory.
 * @param onEvictions Redis may delete keys, or does: a line for the operator
 */
export async function openState(
  place: StateLocation,
  onEvictions: (message: string) => void = () => {},
): Promise<State> {
  if (!("url" in place)) return openInProcess(place);
  const state = await (await loadRedis()).openRedis(place, onEvictions);
  try {
    const broadcasts = await openBroadcasts(place);
    const close = async (): Promise<void> => {
      await broadcasts.close();
      await state.close();
    };
    return { ...state, broadcasts, close };
  } catch (error) {
    await state.close().catch(() => {});
    throw error;
  }
}

/** The state's own, for a thread that counts nothing. */
export async function openBroadcasts(place: StateLocation): Promise<OpenBroadcasts> {
  return "url" in place
    ? (await import("./redis-broadcasts.ts")).openRedisBroadcasts(place)
    : openThreadBroadcasts(place.file);
}

export async function openNotices(place: NoticesLocation): Promise<OpenNotices> {
  return "url" in place ? (await loadRedis()).openRedisNotices(place) : openThreadNotices(place.file);
}

/**
 * Opens the side that asks checkers, in this process or elsewhere.
 * @param sealingOf for what leaves this process, by the location it goes to; undefined: that location has no checkers
 * @param refreshKeys brings it up to date
 * @param onRefused so many messages from a location were no valid answer
 */
export async function openChecks(
  place: StateLocation,
  sealingOf: (location: string) => MessageSealing | undefined,
  refreshKeys: () => Promise<void> = async () => {},
  onRefused: (location: string, count: number, reason: string) => void = () => {},
): Promise<Checks> {
  return "url" in place
    ? (await loadRedisChecks()).openRedisChecks(place, sealingOf, refreshKeys, onRefused)
    : openThreadChecks(place.file);
}

/** Opens a checker's side. */
export async function openCheckServer(
  place: StateLocation,
  sealing: MessageSealing,
  options: CheckServerOptions,
): Promise<CheckServer> {
  return "url" in place
    ? (await loadRedisChecks()).openRedisCheckServer(place, sealing, options)
    : openThreadCheckServer(place.file, options);
}

/** Separate roles meet in Redis only. The checker's side is in redis-run-server.ts, because this file also loads SQLite. */
export async function openRunSender<Spec>(place: RedisLocation, options: RunSenderOptions): Promise<RunSender<Spec>> {
  return (await import("./redis-runs.ts")).openRedisRunSender<Spec>(place, options);
}

export async function watchCheckers(place: RedisLocation, options: CheckerWatchOptions): Promise<CheckerWatch> {
  return (await import("./redis-checkers.ts")).watchRedisCheckers(place, options);
}

export async function openRedisClock(
  place: RedisLocation,
): Promise<{ nowMs(): Promise<number>; close(): Promise<void> }> {
  return (await import("./redis-checkers.ts")).openRedisClock(place);
}

export async function openAccountLeases(place: RedisLocation): Promise<OpenAccountLeases> {
  return (await import("./redis-accounts.ts")).openRedisAccounts(place);
}

/** Its client takes a tenth of a second to load, in each thread: loaded only where it is used. */
const loadRedis = () => import("./redis.ts");
const loadRedisChecks = () => import("./redis-checks.ts");
