/** Schedulers that stand still for a moment, again and again, many of them at once: each must keep its shards. */
import { setTimeout as pause } from "node:timers/promises";
import { shardOf } from "../../model/shards.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ShardRow, ShardsView } from "../../store/sql/coordination/shards-port.ts";
import { eventually } from "../service.ts";
import type { Fleet, Member } from "./fleet.ts";
import { hitsWithin } from "./target-log.ts";

/** One process stood still once. */
export interface Pause {
  readonly name: string;
  /** What it held. */
  readonly shards: readonly number[];
  /** Unix ms. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Another scheduler had one of them afterwards. */
  readonly isTakenOver: boolean;
}

export interface PausesWord {
  readonly pauses: number;
  /** Of all, ms: the machine may be late to wake a process. */
  readonly longestMs: number;
  readonly takenOver: number;
  /** Requests to targets of a scheduler that stood still, by the targets' log: another one has sent them. */
  readonly asked: number;
}

interface PausesOptions {
  readonly plane: ControlPlane;
  readonly pauses: number;
  readonly onPause: (pause: Pause) => void;
}

/** A scheduler keeps its shards in it, ms. */
const PAUSE_MS = 3_000;
/** At the shortest between two of one process, ms: two beats, so that each is a new one to the others. And up to as much again, so that all phases occur. */
const BETWEEN_MS = 1_600;
/** So many do not pause: what stands still itself says nothing of others. */
const WATCHERS = 2;
/** Pauses between two words of how it goes. */
const SAID_EVERY = 50;
/** What a scheduler sent before it stood still has reached its target, ms. */
const UNDER_WAY_MS = 500;

export async function pauseMany(members: readonly Member[], { plane, pauses, onPause }: PausesOptions): Promise<void> {
  const rows = (await viewOf(plane)).shards;
  const holders = await holdersOf(members, plane);
  // Those that hold nothing have room for what others lose, so they watch.
  const restless = [...holders].filter(([, shards]) => shards.length > 0).slice(0, members.length - WATCHERS);
  let left = pauses;
  const done = { pauses: 0, takenOver: 0 };
  const pauseOne = async ([one, shards]: (typeof restless)[number]): Promise<void> => {
    let before = epochsOf(shards, rows);
    while (left > 0) {
      left -= 1;
      await pause(BETWEEN_MS * (1 + Math.random()));
      one.signal("SIGSTOP");
      const fromMs = Date.now();
      await pause(PAUSE_MS);
      one.signal("SIGCONT");
      const untilMs = Date.now();
      // What a look decides is there a beat later.
      await pause(BETWEEN_MS / 2);
      const after = epochsOf(shards, (await viewOf(plane)).shards);
      onPause({ name: one.name, shards, fromMs, untilMs, isTakenOver: after !== before });
      done.pauses += 1;
      if (after !== before) done.takenOver += 1;
      if (done.pauses % SAID_EVERY === 0) console.info(`${done.pauses} pauses, taken over after ${done.takenOver}`);
      before = after;
    }
  };
  await Promise.all(restless.map(pauseOne));
}

export function wordOfPauses(pauses: readonly Pause[], { monitors, hits }: Fleet, shards: number): PausesWord {
  let asked = 0;
  for (const { shards: held, fromMs, untilMs } of pauses) {
    for (const [id, monitor] of monitors) {
      if (!held.includes(shardOf(id, shards))) continue;
      asked += hitsWithin(monitor, hits, fromMs + UNDER_WAY_MS, untilMs).length;
    }
  }
  const longestMs = Math.max(0, ...pauses.map(({ fromMs, untilMs }) => untilMs - fromMs));
  return { pauses: pauses.length, longestMs, takenOver: pauses.filter((one) => one.isTakenOver).length, asked };
}

/** The database may be slow to answer us, too. */
function viewOf(plane: ControlPlane): Promise<ShardsView> {
  return eventually(() => plane.shards.view().catch(() => undefined));
}

async function holdersOf(
  members: readonly Member[],
  plane: ControlPlane,
): Promise<ReadonlyMap<Member, readonly number[]>> {
  const { shards, schedulers } = await viewOf(plane);
  return new Map(
    members.map((one) => {
      const id = schedulers.find(({ name }) => name.endsWith(` ${one.pid}`))?.id;
      return [one, shards.filter(({ holder }) => holder === id).map(({ shard }) => shard)] as const;
    }),
  );
}

function epochsOf(shards: readonly number[], rows: readonly ShardRow[]): string {
  return shards.map((shard) => `${rows[shard]?.epoch} ${rows[shard]?.holder}`).join();
}
