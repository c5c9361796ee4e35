/** Counters of workspaces, put into a Redis as its own (redis.ts) would stand there. */
import { connect, end, type RedisLocation, requestsKey, usageKey, WINDOW_MARGIN_MS } from "./redis.ts";
import { DAY_MS, REQUEST_WINDOWS, requestWindows, USAGE_DAYS_KEPT } from "./windows.ts";
import type { WorkspaceCounters } from "./workspace-counters.ts";

export async function writeRedisCounters(
  { url }: RedisLocation,
  counters: readonly WorkspaceCounters[],
  nowMs: number,
): Promise<void> {
  const link = await connect(url);
  try {
    for (const { organizationId, requests, endpoints } of counters) {
      await link.run(async (redis) => {
        const pipeline = redis.multi();
        for (const [at, { index, endsAtMs }] of requestWindows(nowMs).entries()) {
          const window = REQUEST_WINDOWS[at] ?? "minute";
          const keepMs = Math.ceil(endsAtMs - nowMs) + WINDOW_MARGIN_MS;
          pipeline.set(requestsKey(organizationId, window, index), requests[window], "PX", keepMs);
        }
        for (const day of new Set(endpoints.map((one) => one.day))) {
          const key = usageKey(organizationId, day);
          pipeline.del(key);
          for (const one of endpoints.filter((each) => each.day === day)) {
            pipeline.hset(key, `${one.keyId} requests ${one.endpoint}`, one.requests);
            if (one.errors > 0) pipeline.hset(key, `${one.keyId} errors ${one.endpoint}`, one.errors);
          }
          pipeline.pexpire(key, (USAGE_DAYS_KEPT + 1) * DAY_MS);
        }
        for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error;
      });
    }
  } finally {
    await end(link.redis);
  }
}
