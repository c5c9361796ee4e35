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

/** Rows of one look. */
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
  /** Taken, and still in the table until the sink's transaction removes them. */
  readonly #taken = new Map<number, InboxRow>();

  constructor(options: HeartbeatInboxOptions) {
    this.#options = options;
  }

  /** Takes out the calls that wait. */
  async look(): Promise<void> {
    const { controlPlane, ownedShards } = this.#options;
    const calls = await controlPlane.heartbeats.inbox(LOOK_ROWS, ownedShards.filter());
    const waiting = new Set(calls.map((call) => call.id));
    for (const id of this.#taken.keys()) if (!waiting.has(id)) this.#taken.delete(id);
    for (const call of calls) {
      if (this.#taken.has(call.id) || !ownedShards.isActive(call.monitorId)) continue;
      this.#taken.set(call.id, call);
      await this.#take(call);
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
    // Paused between the call and now, or before this process started: what was answered `ok` is recorded all the same.
    const found = await controlPlane.monitors.recall(call.monitorId);
    if (found === undefined) return sink.discard(call.id);
    if (!ownedShards.isActive(call.monitorId)) return;
    states.set(found.monitor, found.live);
    pipeline.record({ monitor: found.monitor, location: HEARTBEAT_LOCATION, attempt: 1, inboxId: call.id }, outcome);
  }

  /** Forgets calls of monitors that another scheduler holds now: that one takes them out. */
  forget(): void {
    for (const { id, monitorId } of this.#taken.values()) {
      if (!this.#options.ownedShards.isActive(monitorId)) this.#taken.delete(id);
    }
  }
}
