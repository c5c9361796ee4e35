/**
 * State of a service that is one process: counters in memory, written to a file every second and at the end, so that a restart
 * forgets none; notices over a BroadcastChannel, which spans the threads of this process.
 */
import { onTicks } from "../../model/ticks.ts";
import { MemoryAnswers } from "./answers.ts";
import { type Cells, createCells } from "./cells.ts";
import { openCounterFile } from "./counter-file.ts";
import type { AdmissionCounters, Counters, EndpointUsage, RequestLimits, RequestTake, State } from "./state.ts";
import { openThreadBroadcasts } from "./thread-broadcasts.ts";
import { openThreadNotices } from "./thread-notices.ts";
import { createUsageBuffer, type UsageBuffer } from "./usage.ts";
import {
  afterWrongKey,
  DAY_MS,
  dayOf,
  lastDays,
  limitsInOrder,
  MINUTE_MS,
  mayTry,
  monthOf,
  REQUEST_WINDOWS,
  requestWindows,
  USAGE_DAYS_KEPT,
  windowOf,
} from "./windows.ts";

export interface InProcessLocation {
  /** Path of an SQLite file in an existing folder; also names the notices. */
  readonly file: string;
}

const WRITE_INTERVAL_MS = 1_000;
const CLEAN_INTERVAL_MS = 60_000;
/** Workspaces, addresses with wrong keys, names of takeFrom: about 100 bytes each. */
const MOST_CELLS = 100_000;

const REQUESTS = "requests ";
const WRONG_KEYS = "wrong-keys ";
const TAKEN = "taken ";
const SLIDING = "sliding ";

/** @param again runs something again and again */
export async function openInProcess({ file }: InProcessLocation, nowMs = Date.now, again = onTicks): Promise<State> {
  const counterFile = openCounterFile(file);
  const groups = {
    [REQUESTS]: createCells(MOST_CELLS),
    [WRONG_KEYS]: createCells(MOST_CELLS),
    [TAKEN]: createCells(MOST_CELLS),
    [SLIDING]: createCells(MOST_CELLS),
  };
  const all = Object.entries(groups);
  for (const [name, cell] of counterFile.load(nowMs()))
    all.find(([prefix]) => name.startsWith(prefix))?.[1].set(name, cell);
  for (const [, cells] of all) cells.takeChanged();
  const usage = createUsageBuffer();
  /** Why the latest write failed; cleared by the next that does not. */
  let trouble: unknown;

  const write = (): void => {
    const counts = usage.take();
    const changed = all.flatMap(([, cells]) => cells.takeChanged());
    if (changed.length === 0 && counts.length === 0) return;
    try {
      counterFile.write(changed, counts);
      trouble = undefined;
    } catch (error) {
      trouble = error;
      usage.giveBack(counts);
      for (const [, cells] of all) for (const [name] of changed) cells.touch(name);
    }
  };
  const clean = (): void => {
    for (const [, cells] of all) cells.dropExpired(nowMs());
    try {
      counterFile.dropExpired(nowMs(), lastDays(USAGE_DAYS_KEPT, nowMs())[0] ?? "");
    } catch (error) {
      trouble = error;
    }
  };
  const stops = [again(WRITE_INTERVAL_MS, write), again(CLEAN_INTERVAL_MS, clean)];
  const { close: closeChannels, ...channels } = openChannels(file);
  return {
    counters: {
      ...createCounters(groups[REQUESTS], groups[WRONG_KEYS], groups[TAKEN], usage, counterFile.usage),
      ...createSliding(groups[SLIDING]),
    },
    ...channels,
    answers: new MemoryAnswers(),
    async ping() {
      if (trouble !== undefined) throw trouble;
      counterFile.ping();
    },
    async close() {
      for (const stop of stops) stop();
      await closeChannels();
      write();
      counterFile.close();
      if (trouble !== undefined) throw trouble;
    },
  };
}

/** Between the threads of this process. */
function openChannels(file: string): Pick<State, "notices" | "rows" | "broadcasts" | "close"> {
  const [notices, broadcasts] = [openThreadNotices(file), openThreadBroadcasts(file)];
  return {
    notices,
    rows: notices.rows,
    broadcasts,
    async close() {
      await notices.close();
      await broadcasts.close();
    },
  };
}

/** Written counts of a workspace since a day. */
type UsageReader = (organizationId: number, sinceDay: string) => readonly EndpointUsage[];

function createCounters(
  requests: Cells,
  wrongKeys: Cells,
  taken: Cells,
  usage: UsageBuffer,
  written: UsageReader,
): Omit<Counters, keyof Sliding> {
  return {
    ...createRequestCounters(requests),
    countEndpoint: usage.count,
    async endpointUsage(organizationId, days, nowMs) {
      const sinceDay = lastDays(days, nowMs)[0] ?? dayOf(nowMs);
      const merged = createUsageBuffer();
      const waiting = usage.waiting().filter((one) => one.organizationId === organizationId && one.day >= sinceDay);
      merged.giveBack(written(organizationId, sinceDay).map((one) => ({ ...one, organizationId })));
      merged.giveBack(waiting);
      return merged.take().map(({ organizationId: _, ...one }) => one);
    },
    ...createGates(wrongKeys, taken),
  };
}

/** Counters of requests in memory only, for the time while the shared ones are away. */
export function createAdmissionCounters(): AdmissionCounters {
  const cells = (): Cells => createCells(MOST_CELLS, false);
  return { ...createRequestCounters(cells()), ...createGates(cells(), cells()) };
}

