/** What the sink is given of an outcome. */
import type { MonitorAlert } from "../model/alert.ts";
import type { LiveState } from "../model/status.ts";
import type { IncidentChange } from "../store/sql/control-plane.ts";
import type { NewConfigResult } from "../store/sql/ports/imports.ts";
import type { JobEnd } from "../store/sql/ports/jobs.ts";
import type { Fence } from "../store/sql/ports/shards.ts";

/** An outcome that was judged: what must be written of it. */
export interface SinkItem {
  readonly monitorId: number;
  /** Of its shard, when it was judged. */
  readonly fence: Fence;
  /** Line of the spool. */
  readonly line: string;
  /** Its monitor's state once it was judged. */
  readonly live: LiveState;
  readonly incidents: readonly IncidentChange[];
  /** Absent: none. */
  readonly alerts?: readonly MonitorAlert[];
  /** The heartbeat call that it came from. */
  readonly inboxId: number | null;
  /** The test that it ends. */
  readonly jobEnd?: JobEnd | undefined;
  /** How the configs of an imported server did. Absent: none. */
  readonly configResults?: readonly NewConfigResult[] | undefined;
}
