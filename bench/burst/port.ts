/**
 * TCP port checks on loopback, the native sweep against Node's own sockets: bare connects, and whole checks through a prober. Runs
 * alternate, medians are compared, so that what else the machine does hits both alike. The target counts what it accepted.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createConnectTimer } from "../../engine/transport/connect-time.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { connectTime } from "../../engine/transport/stream.ts";
import type { Address, DialContext, Transport } from "../../engine/transport/transport.ts";
import { conditions } from "../parts/conditions.ts";
import { median } from "../statistics.ts";
import { type Burst, measureEach, openProberRig } from "./prober-rig.ts";

type ConnectTimeFunction = Transport["connectTime"];
type Way = "native" | "node";

const LOOPBACK: Address = { ip: "127.0.0.1", family: 4 };
const IN_FLIGHT = [1, 50, 200, 1_000];
/** Of the checks of a run, where one waits for the one before it: an outcome comes with a message 2 ms later, so they would take minutes. */
const ONE_BY_ONE_SHARE = 0.1;
const NEVER = new AbortController().signal;

export interface PortBurstFigures {
  readonly what: "connect" | "check";
  readonly inFlight: number;
  readonly way: Way;
  readonly perCpuSecond: number;
  readonly perSecond: number;
  readonly failed: number;
}

/** @param checks of one run. @param rounds runs of each way */
export async function run(checks = 10_000, rounds = 5): Promise<readonly PortBurstFigures[]> {
  const target = fork(fileURLToPath(new URL("./tcp-target.js", import.meta.url)));
  const [port]: number[] = await once(target, "message");
  const timer = createConnectTimer();
  const ways: (readonly [Way, ConnectTimeFunction])[] = [["node", connectTime]];
  if ((await timer.ready()) === "native") ways.unshift(["native", timer.connectTime]);
  else console.log("the native sweep does not work on this machine: Node's own only");
  const figures: PortBurstFigures[] = [];
  console.log(
    `\nTCP port, ${checks} per run, median of ${rounds} alternating runs; loopback, target in its own process, ` +
      `its CPU time not counted; ${conditions()}`,
  );
  for (const what of ["connect", "check"] as const) {
    const rigs = new Map(ways.map(([way, connect]) => [way, openRig(what, connect, port ?? 0)]));
    for (const inFlight of IN_FLIGHT) {
      const count = what === "check" && inFlight === 1 ? Math.ceil(checks * ONE_BY_ONE_SHARE) : checks;
      figures.push(...(await compare(what, inFlight, rigs, target, count, rounds)));
    }
    for (const rig of rigs.values()) await rig.close();
  }
  timer.close();
  target.disconnect();
  return figures;
}

interface Rig {
  burst(checks: number, inFlight: number): Promise<Burst>;
  close(): Promise<void>;
}

function openRig(what: "connect" | "check", connect: ConnectTimeFunction, port: number): Rig {
  if (what === "connect") {
    return {
      burst: (checks, inFlight) => measureEach(checks, inFlight, () => connect([LOOPBACK], port, CONTEXT)),
      close: async () => {},
    };
  }
  const options = { allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null };
  const transport = createTransport({ ...options, rdapBootstrapUrl: null, canaries: null }, { connectTime: connect });
  const settings = { host: "127.0.0.1", port };
  const rig = openProberRig(transport, [{ key: 1, kind: "port", settings, timeoutMs: 10_000 }]);
  return { burst: (checks, inFlight) => rig.burst(1, checks, inFlight), close: rig.close };
}

/** As a check's context is: it hears of its end, and makes no signal until it is asked for one. */
const CONTEXT: DialContext = {
  signal: NEVER,
  onAbort: () => {},
  phase: () => {},
  tried: () => {},
  answered: () => {},
};

async function compare(
  what: "connect" | "check",
  inFlight: number,
  rigs: ReadonlyMap<Way, Rig>,
  target: ChildProcess,
  checks: number,
  rounds: number,
): Promise<PortBurstFigures[]> {
  const bursts = new Map<Way, Burst[]>([...rigs.keys()].map((way) => [way, []]));
  const before = await acceptedBy(target);
  for (const rig of rigs.values()) await rig.burst(checks >> 1, inFlight);
  for (let round = 0; round < rounds; round++) {
    for (const [way, rig] of rigs) bursts.get(way)?.push(await rig.burst(checks, inFlight));
  }
  const missed = rigs.size * ((checks >> 1) + rounds * checks) - ((await acceptedBy(target)) - before);
  const figures = [...bursts].map(([way, runs]) => figuresOf(what, inFlight, way, runs));
  const [native, node] = figures;
  const words = figures.map(
    ({ way, perCpuSecond, perSecond, failed }) =>
      `${way} ${Math.round(perCpuSecond)} per CPU second, ${Math.round(perSecond)}/s, ${failed} failed`,
  );
  const ratio =
    native === undefined || node === undefined ? "" : `; ${(native.perCpuSecond / node.perCpuSecond).toFixed(2)}×`;
  const unseen = missed === 0 ? "" : `; the target did not see ${missed}`;
  console.log(`  ${what} ${String(inFlight).padStart(4)} in flight: ${words.join("; ")}${ratio}${unseen}`);
  return figures;
}

function figuresOf(what: "connect" | "check", inFlight: number, way: Way, runs: readonly Burst[]): PortBurstFigures {
  return {
    what,
    inFlight,
    way,
    perCpuSecond: median(runs.map(({ checks, cpuS }) => checks / cpuS)),
    perSecond: median(runs.map(({ checks, wallS }) => checks / wallS)),
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** A connection that was reset before the target looked may go uncounted: the kernel takes it off the queue. */
async function acceptedBy(target: ChildProcess): Promise<number> {
  target.send("count");
  const [count]: number[] = await once(target, "message");
  return count ?? 0;
}
