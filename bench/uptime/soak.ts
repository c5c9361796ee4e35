/**
 * A soak: the whole product under one load for long. What it holds is read again and again (memory, descriptors, threads, processes), and the slope
 * of each is printed, because a leak is seen only over an hour. `npm run bench -- uptime --soak 60 --monitors 5000`
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { conditions } from "../parts/conditions.ts";
import { descendants, proportionalMiBOf, useOf } from "../process-tree.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "./service.ts";
import { targetNets } from "./target-address.ts";
import { startTarget } from "./target-process.ts";
import { createMonitors } from "./uptime.ts";

interface SoakOptions {
  readonly monitors: number;
  readonly intervalS: number;
  readonly minutes: number;
  readonly json: boolean;
}

/** Of all processes of the service at one moment. */
interface Sample {
  readonly atS: number;
  readonly residentMiB: number;
  readonly proportionalMiB: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly processes: number;
}

const COUNTED = ["residentMiB", "proportionalMiB", "descriptors", "threads", "processes"] as const;
const LOOK_MS = 10_000;
/** Caches, code and heaps grow until then, so the slope begins here: a share of the whole time. */
const SETTLED = 1 / 3;

export async function runSoak(options: SoakOptions): Promise<void> {
  const target = await startTarget(10, 20);
  try {
    const service = await startServiceUnderTest(targetNets(target.port));
    try {
      process.stderr.write(`creating ${options.monitors} monitors, then ${options.minutes} minutes …\n`);
      await createMonitors(service.client, target.port, options);
      print(options, await samplesOf(service, options.minutes), kindsOf(service.pid));
    } finally {
      await service.stop();
    }
  } finally {
    target.close();
  }
}

async function samplesOf(service: ServiceUnderTest, minutes: number): Promise<readonly Sample[]> {
  const beganMs = performance.now();
  const samples: Sample[] = [];
  while (performance.now() - beganMs < minutes * 60_000) {
    await pause(LOOK_MS);
    samples.push(sampleOf(service.pid, (performance.now() - beganMs) / 1_000));
  }
  return samples;
}

function sampleOf(pid: number, atS: number): Sample {
  const { residentMiB, processes } = useOf(pid);
  const proportionalMiB = proportionalMiBOf(pid);
  const pids = [pid, ...descendants(pid)];
  const entries = (of: string): number => pids.reduce((sum, one) => sum + entriesOf(`/proc/${one}/${of}`), 0);
  return { atS, residentMiB, proportionalMiB, processes, descriptors: entries("fd"), threads: entries("task") };
}

function entriesOf(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}

/** By least squares, an hour. @param samples at least two */
function slopeAnHour(samples: readonly { readonly atS: number; readonly value: number }[]): number {
  const mean = (of: (sample: { atS: number; value: number }) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [atS, value] = [mean((one) => one.atS), mean((one) => one.value)];
  const spread = mean((one) => (one.atS - atS) ** 2);
  return (mean((one) => (one.atS - atS) * (one.value - value)) / spread) * 3_600;
}

/** `[heap]`, file names and memory without one, in one line of `/proc/PID/smaps` (proc_pid_smaps(5)). */
const MAPPING = /^[0-9a-f]+-[0-9a-f]+ \S{4} \S+ \S+ \d+\s*(.*)$/;

/** Resident MiB of each process, by what is mapped. */
function kindsOf(pid: number): readonly (readonly [process: string, kinds: ReadonlyMap<string, number>])[] {
  return [pid, ...descendants(pid)].map((one) => {
    const kinds = new Map<string, number>();
    let kind = "";
    const text = readFileSync(`/proc/${one}/smaps`, "latin1");
    for (const line of text.split("\n")) {
      const name = MAPPING.exec(line)?.[1];
      if (name !== undefined) kind = name === "" ? "anonymous" : (name.split("/").at(-1) ?? name);
      const kib = Number(/^Rss:\s+(\d+)/.exec(line)?.[1] ?? 0);
      if (kib > 0) kinds.set(kind, (kinds.get(kind) ?? 0) + kib / 1_024);
    }
    const words = readFileSync(`/proc/${one}/cmdline`, "utf8")
      .split("\0")
      .filter((word) => /\.js$/.test(word));
    return [words[0]?.split("/").at(-1) ?? String(one), kinds] as const;
  });
}

function print(options: SoakOptions, samples: readonly Sample[], kinds: ReturnType<typeof kindsOf>): void {
  const settled = samples.slice(Math.floor(samples.length * SETTLED));
  const last = samples.at(-1);
  if (last === undefined || settled.length < 2) throw new Error("too short: a look is taken every 10 s");
  const slopes = COUNTED.map(
    (name) => [name, slopeAnHour(settled.map((one) => ({ atS: one.atS, value: one[name] })))] as const,
  );
  if (options.json) {
    const memory = kinds.map(([name, of]) => [name, Object.fromEntries(of)]);
    console.log(JSON.stringify({ bench: "soak", conditions: conditions(), ...options, slopes, samples, memory }));
    return;
  }
  console.log(
    `soak: ${options.monitors} http monitors every ${options.intervalS} s for ${options.minutes} minutes\n  ${conditions()}`,
  );
  for (const [name, slope] of slopes) {
    const all = settled.map((one) => one[name]);
    const range = `${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)}`;
    console.log(
      `  ${name.padEnd(16)} ${last[name].toFixed(0)} at the end, ${range} in the last two thirds, ${slope.toFixed(1)} an hour`,
    );
  }
  for (const [name, of] of kinds) {
    const largest = [...of].sort(([, a], [, b]) => b - a).filter(([, mib]) => mib >= 1);
    console.log(`  ${name}: ${largest.map(([kind, mib]) => `${kind} ${mib.toFixed(0)}`).join(", ")} MiB`);
  }
}
