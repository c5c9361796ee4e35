/**
 * DNS checks on loopback: whole checks through a prober, of one question and of the two that a check without a type asks, against what Node alone
 * can do, which is to ask with c-ares (`dns.Resolver`) and to judge nothing. Runs alternate, medians are compared, so that what else the machine does
 * hits all alike. The target counts what it was asked.
 */
import { type ChildProcess, fork } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createTransport } from "../../engine/transport/index.ts";
import { conditions } from "../parts/conditions.ts";
import { median } from "../statistics.ts";
import { type Burst, measureEach, openProberRig } from "./prober-rig.ts";

const DOMAIN = "demo.sonde.net";
/** Of 1,000 c-ares loses some: all their answers come to one socket. */
const IN_FLIGHT = [1, 50, 200];
/** Keys of the rig's specs. */
const ONE_QUESTION = 1;
const TWO_QUESTIONS = 2;

export interface DnsBurstFigures {
  readonly what: "check of A" | "check of A and AAAA" | "c-ares, A";
  readonly inFlight: number;
  readonly perCpuSecond: number;
  readonly perSecond: number;
  readonly failed: number;
}

interface Way {
  readonly what: DnsBurstFigures["what"];
  readonly questions: number;
  burst(checks: number, inFlight: number): Promise<Burst>;
}

/** @param checks of one run. @param rounds runs of each way */
export async function run(checks = 10_000, rounds = 5): Promise<readonly DnsBurstFigures[]> {
  const target = fork(fileURLToPath(new URL("./dns-target.js", import.meta.url)));
  const [port = 0]: number[] = await once(target, "message");
  const rig = openRig(port);
  const ways: readonly Way[] = [
    { what: "check of A", questions: 1, burst: (...size) => rig.burst(ONE_QUESTION, ...size) },
    { what: "check of A and AAAA", questions: 2, burst: (...size) => rig.burst(TWO_QUESTIONS, ...size) },
    { what: "c-ares, A", questions: 1, burst: (...size) => burstOfResolver(port, ...size) },
  ];
  console.log(
    `\nDNS over UDP, ${checks} per run, median of ${rounds} alternating runs; loopback, target in its own process, ` +
      `its CPU time not counted; ${conditions()}`,
  );
  const figures: DnsBurstFigures[] = [];
  for (const inFlight of IN_FLIGHT) figures.push(...(await compare(ways, inFlight, target, checks, rounds)));
  await rig.close();
  target.disconnect();
  return figures;
}

function openRig(port: number): ReturnType<typeof openProberRig> {
  const transport = createTransport({
    ...{ allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null },
    ...{ rdapBootstrapUrl: null, canaries: null },
  });
  const settings = { domain: DOMAIN, host: "127.0.0.1", port, keyword: null, expected: null };
  const spec = { kind: "dns", timeoutMs: 10_000 } as const;
  return openProberRig(transport, [
    { ...spec, key: ONE_QUESTION, settings: { ...settings, record_type: "A" } },
    { ...spec, key: TWO_QUESTIONS, settings: { ...settings, record_type: null } },
  ]);
}

function burstOfResolver(port: number, checks: number, inFlight: number): Promise<Burst> {
  const resolver = new Resolver({ timeout: 10_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return measureEach(checks, inFlight, () => resolver.resolve4(DOMAIN));
}

async function compare(
  ways: readonly Way[],
  inFlight: number,
  target: ChildProcess,
  checks: number,
  rounds: number,
): Promise<DnsBurstFigures[]> {
  const bursts = new Map<Way, Burst[]>(ways.map((way) => [way, []]));
  const before = await askedOf(target);
  for (const way of ways) await way.burst(checks >> 1, inFlight);
  for (let round = 0; round < rounds; round++) {
    for (const [way, runs] of bursts) runs.push(await way.burst(checks, inFlight));
  }
  const questions = ways.reduce((sum, way) => sum + way.questions, 0) * ((checks >> 1) + rounds * checks);
  const missed = questions - ((await askedOf(target)) - before);
  const figures = [...bursts].map(([{ what }, runs]) => figuresOf(what, inFlight, runs));
  for (const { what, perCpuSecond, perSecond, failed } of figures) {
    console.log(
      `  ${what}, ${inFlight} in flight: ${Math.round(perCpuSecond)} per CPU second, ${Math.round(perSecond)}/s, ${failed} failed`,
    );
  }
  if (missed > 0) console.log(`  the target did not see ${missed} questions`);
  return figures;
}

function figuresOf(what: DnsBurstFigures["what"], inFlight: number, runs: readonly Burst[]): DnsBurstFigures {
  return {
    what,
    inFlight,
    perCpuSecond: median(runs.map(({ checks, cpuS }) => checks / cpuS)),
    perSecond: median(runs.map(({ checks, wallS }) => checks / wallS)),
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
  };
}

async function askedOf(target: ChildProcess): Promise<number> {
  target.send("count");
  const [count]: number[] = await once(target, "message");
  return count ?? 0;
}
