/**
 * The control plane: what must survive and be consistent. One port, two adapters (SQLite, PostgreSQL), one shared suite.
 * Every change of keys, rights, plans or monitors raises the generation in the same transaction.
 * Ids are positive integers given by the store. Times are Unix ms. All methods reject with StoreError when the store is away.
 */

import type { MonitorAlert, ToldExpiry } from "../../model/alert.ts";
import type { Family } from "../../model/kind.ts";
import type { Monitor, PauseReason } from "../../model/monitor.ts";
import type { LiveState, MonitorStatus } from "../../model/status.ts";
import type { ErrorCategory } from "../../model/verdict.ts";
import type { Accounts, ProjectRecord } from "./ports/accounts.ts";
import type { Imports, NewConfigResult } from "./ports/imports.ts";
import type { JobEnd, Jobs } from "./ports/jobs.ts";
import type { Keys } from "./ports/keys.ts";
import type { Leases } from "./ports/leases.ts";
import type { Locations } from "./ports/locations.ts";
import type { Maintenance } from "./ports/maintenance.ts";
import type { Plans } from "./ports/plans.ts";
import type { Quarantines } from "./ports/quarantine.ts";
import type { Sealed, ToSeal } from "./ports/sealed.ts";
import type { Fence, Part, Shards, Skips } from "./ports/shards.ts";
import type { Subscriptions } from "./ports/subscriptions.ts";
import type { Syncs } from "./ports/syncs.ts";
import type { Outgoing, Webhooks } from "./ports/webhooks.ts";

export type { ProjectRecord, WorkspaceRecord } from "./ports/accounts.ts";
export type { KeyAccess, KeyRecord } from "./ports/keys.ts";

export interface ControlPlane {
  readonly dialect: "sqlite" | "postgres";
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly plans: Plans;
  readonly monitors: Monitors;
  readonly incidents: Incidents;
  readonly history: History;
  readonly heartbeats: Heartbeats;
  readonly jobs: Jobs;
  readonly subscriptions: Subscriptions;
  readonly imports: Imports;
  readonly syncs: Syncs;
  readonly maintenance: Maintenance;
  readonly webhooks: Webhooks;
  readonly outgoing: Outgoing;
  readonly leases: Leases;
  readonly locations: Locations;
  readonly shards: Shards;
  readonly quarantine: Quarantines;
  readonly sink: SinkStore;
  readonly meta: Meta;
  readonly sealed: Sealed;
  /** Raised by every change that a cache or the plan must hear of. */
  generation(): Promise<number>;
  /** A number that changes with every commit of any process; null where asking costs as much as reading anew (PostgreSQL). */
  stamp(): number | null;
  /** Answers within two seconds or rejects. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Small named values: sealing check value, first-start marker, applied versions. */
export interface Meta {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
}

/** A monitor with its live state, as lists and the plan need it. */
export interface MonitorWithLive {
  readonly monitor: Monitor;
  readonly live: LiveState;
}

/** What a new monitor is made of; the store adds ids and times. */
export type NewMonitor = Omit<
  Monitor,
  "id" | "createdAtMs" | "updatedAtMs" | "maintenance" | "sealed" | "urlSealed"
> & {
  readonly nowMs: number;
  /** Heartbeats only: the sealed token and the hash it is looked up by. */
  readonly heartbeatToken: { readonly sealed: ToSeal; readonly hash: string } | null;
  /** Tunnels only. */
  readonly sealed?: ToSeal;
  /** Websites whose address hides something. */
  readonly urlSealed?: ToSeal;
};
export type MonitorChange = Partial<
  Pick<
    Monitor,
    | "name"
    | "kind"
    | "settings"
    | "sealed"
    | "urlSealed"
    | "intervalS"
    | "timeoutS"
    | "maxRetries"
    | "tags"
    | "locations"
    | "disabledLocations"
    | "notifyOnPartial"
    | "host"
    | "sslExpirationDays"
    | "domainExpirationDays"
    | "graceS"
  >
> & {
  readonly addPauseReason?: PauseReason;
  readonly removePauseReasons?: readonly PauseReason[];
  /** Names of the sealed fields that differ, for the history. */
  readonly sealedFields?: readonly string[];
};

/** Every tunnel slot of the workspace is taken (docs/api-contract.md#plans). */
export class SlotsFullError extends Error {
  override readonly name = "SlotsFullError";
  readonly used: number;
  readonly slots: number;

