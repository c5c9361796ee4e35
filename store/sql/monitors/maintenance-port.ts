/** Maintenance windows: stretches in which checks of a monitor say nothing about it (docs/api-contract.md#status). */
export interface MaintenanceWindow {
  readonly id: number;
  readonly monitorId: number;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

export interface Maintenance {
  /** Begins now; the plan hears of it. Undefined when there is no such monitor. */
  create(monitorId: number, nowMs: number, endsAtMs: number): Promise<MaintenanceWindow | undefined>;
  /** Ends now, unless it ended before. Undefined when it was not there. */
  end(id: number, nowMs: number): Promise<MaintenanceWindow | undefined>;
}
