/**
 * The newest rows of every monitor and of every project, in memory. Rows come from the schedulers while they are on their way to the stores, so
 * a row is here before its status is in SQL. Whatever was missed, or has no room, is read from the store (recent-results.ts).
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import type { PublishedRow, RowBatch } from "./batch.ts";
import { MonitorRows, RING_ROWS } from "./monitor-rows.ts";
import { BYTES_PER_ROW, type KeptRow, Kinds, RowColumns } from "./row-columns.ts";
import { RowRing } from "./row-ring.ts";
import { Texts } from "./texts.ts";

export interface RecentRowsOptions {
  /** Of rows and messages together; the rows of a monitor are about 4 KB. */
  readonly maxBytes: number;
  /** Wall clock, Unix ms. */
  readonly nowMs: () => number;
}

/** Room for 27,000 monitors. */
export const RECENT_BYTES = 128 * 1_048_576;

/** Rows of a project's two rings: the longest page, and some that a later page of failures has no need of. */
const PROJECT_ROWS = 1_100;
const MOST_PROJECTS = 64;
/** Rings whose columns are made together. */
const RINGS_TOGETHER = 64;
/** Of the bound, what messages may have; a character may be two bytes. */
const TEXT_SHARE = 1 / 16;
/** What a monitor's ring costs beside its rows, bytes. */
const RING_BYTES = 500;
/** A monitor that was neither asked for nor checked for so long makes room for another, ms. */
const IDLE_MS = 10 * 60_000;
/** Clocks of two machines may differ by this, ms. */
const CLOCK_MARGIN_MS = 5_000;
/** Schedulers whose batches are counted. */
const MOST_PUBLISHERS = 1_000;

interface ProjectRows {
  readonly all: RowRing;
  readonly down: RowRing;
}

interface Room {
  readonly columns: RowColumns;
  readonly base: number;
}

export class RecentRows {
  readonly #options: RecentRowsOptions;
  readonly #texts: Texts;
  readonly #kinds = new Kinds();
  readonly #mostMonitors: number;
  /** The one that was asked for least recently first. */
  readonly #monitors = new Map<number, MonitorRows>();
  readonly #rooms = new Map<number, Room>();
  readonly #freeRooms: Room[] = [];
  readonly #projects = new BoundedMap<number, ProjectRows>(MOST_PROJECTS);
  readonly #numbers = new BoundedMap<string, number>(MOST_PUBLISHERS);
  /** Rows that began up to then may be missing, Unix ms. */
  #sinceMs: number;
  /** There was no room for a row, or a monitor made room: rows of one that comes now may have been passed over. */
  #isCrowded = false;
  #version = 0;

  constructor(options: RecentRowsOptions) {
    this.#options = options;
    this.#texts = new Texts(Math.floor((options.maxBytes * TEXT_SHARE) / 2));
    const forRings = options.maxBytes * (1 - TEXT_SHARE);
    this.#mostMonitors = Math.max(1, Math.floor(forRings / (RING_ROWS * BYTES_PER_ROW + RING_BYTES)));
    this.#sinceMs = options.nowMs();
  }

  /** Monitors that have room. */
  get mostMonitors(): number {
    return this.#mostMonitors;
  }

  get monitors(): number {
    return this.#monitors.size;
  }

  /** Changes whenever rows have come or were forgotten. */
  get version(): number {
    return this.#version;
  }

