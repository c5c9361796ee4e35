/** What the scheduler says of itself to the main thread, once a second: for /metrics, /regions, /health and the start's readiness. */
export interface SchedulerStatus {
  readonly isReady: boolean;
  readonly monitors: number;
  readonly running: number;
  readonly waiting: number;
  readonly skippedTurns: number;
  readonly silentMonitors: number;
  readonly healthyProbers: number;
  readonly spoolBytes: number;
  readonly spoolRows: number;
  /** Why results are late or not readable; null when all is well. */
  readonly trouble: string | null;
  /** Prometheus text. */
  readonly metrics: string;
}

export type FromScheduler =
  | { readonly type: "status"; readonly status: SchedulerStatus }
  /** It could not start; one line for the operator. */
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "stopped" };
export type ToScheduler = { readonly type: "stop" };
