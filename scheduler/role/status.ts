/** What the scheduler says of itself to the main thread, once a second: for /metrics, /regions, /health and the start's readiness. */
import type { SchedulerReport } from "../../store/sql/coordination/shards-port.ts";

export interface SchedulerStatus extends SchedulerReport {
  /** That this process holds. */
  readonly shards: readonly number[];
  readonly healthyProbers: number;
  readonly spoolBytes: number;
  /** Prometheus text. */
  readonly metrics: string;
}

export type FromScheduler =
  /** `metrics`: null when the text is that of the report before. */
  | {
      readonly type: "status";
      readonly status: Omit<SchedulerStatus, "metrics">;
      readonly metrics: string | null;
    }
  /** It could not start; one line for the operator. */
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "stopped" };
export type ToScheduler = { readonly type: "stop" };
