/** Inbox: heartbeat calls that the API stored before it answered `ok`; read in order, each recorded once. */
import type { CheckOutcome } from "../model/result.ts";
import type { ControlPlane, InboxRow, MonitorWithLive } from "../store/sql/control-plane.ts";
import type { Part } from "../store/sql/ports/shards.ts";
import type { Entry } from "./entry.ts";
import { callOutcome, patienceMs } from "./heartbeats.ts";
import { HEARTBEAT_LOCATION, type Taken } from "./ledger.ts";

/** Rows of one look. */
const LOOK_ROWS = 1_000;

export interface InboxOptions {
  readonly controlPlane: Pick<ControlPlane, "heartbeats" | "monitors">;
  readonly nowMs: () => number;
  /** Calls of these monitors are ours to take. */
  readonly part: () => Part;
  readonly isOurs: (monitorId: number) => boolean;
  readonly entryOf: (monitorId: number) => Entry | undefined;
  readonly nextCheckId: () => number;
  /** Loads a monitor that the plan does not have, before it is judged: a heartbeat that was paused when we started. */
  readonly remember: (found: MonitorWithLive) => void;
  /** Judges and writes the outcome. */
  readonly record: (taken: Taken, outcome: CheckOutcome) => void;
  /** The heartbeat's next deadline. */
  readonly expect: (entry: Entry, deadlineAtMs: number) => void;
  /** A call to a monitor that is gone. */
  readonly discard: (inboxId: number) => void;
}

export interface Inbox {
  /** Takes out the calls that wait. */
  look(): Promise<void>;
  /** Calls of monitors that are no longer ours: their scheduler takes them out. */
  forget(): void;
}

export function createInbox(options: InboxOptions): Inbox {
  const { controlPlane, record } = options;
  /** Taken, and still in the table until the sink's transaction removes them. */
  const taken = new Map<number, InboxRow>();

  async function take(call: InboxRow): Promise<void> {
    if (!options.isOurs(call.monitorId)) return;
    const outcome = callOutcome(call, options.nextCheckId());
    const entry = options.entryOf(call.monitorId);
    if (entry !== undefined) {
      record({ monitor: entry.monitor, location: entry.location, attempt: 1, inboxId: call.id }, outcome);
      options.expect(entry, Math.max(options.nowMs(), call.atMs + patienceMs(entry.monitor)));
      return;
    }
    // Paused between the call and now: what was answered `ok` is recorded all the same.
    const found = await controlPlane.monitors.recall(call.monitorId);
    if (found === undefined) return options.discard(call.id);
    if (!options.isOurs(call.monitorId)) return;
    options.remember(found);
    record({ monitor: found.monitor, location: HEARTBEAT_LOCATION, attempt: 1, inboxId: call.id }, outcome);
  }

  return {
    async look() {
      const calls = await controlPlane.heartbeats.inbox(LOOK_ROWS, options.part());
      const waiting = new Set(calls.map((call) => call.id));
      for (const id of taken.keys()) if (!waiting.has(id)) taken.delete(id);
      for (const call of calls) {
        if (taken.has(call.id) || !options.isOurs(call.monitorId)) continue;
        taken.set(call.id, call);
        await take(call);
      }
    },
    forget() {
      for (const { id, monitorId } of taken.values()) if (!options.isOurs(monitorId)) taken.delete(id);
    },
  };
}
