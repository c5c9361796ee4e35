/** Maintenance windows: stretches in which checks of a monitor say nothing about it (docs/api-contract.md#maintenance). */
import type { MaintenanceSpan } from "../../../model/monitor.ts";

export interface MaintenanceWindow {
  readonly id: number;
  readonly monitorId: number;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

export type MaintenanceState = "active" | "next" | "ended";

export interface MaintenanceFilter {
  /** null: those that have not ended. */
  readonly state: MaintenanceState | null;
  /** null: of every monitor. */
  readonly monitorId: number | null;
  readonly limit: number;
  readonly offset: number;
}

/** Between the window and another one of the monitor there would be time without maintenance. */
export class MaintenanceGapError extends Error {
  override readonly name = "MaintenanceGapError";
  readonly monitorId: number;

  constructor(monitorId: number) {
    super(`monitor ${monitorId} has another maintenance that has not ended`);
    this.monitorId = monitorId;
  }
}

export interface Maintenance {
  /**
   * One for each monitor, all or none; the scheduler's plan is notified. What has not ended of one monitor is one stretch, because its checks are asked for one.
   * @returns undefined when one of the monitors is not there. @throws MaintenanceGapError
   */
  create(
    monitorIds: readonly number[],
    span: MaintenanceSpan,
    nowMs: number,
  ): Promise<readonly MaintenanceWindow[] | undefined>;
  /** Ends now, unless it ended before; one that has not begun is taken away. Undefined when it was not there. */
  end(id: number, nowMs: number): Promise<MaintenanceWindow | undefined>;
  /** Of the project's monitors. */
  find(projectId: number, id: number): Promise<(MaintenanceWindow & { readonly monitorName: string }) | undefined>;
  /** The next that begins, or has begun, first. `total` counts before paging. */
  list(
    projectId: number,
    filter: MaintenanceFilter,
    nowMs: number,
  ): Promise<{
    readonly rows: readonly (MaintenanceWindow & { readonly monitorName: string })[];
    readonly total: number;
  }>;
}
