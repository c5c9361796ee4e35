/** Configs that are all alive: what Sonde gets out of a core beside what a minimal driver does, and that no verdict is wrong. */
import type { Engine } from "../../model/subscription.ts";
import { median } from "../statistics.ts";
import { type Judged, measureOurs, measureRaw } from "./measure.ts";
import { MIXED, WITH_QUIC } from "./mix.ts";
import { cpuOfUs } from "./processor-time.ts";
import type { Rig } from "./rig.ts";

export async function runAlive(rig: Rig, what: "mixed" | "with QUIC"): Promise<void> {
  const { configs, inFlight, rawInFlight, rounds, timeoutMs } = rig.options;
  const sorts = what === "mixed" ? MIXED : WITH_QUIC;
  const offered = rig.mix.offer(sorts, configs);
  console.log(
    `${configs} alive, ${what}: ${sorts.join(", ")}; servers, target, core and Sonde on this machine; ${rawInFlight} in flight raw, ${inFlight} ours`,
  );
  const engines: readonly Engine[] = what === "mixed" ? ["singbox", "xray"] : ["singbox"];
  for (const engine of engines) {
    const ratios: number[] = [];
    const wholeRatios: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      const raw = await measureRaw(offered, {
        engine,
        program: rig.programs[engine],
        target: { host: "127.0.0.1", port: rig.target.port },
        inFlight: rawInFlight,
        timeoutMs,
        extraCaPem: rig.extraCaPem,
      });
      const direct = await rig.open(inFlight);
      const before = cpuOfUs();
      const ours = await measureOurs(direct, offered, { engine, timeoutMs, others: rig.others });
      const ended = cpuOfUs();
      await direct.close();
      const coresCpuS = cpuOfUs().childrenS - before.childrenS;
      const perCheckMs = (seconds: number): string => ((seconds / configs) * 1_000).toFixed(2);
      ratios.push(ours.perS / raw.perS);
      wholeRatios.push(ours.perS / raw.wholePerS);
      console.log(
        `${engine} ${round}: processor time a check: raw ${perCheckMs(raw.coreCpuS)} ms core, ${perCheckMs(raw.driverCpuS)} ms driver; ours ${perCheckMs(coresCpuS)} ms cores, ${perCheckMs(ended.selfS - before.selfS)} ms Sonde`,
      );
      console.log(
        `${engine} ${round}: raw ${raw.perS.toFixed(0)}/s (${raw.wholePerS.toFixed(0)}/s with its start), ${raw.failed} failed, core ${raw.coreMb.toFixed(0)} MB; ours ${ours.perS.toFixed(0)}/s, ${wrongs(ours.judged)}, ${ours.ourMb.toFixed(0)} MB, largest core ${ours.coreMb.toFixed(0)} MB`,
      );
    }
    console.log(
      `${engine}: ours is ${median(ratios).toFixed(2)} of raw, ${median(wholeRatios).toFixed(2)} of raw with its core's start (median of ${rounds})`,
    );
  }
}

/** Of configs that are all alive. */
export function wrongs(checks: readonly Judged[]): string {
  const wrong = checks.filter(({ outcome }) => outcome.verdict !== "ok");
  if (wrong.length === 0) return "no wrong verdict";
  const [first] = wrong;
  return `${wrong.length} WRONG, such as ${first?.offered.kind}: ${first?.outcome.verdict}, ${first?.outcome.message}`;
}
