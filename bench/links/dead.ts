/** Half of the configs behind a port whose connections vanish: they may cost their own time and delay no others. */

import { median } from "../statistics.ts";
import { wrongs } from "./alive.ts";
import { type Judged, measureOurs } from "./measure.ts";
import { MIXED } from "./mix.ts";
import { startBlackHole, stopProcess } from "./processes.ts";
import type { Rig } from "./rig.ts";

export async function runDead(rig: Rig): Promise<void> {
  const { configs, inFlight, timeoutMs } = rig.options;
  const half = configs >> 1;
  const hole = await startBlackHole();
  const direct = await rig.open(inFlight);
  try {
    const alive = rig.mix.offer(MIXED, half);
    const dead = new Set(rig.mix.offer(MIXED, half, hole.port));
    const without = await measureOurs(direct, alive, { engine: null, timeoutMs, others: rig.others });
    const mixed = alive.flatMap((one, index) => [one, [...dead][index] ?? one]);
    const both = await measureOurs(direct, mixed, { engine: null, timeoutMs, others: rig.others });
    const isDead = ({ offered }: Judged): boolean => dead.has(offered);
    const aliveJudged = both.judged.filter((one) => !isDead(one));
    const boundMs = (half / inFlight) * timeoutMs;
    const latency = (checks: readonly Judged[]): number =>
      median(checks.flatMap(({ outcome }) => outcome.latencyMs ?? []));
    const duration = (checks: readonly Judged[]): number => median(checks.map(({ outcome }) => outcome.durationMs));
    const called = both.judged.filter((one) => isDead(one) && one.outcome.verdict === "ok").length;
    console.log(
      `${half} alive: ${without.perS.toFixed(0)}/s, ${wrongs(without.judged)}, a check ${duration(without.judged).toFixed(0)} ms, round trip ${latency(without.judged).toFixed(0)} ms (medians), ${without.ourMb.toFixed(0)} MB`,
    );
    console.log(
      `${half} alive among ${half} black holes, ${timeoutMs / 1_000} s timeout, ${inFlight} in flight: ${(both.wallMs / 1_000).toFixed(1)} s, ${(both.wallMs / boundMs).toFixed(2)} of dead ÷ concurrency × timeout; alive: ${wrongs(aliveJudged)}, a check ${duration(aliveJudged).toFixed(0)} ms, round trip ${latency(aliveJudged).toFixed(0)} ms; dead: ${called} called alive; ${both.ourMb.toFixed(0)} MB`,
    );
  } finally {
    await direct.close();
    await stopProcess(hole.child);
  }
}
