/** Which check an outcome belongs to, for judging it. */
import type { Monitor } from "../../model/monitor.ts";

export interface CheckContext {
  readonly monitor: Monitor;
  readonly location: string;
  readonly attempt: number;
  /** The inbox row that this outcome came from; null for checks. */
  readonly inboxId: number | null;
  /** The test that it ends; absent for the monitor's own turns. */
  readonly jobId?: number | undefined;
}
