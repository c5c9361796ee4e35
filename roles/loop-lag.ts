/**
 * How late the main thread's event loop is, under the metrics library's names. The library's own measure has a timer of its own, which wakes an idle process
 * up, and reports that timer's period with the lag. This one measures in moments in which the thread is awake anyway.
 */
import { createHistogram } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";
import { onTicks } from "../model/ticks.ts";

/** How often it looks, ms: a loop that stands still for so long is seen in any case. */
const LOOK_MS = 500;
const NS_IN_MS = 1_000_000;
const NS_IN_S = 1_000_000_000;

/** So seldom does the library look, ms: the longest period that a timer of Node takes. */
export const NO_LIBRARY_LOOKS_MS = 2 ** 31 - 1;

type Lags = Pick<ReturnType<typeof createHistogram>, "min" | "max" | "mean" | "stddev" | "percentile">;

const FIGURES: Readonly<Record<string, readonly [help: string, of: (lags: Lags) => number]>> = {
  nodejs_eventloop_lag_min_seconds: ["Least lag since the last scrape", ({ min }) => min],
  nodejs_eventloop_lag_max_seconds: ["Largest lag since the last scrape", ({ max }) => max],
  nodejs_eventloop_lag_mean_seconds: ["Mean lag since the last scrape", ({ mean }) => mean],
  nodejs_eventloop_lag_stddev_seconds: ["Standard deviation of the lag since the last scrape", ({ stddev }) => stddev],
  nodejs_eventloop_lag_p50_seconds: ["Half of the lags since the last scrape were less", (lags) => lags.percentile(50)],
  nodejs_eventloop_lag_p90_seconds: ["90 % of the lags since the last scrape were less", (lags) => lags.percentile(90)],
  nodejs_eventloop_lag_p99_seconds: ["99 % of the lags since the last scrape were less", (lags) => lags.percentile(99)],
};

const LAST = Object.keys(FIGURES).at(-1);

/**
 * Replaces the library's metrics of the lag, which are in the registry, by ours. `nodejs_eventloop_lag_seconds`, measured at each scrape, stays the library's.
 * @param nowMs ms, since any moment
 */
export function measureLoopLag(registry: Registry, nowMs = () => performance.now(), on = onTicks): void {
  const lags = createHistogram();
  let lastMs = nowMs();
  on(LOOK_MS, () => {
    const ms = nowMs();
    // The histogram's least value is 1.
    lags.record(Math.max(1, Math.round((ms - lastMs - LOOK_MS) * NS_IN_MS)));
    lastMs = ms;
  });
  for (const [name, [help, of]] of Object.entries(FIGURES)) {
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(lags.count === 0 ? 0 : of(lags) / NS_IN_S);
        // A scrape asks all of them, in this order.
        if (name === LAST) lags.reset();
      },
    });
  }
}
