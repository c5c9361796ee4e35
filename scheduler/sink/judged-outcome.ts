/** An outcome that was judged, and what the sink keeps of it. */
import type { MonitorAlert } from "../../model/alert.ts";
import type { IncidentChange } from "../../model/incident.ts";
import type { LiveState } from "../../model/status.ts";
import type { ShardLease } from "../../store/sql/coordination/shards-port.ts";
import type { EndedTest } from "../../store/sql/jobs/port.ts";
import type { NewConfigResult } from "../../store/sql/monitors/imports-port.ts";

/**
 * What is kept of a judged outcome until the stores have it. Thousands wait at once, so its line waits as bytes elsewhere (FrameLines), and
 * what only its judging needs is left out.
 */
export interface JudgedRow {
  /** Of its monitor's shard, when it was judged. */
  readonly lease: ShardLease;
  /** Its monitor's state once it was judged. */
  readonly live: LiveState;
  readonly incidents: readonly IncidentChange[];
  readonly alerts: readonly MonitorAlert[];
  /** The heartbeat call that it came from; null: a check. */
  readonly inboxId: number | null;
  /** The test that it ends. */
  readonly endedTest: EndedTest | undefined;
  /** How the configs of an imported server did; undefined: it has none. */
  readonly configResults: readonly NewConfigResult[] | undefined;
}

/** What must be written of an outcome, and when the next check is due. */
export interface JudgedOutcome extends JudgedRow {
  /** Line of the spool. */
  readonly line: string;
  /** The location's next check comes no later than this, ms from now. */
  readonly nextWithinMs: number;
}

export function rowOf(judged: JudgedOutcome): JudgedRow {
  const { lease, live, incidents, alerts, inboxId, endedTest, configResults } = judged;
  return { lease, live, incidents, alerts, inboxId, endedTest, configResults };
}
