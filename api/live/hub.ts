/**
 * Open pages of this process. A project with a page is a room: it gets the live messages of its project, and of changes to the control plane
 * by notice and by looking every few seconds. Without pages nothing runs.
 */
import { incidentData } from "../../model/event.ts";
import { formatId } from "../../model/ids.ts";
import type { LiveTurn } from "../../model/live-message.ts";
import type { Log } from "../../model/log.ts";
import { SerialQueue } from "../../model/serial-queue.ts";
import { formatIso, formatUtc } from "../../model/time.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { SubscriptionState } from "../../store/sql/monitors/live-reads-port.ts";
import type { State } from "../../store/state/state.ts";
import type { Overviews } from "../overview/overviews.ts";
import { Room } from "./room.ts";
import { type EventSink, Subscriber } from "./subscriber.ts";

/** Changes of statuses are sent so often, ms. */
const FLUSH_MS = 1_000;
/** A lost notice costs no more than this, ms. */
const LOOK_MS = 5_000;
/** Publishers know of a new room by then, ms. */
const SETTLED_MS = 3_000;
/** A page takes a stream that is silent for twice this long for a dead one (web/api/live.ts), ms. */
const KEEP_ALIVE_MS = 5_000;
/** Monitors that one event names; more are "all". */
const MOST_NAMED = 1_000;
/** Incidents of one look, and how long ago one may have ended, ms. */
const MOST_INCIDENTS = 500;
const ENDED_WITHIN_MS = 300_000;
const MOST_TESTS = 200;
/** Ends of tests are written by the clocks of other processes, ms. */
const TESTS_WITHIN_MS = 60_000;

export interface LiveHubOptions {
  readonly controlPlane: Pick<ControlPlane, "incidents" | "jobs" | "liveReads" | "overview">;
  readonly state: Pick<State, "broadcasts" | "notices">;
  readonly overviews: Overviews;
  readonly nowMs: () => number;
  readonly log: Pick<Log, "warn">;
  readonly version: string;
}

export interface LiveCaller {
  readonly projectId: number;
  readonly watched: readonly number[];
}

export class LiveHub {
  readonly #options: LiveHubOptions;
  readonly #rooms = new Map<number, Room>();
  readonly #subscribers = new Set<Subscriber>();
  readonly #queue = new SerialQueue();
  #stopLooking: (() => void) | null = null;
  /** A pass that has not begun serves all requests for one. */
  #isLookQueued = false;
  /** Generation of the control plane in the latest message. */
  #generation = -1;
  #subscriptions: ReadonlyMap<number, SubscriptionState> = new Map();
  /** Jobs whose end was sent. */
  #toldTests: ReadonlySet<number> = new Set();

  constructor(options: LiveHubOptions) {
    this.#options = options;
  }

  /** @returns what ends it */
  open(caller: LiveCaller, sink: EventSink): () => void {
    const subscriber = new Subscriber(sink, caller.watched);
    this.#subscribers.add(subscriber);
    const known = this.#rooms.get(caller.projectId);
    const room = known ?? this.#openRoom(caller.projectId);
    room.subscribers.add(subscriber);
    void this.#queue
      .run(() => this.#greet(room, subscriber, known === undefined))
      .catch((error: unknown) => {
        this.#fail(error);
        subscriber.end();
      });
    return () => this.#leave(room, subscriber);
  }

  close(): void {
    this.#stopLooking?.();
    this.#stopLooking = null;
    for (const room of this.#rooms.values()) room.close();
    this.#rooms.clear();
    this.#subscribers.clear();
  }

  #openRoom(projectId: number): Room {
    const { state, overviews } = this.#options;
    const room = new Room({
      projectId,
      listen: (id, listener) => state.broadcasts.listen(id, listener),
      onChange: (id) => overviews.drop(id),
      onTurns: (of, turns) =>
        void this.#queue.run(() => this.#tellTurns(of, turns)).catch((error) => this.#fail(error)),
    });
    this.#rooms.set(projectId, room);
    this.#stopLooking ??= this.#startLooking();
    return room;
  }

  async #greet(room: Room, subscriber: Subscriber, isFirst: boolean): Promise<void> {
    const { controlPlane, overviews, nowMs, version } = this.#options;
    const { projectId } = room;
    if (isFirst) {
      await this.#look(false);
      room.remember(await controlPlane.overview.states(projectId));
      overviews.drop(projectId);
      setTimeout(
        () => void this.#queue.run(() => this.#settle(room)).catch((error) => this.#fail(error)),
        SETTLED_MS,
      ).unref();
    }
    const { monitors, activeIncidents } = await overviews.of(projectId, nowMs());
    subscriber.greet({ at: formatIso(nowMs()), version, monitors, active_incidents: activeIncidents });
  }

