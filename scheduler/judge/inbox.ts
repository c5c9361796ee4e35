/** Heartbeat calls that the API stored before it answered `ok`; read in order, each recorded once. */
import type { CheckOutcome } from "../../model/result.ts";
import { heartbeatPatienceMs } from "../../model/schedule.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { InboxRow } from "../../store/sql/monitors/heartbeats-port.ts";
import type { PlannedCheck } from "../plan/planned-check.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import type { Sink } from "../sink/sink.ts";
import type { CheckContext } from "./check-context.ts";
import { callOutcome } from "./heartbeats.ts";
import { HEARTBEAT_LOCATION, type MonitorStates } from "./states.ts";

/** Most rows that one look reads. */
const LOOK_ROWS = 1_000;

/** Judges calls, and sets deadlines. */
export interface HeartbeatPipeline {
  readonly checkIds: { next(): number };
  record(context: CheckContext, outcome: CheckOutcome): unknown;
  expect(planned: PlannedCheck, deadlineAtMs: number): void;
}

export interface HeartbeatInboxOptions {
  readonly controlPlane: Pick<ControlPlane, "heartbeats" | "monitors">;
  readonly ownedShards: Pick<OwnedShards, "isActive" | "filter">;
  readonly plan: { plannedOf(monitorId: number): readonly PlannedCheck[] };
  readonly states: Pick<MonitorStates, "set">;
  readonly pipeline: HeartbeatPipeline;
  readonly sink: Pick<Sink, "discard">;
  readonly nowMs: () => number;
}

export class HeartbeatInbox {
  readonly #options: HeartbeatInboxOptions;
  /** Calls that were judged and are still in the table: the sink's transaction removes them. */
  readonly #taken = new Map<number, InboxRow>();

  constructor(options: HeartbeatInboxOptions) {
    this.#options = options;
  }

  /** Judges the calls that wait in the table. */
  async look(): Promise<void> {
    const { controlPlane, ownedShards } = this.#options;
    const calls = await controlPlane.heartbeats.inbox(LOOK_ROWS, ownedShards.filter());
    const waiting = new Set(calls.map((call) => call.id));
    for (const id of this.#taken.keys()) if (!waiting.has(id)) this.#taken.delete(id);
    for (const call of calls) {
      if (this.#taken.has(call.id) || !ownedShards.isActive(call.monitorId)) continue;
      this.#taken.set(call.id, call);
      await this.#take(call).catch((error: unknown) => {
        // The next look takes it again.
        this.#taken.delete(call.id);
        throw error;
      });
    }
  }

  async #take(call: InboxRow): Promise<void> {
    const { controlPlane, ownedShards, plan, states, pipeline, sink } = this.#options;
    const outcome = callOutcome(call, pipeline.checkIds.next());
    const [planned] = plan.plannedOf(call.monitorId);
    if (planned !== undefined) {
      const { monitor, location } = planned;
      pipeline.record({ monitor, location, attempt: 1, inboxId: call.id }, outcome);
      pipeline.expect(planned, Math.max(this.#options.nowMs(), call.atMs + heartbeatPatienceMs(monitor)));
      return;
    }
    // The monitor was paused after the call, or before this process started. The API answered `ok`, so the call is recorded all the same.
    const found = await controlPlane.monitors.recall(call.monitorId);
    if (found === undefined) return sink.discard(call.id);
    if (!ownedShards.isActive(call.monitorId)) return;
    states.set(found.monitor, found.live);
    pipeline.record({ monitor: found.monitor, location: HEARTBEAT_LOCATION, attempt: 1, inboxId: call.id }, outcome);
  }

  /** Forgets calls of monitors that another scheduler holds now: that scheduler judges them. */
  forget(): void {
    for (const { id, monitorId } of this.#taken.values()) {
      if (!this.#options.ownedShards.isActive(monitorId)) this.#taken.delete(id);
    }
  }
}
