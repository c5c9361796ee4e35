/**
 * What the API reads of results. The newest rows are answered from memory; everything else goes to the result store through a gate, and
 * what memory has that the store has not yet is put in its place. Both ways give the same answer.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import type { MaybePromise } from "../../model/maybe-promise.ts";
import { PERIOD_MS, type Period } from "../../model/result.ts";
import { FULL_RETENTION_MS, NEWEST_KEPT } from "../../model/retention.ts";
import type { RowStatus } from "../../model/status.ts";
import { ReadGate } from "../results/read-gate.ts";
import type {
  LatencyPoint,
  LatencyQuery,
  MonitorResults,
  NewestRow,
  ResultStore,
  StoredResult,
} from "../results/result-store.ts";
import { WindowCounts } from "./counts.ts";
import { withLatest } from "./latest.ts";
import type { MonitorRows, WindowQuery } from "./monitor-rows.ts";
import type { RecentRows } from "./recent-rows.ts";
import type { KeptRow, RowColumns } from "./row-columns.ts";
import { countOf, type RowRing, type StatusCounts } from "./row-ring.ts";

/** A monitor as the caller knows it, by its live state. */
export interface KnownMonitor {
  readonly id: number;
  readonly projectId: number;
  /** Rows so far. */
  readonly seq: number;
  /** Of the latest check; undefined before the first, and where a version without it judged that check. */
  readonly latest: StoredResult | undefined;
}

export interface OfMonitor extends WindowQuery {
  readonly monitor: KnownMonitor;
  readonly details: boolean;
}

export interface OfProject {
  readonly projectId: number;
  readonly period: Period;
  readonly onlyDown: boolean;
  readonly limit: number;
  readonly nowMs: number;
  readonly details: boolean;
  /** Rows of others are hidden. */
  readonly isShown: (monitorId: number) => boolean;
  /** What only a read of the store needs: monitors that were deleted since, and the latest rows of all others. */
  readonly more: () => Promise<{ readonly deleted: readonly number[]; readonly latest: readonly StoredResult[] }>;
}

/** A page that is all in memory: its rows by their places there, newest first. They hold until something is awaited. */
export interface PageInMemory extends Omit<MonitorResults, "rows"> {
  readonly columns: RowColumns;
  readonly places: readonly number[];
}

/** The newest results of a monitor as columns, oldest first. */
export interface Beats {
  readonly statuses: readonly RowStatus[];
  readonly latencyMs: readonly (number | null)[];
  readonly testedAtMs: readonly number[];
}

/** Windows whose counts are remembered. */
const MOST_COUNTS = 20_000;
/** A monitor's rows are asked for again after this long, when some were still on their way to the store, ms. */
const FILL_AGAIN_MS = 3_000;
/** An outcome may be held back for so long, ms, to look a second time or to see whether our own network works. */
const HELD_MS = 10_000;

export class RecentResults {
  readonly #store: ResultStore;
  readonly #gate = new ReadGate();
  readonly rows: RecentRows;
  readonly #counts = new BoundedMap<string, WindowCounts>(MOST_COUNTS);

  constructor(store: ResultStore, rows: RecentRows) {
    this.#store = store;
    this.rows = rows;
  }

  /** Newest first, ties by id, highest first. @throws StoreError */
  ofMonitor(query: OfMonitor): MaybePromise<MonitorResults> {
    if (query.details) return this.#storedOfMonitor(query);
    return this.#inMemory(query) ?? this.#readThenAnswer(query);
  }

  /** The same rows where they are in memory: thousands of such pages are asked for in a second, and rows as objects cost more than their words. */
  placesOfMonitor(query: OfMonitor): PageInMemory | undefined {
    if (query.details) return undefined;
    const rows = this.#current(query.monitor, query.nowMs);
    if (rows === undefined) return undefined;
    const counts = this.#countsIn(rows, query);
    const places = counts === undefined ? undefined : rows.page(query);
    if (counts === undefined || places === undefined) return undefined;
    return { columns: rows.ring.columns, places, ...totalsOf(counts, query.status) };
  }