function createGates(wrongKeys: Cells, taken: Cells): Pick<Counters, "mayTryKey" | "wrongKey" | "takeFrom"> {
  return {
    mayTryKey(address, nowMs) {
      const cell = wrongKeys.get(WRONG_KEYS + address, nowMs);
      return mayTry(cell?.expiresAtMs ?? nowMs, nowMs);
    },
    async wrongKey(address, nowMs) {
      const name = WRONG_KEYS + address;
      const fullAtMs = afterWrongKey(wrongKeys.get(name, nowMs)?.expiresAtMs ?? nowMs, nowMs);
      // A bucket that is full again needs no cell, so that time is its expiry.
      wrongKeys.set(name, { values: [], expiresAtMs: fullAtMs });
    },
    async takeFrom(name, limit, windowMs, nowMs) {
      const { endsAtMs } = windowOf(windowMs, nowMs);
      const cell = taken.get(TAKEN + name, nowMs);
      const count = cell?.values[0] ?? 0;
      if (count >= limit) return false;
      if (cell === undefined) taken.set(TAKEN + name, { values: [1], expiresAtMs: endsAtMs });
      else {
        cell.values[0] = count + 1;
        taken.touch(TAKEN + name);
      }
      return true;
    },
  };
}

type Sliding = Pick<Counters, "takeSliding" | "heldSliding" | "giveBack">;

/** A cell holds when each was taken; a ticket is that time. */
function createSliding(cells: Cells): Sliding {
  const held = (name: string, windowMs: number, nowMs: number): readonly number[] =>
    (cells.get(SLIDING + name, nowMs)?.values ?? []).filter((atMs) => atMs > nowMs - windowMs);
  return {
    async takeSliding(name, limit, windowMs, nowMs) {
      const before = held(name, windowMs, nowMs);
      if (before.length >= limit) return { ticket: null, heldAtMs: before };
      const heldAtMs = [...before, nowMs].sort((a, b) => a - b);
      cells.set(SLIDING + name, { values: heldAtMs, expiresAtMs: nowMs + windowMs });
      return { ticket: String(nowMs), heldAtMs: [...heldAtMs] };
    },
    heldSliding: async (name, windowMs, nowMs) => held(name, windowMs, nowMs),
    async giveBack(name, ticket) {
      const values = cells.get(SLIDING + name, 0)?.values;
      const index = values?.indexOf(Number(ticket)) ?? -1;
      if (index < 0) return;
      values?.splice(index, 1);
      cells.touch(SLIDING + name);
    },
  };
}

/** A cell holds the number of each window and the count in it. A clock that steps back stays in the later window. */
function createRequestCounters(cells: Cells): Pick<Counters, "takeRequest" | "usage"> {
  const countsOf = (
    organizationId: number,
    nowMs: number,
  ): { counts: number[]; indexes: number[]; endsAtMs: number } => {
    const values = cells.get(REQUESTS + organizationId, nowMs)?.values ?? [];
    const windows = requestWindows(nowMs);
    const indexes = windows.map((window, at) => Math.max(window.index, values[at * 2] ?? 0));
    const counts = indexes.map((index, at) => (index === values[at * 2] ? (values[at * 2 + 1] ?? 0) : 0));
    return { counts, indexes, endsAtMs: windows[2].endsAtMs };
  };
  /** The same in the windows that the cell stands in already, nearly always: in place, without making anything. */
  const takeStanding = (name: string, limits: RequestLimits, nowMs: number): RequestTake | null => {
    const values = cells.get(name, nowMs)?.values;
    if (values === undefined) return null;
    const [minute = 0, inMinute = 0, day = 0, inDay = 0, month = 0, inMonth = 0] = values;
    const isOver =
      minute < Math.floor(nowMs / MINUTE_MS) || day < Math.floor(nowMs / DAY_MS) || month < monthOf(nowMs).index;
    if (isOver) return null;
    const { perMinute, perDay, perMonth } = limits;
    if (perMinute !== null && inMinute >= perMinute) return { refusedBy: "minute", usedInMinute: inMinute };
    if (perDay !== null && inDay >= perDay) return { refusedBy: "day", usedInMinute: inMinute };
    if (perMonth !== null && inMonth >= perMonth) return { refusedBy: "month", usedInMinute: inMinute };
    values[1] = inMinute + 1;
    values[3] = inDay + 1;
    values[5] = inMonth + 1;
    cells.touch(name);
    return { refusedBy: null, usedInMinute: inMinute + 1 };
  };
  return {
    takeRequest(organizationId, limits, nowMs) {
      const take = takeStanding(REQUESTS + organizationId, limits, nowMs);
      if (take !== null) return take;
      const { counts, indexes, endsAtMs } = countsOf(organizationId, nowMs);
      const refused = limitsInOrder(limits).findIndex((limit, at) => limit !== null && (counts[at] ?? 0) >= limit);
      if (refused >= 0) return { refusedBy: REQUEST_WINDOWS[refused] ?? null, usedInMinute: counts[0] ?? 0 };
      const values = indexes.flatMap((index, at) => [index, (counts[at] ?? 0) + 1]);
      cells.set(REQUESTS + organizationId, { values, expiresAtMs: endsAtMs });
      return { refusedBy: null, usedInMinute: (counts[0] ?? 0) + 1 };
    },
    async usage(organizationId, nowMs) {
      const [minute = 0, day = 0, month = 0] = countsOf(organizationId, nowMs).counts;
      return { minute, day, month };
    },
  };
}
