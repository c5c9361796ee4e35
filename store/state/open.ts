/** Opens state, or only its notices for a thread that counts nothing. */
import { type InProcessPlace, openInProcess } from "./in-process.ts";
import type { OpenNotices } from "./notices.ts";
import { openRedis, openRedisNotices, type RedisPlace } from "./redis.ts";
import type { State } from "./state.ts";
import { openThreadNotices } from "./thread-notices.ts";

/** In this process, counters kept in an SQLite file, or in Redis. Plain data: it crosses threads. */
export type StatePlace = InProcessPlace | RedisPlace;
/** The same place as the state's. */
export type NoticesPlace = StatePlace;

/** Once per process for a file: its counters are in this process's memory. */
export function openState(place: StatePlace): Promise<State> {
  return "url" in place ? openRedis(place) : openInProcess(place);
}

export async function openNotices(place: NoticesPlace): Promise<OpenNotices> {
  return "url" in place ? openRedisNotices(place) : openThreadNotices(place.file);
}