  /** Batches were missed, it is not known whose. */
  missed(): void {
    const nowMs = this.#options.nowMs() + CLOCK_MARGIN_MS;
    this.#sinceMs = nowMs;
    this.#version += 1;
    for (const [, { all, down }] of this.#projects) for (const ring of [all, down]) ring.setFloor(nowMs);
    for (const rows of this.#monitors.values()) rows.forget(nowMs);
  }

  take({ publisher, number, rows, refused }: RowBatch): void {
    const nowMs = this.#options.nowMs();
    const before = this.#numbers.get(publisher) ?? 0;
    this.#numbers.set(publisher, number);
    // One that starts anew counts from 1 again.
    if (number !== before + 1 && number !== 1) this.missed();
    this.#version += 1;
    for (const row of rows) {
      this.#monitorFor(row, nowMs)?.add(row, row.liveStatus, nowMs);
      this.#addToProject(row);
    }
    for (const monitorId of refused) this.#refuse(monitorId, nowMs);
  }

  /** @returns undefined for one that is not in memory @param nowMs of a caller that asks for it: it stays longer than others */
  monitor(monitorId: number, nowMs?: number): MonitorRows | undefined {
    const rows = this.#monitors.get(monitorId);
    if (rows === undefined || nowMs === undefined) return rows;
    this.#monitors.delete(monitorId);
    this.#monitors.set(monitorId, rows);
    rows.usedAtMs = nowMs;
    return rows;
  }

  /** For one that is asked for: the one that was asked for least recently makes room. */
  makeRoom(monitorId: number, projectId: number, nowMs: number): MonitorRows {
    const known = this.monitor(monitorId, nowMs);
    if (known !== undefined) return known;
    return this.#open(monitorId, projectId, nowMs, this.#room() ?? this.#takeRoom());
  }

  /** @returns undefined while no row of the project has come */
  project(projectId: number): ProjectRows | undefined {
    return this.#projects.use(projectId);
  }

  /** A monitor that is gone. */
  forget(monitorId: number): void {
    const room = this.#rooms.get(monitorId);
    const rows = this.#monitors.get(monitorId);
    if (room === undefined || rows === undefined) return;
    this.#isCrowded = true;
    rows.ring.clear();
    this.#monitors.delete(monitorId);
    this.#rooms.delete(monitorId);
    this.#freeRooms.push(room);
  }

  #monitorFor({ monitorId, projectId }: PublishedRow, nowMs: number): MonitorRows | undefined {
    const known = this.#monitors.get(monitorId);
    if (known !== undefined) {
      known.usedAtMs = nowMs;
      return known;
    }
    const room = this.#room() ?? this.#idleRoom(nowMs);
    if (room !== undefined) return this.#open(monitorId, projectId, nowMs, room);
    this.#isCrowded = true;
    return undefined;
  }

  #open(monitorId: number, projectId: number, nowMs: number, room: Room): MonitorRows {
    const floorMs = this.#isCrowded ? nowMs : this.#sinceMs;
    const rows = new MonitorRows(monitorId, projectId, new RowRing(room.columns, room.base, RING_ROWS, floorMs));
    rows.usedAtMs = nowMs;
    this.#monitors.set(monitorId, rows);
    this.#rooms.set(monitorId, room);
    return rows;
  }

  #room(): Room | undefined {
    if (this.#freeRooms.length > 0) return this.#freeRooms.pop();
    const left = this.#mostMonitors - this.#rooms.size;
    if (left <= 0) return undefined;
    const rings = Math.min(left, RINGS_TOGETHER);
    const columns = new RowColumns(rings * RING_ROWS, this.#texts, this.#kinds, false);
    for (let ring = rings - 1; ring >= 0; ring--) this.#freeRooms.push({ columns, base: ring * RING_ROWS });
    return this.#freeRooms.pop();
  }

  #takeRoom(): Room {
    for (const monitorId of this.#monitors.keys()) {
      this.forget(monitorId);
      break;
    }
    const room = this.#freeRooms.pop();
    if (room === undefined) throw new Error("there is room for one monitor at least");
    return room;
  }

  #idleRoom(nowMs: number): Room | undefined {
    for (const [monitorId, { usedAtMs }] of this.#monitors) {
      if (nowMs - usedAtMs < IDLE_MS) return undefined;
      this.forget(monitorId);
      return this.#freeRooms.pop();
    }
    return undefined;
  }

  #addToProject(row: PublishedRow): void {
    let rows = this.#projects.get(row.projectId);
    if (rows === undefined) {
      const ring = () =>
        new RowRing(new RowColumns(PROJECT_ROWS, this.#texts, this.#kinds, true), 0, PROJECT_ROWS, this.#sinceMs);
      rows = { all: ring(), down: ring() };
      this.#projects.set(row.projectId, rows);
    }
    rows.all.add(row satisfies KeptRow);
    if (row.status === "down") rows.down.add(row);
  }

  /** The row that it has of it is in no store. */
  #refuse(monitorId: number, nowMs: number): void {
    const rows = this.#monitors.get(monitorId);
    if (rows === undefined) return;
    const project = this.#projects.get(rows.projectId);
    rows.forget(nowMs);
    for (const ring of [project?.all, project?.down]) {
      ring?.clear();
      ring?.setFloor(nowMs);
    }
  }
}
