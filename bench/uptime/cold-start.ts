/**
 * Cold start: a service that knows its monitors is started, and every one must be checked within one interval of its being ready,
 * evenly and without a burst. The target's log says when.
 */
import { setTimeout as pause } from "node:timers/promises";
import { conditions } from "../parts/conditions.ts";
import { percentile } from "../statistics.ts";
import { startServiceUnderTest } from "./service.ts";
import { targetNets } from "./target-address.ts";
import { startTarget } from "./target-process.ts";
import { createMonitors } from "./uptime.ts";

export interface ColdStartOptions {
  readonly monitors: number;
  readonly intervalS: number;
}

export async function runColdStart(options: ColdStartOptions): Promise<void> {
  const { monitors, intervalS } = options;
  const target = await startTarget(0, 0);
  let service = await startServiceUnderTest(targetNets(target.port));
  try {
    process.stderr.write(`creating ${monitors} monitors through the API …\n`);
    await createMonitors(service.client, target.port, options);
    const stoppedAtMs = Date.now();
    service = await service.restart();
    const readyAtMs = Date.now();
    process.stderr.write(`started again in ${readyAtMs - stoppedAtMs} ms, waiting for one interval …\n`);
    await pause((intervalS + 2) * 1_000);
    const firstAtMs = firstAnswers(await target.log(), readyAtMs - 500);
    const sinceReadyS = [...firstAtMs.values()].map((atMs) => (atMs - readyAtMs) / 1_000);
    const perSecond = countBySecond(sinceReadyS);
    console.log(`cold start: ${monitors} http monitors every ${intervalS} s\n  ${conditions()}`);
    console.log(`  stopped and ready again  ${((readyAtMs - stoppedAtMs) / 1_000).toFixed(1)} s`);
    console.log(`  checked once             ${firstAtMs.size} of ${monitors}`);
    console.log(
      `  half, 99 %, all after    ${[0.5, 0.99, 1].map((share) => `${percentile(sinceReadyS, share).toFixed(1)} s`).join(", ")}`,
    );
    console.log(
      `  busiest second           ${Math.max(...perSecond)} first checks (${Math.round(monitors / intervalS)} when perfectly even)`,
    );
  } finally {
    await service.stop();
    target.close();
  }
}

/** When each monitor was first answered after a time. */
function firstAnswers(log: Float64Array, afterMs: number): ReadonlyMap<number, number> {
  const first = new Map<number, number>();
  for (let i = 0; i < log.length; i += 4) {
    const monitor = log[i] ?? 0;
    const atMs = log[i + 1] ?? 0;
    if (atMs >= afterMs && atMs < (first.get(monitor) ?? Number.POSITIVE_INFINITY)) first.set(monitor, atMs);
  }
  return first;
}

function countBySecond(secondsSince: readonly number[]): readonly number[] {
  const counts: number[] = [];
  for (const since of secondsSince) {
    const second = Math.max(0, Math.floor(since));
    counts[second] = (counts[second] ?? 0) + 1;
  }
  return counts.map((count) => count ?? 0);
}