  /** Of a project, the same. @throws StoreError */
  ofProject(query: OfProject): MaybePromise<readonly StoredResult[]> {
    const inMemory = query.details ? undefined : this.#projectInMemory(query);
    return inMemory ?? this.#storedOfProject(query);
  }

  /** @param limit at most NEWEST_KEPT @returns by monitor; without rows it has empty columns @throws StoreError */
  async beats(monitors: readonly KnownMonitor[], limit: number, nowMs: number): Promise<ReadonlyMap<number, Beats>> {
    const beats = new Map<number, Beats>();
    const take = (monitor: KnownMonitor): void => void beats.set(monitor.id, this.#beatsOf(monitor, limit, nowMs));
    for (const monitor of monitors) if (this.#hasBeats(monitor, limit, nowMs)) take(monitor);
    const missing = monitors.filter(({ id }) => !beats.has(id));
    const byProject = grouped(missing, ({ projectId }) => projectId);
    for (const [projectId, ofProject] of byProject) await this.#fill(projectId, ofProject, nowMs, take);
    return beats;
  }

  /** The same where all of them are in memory, else undefined. */
  beatsInMemory(
    monitors: readonly KnownMonitor[],
    limit: number,
    nowMs: number,
  ): ReadonlyMap<number, Beats> | undefined {
    const beats = new Map<number, Beats>();
    for (const monitor of monitors) {
      if (!this.#hasBeats(monitor, limit, nowMs)) return undefined;
      beats.set(monitor.id, this.#beatsOf(monitor, limit, nowMs));
    }
    return beats;
  }

  /** What the store has of it: the newest rows may be on their way. @throws StoreError */
  latencyOf(query: LatencyQuery, nowMs: number): Promise<readonly LatencyPoint[]> {
    const { projectId, monitorId, location, fromMs, toMs, stepS, source } = query;
    const question = `latency ${projectId} ${monitorId} ${location} ${fromMs} ${toMs} ${stepS} ${source}`;
    return this.#gate.ask(question, nowMs, () => this.#store.latencyOf(query));
  }

  #inMemory(query: OfMonitor): MonitorResults | undefined {
    const page = this.placesOfMonitor(query);
    if (page === undefined) return undefined;
    const { columns, places, ...totals } = page;
    return { rows: places.map((place) => columns.read(place, query.monitor.id)), ...totals };
  }

  async #readThenAnswer(query: OfMonitor): Promise<MonitorResults> {
    const { monitor, period, nowMs, offset, limit } = query;
    if (offset + limit <= NEWEST_KEPT && this.#current(monitor, nowMs)?.page(query) === undefined)
      await this.#fill(monitor.projectId, [monitor], nowMs);
    const rows = this.#current(monitor, nowMs);
    const isCountMissing = rows !== undefined && this.#countsIn(rows, query) === undefined;
    if (isCountMissing && period !== "7d") await this.#count(rows, query);
    return this.#inMemory(query) ?? this.#storedOfMonitor(query);
  }

  /** What memory has of it, with the row of its latest check; undefined when rows before that one are missing. */
  #current({ id, projectId, seq, latest }: KnownMonitor, nowMs: number): MonitorRows | undefined {
    const rows = this.rows.monitor(id, nowMs) ?? (seq <= 1 ? this.rows.makeRoom(id, projectId, nowMs) : undefined);
    if (rows === undefined) return undefined;
    if (seq === 0 && rows.newestSeq === 0) rows.ring.setFloor(Number.NEGATIVE_INFINITY);
    if (rows.newestSeq === seq - 1 && latest !== undefined) rows.add({ ...latest, seq }, null, nowMs);
    return rows.newestSeq >= seq ? rows : undefined;
  }

  #countsIn(rows: MonitorRows, { period, nowMs }: WindowQuery): StatusCounts | undefined {
    return rows.countsOf(period, nowMs) ?? this.#counts.get(`${rows.monitorId} ${period}`)?.at(rows, nowMs);
  }

  async #count(rows: MonitorRows, { period, nowMs }: WindowQuery): Promise<void> {
    const { monitorId, projectId } = rows;
    const question = { projectId, monitorId, period, nowMs };
    const counted = await this.#gate.ask(`counts ${monitorId} ${period}`, nowMs, () => this.#store.countsOf(question));
    // It may have made room for another meanwhile.
    if (this.rows.monitor(monitorId) !== rows) return;
    const counts = WindowCounts.of(counted, rows, period, nowMs);
    if (counts !== undefined) this.#counts.set(`${monitorId} ${period}`, counts);
  }

