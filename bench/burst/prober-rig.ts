/**
 * A prober in this thread with everything a check passes on its way: MessagePort, runner, deadlines, guard, probe. What its process
 * uses of the CPU is what its checks cost, both ends of the port included.
 */
import { performance } from "node:perf_hooks";
import { MessageChannel } from "node:worker_threads";
import type { CheckSpec, FromProber, ToProber } from "../../engine/contract/messages.ts";
import { probeList } from "../../engine/contract/registry.ts";
import { packRuns, unpackOutcomes } from "../../engine/prober/packed.ts";
import { Prober } from "../../engine/prober/prober.ts";
import type { Transport } from "../../engine/transport/transport.ts";

const probes = probeList();

/** Runs sent in one message, as dispatch does. */
const RUNS_PER_MESSAGE = 32;

export interface Burst {
  readonly checks: number;
  /** Checks that did not pass; a figure with any is worth nothing. */
  readonly failed: number;
  readonly wallS: number;
  /** CPU time of this process. */
  readonly cpuS: number;
}

export interface ProberRig {
  /** Keeps so many in flight until all have ended. */
  burst(specKey: number, checks: number, inFlight: number): Promise<Burst>;
  close(): Promise<void>;
}

export function openProberRig(transport: Transport, specs: readonly CheckSpec[]): ProberRig {
  const { port1, port2 } = new MessageChannel();
  const prober = new Prober({
    port: port1,
    probes,
    transport,
    now: () => performance.now(),
    wallNowMs: () => Date.now(),
    randomBytes: (sizeBytes) => new Uint8Array(sizeBytes),
    utilization: (since) => performance.eventLoopUtilization(since),
    beat: () => {},
    touch: () => {},
  });
  const send = (message: ToProber): void => port2.postMessage(message);
  send({ type: "define", specs });

  function runAll(specKey: number, checks: number, inFlight: number): Promise<number> {
    let sent = 0;
    let ended = 0;
    let failed = 0;
    const more = (count: number): void => {
      const dueAtMs = Date.now();
      const size = Math.min(count, checks - sent);
      const runs = Array.from({ length: size }, () => ({ checkId: ++sent, specKey, dueAtMs, alone: false }));
      if (size > 0) send({ type: "run", runs: packRuns(runs) });
    };
    return new Promise((resolve) => {
      port2.removeAllListeners("message");
      port2.on("message", (message: FromProber) => {
        if (message.type !== "results") return;
        const outcomes = unpackOutcomes(message);
        ended += outcomes.length;
        for (const { verdict } of outcomes) if (verdict !== "ok") failed++;
        if (ended === checks) resolve(failed);
        else more(outcomes.length);
      });
      for (let filled = 0; filled < inFlight; filled += RUNS_PER_MESSAGE) {
        more(Math.min(RUNS_PER_MESSAGE, inFlight - filled));
      }
    });
  }

  return {
    burst: (specKey, checks, inFlight) => measure(checks, () => runAll(specKey, checks, inFlight)),
    async close() {
      send({ type: "stop" });
      await prober.stopped;
      port2.close();
    },
  };
}

/** @param work does so many checks and says how many failed */
export async function measure(checks: number, work: () => Promise<number>): Promise<Burst> {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const failed = await work();
  const wallS = (performance.now() - startedAt) / 1_000;
  const used = process.cpuUsage(before);
  return { checks, failed, wallS, cpuS: (used.user + used.system) / 1e6 };
}

/** @param one does one check, and rejects when it fails */
export function measureEach(checks: number, inFlight: number, one: () => Promise<unknown>): Promise<Burst> {
  return measure(checks, async () => {
    let left = checks;
    let failed = 0;
    const fail = (): void => {
      failed++;
    };
    const work = async (): Promise<void> => {
      while (left-- > 0) await one().catch(fail);
    };
    await Promise.all(Array.from({ length: inFlight }, work));
    return failed;
  });
}
