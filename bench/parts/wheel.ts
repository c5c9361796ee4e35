/** The timing wheel against a heap: what scheduling costs per turn. */
import { Bench } from "tinybench";
import { createWheel } from "../../scheduler/due/wheel.ts";
import { nextDue, phaseOf } from "../../scheduler/plan/phase.ts";
import { printTasks } from "./conditions.ts";
import { createHeap, type Timers } from "./heap.ts";

const ORIGIN_MS = 1_763_700_000_000;
/** How often the scheduler looks at its wheel. */
const STEP_MS = 10;

/** The library's own 64 would take a million monitors a minute. */
const LEAST_RUNS = 8;

const MAKERS: readonly (readonly [name: string, make: (capacity: number) => Timers])[] = [
  ["wheel", () => createWheel(ORIGIN_MS)],
  ["heap", createHeap],
];

/** One call turns every monitor once: monitors at one interval, each set again for its next turn when it is due. */
async function turns(monitors: number, intervalMs: number): Promise<void> {
  const bench = new Bench({ time: 1_000, warmupTime: 300, iterations: LEAST_RUNS, warmupIterations: LEAST_RUNS });
  for (const [name, make] of MAKERS) {
    const timers = make(monitors);
    for (let id = 0; id < monitors; id++)
      timers.insert(id, nextDue(ORIGIN_MS, intervalMs, phaseOf(id, "any", intervalMs)));
    let nowMs = ORIGIN_MS;
    bench.add(name, () => {
      const endMs = nowMs + intervalMs;
      while (nowMs < endMs) {
        nowMs += STEP_MS;
        timers.advance(nowMs, (id, dueAtMs) => timers.insert(id, dueAtMs + intervalMs));
      }
    });
  }
  await bench.run();
  printTasks(
    `turns of ${monitors} monitors every ${intervalMs / 1_000} s, a look each ${STEP_MS} ms`,
    bench,
    monitors,
    "turn",
  );
}

/** One call sets all timers anew at scattered times, then takes them all away. */
async function changes(timersCount: number): Promise<void> {
  const bench = new Bench({ time: 1_000, warmupTime: 300 });
  for (const [name, make] of MAKERS) {
    const timers = make(timersCount);
    let round = 0;
    bench.add(name, () => {
      round += 1;
      for (let id = 0; id < timersCount; id++) timers.insert(id, ORIGIN_MS + phaseOf(id + round, "any", 180_000));
      for (let id = 0; id < timersCount; id++) timers.insert(id, ORIGIN_MS + phaseOf(id * 7 + round, "de", 86_400_000));
      for (let id = 0; id < timersCount; id++) timers.remove(id);
    });
  }
  await bench.run();
  printTasks(`set, move and remove ${timersCount} timers`, bench, timersCount * 3, "change");
}

export async function run(): Promise<void> {
  await turns(5_000, 1_000);
  await turns(5_000, 60_000);
  await turns(100_000, 60_000);
  await turns(1_000_000, 60_000);
  await changes(100_000);
}
