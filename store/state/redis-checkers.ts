/** Reports of checkers in Redis: a hash for each location. Their ages are judged by Redis's clock, which all of them know. */
import type { Redis } from "ioredis";
import {
  type CheckerReport,
  type CheckerWatch,
  type CheckerWatchOptions,
  HEALTHY_FOR_MS,
  isHealthy,
  isStaff,
} from "./checkers.ts";
import { createClockWatch } from "./clock-watch.ts";
import { readReports as readReportsScript } from "./lua/read-reports.ts";
import { parseReport, wordsOf } from "./message-readers.ts";
import { connect, end, type Link, type RedisLocation } from "./redis.ts";
import { CHECKER_SLOTS, checkersKey, isCheckerId, slotOf } from "./redis-run-keys.ts";

const LOOK_MS = 1_000;
/** Reports older than this are forgotten, ms; in Redis the next checker that takes the name replaces the report. */
const SWEPT_AFTER_MS = 10 * HEALTHY_FOR_MS;
/** Ours have some hundred; reasons are words for people. */
const MOST_REPORT_CHARACTERS = 8_192;
/** The reports of one location are 64 of those at most. */
const MOST_ANSWER_BYTES = 4 * 2 ** 20;

/** @returns ours minus Redis's, ms, and how long the question took */
export async function readClock(redis: Redis): Promise<{ readonly offsetMs: number; readonly tookMs: number }> {
  // In this order, so that a pause between the two counts as time it took.
  const startedAtMs = performance.now();
  const askedAtMs = Date.now();
  const [seconds, micros] = await redis.time();
  const tookMs = performance.now() - startedAtMs;
  return { offsetMs: askedAtMs + tookMs / 2 - (Number(seconds) * 1_000 + Number(micros) / 1_000), tookMs };
}

/** Redis's clock alone, Unix ms. @throws StoreError when Redis is away */
export async function openRedisClock({ url }: RedisLocation) {
  const link = await connect(url);
  return {
    async nowMs(): Promise<number> {
      const [seconds, micros] = await link.run((redis) => redis.time());
      return Number(seconds) * 1_000 + Number(micros) / 1_000;
    },
    close: () => end(link.redis),
  };
}

/** @throws StoreError when Redis is away at the start; later it goes on with what it knows */
export async function watchRedisCheckers(
  { url }: RedisLocation,
  { locations, onChange, onRefused, redisAheadMs = () => 0 }: CheckerWatchOptions,
): Promise<CheckerWatch> {
  const link = await connect(url);
  const clock = createClockWatch();
  /** By location and the name that it has taken: there cannot be more than there are names. */
  const known = new Map<string, CheckerReport>();
  let latest = "";
  let isLooking = false;
  const redisNowMs = (): number => Date.now() - clock.offsetMs();
  const those = (isSo: typeof isStaff) => [...known.values()].filter((one) => isSo(one, redisNowMs(), redisAheadMs()));
  const healthy = (): readonly CheckerReport[] => those(isHealthy);
  const staffed = (): ReadonlySet<string> => new Set(those(isStaff).map(({ location }) => location));

  async function look(): Promise<void> {
    clock.take(await link.run(readClock));
    for (const location of locations()) {
      link.allow(MOST_ANSWER_BYTES);
      for (const report of await readReports(link, location, redisNowMs(), onRefused)) {
        if (redisNowMs() - report.atMs <= SWEPT_AFTER_MS) known.set(`${location} ${slotOf(report.id)}`, report);
      }
    }
  }

  /** Runs also when Redis fails: a checker that is silent for long enough is not healthy any more. */
  function settle(): void {
    for (const [name, report] of known) {
      const isWatched = locations().includes(report.location);
      if (!isWatched || redisNowMs() - report.atMs > SWEPT_AFTER_MS) known.delete(name);
    }
    const seen = [...healthy().map(({ id, isFit }) => `${id} ${isFit}`), ...staffed()].sort().join();
    if (seen === latest) return;
    latest = seen;
    onChange?.();
  }

  async function turn(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    await look().catch(() => {});
    isLooking = false;
    settle();
  }

  await look();
  settle();
  const timer = setInterval(() => void turn(), LOOK_MS);
  return {
    healthy,
    known: () => [...known.values()],
    staffed,
    clockOffsetMs: clock.offsetMs,
    async close() {
      clearInterval(timer);
      await end(link.redis);
    },
  };
}

async function readReports(
  link: Link,
  location: string,
  nowMs: number,
  onRefused: CheckerWatchOptions["onRefused"],
): Promise<readonly CheckerReport[]> {
  const wanted = [MOST_REPORT_CHARACTERS, ...CHECKER_SLOTS];
  const answer = (await link.call(readReportsScript, [checkersKey(location)], wanted)) as readonly string[];
  const removed = Number(answer.at(-1));
  if (removed > 0) onRefused(location, removed, "reports under names that no checker has, or longer than any");
  const reports: CheckerReport[] = [];
  for (let at = 0; at + 1 < answer.length; at += 2) {
    try {
      const report = parseReport(answer[at + 1] ?? "", location, nowMs);
      if (!isCheckerId(report.id) || slotOf(report.id) !== answer[at]) throw new Error("it is another checker's");
      reports.push(report);
    } catch (error) {
      onRefused(location, 1, `a report: ${wordsOf(error)}`);
    }
  }
  return reports;
}