  /**
   * Puts the store's newest rows of some monitors into memory.
   * @param onFilled called for each when it has them; one may make room for the next
   */
  async #fill(
    projectId: number,
    monitors: readonly KnownMonitor[],
    nowMs: number,
    onFilled: (monitor: KnownMonitor) => void = () => {},
  ): Promise<void> {
    const isDue = ({ id }: KnownMonitor): boolean =>
      nowMs - (this.rows.monitor(id)?.filledAtMs ?? Number.NEGATIVE_INFINITY) >= FILL_AGAIN_MS;
    const ids = monitors.filter(isDue).map(({ id }) => id);
    const question = `newest ${ids.join(" ")}`;
    const found =
      ids.length === 0 ? [] : await this.#gate.ask(question, nowMs, () => this.#store.newestOf(projectId, ids, nowMs));
    const byMonitor = grouped(found, ({ row }) => row.monitorId);
    for (const monitor of monitors) {
      if (ids.includes(monitor.id)) this.#fillOne(monitor, byMonitor.get(monitor.id) ?? [], nowMs);
      onFilled(monitor);
    }
  }

  #fillOne({ id, projectId, seq }: KnownMonitor, stored: readonly NewestRow[], nowMs: number): void {
    const rows = this.rows.makeRoom(id, projectId, nowMs);
    rows.filledAtMs = nowMs;
    const newest = stored.at(-1)?.seq ?? 0;
    // What the live state knows of and neither has is on its way to the store.
    if (rows.newestSeq === 0 && newest < seq) return;
    rows.fill(stored.map(keptOf), floorOf(stored));
  }

  #hasBeats(monitor: KnownMonitor, limit: number, nowMs: number): boolean {
    const rows = this.#current(monitor, nowMs);
    return rows !== undefined && (rows.ring.count >= limit || rows.ring.floorMs === Number.NEGATIVE_INFINITY);
  }

  #beatsOf({ id }: KnownMonitor, limit: number, nowMs: number): Beats {
    const ring = this.rows.monitor(id, nowMs)?.ring;
    const places = ring === undefined ? [] : ring.newestFirst().slice(0, limit).reverse();
    const columns = ring?.columns;
    return {
      statuses: places.map((place) => columns?.statusOf(place) ?? "unknown"),
      latencyMs: places.map((place) => columns?.latencyOf(place) ?? null),
      testedAtMs: places.map((place) => columns?.testedAtMs[place] ?? 0),
    };
  }

  /** A page of the store, and on the first page what it does not have yet. */
  async #storedOfMonitor(query: OfMonitor): Promise<MonitorResults> {
    const { monitor, period, status, limit, offset, nowMs, details } = query;
    const question = { projectId: monitor.projectId, monitorId: monitor.id, period, status, limit, offset, details };
    const stored = await this.#gate.ask(`monitor ${JSON.stringify(question)}`, nowMs, () =>
      this.#store.ofMonitor({ ...question, nowMs }),
    );
    // Of later pages this memory knows nothing, and rows in memory have no details.
    if (offset > 0 || details) return stored;
    const isWanted = (row: StoredResult): boolean =>
      row.testedAtMs >= nowMs - PERIOD_MS[period] && (status === null || row.status === status);
    const { rows, added } = withLatest(stored.rows, this.#unstored(monitor).filter(isWanted), limit);
    const inMemory = this.#current(monitor, nowMs);
    const counts = inMemory === undefined ? undefined : this.#countsIn(inMemory, query);
    if (counts !== undefined) return { rows, ...totalsOf(counts, status) };
    return {
      rows,
      total: stored.total + added.length,
      inPeriod: stored.inPeriod + added.length,
      healthy: stored.healthy + added.filter((row) => row.status === "healthy").length,
    };
  }

  /** Rows that the store may not have yet: the newest, of which all are kept. */
  #unstored({ id, latest }: KnownMonitor): readonly StoredResult[] {
    const ring = this.rows.monitor(id)?.ring;
    const places = ring?.newestFirst().slice(0, NEWEST_KEPT) ?? [];
    const newest = ring === undefined ? [] : readWhole(ring, places, id);
    return latest === undefined || newest.some((row) => row.id === latest.id) ? newest : [latest, ...newest];
  }

  #projectInMemory({ projectId, period, onlyDown, limit, nowMs, isShown }: OfProject) {
    const rings = this.rows.project(projectId);
    if (rings === undefined) return undefined;
    const ring = onlyDown ? rings.down : rings.all;
    const { columns } = ring;
    const page = ring.page(nowMs - PERIOD_MS[period], limit, (place) => isShown(columns.monitorOf(place)));
    const oldest = page?.places.at(-1);
    // Older rows are kept for what they say, or while they are among the newest of their monitor.
    const isKept = oldest === undefined || (columns.testedAtMs[oldest] ?? 0) >= nowMs - FULL_RETENTION_MS;
    return isKept ? page?.places.map((place) => columns.read(place)) : undefined;
  }

  async #storedOfProject(query: OfProject): Promise<readonly StoredResult[]> {
    const { projectId, period, onlyDown, limit, nowMs, details, isShown, more } = query;
    // Before the rows are read: what is stored in between is in both, and what is in neither was checked later.
    const { deleted, latest } = await more();
    const question = { projectId, period, onlyDown, limit, withoutMonitorIds: deleted, details };
    const stored = await this.#gate.ask(`project ${JSON.stringify(question)}`, nowMs, () =>
      this.#store.ofProject({ ...question, nowMs }),
    );
    if (details) return stored;
    const fromMs = nowMs - Math.min(PERIOD_MS[period], FULL_RETENTION_MS);
    const isWanted = (row: StoredResult): boolean =>
      row.testedAtMs >= fromMs && isShown(row.monitorId) && (!onlyDown || row.status === "down");
    const ring = onlyDown ? this.rows.project(projectId)?.down : this.rows.project(projectId)?.all;
    const inMemory = ring === undefined ? [] : readWhole(ring, ring.newestFirst());
    const known = new Set(inMemory.map(({ id }) => id));
    const all = [...inMemory, ...latest.filter(({ id }) => !known.has(id))];
    return withLatest(stored, all.filter(isWanted), limit).rows;
  }
}

function totalsOf(counts: StatusCounts, status: RowStatus | null): Omit<MonitorResults, "rows"> {
  return { total: countOf(counts, status), inPeriod: countOf(counts, null), healthy: countOf(counts, "healthy") };
}

function keptOf({ row: { details: _, ...row }, seq }: NewestRow): KeptRow {
  return { ...row, seq };
}

/** Rows that were judged before the oldest of these began before it was judged. */
function floorOf(stored: readonly NewestRow[]): number {
  const [oldest] = stored;
  if (oldest === undefined || stored.length < NEWEST_KEPT) return Number.NEGATIVE_INFINITY;
  return oldest.row.testedAtMs + oldest.durationMs + HELD_MS;
}

/** @param monitorId whose ring it is; absent: a project's */
function readWhole({ columns }: RowRing, places: readonly number[], monitorId?: number): readonly StoredResult[] {
  return places.filter((place) => columns.isWhole(place)).map((place) => columns.read(place, monitorId));
}

function grouped<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): ReadonlyMap<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}
