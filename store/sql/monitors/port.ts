/** Monitors with their live states. Every change raises the generation in its transaction. */
import type { Actor } from "../../../model/actor.ts";
import type { Family, Kind } from "../../../model/kind.ts";
import type { MONITOR_NAMES, Monitor, PauseReason } from "../../../model/monitor.ts";
import type { Selector } from "../../../model/selector.ts";
import type { LiveState, LiveStatus, MonitorStatus } from "../../../model/status.ts";
import type { ProjectRecord } from "../accounts/port.ts";
import type { ShardFilter } from "../coordination/shards-port.ts";
import type { ToSeal } from "../schema/seal-new.ts";

/** A monitor with its live state, as lists and the plan need it. */
export interface MonitorWithLive {
  readonly monitor: Monitor;
  readonly live: LiveState;
}

/** Members of a live state that lists show, with the number of its latest check. */
export type ShownLive = Pick<
  LiveState,
  "monitorId" | "seq" | "status" | "lastCheckedAtMs" | "latencyMs" | "region" | "locations" | "certificate"
>;

/** Members of a live state that come from the row of its latest check. */
export type LatestCheck = Pick<
  LiveState,
  "monitorId" | "lastRowId" | "lastRowStatus" | "lastCheckedAtMs" | "latencyMs" | "connectMs" | "errorMessage"
> & { readonly kind: Kind };

/** What lists of results need of a monitor. */
export interface CheckedMonitor {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly createdAtMs: number;
  /** Rows so far. */
  readonly seq: number;
  readonly latest: LatestCheck;
}

/** What series of a monitor are made of. */
export interface MonitorFigures {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly kind: Kind;
  readonly status: LiveStatus;
  /** Of the latest check, where it passed. */
  readonly latencyMs: number | null;
  /** Of the certificate that was seen last, Unix ms. */
  readonly certificateExpiresAtMs: number | null;
}

/** What a new monitor is made of; the store adds ids and times. */
export type NewMonitor = Omit<
  Monitor,
  "id" | "createdAtMs" | "updatedAtMs" | "maintenance" | "sealed" | "urlSealed"
> & {
  readonly nowMs: number;
  /** Heartbeats only: the sealed token and the hash it is looked up by. */
  readonly heartbeatToken: { readonly sealed: ToSeal; readonly hash: string } | null;
  /** Tunnels, and websites with secrets beside their address. */
  readonly sealed?: ToSeal;
  /** Websites whose address hides something. */
  readonly urlSealed?: ToSeal;
};
export type MonitorChange = Partial<
  Pick<Monitor, keyof typeof MONITOR_NAMES | "settings" | "sealed" | "urlSealed" | "host">
> & {
  readonly addPauseReason?: PauseReason;
  readonly removePauseReasons?: readonly PauseReason[];
  /** Names of the sealed fields that differ, for the history. */
  readonly sealedFields?: readonly string[];
};

/** A heartbeat has this address already, in whatever project. */
export class TokenTakenError extends Error {
  override readonly name = "TokenTakenError";
}

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

/** Why a monitor is not changed, for its reader. */
export interface Refused {
  readonly refused: string;
}

export interface ManyChanged {
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: readonly { readonly id: number; readonly name: string; readonly why: string | SlotsFullError }[];
}

export type MonitorSort = "name" | "status" | "latency" | "checked";

export interface MonitorFilter {
  readonly family: Family | "all";
  readonly activeOnly: boolean;
  readonly status: MonitorStatus | null;
  readonly protocol: string | null;
  /** Case-insensitive substring of the name. */
  readonly nameContains: string | null;
  /** And these alone; absent: all. */
  readonly select?: Selector;
  /** By name when absent; `status`: worst first. What has no value comes last. */
  readonly sort?: MonitorSort;
  readonly order?: "asc" | "desc";
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
  /** Those of them that are not deleted and in that project, in no order. */
  findAll(projectId: number, ids: readonly number[]): Promise<readonly MonitorWithLive[]>;
  /** What lists show of their live states: what of a monitor changes while the generation stays the same. */
  lives(projectId: number, ids: readonly number[]): Promise<readonly ShownLive[]>;
  /** Of the same, what lists of results need. */
  findChecked(projectId: number, ids: readonly number[]): Promise<readonly CheckedMonitor[]>;
  /**
   * All that list() would find, page after page: the same until the generation changes. Only by name, and for a filter that asks for no status but
   * `paused`, because checks move the others.
   */
  ids(projectId: number, filter: MonitorFilter): Promise<readonly number[]>;
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
  /**
   * As update(), of many in one transaction. @param decide `refused`: the monitor stays as it is
   * @param isDry returns what would become of them, slots aside, and changes nothing
   */
  updateMany(
    projectId: number,
    ids: readonly number[],
    nowMs: number,
    actor: Actor,
    decide: (now: MonitorWithLive) => MonitorChange | Refused,
    options: { readonly slots: number | null; readonly isDry: boolean },
  ): Promise<ManyChanged>;
  /** Of many in one transaction. @returns how many were there */
  removeMany(projectId: number, ids: readonly number[], nowMs: number): Promise<number>;
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
  /** Tunnel slots that the workspace has taken. */
  slotsUsed(organizationId: number): Promise<number>;
  names(projectId: number): Promise<ReadonlyMap<number, string>>;
  /** The latest check of each monitor of the project that was checked since then, the newest `limit` of them. */
  latestChecks(projectId: number, sinceMs: number, limit: number): Promise<readonly LatestCheck[]>;
  /** Of every project, the oldest `limit` that are not paused, and how many there are. */
  figures(limit: number): Promise<{ readonly rows: readonly MonitorFigures[]; readonly total: number }>;
  /** Monitors of the project deleted since then: their results are hidden until they expire. */
  deletedSince(projectId: number, sinceMs: number): Promise<readonly number[]>;
  /** Of any project, paused or not, not deleted: for results that come in after the plan let go of the monitor. */
  recall(id: number): Promise<MonitorWithLive | undefined>;
  /**
   * For the plan: every active monitor (Infinity: whole set) or what changed after a generation, deleted and paused ones as removals.
   * @param filter absent: of all shards
   */
  changedSince(
    generation: number,
    filter?: ShardFilter,
  ): Promise<{
    readonly generation: number;
    readonly changed: readonly MonitorWithLive[];
    readonly removedIds: readonly number[];
  }>;
}
