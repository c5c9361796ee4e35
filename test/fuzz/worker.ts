/** The thread that fuzzes: targets in turn, a slice of time each, until the time is over. */
import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { type Fault, type Tally, TargetFuzzer } from "./driver.ts";
import { Signs } from "./signs.ts";
import type { FuzzTarget } from "./target.ts";

export interface Order {
  /** URL of the module whose TARGETS are the list. */
  readonly list: string;
  /** Places in the list. */
  readonly chosen: readonly number[];
  readonly seed: number;
  readonly ms: number;
  /** Of each target. */
  readonly mostInputs: number;
  readonly memory: SharedArrayBuffer;
}

export type Report = {
  readonly type: "progress" | "done";
  readonly tallies: readonly Tally[];
  readonly faults: readonly Fault[];
};

const LONGEST_SLICE_MS = 1_000;
const TELL_EVERY_MS = 1_000;

function fuzz(
  targets: readonly FuzzTarget[],
  { chosen, seed, ms, mostInputs, memory }: Order,
  tell: (report: Report) => void,
): void {
  const signs = new Signs(memory);
  const fuzzers = chosen.flatMap((place) => {
    const target = targets[place];
    return target === undefined ? [] : [new TargetFuzzer(target, seed, (input) => signs.begin(place, input))];
  });
  const report = (type: Report["type"]): Report => ({
    type,
    tallies: fuzzers.map(({ tally }) => tally),
    faults: fuzzers.flatMap(({ faults }) => faults),
  });
  const endAt = performance.now() + ms;
  // Twice round at least: what a slow target takes too much is missing at the end of the list.
  const sliceMs = Math.min(LONGEST_SLICE_MS, ms / (2 * Math.max(1, fuzzers.length)));
  for (const fuzzer of fuzzers) fuzzer.runSeeds();
  let toldAt = performance.now();
  for (let isBusy = true; isBusy && performance.now() < endAt; ) {
    isBusy = false;
    for (const fuzzer of fuzzers) {
      const left = mostInputs - fuzzer.tally.inputs;
      const leftMs = endAt - performance.now();
      if (left <= 0 || leftMs <= 0) continue;
      isBusy = true;
      fuzzer.run(left, Math.min(sliceMs, leftMs));
      if (performance.now() - toldAt < TELL_EVERY_MS) continue;
      tell(report("progress"));
      toldAt = performance.now();
    }
  }
  tell(report("done"));
}

const order = workerData as Order;
const { TARGETS } = (await import(order.list)) as { readonly TARGETS: readonly FuzzTarget[] };
fuzz(TARGETS, order, (report) => parentPort?.postMessage(report));
