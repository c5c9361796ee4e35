/** What an overview of a whole project is made of, in two parts: what changes with the generation, and what every check changes. */
import type { Kind } from "../../../model/kind.ts";
import type { MaintenanceSpan } from "../../../model/monitor.ts";
import type { LiveStatus } from "../../../model/status.ts";

/** Of a monitor, what only a change of the monitor changes. */
export interface OverviewMonitor {
  readonly id: number;
  readonly name: string;
  readonly kind: Kind;
  readonly tags: readonly string[];
  readonly subscriptionId: number | null;
  readonly intervalS: number;
  readonly isPaused: boolean;
  readonly pausedAtMs: number | null;
  readonly maintenance: MaintenanceSpan | null;
}

/** Of a monitor, what its checks change. */
export interface OverviewState {
  readonly monitorId: number;
  readonly status: LiveStatus;
  readonly statusSinceMs: number | null;
  readonly lastCheckedAtMs: number | null;
  readonly latencyMs: number | null;
  readonly latenessMs: number | null;
}

/** A certificate whose end is near, or was. */
export interface ExpiringCertificate {
  readonly monitorId: number;
  readonly expiresAtMs: number;
}

export interface OverviewRead {
  /** Every monitor of the project that is not deleted, by name without case, then id. */
  monitors(projectId: number): Promise<readonly OverviewMonitor[]>;
  /** One for each, in no order. */
  states(projectId: number): Promise<readonly OverviewState[]>;
  /** The project's subscriptions by id. */
  subscriptions(projectId: number): Promise<readonly { readonly id: number; readonly name: string | null }[]>;
  /** Certificates of monitors that are not paused, the soonest first, then by id. @param untilMs Unix ms */
  expiring(projectId: number, untilMs: number, limit: number): Promise<readonly ExpiringCertificate[]>;
  /** Open incidents of monitors that are not paused. */
  openIncidents(projectId: number): Promise<{ readonly active: number; readonly unacknowledged: number }>;
}
