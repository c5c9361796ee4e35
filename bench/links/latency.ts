/** Whether the recorded round trip is the server's or our own crowd's. */

import { median } from "../statistics.ts";
import { measureOurs } from "./measure.ts";
import { PLAIN } from "./mix.ts";
import type { Rig } from "./rig.ts";

const CROWD = 200;
const CHECKS = 2_000;

interface Samples {
  readonly medianMs: number;
  /** Share of them, 0 to 1. */
  readonly marked: number;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

export async function runLatency(rig: Rig): Promise<void> {
  const { timeoutMs } = rig.options;
  const options = { engine: null, timeoutMs, others: rig.others };
  const samplesOf = async (inFlight: number, checks: number): Promise<Samples> => {
    const direct = await rig.open(inFlight);
    const { judged } = await measureOurs(direct, rig.mix.offer(PLAIN, checks), options);
    await direct.close();
    const passed = judged.filter(({ outcome }) => outcome.verdict === "ok");
    const marked = passed.filter(({ outcome }) => outcome.explanation !== null).length;
    return {
      medianMs: median(passed.flatMap(({ outcome }) => outcome.latencyMs ?? [])),
      marked: marked / passed.length,
    };
  };
  const quiet = await samplesOf(1, 100);
  const crowded = await samplesOf(CROWD, CHECKS);
  console.log(
    `recorded round trip, median: ${quiet.medianMs} ms with one in flight, ${crowded.medianMs} ms with ${CROWD}; marked as measured in a crowd: ${percent(quiet.marked)} and ${percent(crowded.marked)}`,
  );
}
