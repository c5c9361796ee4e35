/**
 * The peers and we on our target, in turn: checks by the target's own log, per CPU second of the tester's whole process tree.
 * `npm run bench -- peers`
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../engine/transport/free-port.ts";
import { conditions } from "../parts/conditions.ts";
import { useOf } from "../process-tree.ts";
import { percentile } from "../statistics.ts";
import { startTarget, type TargetProcess } from "../uptime/target-process.ts";
import { PEERS } from "./index.ts";
import { FIRST_HOST, type Peer, type PeersOptions, type RunningPeer, type Site } from "./peer.ts";

interface Round {
  readonly checksPerS: number;
  readonly checksPerCpuS: number;
  readonly residentMiB: number;
  /** Different targets that were asked within the stretch. */
  readonly targets: number;
}

interface PeerFigures {
  readonly peer: string;
  readonly what: string;
  readonly rounds: readonly Round[];
  /** Why there are no rounds, or fewer than asked. */
  readonly reason?: string;
}

type Start = (site: Site) => Promise<RunningPeer>;

/** Numbers an answer has in the target's log. */
const LOG_FIELDS = 4;

/** @param only words in the names of the peers; all without any */
export async function runPeers(only: readonly string[], options: PeersOptions): Promise<void> {
  const chosen = PEERS.filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  const figures = await measured(chosen, options);
  if (options.json) console.log(JSON.stringify({ bench: "peers", conditions: conditions(), ...options, figures }));
  else print(figures, options);
}

async function measured(peers: readonly Peer[], options: PeersOptions): Promise<readonly PeerFigures[]> {
  const starts = new Map<Peer, Start>();
  const reasons = new Map<Peer, string>();
  for (const peer of peers) {
    say(options, `preparing ${peer.name} …`);
    const prepared = await peer.prepare(options);
    if ("reason" in prepared) reasons.set(peer, prepared.reason);
    else starts.set(peer, prepared.start);
  }
  const rounds = new Map<Peer, Round[]>(peers.map((peer) => [peer, []]));
  for (let round = 1; round <= options.rounds; round++) {
    for (const [peer, start] of starts) {
      say(options, `round ${round} of ${options.rounds}: ${peer.name} …`);
      try {
        rounds.get(peer)?.push(await measure(start, options));
      } catch (error) {
        reasons.set(peer, `round ${round}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return peers.map((peer) => {
    const reason = reasons.get(peer);
    return {
      peer: peer.name,
      what: peer.what,
      rounds: rounds.get(peer) ?? [],
      ...(reason === undefined ? {} : { reason }),
    };
  });
}

async function measure(start: Start, options: PeersOptions): Promise<Round> {
  const target = await startTarget(0, 0);
  const folder = mkdtempSync(join(tmpdir(), "sonde-peer-"));
  try {
    const peer = await start({ folder, targetPort: target.port, port: await freePort(FIRST_HOST), options });
    try {
      await pause(peer.warmUpS * 1_000);
      return await stretch(peer, target, options.seconds);
    } finally {
      await peer.stop();
    }
  } finally {
    target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function stretch(peer: RunningPeer, target: TargetProcess, seconds: number): Promise<Round> {
  const answersBefore = (await target.log()).length / LOG_FIELDS;
  const before = useOf(peer.pid);
  const startedAt = performance.now();
  await pause(seconds * 1_000);
  const elapsedS = (performance.now() - startedAt) / 1_000;
  if (!peer.isUp()) throw new Error("it ended by itself");
  const after = useOf(peer.pid);
  const log = await target.log();
  const checks = log.length / LOG_FIELDS - answersBefore;
  const asked = new Set<number>();
  for (let at = answersBefore * LOG_FIELDS; at < log.length; at += LOG_FIELDS) asked.add(log[at] ?? 0);
  return {
    checksPerS: Math.round(checks / elapsedS),
    checksPerCpuS: Math.round(checks / (after.cpuS - before.cpuS)),
    residentMiB: Math.round(after.residentMiB),
    targets: asked.size,
  };
}

const COLUMNS = "peer                        targets  checks/s  per CPU second (each round)   MiB";

function print(figures: readonly PeerFigures[], { targets, seconds, rounds }: PeersOptions): void {
  console.log(`peers: ${targets} targets every second, ${rounds} rounds in turn, ${seconds} s each`);
  console.log(
    `  ${conditions()}; tester and target share the cores; fresh connections, all answers 200; checks by the target's log; medians`,
  );
  console.log(`  ${COLUMNS}`);
  for (const one of figures) console.log(`  ${row(one)}`);
  for (const { peer, what } of figures) console.log(`  ${peer}: ${what}`);
}

function row({ peer, rounds, reason }: PeerFigures): string {
  const name = peer.padEnd(27);
  if (rounds.length === 0) return `${name} left out: ${reason ?? "no round"}`;
  const median = (of: (round: Round) => number): number => percentile(rounds.map(of), 0.5);
  const each = rounds.map(({ checksPerCpuS }) => checksPerCpuS).join(", ");
  const columns = [
    String(median((round) => round.targets)).padStart(7),
    String(median((round) => round.checksPerS)).padStart(9),
    `${median((round) => round.checksPerCpuS)} (${each})`.padEnd(29),
    String(median((round) => round.residentMiB)).padStart(5),
  ];
  return `${name} ${columns.join("  ")}${reason === undefined ? "" : `  ${reason}`}`;
}

function say(options: PeersOptions, line: string): void {
  if (!options.json) process.stderr.write(`${line}\n`);
}
