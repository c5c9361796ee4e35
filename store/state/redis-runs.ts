/** A scheduler's side of runs over Redis: one stream of each checker to write to, one of outcomes from each location to read. */

import { CHECK_CLASSES } from "./checks.ts";
import { sweepLocation } from "./lua/sweep-location.ts";
import { connect, end, type Link, type RedisLocation } from "./redis.ts";
import { Mailbox } from "./redis-mailbox.ts";
import { OutcomeReader } from "./redis-outcomes.ts";
import {
  CHECKER_GROUP,
  CHECKER_SLOTS,
  checkersKey,
  checksKey,
  MAILBOXES,
  outcomesKey,
  runsKey,
  runsPurpose,
} from "./redis-run-keys.ts";
import { MOST_WAITING, type RunSender, type RunSenderOptions } from "./runs.ts";

/** How often what checkers have left in Redis is looked at, ms. */
const SWEEP_EVERY_MS = 1_000;
/** Reports of 64 checkers are 20 KB. */
const MOST_REPORT_BYTES = 2 ** 20;
/** Of one stream. What a checker keeps while Redis is away, 65,536 outcomes, is 40 MB. */
const MOST_STREAM_BYTES = 64 * 2 ** 20;
/** Of one location: after an outage two schedulers may find that much each. */
const MOST_LOCATION_BYTES = 128 * 2 ** 20;

export async function openRedisRunSender<Spec>(
  { url }: RedisLocation,
  options: RunSenderOptions,
): Promise<RunSender<Spec>> {
  const writing = await connect(url);
  const { scheduler, locations } = options;
  const mailbox = new Mailbox({ link: writing, scheduler, locations, monotonicNowMs: () => performance.now() });
  await mailbox.hold().catch(() => {});
  const reader = new OutcomeReader({ ...options, url, mailbox, writing });
  reader.start();
  let isSweeping = false;
  const sweeping = setInterval(() => {
    if (isSweeping) return;
    isSweeping = true;
    void sweep(writing, options).finally(() => {
      isSweeping = false;
    });
  }, SWEEP_EVERY_MS);
  return {
    async send(checker, batch) {
      const sealing = options.sealingOf(checker.location);
      if (sealing === undefined) return "absent";
      const { redis } = writing;
      const { address } = mailbox;
      if (redis.status !== "ready" || address === null) return "away";
      const body = sealing.seal(runsPurpose(checker), JSON.stringify(batch));
      try {
        // Adds only to a stream that its checker keeps alive.
        const trim = ["NOMKSTREAM", "MAXLEN", "~", MOST_WAITING] as const;
        const fields = ["scheduler", address, "body", body];
        const entry = await redis.xadd(runsKey(checker), ...trim, "*", ...fields);
        return entry === null ? "absent" : "sent";
      } catch (error) {
        // Redis refused the command, or has no memory: nothing was added. After any other error it may have arrived.
        return /^ReplyError/.test(String(error)) ? "away" : "unknown";
      }
    },
    isThere: (checker) =>
      writing.redis.exists(runsKey(checker)).then(
        (count) => count > 0,
        () => true,
      ),
    async close() {
      clearInterval(sweeping);
      await reader.stop();
      await mailbox.release();
      await end(writing.redis);
    },
  };
}

/**
 * No rule of Redis bounds how much a user may keep, so keys that are too large for their use are deleted. Their owners make them anew; runs
 * in them are missed at their deadlines.
 */
async function sweep(link: Link, { locations, onRefused }: RunSenderOptions): Promise<void> {
  for (const location of locations()) {
    const keys = keysOf(location);
    const bounds = [MOST_REPORT_BYTES, MOST_STREAM_BYTES, MOST_LOCATION_BYTES, CHECKER_SLOTS.length, CHECKER_GROUP];
    const removed = await link.call(sweepLocation(keys.length), keys, bounds).catch(() => []);
    for (const key of removed as readonly string[]) onRefused(location, 1, `${key} had outgrown what it is for`);
  }
}

/** All keys that a location's checkers may write to. */
function keysOf(location: string): readonly string[] {
  return [
    checkersKey(location),
    ...CHECKER_SLOTS.map((id) => runsKey({ location, id })),
    ...MAILBOXES.map((mailbox) => outcomesKey(location, mailbox)),
    ...CHECK_CLASSES.map((checkClass) => checksKey(location, checkClass)),
  ];
}