  async #settle(room: Room): Promise<void> {
    if (this.#rooms.get(room.projectId) !== room) return;
    room.catchUp(await this.#options.controlPlane.overview.states(room.projectId));
  }

  #leave(room: Room, subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    room.subscribers.delete(subscriber);
    if (room.subscribers.size > 0 || this.#rooms.get(room.projectId) !== room) return;
    room.close();
    this.#rooms.delete(room.projectId);
    if (this.#rooms.size > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = null;
  }

  /** @returns what stops it */
  #startLooking(): () => void {
    const { notices } = this.#options.state;
    const look = (): void => this.#askToLook();
    const timers = [
      setInterval(() => this.#flush(), FLUSH_MS),
      setInterval(look, LOOK_MS),
      setInterval(() => this.#keepAlive(), KEEP_ALIVE_MS),
    ];
    for (const timer of timers) timer.unref();
    const ends = [notices.subscribe("monitors", look), notices.subscribe("jobs", look)];
    this.#generation = -1;
    return () => {
      for (const timer of timers) clearInterval(timer);
      for (const end of ends) end();
    };
  }

  #askToLook(): void {
    if (this.#isLookQueued) return;
    this.#isLookQueued = true;
    const look = async (): Promise<void> => {
      this.#isLookQueued = false;
      await this.#look(true);
    };
    void this.#queue.run(look).catch((error: unknown) => this.#fail(error));
  }

  #flush(): void {
    const nowMs = this.#options.nowMs();
    for (const room of this.#rooms.values()) room.flush(nowMs);
  }

  #keepAlive(): void {
    for (const subscriber of this.#subscribers) subscriber.keepAlive();
  }

  /** @param isTold false: only what is there now is remembered */
  async #look(isTold: boolean): Promise<void> {
    if (this.#rooms.size === 0) return;
    await this.#lookAtMonitors();
    await this.#lookAtSubscriptions(isTold);
    await this.#lookAtTests(isTold);
  }

  async #lookAtMonitors(): Promise<void> {
    const { liveReads } = this.#options.controlPlane;
    if (this.#generation < 0) {
      this.#generation = (await liveReads.changedSince(Number.MAX_SAFE_INTEGER, 0)).generation;
      return;
    }
    const { generation, changes } = await liveReads.changedSince(this.#generation, MOST_NAMED + 1);
    this.#generation = generation;
    const isAll = changes.length > MOST_NAMED;
    for (const room of this.#rooms.values()) {
      const own = changes.filter(({ projectId }) => projectId === room.projectId);
      if (!isAll && own.length === 0) continue;
      this.#options.overviews.drop(room.projectId);
      const names = (isGone: boolean) =>
        own.filter((change) => change.isGone === isGone).map(({ id }) => formatId("server", id));
      room.tell("monitors", isAll ? { changed: "all", gone: [] } : { changed: names(false), gone: names(true) });
    }
  }

  async #lookAtSubscriptions(isTold: boolean): Promise<void> {
    const states = await this.#options.controlPlane.liveReads.subscriptions([...this.#rooms.keys()]);
    const before = this.#subscriptions;
    this.#subscriptions = new Map(states.map((state) => [state.id, state]));
    if (!isTold) return;
    for (const state of states) {
      const known = before.get(state.id);
      if (known !== undefined && JSON.stringify(known) === JSON.stringify(state)) continue;
      this.#rooms.get(state.projectId)?.tell("subscription", {
        id: state.id,
        lastSyncStatus: state.lastSyncStatus,
        lastSyncedAt: state.lastSyncedAtMs === null ? null : formatUtc(state.lastSyncedAtMs),
        lastServerCount: state.lastServerCount,
        syncing: state.isSyncing,
      });
    }
  }

  async #lookAtTests(isTold: boolean): Promise<void> {
    const { controlPlane, nowMs } = this.#options;
    const projects = [...this.#rooms.keys()];
    const ended = await controlPlane.jobs.endedTests(projects, nowMs() - TESTS_WITHIN_MS, MOST_TESTS);
    const before = this.#toldTests;
    this.#toldTests = new Set(ended.map(({ id }) => id));
    if (!isTold) return;
    for (const { id, projectId, monitorId, testId, result } of ended.toReversed()) {
      if (before.has(id)) continue;
      this.#rooms.get(projectId)?.tell("job", {
        test_id: testId,
        server_id: formatId("server", monitorId),
        status: result.status,
        latency_ms: result.latencyMs === null ? null : Math.round(result.latencyMs),
        error_message: result.message,
      });
    }
  }

  async #tellTurns(room: Room, turns: readonly LiveTurn[]): Promise<void> {
    const { controlPlane, nowMs } = this.#options;
    const monitorIds = turns.flatMap((turn) => (turn.incidentId === null ? [turn.monitorId] : []));
    const incidentIds = turns.flatMap((turn) => turn.incidentId ?? []);
    const sinceMs = nowMs() - ENDED_WITHIN_MS;
    const wanted = { monitorIds, sinceMs, incidentIds, limit: MOST_INCIDENTS };
    const found = await controlPlane.incidents.named(room.projectId, wanted);
    const byId = new Map(found.map((one) => [one.id, one]));
    // The newest of each monitor stays: they come newest first.
    const ofMonitor = new Map(found.toReversed().map((one) => [one.monitorId, one]));
    for (const { monitorId, incidentId, what } of turns) {
      const incident = incidentId === null ? ofMonitor.get(monitorId) : byId.get(incidentId);
      if (incident !== undefined) room.tell("incident", { what, incident: incidentData(incident) });
    }
  }

  #fail(error: unknown): void {
    this.#options.log.warn({ err: error }, "open pages could not be told of a change: they read it by themselves");
  }
}