  constructor(used: number, slots: number) {
    super(`${used} of ${slots} tunnel slots are taken`);
    this.used = used;
    this.slots = slots;
  }
}

export interface Actor {
  readonly type: "user" | "system";
  readonly id: number | null;
  readonly name: string | null;
  readonly via: "api" | "dashboard" | "system";
  readonly keyId: number | null;
}
export const SYSTEM_ACTOR: Actor = { type: "system", id: null, name: null, via: "system", keyId: null };

export interface MonitorFilter {
  readonly family: Family | "all";
  readonly activeOnly: boolean;
  readonly status: MonitorStatus | null;
  readonly protocol: string | null;
  /** Case-insensitive substring of the name. */
  readonly nameContains: string | null;
  readonly limit: number;
  readonly offset: number;
}

export interface Monitors {
  /**
   * Writes the monitor, its live row, and a history entry.
   * @param slots of the workspace's plan, null unlimited: a tunnel needs a free one, counted in the transaction. @throws SlotsFullError
   */
  create(input: NewMonitor, actor: Actor, slots?: number | null): Promise<Monitor>;
  /** Not deleted, in that project. */
  find(projectId: number, id: number): Promise<MonitorWithLive | undefined>;
  /** Sorted by name without case, then id. `total` counts before paging. */
  list(
    projectId: number,
    filter: MonitorFilter,
  ): Promise<{ readonly rows: readonly MonitorWithLive[]; readonly total: number }>;
  /** Across projects: name, host or tag contains the text, or the id is the number. Sorted by name, then id. */
  search(
    projectIds: readonly number[],
    text: string,
    id: number | null,
    limit: number,
    offset: number,
  ): Promise<{
    readonly rows: readonly (MonitorWithLive & { readonly project: ProjectRecord })[];
    readonly total: number;
  }>;
  /**
   * Reads, lets `decide` answer with a change, and writes it, in one transaction holding the row: of two callers at once no update is lost.
   * `decide` may be asked again after a deadlock (PostgreSQL), so it has no effect of its own; what it throws passes through.
   * A pause or resume also writes its history entry, and an event into an open incident (monitor_paused, monitor_resumed).
   * @param slots of the workspace's plan, null unlimited: a tunnel that the plan paused needs a free one. @throws SlotsFullError
   * @returns the monitor after the change; undefined when it is not there
   */
  update(
    projectId: number,
    id: number,
    nowMs: number,
    actor: Actor,
    decide: (now: MonitorWithLive) => MonitorChange,
    slots?: number | null,
  ): Promise<MonitorWithLive | undefined>;
  /** Tombstone; its incidents go with it. False when it was not there. */
  remove(projectId: number, id: number, nowMs: number, actor: Actor): Promise<boolean>;
  /** The settings that other website and keyword checks on the host share; null when there is none (docs/api-contract.md#uptime-fields). */
  hostExpiry(
    projectId: number,
    host: string,
  ): Promise<{ readonly sslExpirationDays: number | null; readonly domainExpirationDays: number | null } | null>;
  /** Sets them on all of the project's website and keyword checks on the host; certificate days on https addresses only. */
  setHostExpiry(
    projectId: number,
    host: string,
    expiry: { sslExpirationDays?: number | null; domainExpirationDays?: number | null },
    nowMs: number,
  ): Promise<void>;
  names(projectId: number): Promise<ReadonlyMap<number, string>>;
  /** Monitors of the project deleted since then: their results are hidden until they expire. */
  deletedSince(projectId: number, sinceMs: number): Promise<readonly number[]>;
  /** Of any project, paused or not, not deleted: for results that come in after the plan let go of the monitor. */
  recall(id: number): Promise<MonitorWithLive | undefined>;
  /**
   * For the plan: every active monitor (Infinity: whole set) or what changed after a generation, deleted and paused ones as removals.
   * @param part absent: of all shards
   */
  changedSince(
    generation: number,
    part?: Part,
  ): Promise<{
    readonly generation: number;
    readonly changed: readonly MonitorWithLive[];
    readonly removedIds: readonly number[];
  }>;
}

export type IncidentLevel = "down" | "degraded";
export interface IncidentRecord {
  readonly id: number;
  readonly monitorId: number;
  readonly monitorName: string;
  readonly monitorKind: string;
  readonly projectId: number;
  readonly level: IncidentLevel;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly acknowledgedAtMs: number | null;
  readonly acknowledgedBy: Actor | null;
  readonly errorMessage: string;
  readonly errorCategory: ErrorCategory | null;
  readonly locations: readonly string[];
  readonly eventCount: number;
  readonly monitorPaused: boolean;
}
export const INCIDENT_EVENT_TYPES = [
  "opened",
  "level_changed",
  "location_changed",
  "acknowledged",
  "retest_queued",
  "retest_finished",
  "alert_sent",
  "alert_failed",
  "monitor_paused",
  "monitor_resumed",
  "recovered",
] as const;
export interface IncidentEvent {
  readonly id: number;
  readonly type: (typeof INCIDENT_EVENT_TYPES)[number];
  readonly atMs: number;
  readonly message: string;
  readonly actor: Actor;
  readonly location: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}
export interface Incidents {
  /** Open first (down before degraded, then unacknowledged, then newest), then the rest newest first; none of paused monitors. */
  list(
    projectId: number,
    options: { readonly monitorId: number | null; readonly limit: number },
  ): Promise<readonly IncidentRecord[]>;
  find(projectId: number, id: number): Promise<IncidentRecord | undefined>;
  events(
    incidentId: number,
    limit: number,
    offset: number,
  ): Promise<{ readonly rows: readonly IncidentEvent[]; readonly total: number }>;
  /** Only the first call changes anything; all return the incident as it is then. */
  acknowledge(
    projectId: number,
    id: number,
    nowMs: number,
    actor: Actor,
    note: string | null,
  ): Promise<IncidentRecord | undefined>;
  countOpen(): Promise<number>;
}

export interface HistoryEntry {
  readonly id: number;
  readonly type: "created" | "updated" | "paused" | "resumed";
  readonly atMs: number;
  readonly message: string;
  readonly actor: Actor;
}
export interface History {
  /** Newest first. */
  list(
    monitorId: number,
    limit: number,
    offset: number,
  ): Promise<{ readonly rows: readonly HistoryEntry[]; readonly total: number }>;
}

export interface HeartbeatCall {
  readonly up: boolean;
  readonly message: string | null;
  readonly pingMs: number | null;
}
/** A call that waits for the sink. */
export interface InboxRow extends HeartbeatCall {
  readonly id: number;
  readonly monitorId: number;
  readonly atMs: number;
}
export interface Heartbeats {
  /** Active heartbeat of a token's hash; undefined when unknown, paused or deleted. */
  byTokenHash(hash: string): Promise<{ readonly monitorId: number } | undefined>;
  /** The sealed token, for heartbeat_url. */
  sealedToken(monitorId: number): Promise<string | undefined>;
  /** The call's time and its inbox row, in one durable transaction, before `ok:true` is answered. */
  record(monitorId: number, atMs: number, call: HeartbeatCall): Promise<void>;
  /** Oldest first. @param part absent: of all shards */
  inbox(limit: number, part?: Part): Promise<readonly InboxRow[]>;
  /** Last call of each active heartbeat, for deadlines. @param part absent: of all shards */
  lastCalls(part?: Part): Promise<ReadonlyMap<number, number>>;
}

/** What the sink writes in one transaction. */
export interface SinkBatch {
  /** Name of the spool that its results are in. */
  readonly spool: string;
  /** Of every shard that it writes about: all must still be held, or nothing is written. Absent: no other process writes. */
  readonly fences?: readonly Fence[];
  /** Results up to and with this sequence of the spool are applied by this batch. */
  readonly appliedSeq: number;
  /** Whole live states; of monitors that were deleted meanwhile they are ignored. */
  readonly live: readonly LiveState[];
  readonly incidents: readonly IncidentChange[];
  /** Absent: none. */
  readonly alerts?: readonly MonitorAlert[];
  readonly drainedInboxIds: readonly number[];
  /** Tests that these results end. */
  readonly jobEnds?: readonly JobEnd[];
  /** How configs of imported servers did. Absent: none. */
  readonly configResults?: readonly NewConfigResult[];
  /** Turns that no prober ran. */
  readonly skips?: readonly Skips[];
}

/** What moved without a check. */
export interface SinkTouch {
  /** Whole live states. */
  readonly live: readonly LiveState[];
  readonly skips: readonly Skips[];
  readonly fences: readonly Fence[];
}
/** Named by monitor, because at most one incident of a monitor is open. Changes to deleted monitors are ignored. */
export type IncidentChange =
  | {
      readonly type: "open";
      readonly monitorId: number;
      readonly atMs: number;
      readonly level: IncidentLevel;
      readonly message: string;
      readonly category: ErrorCategory | null;
      readonly locations: readonly string[];
    }
  /** degraded became down; never the other way. */
  | {
      readonly type: "raise";
      readonly monitorId: number;
      readonly atMs: number;
      readonly message: string;
      readonly category: ErrorCategory | null;
      readonly locations: readonly string[];
    }
  /** The latest message during the incident. */
  | {
      readonly type: "message";
      readonly monitorId: number;
      readonly atMs: number;
      readonly message: string;
      readonly category: ErrorCategory | null;
      readonly locations: readonly string[];
    }
  | {
      readonly type: "location";
      readonly monitorId: number;
      readonly atMs: number;
      readonly location: string;
      readonly status: string;
      readonly message: string | null;
    }
  | { readonly type: "close"; readonly monitorId: number; readonly atMs: number };

export interface SinkStore {
  /**
   * All of it, or nothing when `appliedSeq` is not above what was applied before: a batch may safely come again.
   * @throws ShardsLost
   */
  apply(batch: SinkBatch): Promise<void>;
  /** Between batches only. @throws ShardsLost */
  touch(touch: SinkTouch): Promise<void>;
  /** 0 before the spool's first batch. */
  appliedSeq(spool: string): Promise<number>;
  /** Level of the open incident of each monitor that has one. @param part absent: of all shards */
  openIncidents(part?: Part): Promise<ReadonlyMap<number, IncidentLevel>>;
  /** What each monitor was alerted of already. @param part absent: of all shards */
  toldExpiries(part?: Part): Promise<ReadonlyMap<number, readonly ToldExpiry[]>>;
}

export type { LiveState };

/** The store is away, full, or refuses: ours, never the caller's fault. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

/** The store works, and refuses a value for its content: the same value would be refused again. */
export class RowsRefused extends StoreError {
  override readonly name = "RowsRefused";
}

/** What a transaction throws for an invalid value (a date that is none, a type that no column takes). */
export function isAboutValues(error: unknown): boolean {
  return error instanceof RowsRefused || error instanceof RangeError || error instanceof TypeError;
}
