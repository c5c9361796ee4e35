/** One burst of configs: through the raw core and through all of Sonde, with what it took. */

import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { residentBytes } from "../../engine/cores/core-process.ts";
import type { Direct } from "../../engine/direct/direct.ts";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { Engine } from "../../model/subscription.ts";
import { FIRST_FREE_PORT } from "../../testkit/free-port.ts";
import { useOf } from "../process-tree.ts";
import type { Offered } from "./mix.ts";
import { cpuOfUs } from "./processor-time.ts";
import { askThrough, type RawTarget, startRawCore } from "./raw.ts";

export interface RawFigures {
  /** Of the requests alone. */
  readonly perS: number;
  /** With the core's start. */
  readonly wholePerS: number;
  readonly failed: number;
  /** Of the core with its start, and of the driver; seconds. */
  readonly coreCpuS: number;
  readonly driverCpuS: number;
  readonly coreMb: number;
}

export interface RawGiven {
  readonly engine: Engine;
  readonly program: string;
  readonly target: Omit<RawTarget, "path" | "expected">;
  readonly inFlight: number;
  readonly timeoutMs: number;
  readonly extraCaPem: string;
}

export async function measureRaw(offered: readonly Offered[], options: RawGiven): Promise<RawFigures> {
  const { engine, program, target, inFlight, timeoutMs, extraCaPem } = options;
  const configs = offered.map(({ url }) => parseProxyLink(url).config);
  const startedAt = performance.now();
  // Below the ports of the servers, and those that the kernel gives out.
  const firstPort = FIRST_FREE_PORT - configs.length;
  const core = await startRawCore(engine, program, configs, { firstPort, extraCaPem });
  let failed = 0;
  let next = 0;
  const readyAt = performance.now();
  const before = cpuOfUs();
  const worker = async (): Promise<void> => {
    while (next < configs.length) {
      const index = next++;
      const expected = `raw${index}`;
      const asked = { ...target, path: `/verify?token=${expected}`, expected };
      if (!(await askThrough(engine, core.firstPort + index, asked, timeoutMs))) failed++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const endedAt = performance.now();
  const driverCpuS = cpuOfUs().selfS - before.selfS;
  const { cpuS: coreCpuS, residentMiB } = useOf(core.child.pid ?? 0);
  await core.stop();
  return {
    perS: (configs.length / (endedAt - readyAt)) * 1_000,
    wholePerS: (configs.length / (endedAt - startedAt)) * 1_000,
    failed,
    coreCpuS,
    driverCpuS,
    coreMb: residentMiB,
  };
}

export interface Judged {
  readonly offered: Offered;
  readonly outcome: CheckOutcome;
  /** Since the burst began, ms. */
  readonly endedAtMs: number;
}

export interface OurFigures {
  readonly perS: number;
  readonly wallMs: number;
  readonly judged: readonly Judged[];
  /** Highest seen: of this process, and of its largest child, MiB. */
  readonly ourMb: number;
  readonly coreMb: number;
}

const LOOK_MS = 250;

/** @param engine null: whichever suits */
export async function measureOurs(
  direct: Direct,
  offered: readonly Offered[],
  { engine, timeoutMs, others }: { engine: Engine | null; timeoutMs: number; others: readonly number[] },
): Promise<OurFigures> {
  const judged: Judged[] = [];
  let ourMb = 0;
  let coreMb = 0;
  const look = (): void => {
    ourMb = Math.max(ourMb, process.memoryUsage.rss() / 1_048_576);
    coreMb = Math.max(coreMb, largestChildMiB(others));
  };
  const timer = setInterval(look, LOOK_MS);
  const startedAt = performance.now();
  const running: Promise<void>[] = [];
  for (const one of offered) {
    await direct.room();
    const settings = { url: one.url, ...(engine !== null && { engine }) };
    const ended = direct.check({ kind: one.kind, settings, timeoutMs }).then((outcome) => {
      judged.push({ offered: one, outcome, endedAtMs: performance.now() - startedAt });
    });
    running.push(ended);
  }
  await Promise.all(running);
  const wallMs = performance.now() - startedAt;
  clearInterval(timer);
  look();
  return { perS: (offered.length / wallMs) * 1_000, wallMs, judged, ourMb, coreMb };
}

/** Cores are children of the main thread (proc(5), task children). @param others processes of the bench itself */
function largestChildMiB(others: readonly number[]): number {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").trim().split(" ").map(Number);
  const sizes = pids.filter((pid) => pid > 0 && !others.includes(pid)).map((pid) => residentBytes(pid) / 1_048_576);
  return Math.max(0, ...sizes);
}
