/** Faults brought to a fleet one after the other, and every due time of their stretches asked for: a result, or a counted skip. */
import { setTimeout as pause } from "node:timers/promises";
import { fairShare } from "../../model/shards.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ShardsView } from "../../store/sql/coordination/shards-port.ts";
import type { SharedServers } from "../servers/shared.ts";
import { eventually } from "../service.ts";
import { type Fleet, type FleetSize, type Member, startFleet } from "./fleet.ts";
import { type Fault, faultsOf } from "./fleet-faults.ts";
import type { Links } from "./links.ts";
import { type Pause, type PausesWord, wordOfPauses } from "./pauses.ts";
import { type MissingTurn, reckon } from "./reckoning.ts";
import { wordOfTargets } from "./target-log.ts";
import { type TrueRow, trueRows } from "./truth.ts";

export interface TableSize extends FleetSize {
  /** Words in the names of faults; all when empty. */
  readonly only: readonly string[];
  /** How long a process is frozen and a link cut, ms. */
  readonly lastsMs: number;
  /** How often all faults are brought. */
  readonly rounds: number;
  /** Of schedulers, where pauses are asked for. */
  readonly pauses: number;
}

/** A row of the table. */
export interface FaultLine {
  readonly fault: string;
  /** Due times of the stretch, and how many of them had a result. */
  readonly due: number;
  readonly run: number;
  /** Had none, and how many were counted as skipped. */
  readonly missing: number;
  readonly skipped: number;
  /** Missing and not counted. */
  readonly lost: number;
  readonly doubled: number;
  readonly latestMs: number;
  /** Results that call a target down, and such that say nothing because the checker did not trust itself. */
  readonly down: number;
  readonly unfit: number;
  /** By the targets' own log: see target-log.ts. Due times of the general pool alone with a request, of all; and of all others. */
  readonly twice: number;
  readonly again: number;
  readonly pool: string;
  readonly poolGapMs: number;
  readonly other: string;
  readonly gapMs: number;
  /** Until the shards of the scheduler had another holder, ms; null: they had no need to. */
  readonly movedMs: number | null;
  /** Until every shard had a living holder and results of every location came in, after it was taken back. */
  readonly recoveredMs: number;
  /** Requests to the APIs that were not hit: answered otherwise than 200, of all. */
  readonly refused: string;
}

export interface FaultTable {
  readonly lines: readonly FaultLine[];
  readonly paused: PausesWord;
  readonly incidents: number;
  readonly rows: readonly TrueRow[];
  readonly plane: ControlPlane;
  readonly projectId: number;
}

/** A fault that was brought and taken back. */
interface Mark {
  readonly fault: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Turns that were counted meanwhile, by shard. */
  readonly skips: readonly number[];
  readonly movedMs: number | null;
  readonly recoveredMs: number;
  readonly asked: Asked;
}

const ASK_EVERY_MS = 250;
/** From the end of a check until its turn is in the stores on a machine that is busy, ms. */
const STORED_WITHIN_MS = 2_000;
/** Eleven leases of `sonde scheduler`. */
const RECOVERED_WITHIN_MS = 90_000;
/** Of each process's output, shown when a fleet fails, characters. */
const LOG_TAIL = 3_000;

export async function makeTable(servers: SharedServers, links: Links, size: TableSize): Promise<FaultTable> {
  const fleet = await startFleet(servers, links, size);
  const { members, plane, projectId } = fleet;
  const { lastsMs, only } = size;
  const pauses: Pause[] = [];
  const report = { pauses: size.pauses, onPause: (pause: Pause) => void pauses.push(pause) };
  const faults = faultsOf(members, {
    plane,
    servers,
    databaseUrl: fleet.databaseUrl,
    lastsMs,
    ...report,
  }).filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)));
  const asker = askApis(members.filter(({ role }) => role === "api"));
  const marks: Mark[] = [];
  try {
    await untilWell(fleet);
    for (let round = 0; round < size.rounds; round += 1) {
      for (const fault of faults) marks.push(await befall(fleet, fault, size.timeoutS, asker));
    }
    asker.stop();
    await fleet.stop();
  } catch (error) {
    for (const one of members) console.error(`--- ${one.name}\n${one.output().slice(-LOG_TAIL)}`);
    throw error;
  } finally {
    asker.stop();
  }
  const rows = await trueRows(fleet.clickhouseUrl);
  const shards = (await plane.shards.view()).shards.length;
  const lines = marks.map((mark) => lineOf(mark, fleet, rows, shards));
  const paused = wordOfPauses(pauses, fleet, shards);
  const incidents = (await plane.incidents.list(projectId, { monitorId: null, limit: 1_000 })).length;
  return { lines, paused, incidents, rows, plane, projectId };
}

async function befall(fleet: Fleet, fault: Fault, timeoutS: number, asker: Asker): Promise<Mark> {
  const { plane } = fleet;
  const before = skipsOf(await plane.shards.view());
  const fromMs = Date.now();
  asker.begin(fault.hits);
  const movedMs = await fault.bring();
  const broughtMs = Date.now() - fromMs;
  await fault.takeBack();
  const backMs = Date.now() - fromMs;
  const recoveredMs = await untilWell(fleet);
  const untilMs = Date.now();
  // What is under way then has its row, or is counted, before the next fault.
  await pause(timeoutS * 1_000 + STORED_WITHIN_MS);
  const asked = asker.end();
  const skips = skipsOf(await plane.shards.view()).map((count, shard) => count - (before[shard] ?? 0));
  const turns = skips.reduce((a, b) => a + b, 0);
  console.info(
    `${fault.name}: brought after ${broughtMs}, taken back after ${backMs}, recovered ${recoveredMs} ms later; ${turns} turns skipped`,
  );
  return { fault: fault.name, fromMs, untilMs, skips, movedMs, recoveredMs, asked };
}

