/** Monitors: standing orders. The API calls a monitor a server. */
import { isPassive, type Kind } from "./kind.ts";
import type { Engines } from "./subscription.ts";

export const PAUSE_REASONS = ["user", "subscription", "provider", "plan"] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** Where checks run unless locations were chosen. */
export const ANY_LOCATION = "any";

/** A monitor as the control plane keeps it. */
export interface Monitor {
  readonly id: number;
  readonly projectId: number;
  readonly organizationId: number;
  readonly name: string;
  readonly kind: Kind;
  /** The probe's settings as its schema accepts them (API field names); secrets are not in here: `url` is what every user may see. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The fields of a tunnel, or the secrets of a website, sealed. Read where a check is made or changed; absent from lists. */
  readonly sealed?: string;
  /**
   * Websites only: the whole address, sealed, where `url` hides a part of it. It counts only while that part is the same; otherwise
   * `url` was written in clear after it, by a process of an earlier version.
   */
  readonly urlSealed?: string | null;
  /** Seconds; for a heartbeat the period. */
  readonly intervalS: number;
  /** As it was chosen; how long a check may take is timeoutMsOf() (schedule.ts). */
  readonly timeoutS: number;
  readonly timeoutFollowsInterval: boolean;
  /** Failures in a row that confirm down. */
  readonly maxRetries: number;
  readonly tags: readonly string[];
  /** Active when empty. */
  readonly pauseReasons: readonly PauseReason[];
  readonly pausedAtMs: number | null;
  readonly locations: readonly string[];
  readonly disabledLocations: readonly string[];
  readonly notifyOnPartial: boolean;
  /** Lowercased host of the target, for search and for what monitors of one host share; null for heartbeats. */
  readonly host: string | null;
  /** Days before expiry to alert; null is off. */
  readonly sslExpirationDays: number | null;
  readonly domainExpirationDays: number | null;
  /** Heartbeats only, seconds. */
  readonly graceS: number | null;
  /** The latest stretch of maintenance; null when there was none. */
  readonly maintenance: MaintenanceSpan | null;
  readonly subscriptionId: number | null;
  /** How many of its subscription's monitors may be checked at once. Read where checks are made; absent of what follows none. */
  readonly subscriptionWorkers?: number;
  /** Of its subscription, percent (config-share.ts). */
  readonly configAlertPercent?: number;
  /** What its configs are tried with. Read where checks are made; absent of what follows no subscription. */
  readonly subscriptionEngines?: Engines;
  /** Of an imported server, what its checks run. Read where checks are made; absent of everything else. */
  readonly configs?: readonly SealedConfig[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Members that a user may change, by their names in the API; `settings` has names of its own, `host` follows from it. */
export const MONITOR_NAMES = {
  name: "name",
  kind: "protocol",
  intervalS: "interval",
  timeoutS: "timeout",
  timeoutFollowsInterval: "timeout_follows_interval",
  maxRetries: "maxretries",
  tags: "tags",
  locations: "locations",
  disabledLocations: "disabled_locations",
  notifyOnPartial: "notify_on_partial",
  sslExpirationDays: "ssl_expiration",
  domainExpirationDays: "domain_expiration",
  graceS: "grace",
} as const satisfies Partial<Record<keyof Monitor, string>>;

/** What a monitor is where its maker says nothing: active, checked from one location, alerted of outages alone. */
export const MONITOR_DEFAULTS = {
  timeoutFollowsInterval: false,
  tags: [],
  pauseReasons: [],
  pausedAtMs: null,
  locations: [ANY_LOCATION],
  disabledLocations: [],
  notifyOnPartial: false,
  sslExpirationDays: null,
  domainExpirationDays: null,
  graceS: null,
  subscriptionId: null,
} as const satisfies Partial<Monitor>;

/** One config of an imported server. */
export interface SealedConfig {
  readonly id: number;
  readonly kind: Kind;
  /** A keyed hash of all that it says. */
  readonly identity: string;
  /** Its fields, as a monitor's own. */
  readonly sealed: string;
}

/** In it checks say nothing about the monitor (docs/api-contract.md#status). Unix ms, the end not included. */
export interface MaintenanceSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

export function isInMaintenance({ maintenance }: Pick<Monitor, "maintenance">, atMs: number): boolean {
  return maintenance !== null && atMs >= maintenance.fromMs && atMs < maintenance.untilMs;
}

export function isActive(monitor: Pick<Monitor, "pauseReasons">): boolean {
  return monitor.pauseReasons.length === 0;
}

const ONLY_ANY: readonly string[] = [ANY_LOCATION];

/** Where the monitor is checked from. A heartbeat comes to us: it has one place, whatever else was chosen. */
export function enabledLocations(
  monitor: Pick<Monitor, "kind" | "locations" | "disabledLocations">,
): readonly string[] {
  if (isPassive(monitor.kind)) return ONLY_ANY;
  if (monitor.disabledLocations.length === 0) return monitor.locations;
  return monitor.locations.filter((location) => !monitor.disabledLocations.includes(location));
}
