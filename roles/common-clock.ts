/** Looks at the clocks of PostgreSQL and Redis beside this machine's, uses the common time (scheduler/shared-time.ts), and says which clock is off. */
import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import { MACHINE_CLOCKS } from "../scheduler/clock.ts";
import { oneAtATime } from "../scheduler/one-at-a-time.ts";
import { SharedTime } from "../scheduler/shared-time.ts";
import type { Warning } from "../store/sql/coordination/shards-port.ts";
import { createClockWatch } from "../store/state/clock-watch.ts";
import { openRedisClock } from "../store/state/open.ts";
import type { RedisLocation } from "../store/state/redis.ts";
import { type Closers, closing } from "./shared.ts";

const LOOK_MS = 1_000;
/** An answer that took longer says too little, ms: the clock was read at any moment of it. */
const LONGEST_ANSWER_MS = 1_000;

/** @returns Unix ms */
type AskClock = () => Promise<number>;

export interface CommonClockOptions {
  readonly sql: { clock: AskClock };
  readonly redis: RedisLocation;
  readonly registry: Registry;
  readonly log: Pick<Logger, "info" | "warn">;
}

export interface CommonClock {
  readonly time: SharedTime;
  warnings(): readonly Warning[];
}

/** The first look is over when this resolves. @throws what Redis throws */
export async function watchClocks(closers: Closers, options: CommonClockOptions): Promise<CommonClock> {
  const { sql, redis, registry, log } = options;
  const redisClock = closing(closers, await openRedisClock(redis));
  const time = new SharedTime();
  const others = { sql: new OtherClock(() => sql.clock()), redis: new OtherClock(redisClock.nowMs) };
  const words = new ClockWords(log);
  const look = async (): Promise<void> => {
    // One that is away goes on as it was seen last.
    await Promise.all([others.sql.look(), others.redis.look()]);
    const [sqlMs, redisMs] = [others.sql.aheadMs(), others.redis.aheadMs()];
    if (sqlMs !== null && redisMs !== null) words.say(time.agree({ sqlMs, redisMs }));
  };
  await look();
  const looking = oneAtATime(look, () => {});
  const timer = setInterval(looking.request, LOOK_MS);
  closers.push(async () => {
    clearInterval(timer);
    await looking.stop();
  });
  measure(registry, others);
  return { time, warnings: () => (time.isAnyOff ? ["clock_off"] : []) };
}

class OtherClock {
  readonly #ask: AskClock;
  readonly #samples = createClockWatch();
  #isKnown = false;

  constructor(ask: AskClock) {
    this.#ask = ask;
  }

  async look(): Promise<void> {
    const askedAtMs = MACHINE_CLOCKS.steadyNowMs();
    const theirMs = await this.#ask().catch(() => null);
    if (theirMs === null) return;
    const tookMs = MACHINE_CLOCKS.steadyNowMs() - askedAtMs;
    if (tookMs > LONGEST_ANSWER_MS) return;
    this.#samples.take({ offsetMs: askedAtMs + tookMs / 2 - theirMs, tookMs });
    this.#isKnown = true;
  }

  /** It minus the steady clock, ms; null: it was never heard. */
  aheadMs(): number | null {
    return this.#isKnown ? -this.#samples.offsetMs() : null;
  }
}

/** Says which clocks are off when that changes. */
class ClockWords {
  readonly #log: Pick<Logger, "info" | "warn">;
  #said = "";

  constructor(log: Pick<Logger, "info" | "warn">) {
    this.#log = log;
  }

  say({ ours, sql, redis }: { readonly ours: number; readonly sql: number; readonly redis: number }): void {
    const off = [ours !== 0 && "ours", sql !== 0 && "sql", redis !== 0 && "redis"].filter((one) => one !== false);
    const before = this.#said;
    this.#said = off.join();
    if (this.#said === before) return;
    if (ours !== 0)
      this.#log.warn(
        { offByMs: Math.round(ours) },
        `this machine's clock is ${secondsOf(ours)} those of PostgreSQL and Redis: their time is used until it is corrected (run an NTP client)`,
      );
    for (const [name, offMs] of [["PostgreSQL", sql] as const, ["Redis", redis] as const]) {
      if (offMs === 0) continue;
      const what = `the clock of ${name}'s machine is ${secondsOf(offMs)} the others: correct it (run an NTP client)`;
      this.#log.warn({ offByMs: Math.round(offMs) }, what);
    }
    if (off.length === 0) this.#log.info("the clocks of this machine, PostgreSQL and Redis are the same again");
  }
}

function secondsOf(offMs: number): string {
  const seconds = Math.round(Math.abs(offMs) / 1_000);
  return offMs > 0 ? `${seconds} s ahead of` : `${seconds} s behind`;
}

function measure(registry: Registry, others: { readonly sql: OtherClock; readonly redis: OtherClock }): void {
  new Gauge({
    name: "sonde_clock_offset_seconds",
    help: "This machine's clock minus that of a store's machine; beyond 2 s one of them is wrong",
    labelNames: ["store"],
    registers: [registry],
    collect() {
      const ownMs = MACHINE_CLOCKS.wallNowMs() - MACHINE_CLOCKS.steadyNowMs();
      for (const [store, clock] of [["postgresql", others.sql] as const, ["redis", others.redis] as const]) {
        const aheadMs = clock.aheadMs();
        if (aheadMs !== null) this.set({ store }, (ownMs - aheadMs) / 1_000);
      }
    },
  });
}
