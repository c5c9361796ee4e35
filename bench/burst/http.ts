/**
 * Verified website checks per CPU second on loopback: one prober in this thread with everything a check passes on its way (port,
 * runner, guard, probe), a fresh connection each, the target in a process of its own. Only this process's CPU time counts.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import type { FromProber, ToProber } from "../../engine/check.ts";
import { Prober } from "../../engine/prober.ts";
import { probes } from "../../engine/registry.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { conditions } from "../parts/conditions.ts";

const IN_FLIGHT = 64;
/** Runs sent in one message, as dispatch does. */
const RUNS_PER_MESSAGE = 32;
const WARM_UP_CHECKS = 20_000;

export interface BurstFigures {
  readonly checks: number;
  /** Checks that did not pass; a figure with any is worth nothing. */
  readonly failed: number;
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

export async function run(kind: "http" | "keyword" = "http", checks = 60_000): Promise<BurstFigures> {
  const target = fork(fileURLToPath(new URL("./http-target.js", import.meta.url)));
  const [port] = await once(target, "message");
  const { port1, port2 } = new MessageChannel();
  const options = { allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null };
  const prober = new Prober({
    port: port1,
    probes,
    transport: createTransport({ ...options, rdapBootstrapUrl: null, canaries: null }),
    now: () => performance.now(),
    wallNowMs: () => Date.now(),
    randomBytes: (sizeBytes) => new Uint8Array(sizeBytes),
    utilization: (since) => performance.eventLoopUtilization(since),
    beat: () => {},
    touch: () => {},
  });
  const settings = { url: `http://127.0.0.1:${port}/health`, ...(kind === "keyword" ? { keyword: "well: 42" } : {}) };
  send({ type: "define", specs: [{ key: 1, kind, settings, timeoutMs: 10_000 }] });

  function send(message: ToProber): void {
    port2.postMessage(message);
  }
  /** Keeps so many in flight until all have ended. @returns how many failed */
  function burst(total: number): Promise<number> {
    let sent = 0;
    let ended = 0;
    let failed = 0;
    const more = (count: number): void => {
      const size = Math.min(count, total - sent);
      const runs = Array.from({ length: size }, () => ({
        checkId: ++sent,
        specKey: 1,
        dueAtMs: Date.now(),
        alone: false,
      }));
      if (size > 0) send({ type: "run", runs });
    };
    return new Promise((resolve) => {
      port2.removeAllListeners("message");
      port2.on("message", (message: FromProber) => {
        if (message.type !== "results") return;
        ended += message.outcomes.length;
        for (const { verdict } of message.outcomes) if (verdict !== "ok") failed++;
        if (ended === total) resolve(failed);
        else more(message.outcomes.length);
      });
      for (let filled = 0; filled < IN_FLIGHT; filled += RUNS_PER_MESSAGE) more(RUNS_PER_MESSAGE);
    });
  }

  await burst(WARM_UP_CHECKS);
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const failed = await burst(checks);
  const wallS = (performance.now() - startedAt) / 1_000;
  const used = process.cpuUsage(before);
  send({ type: "stop" });
  await prober.stopped;
  port2.close();
  target.disconnect();
  const figures = {
    checks,
    failed,
    perCpuSecond: checks / ((used.user + used.system) / 1e6),
    perSecond: checks / wallS,
  };
  console.log(
    `${kind}: ${Math.round(figures.perCpuSecond)} verified checks per CPU second, ${Math.round(figures.perSecond)}/s, ${failed} failed\n` +
      `  ${checks} checks, ${IN_FLIGHT} in flight, fresh connections, loopback, target in its own process; ${conditions()}`,
  );
  return figures;
}
