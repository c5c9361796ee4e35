/**
 * Pings on loopback: the socket that this machine allows against what Node alone can do, which is to start the system's `ping`.
 * Single echoes, and whole checks (three echoes, 200 ms apart) through a prober. CPU time is that of the process with its children.
 */

import { setMaxListeners } from "node:events";
import { createPing, type Ping, type PingMethod } from "../../engine/transport/icmp.ts";
import { createTransport } from "../../engine/transport/index.ts";
import type { Address, DialContext } from "../../engine/transport/transport.ts";
import { startSystemPingService } from "../../native/system-ping.ts";
import { conditions } from "../parts/conditions.ts";
import { useOf } from "../process-tree.ts";
import { median } from "../statistics.ts";
import { measure, openProberRig } from "./prober-rig.ts";

const LOOPBACK: Address = { ip: "127.0.0.1", family: 4 };
const CONTEXT: DialContext = {
  signal: new AbortController().signal,
  onAbort: () => {},
  phase: () => {},
  tried: () => {},
  answered: () => {},
};
// All echoes in flight share it; a check has a signal of its own.
setMaxListeners(0, CONTEXT.signal);
/** One echo of each: how many at once, and how many in a run. The system's ping is a process each. */
const SOCKET_RUNS = [
  [1, 2_000],
  [50, 10_000],
  [1_000, 20_000],
] as const;
const SYSTEM_RUNS = [
  [1, 50],
  [32, 200],
] as const;
const CHECKS_IN_FLIGHT = 2_000;

export interface PingBurstFigures {
  readonly what: "echo" | "check";
  readonly method: PingMethod;
  readonly inFlight: number;
  readonly perCpuSecond: number;
  readonly perSecond: number;
  readonly failed: number;
  /** Of the answered, ms. */
  readonly medianRoundTripMs: number | null;
}

/** @param rounds runs of each */
export async function run(rounds = 5, checks = 4_000): Promise<readonly PingBurstFigures[]> {
  const service = startSystemPingService();
  const figures: PingBurstFigures[] = [];
  console.log(
    `\nping, median of ${rounds} runs; loopback, which answers in the kernel on our CPU time; ${conditions()}`,
  );
  const sockets = createPing(["icmp-datagram", "icmp-raw"]);
  const system = createPing(["system-ping"]);
  for (const [ping, runs] of [
    [sockets, SOCKET_RUNS],
    [system, SYSTEM_RUNS],
  ] as const) {
    const method = await ping.ready();
    if (method === null)
      console.log(`  ${ping === sockets ? "no ICMP socket is allowed here" : "no ping is installed here"}`);
    else for (const [inFlight, echoes] of runs) figures.push(await echoesOf(ping, method, inFlight, echoes, rounds));
  }
  const method = await sockets.ready();
  if (method !== null) figures.push(await checksOf(sockets, method, checks));
  sockets.close();
  system.close();
  service.close();
  return figures;
}

async function echoesOf(
  ping: Ping,
  method: PingMethod,
  inFlight: number,
  echoes: number,
  rounds: number,
): Promise<PingBurstFigures> {
  const perCpuSecond: number[] = [];
  const perSecond: number[] = [];
  const roundTripsMs: number[] = [];
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    let left = echoes;
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const report = await ping
          .ping(LOOPBACK, { count: 1, spacingMs: 0, replyTimeoutMs: 2_000 }, CONTEXT)
          .catch(() => null);
        if (report?.roundTripsMs[0] === undefined) failed++;
        else roundTripsMs.push(report.roundTripsMs[0]);
      }
    };
    const { wallS, cpuS } = await measured(method, () => Promise.all(Array.from({ length: inFlight }, work)));
    perCpuSecond.push(echoes / cpuS);
    perSecond.push(echoes / wallS);
  }
  return told({
    what: "echo",
    method,
    inFlight,
    perCpuSecond: median(perCpuSecond),
    perSecond: median(perSecond),
    failed,
    medianRoundTripMs: roundTripsMs.length === 0 ? null : median(roundTripsMs),
  });
}

async function checksOf(ping: Ping, method: PingMethod, checks: number): Promise<PingBurstFigures> {
  const options = { allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null };
  const transport = createTransport({ ...options, rdapBootstrapUrl: null, canaries: null }, { ping: ping.ping });
  const rig = openProberRig(transport, [{ key: 1, kind: "ping", settings: { host: "127.0.0.1" }, timeoutMs: 10_000 }]);
  await rig.burst(1, checks >> 1, CHECKS_IN_FLIGHT);
  const { cpuS, wallS, failed } = await rig.burst(1, checks, CHECKS_IN_FLIGHT);
  await rig.close();
  return told({
    what: "check",
    method,
    inFlight: CHECKS_IN_FLIGHT,
    perCpuSecond: checks / cpuS,
    perSecond: checks / wallS,
    failed,
    medianRoundTripMs: null,
  });
}

/** /proc counts in hundredths of a second, which is too coarse for sockets; but only it knows what children used. */
async function measured(
  method: PingMethod,
  work: () => Promise<unknown>,
): Promise<{ readonly wallS: number; readonly cpuS: number }> {
  const before = useOf(process.pid).cpuS;
  const { wallS, cpuS } = await measure(1, () => work().then(() => 0));
  return { wallS, cpuS: method === "system-ping" ? useOf(process.pid).cpuS - before : cpuS };
}

function told(figures: PingBurstFigures): PingBurstFigures {
  const { what, method, inFlight, perCpuSecond, perSecond, failed, medianRoundTripMs } = figures;
  const roundTrip = medianRoundTripMs === null ? "" : `, round trip p50 ${medianRoundTripMs.toFixed(3)} ms`;
  console.log(
    `  ${what} by ${method}, ${inFlight} in flight: ${Math.round(perCpuSecond)} per CPU second, ` +
      `${Math.round(perSecond)}/s, ${failed} failed${roundTrip}`,
  );
  return figures;
}
