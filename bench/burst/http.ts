/**
 * Verified website checks on loopback, a fresh connection each: over native streams, over Node's own sockets, and against the latter's floor,
 * the same request on bare sockets with nothing judged. Runs alternate, medians are compared; the target is a process of its own and its CPU
 * time is not counted.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { createTransport, type TransportDeps } from "../../engine/transport/index.ts";
import { createExchanger } from "../../engine/transport/native-exchange.ts";
import { conditions } from "../parts/conditions.ts";
import { median } from "../statistics.ts";
import { type Burst, measure, openProberRig, type ProberRig } from "./prober-rig.ts";

const IN_FLIGHT = 64;
const BARE_REQUEST = Buffer.from("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");

export interface WebBurstFigures {
  readonly what: "native" | "node" | "bare socket";
  readonly perCpuSecond: number;
  readonly perSecond: number;
  /** Checks that did not pass; a figure with any is worth nothing. */
  readonly failed: number;
}

/** @param checks of one run. @param rounds runs of each way */
export async function run(
  kind: "http" | "keyword" = "http",
  checks = 10_000,
  rounds = 7,
): Promise<readonly WebBurstFigures[]> {
  const target = fork(fileURLToPath(new URL("./http-target.js", import.meta.url)));
  const [port]: number[] = await once(target, "message");
  const url = `http://127.0.0.1:${port}/health`;
  const settings = kind === "keyword" ? { url, keyword: "well: 42" } : { url };
  const exchanger = createExchanger();
  const rigs = new Map<WebBurstFigures["what"], ProberRig>();
  if ((await exchanger.ready()) === "native") rigs.set("native", rigOf(kind, settings, exchanger));
  else console.log("native streams do not work on this machine: Node's own only");
  rigs.set("node", rigOf(kind, settings));
  const ways: (readonly [WebBurstFigures["what"], () => Promise<Burst>])[] = [
    ...[...rigs].map(([what, rig]) => [what, () => rig.burst(1, checks, IN_FLIGHT)] as const),
    ["bare socket", () => burstOfSockets(port ?? 0, checks)],
  ];
  const bursts = ways.map((): Burst[] => []);
  for (const [, burst] of ways) await burst();
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, burst]] of ways.entries()) bursts[index]?.push(await burst());
  }
  for (const rig of rigs.values()) await rig.close();
  exchanger.close();
  target.disconnect();
  const figures = ways.map(([what], index) => figuresOf(what, bursts[index] ?? []));
  print(kind, figures, checks, rounds);
  return figures;
}

function rigOf(
  kind: "http" | "keyword",
  settings: Readonly<Record<string, unknown>>,
  ways: TransportDeps = {},
): ProberRig {
  const options = { allowNets: ["127.0.0.0/8"], ownEndpoints: [], resolvers: [], extraCaPem: null };
  const transport = createTransport({ ...options, rdapBootstrapUrl: null, canaries: null }, ways);
  return openProberRig(transport, [{ key: 1, kind, settings, timeoutMs: 10_000 }]);
}

function burstOfSockets(port: number, checks: number): Promise<Burst> {
  return measure(checks, async () => {
    let left = checks;
    let failed = 0;
    const work = async (): Promise<void> => {
      while (left-- > 0) if (!(await askBare(port))) failed++;
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
    return failed;
  });
}

function askBare(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => socket.write(BARE_REQUEST));
    socket.once("data", () => {
      socket.resetAndDestroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

function figuresOf(what: WebBurstFigures["what"], runs: readonly Burst[]): WebBurstFigures {
  return {
    what,
    perCpuSecond: median(runs.map(({ checks, cpuS }) => checks / cpuS)),
    perSecond: median(runs.map(({ checks, wallS }) => checks / wallS)),
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
  };
}

function print(kind: string, figures: readonly WebBurstFigures[], checks: number, rounds: number): void {
  console.log(
    `\n${kind}, ${checks} verified checks per run, ${IN_FLIGHT} in flight, median of ${rounds} alternating runs; fresh connections, ` +
      `loopback, target in its own process, its CPU time not counted; ${conditions()}`,
  );
  const node = figures.find(({ what }) => what === "node")?.perCpuSecond ?? Number.NaN;
  for (const { what, perCpuSecond, perSecond, failed } of figures) {
    console.log(
      `  ${what.padEnd(12)} ${Math.round(perCpuSecond)} per CPU second (${(perCpuSecond / node).toFixed(2)}× node), ` +
        `${Math.round(perSecond)}/s, ${failed} failed`,
    );
  }
}
