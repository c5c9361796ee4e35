/** A project with open pages: its live messages, and what it was when they began. */
import { STATUS_LETTERS } from "../../model/letters.ts";
import { type LiveCheck, type LiveTurn, readLiveMessage } from "../../model/live-message.ts";
import type { OverviewState } from "../../store/sql/monitors/overview-port.ts";
import { sseEvent } from "../sse.ts";
import { SharedChecks, type Subscriber } from "./subscriber.ts";

export interface RoomOptions {
  readonly projectId: number;
  /** @returns what ends it */
  listen(projectId: number, listener: (text: string) => void): () => void;
  /** What is kept of the project is not true any more. */
  onChange(projectId: number): void;
  onTurns(room: Room, turns: readonly LiveTurn[]): void;
}

export class Room {
  readonly projectId: number;
  readonly subscribers = new Set<Subscriber>();
  readonly #options: RoomOptions;
  readonly #leave: () => void;
  #shared = new SharedChecks();
  /** Statuses when the first page came; null: it is settled that publishers know of it. */
  #before: ReadonlyMap<number, string> | null = null;

  constructor(options: RoomOptions) {
    this.projectId = options.projectId;
    this.#options = options;
    this.#leave = options.listen(options.projectId, (text) => this.#take(text));
  }

  close(): void {
    this.#leave();
  }

  tell(name: string, data: unknown): void {
    const text = sseEvent(name, data);
    for (const subscriber of this.subscribers) subscriber.event(text);
  }

  /** @param nowMs Unix ms */
  flush(nowMs: number): void {
    const shared = this.#shared;
    if (shared.checks.size > 0) this.#shared = new SharedChecks();
    for (const subscriber of this.subscribers) subscriber.flush(shared, nowMs);
  }

  /** Of a moment before any page was greeted. */
  remember(states: readonly OverviewState[]): void {
    this.#before = new Map(states.map(({ monitorId, status }) => [monitorId, status]));
  }

  /** Publishers know of the room now: what changed before is found by comparing. */
  catchUp(states: readonly OverviewState[]): void {
    const before = this.#before;
    this.#before = null;
    if (before === null) return;
    const changed = states.filter(({ monitorId, status }) => before.get(monitorId) !== status);
    if (changed.length > 0) this.#checks(changed.map(checkOf));
  }

  #take(text: string): void {
    const message = readLiveMessage(text);
    if (message === undefined) return;
    this.#checks(message.checks);
    if (message.turns.length === 0) return;
    this.#options.onChange(this.projectId);
    this.#options.onTurns(this, message.turns);
  }

  #checks(checks: readonly LiveCheck[]): void {
    if (checks.some(({ isChanged }) => isChanged)) this.#options.onChange(this.projectId);
    this.#shared.add(checks);
    for (const subscriber of this.subscribers) if (subscriber.isWatching) subscriber.checks(checks);
  }
}

function checkOf({ monitorId, status, latencyMs, lastCheckedAtMs }: OverviewState): LiveCheck {
  return {
    monitorId,
    letter: STATUS_LETTERS[status],
    latencyMs: latencyMs === null ? null : Math.round(latencyMs),
    checkedAtMs: lastCheckedAtMs,
    isChanged: true,
  };
}