function lineOf(mark: Mark, { monitors, hits }: Fleet, rows: readonly TrueRow[], shards: number): FaultLine {
  const { fault, fromMs, untilMs, skips, movedMs, recoveredMs, asked } = mark;
  const { due, run, missing, doubled, latestMs, missingByShard } = reckon(monitors, rows, fromMs, untilMs, shards);
  let lost = 0;
  for (const [shard, turns] of missingByShard) {
    const uncounted = turns.length - (skips[shard] ?? 0);
    if (uncounted <= 0) continue;
    lost += uncounted;
    console.error(
      `${fault}: shard ${shard} counted ${skips[shard]} of`,
      turns.map((turn) => storyOf(turn, mark, rows)),
    );
  }
  const within = rows.filter(({ tested_at_ms: at }) => Number(at) >= fromMs && Number(at) < untilMs);
  const down = within.filter(({ status }) => status === "down").length;
  const unfit = within.filter(({ verdict }) => verdict === "unfit").length;
  const skipped = skips.reduce((a, b) => a + b, 0);
  const refused = `${asked.refused}/${asked.all}`;
  const { twice, again, pool, other } = wordOfTargets(monitors, hits, rows, fromMs, untilMs);
  const counted = { due, run, missing, skipped, lost, doubled, latestMs, down, unfit };
  const seen = { pool: `${pool.asked}/${pool.due}`, poolGapMs: pool.gapMs };
  const seenElsewhere = { other: `${other.asked}/${other.due}`, gapMs: other.gapMs };
  return { fault, ...counted, twice, again, ...seen, ...seenElsewhere, movedMs, recoveredMs, refused };
}

/** What there is around a turn without a result: when each row near it was due, and when it began. */
function storyOf(
  { monitorId, location, dueAtMs }: MissingTurn,
  { fromMs, untilMs }: Mark,
  rows: readonly TrueRow[],
): string {
  const near = rows
    .filter((row) => Number(row.monitor_id) === monitorId && row.location === location)
    .map((row) => ({ ...row, startedMs: Number(row.tested_at_ms) - dueAtMs }))
    .filter(({ startedMs }) => Math.abs(startedMs) < 10_000)
    .map((row) => `${row.startedMs - row.lateness_ms} at ${row.startedMs} ${row.verdict}`);
  return `${monitorId} ${location} ${dueAtMs - fromMs} of ${untilMs - fromMs} ms: ${near.join(", ")}`;
}

function skipsOf({ shards }: ShardsView): number[] {
  return shards.map(({ skipped }) => skipped);
}

/** All schedulers beat and hold no more than their share, and new results of every location come in. @returns how long that took, ms */
async function untilWell({ plane, monitors, members, locations: staffed }: Fleet): Promise<number> {
  const schedulers = members.filter(({ role }) => role === "scheduler").length;
  const startedAtMs = performance.now();
  const sinceMs = Date.now();
  const beats = new Map<string, number>();
  const sample = [...monitors].filter(([, { locations }]) => locations.length === staffed.length).slice(0, 5);
  await eventually(async () => {
    const view = await plane.shards.view().catch(() => undefined);
    if (view === undefined) return undefined;
    const moving = view.schedulers.filter(({ id, beat }) => (beats.get(id) ?? beat) !== beat).map(({ id }) => id);
    for (const { id, beat } of view.schedulers) if (!beats.has(id)) beats.set(id, beat);
    const share = fairShare(view.shards.length, schedulers);
    const held = moving.map((id) => heldBy(view, id));
    const isHeld = moving.length === schedulers && held.every((count) => count <= share);
    if (!isHeld || held.reduce((a, b) => a + b, 0) !== view.shards.length) return undefined;
    for (const [id] of sample) {
      const live = (await plane.monitors.recall(id).catch(() => undefined))?.live;
      if (staffed.some((location) => (live?.locations[location]?.lastCheckAtMs ?? 0) < sinceMs)) return undefined;
    }
    return true;
  }, RECOVERED_WITHIN_MS);
  return Math.round(performance.now() - startedAtMs);
}

function heldBy({ shards }: ShardsView, id: string): number {
  return shards.filter(({ holder }) => holder === id).length;
}

interface Asked {
  readonly all: number;
  readonly refused: number;
}

interface Asker {
  begin(hits: Fault["hits"]): void;
  end(): Asked;
  stop(): void;
}

/** Asks the APIs all the time, but one that is hit by a fault. */
function askApis(apis: readonly Member[]): Asker {
  let hits: Fault["hits"] = () => true;
  let asked = { all: 0, refused: 0 };
  const ask = async (api: Member, mine: typeof asked): Promise<void> => {
    mine.all += 1;
    const answer = fetch(`${api.url()}/api/v1/health`, { signal: AbortSignal.timeout(5_000) });
    const status = await answer.then(
      (response) => response.status,
      () => undefined,
    );
    if (status !== 200) mine.refused += 1;
  };
  const timer = setInterval(() => {
    for (const api of apis) if (!hits(api)) void ask(api, asked);
  }, ASK_EVERY_MS);
  return {
    begin(whom) {
      hits = whom;
      asked = { all: 0, refused: 0 };
    },
    end() {
      hits = () => true;
      return asked;
    },
    stop: () => clearInterval(timer),
  };
}

/** As people read it. */
export function tableOf(lines: readonly FaultLine[]): string {
  const columns = Object.keys(lines[0] ?? {}) as (keyof FaultLine)[];
  const rows = [columns as readonly string[], ...lines.map((line) => columns.map((column) => String(line[column])))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  ")).join("\n");
}
