import { describe, expect, it } from "vitest";
import type { CheckOutcome } from "../../model/result.ts";
import type { InboxRow } from "../../store/sql/monitors/heartbeats-port.ts";
import type { MonitorWithLive } from "../../store/sql/monitors/port.ts";
import { liveOf, monitorOf, plannedOf } from "../fixtures.suite.ts";
import type { PlannedCheck } from "../plan/planned-check.ts";
import type { CheckContext } from "./check-context.ts";
import { HeartbeatInbox, type HeartbeatInboxOptions } from "./inbox.ts";

const call = (id: number, monitorId: number, atMs = 1_000): InboxRow => ({
  ...{ id, monitorId, atMs, up: true, message: null, pingMs: 7 },
});

/** What the inbox does, in words, in order. */
function scene(calls: InboxRow[], entries: readonly PlannedCheck[], paused: readonly MonitorWithLive[]) {
  const done: string[] = [];
  const checkIds: number[] = [];
  let lastCheckId = 0;
  const heartbeats = { inbox: async () => [...calls] };
  const held = { isOurs: true, isStoreAway: false };
  const monitors = {
    async recall(id: number) {
      if (held.isStoreAway) throw new Error("away");
      return paused.find(({ monitor }) => monitor.id === id);
    },
  };
  const inbox = new HeartbeatInbox({
    controlPlane: { heartbeats, monitors } as unknown as HeartbeatInboxOptions["controlPlane"],
    ownedShards: { filter: () => ({ count: 1, shards: [0] }), isActive: () => held.isOurs },
    plan: { plannedOf: (monitorId) => entries.filter(({ monitor }) => monitor.id === monitorId) },
    states: { set: (monitor, live) => void done.push(`remember ${monitor.id} at ${live.seq}`) },
    pipeline: {
      checkIds: { next: () => ++lastCheckId },
      record(context: CheckContext, outcome: CheckOutcome) {
        checkIds.push(outcome.checkId);
        done.push(`record ${context.inboxId} of ${context.monitor.id}`);
      },
      expect: (planned, deadlineAtMs) => void done.push(`expect ${planned.monitor.id} at ${deadlineAtMs}`),
    },
    sink: { discard: (inboxId) => void done.push(`discard ${inboxId}`) },
    nowMs: () => 5_000,
  });
  return { look: () => inbox.look(), forget: () => inbox.forget(), held, done, checkIds };
}

const job = (id: number) => monitorOf({ id, kind: "push", intervalS: 60, graceS: 12, host: null });

describe("HeartbeatInbox", () => {
  it("records a call and moves the deadline by period and grace", async () => {
    const { look, done } = scene([call(1, 9)], [plannedOf(9, [], job(9))], []);
    await look();
    expect(done).toEqual(["record 1 of 9", "expect 9 at 73000"]);
  });

  it("takes each call once, however often it looks before the sink has removed it", async () => {
    const calls = [call(1, 9), call(2, 9)];
    const { look, done, checkIds } = scene(calls, [plannedOf(9, [], job(9))], []);
    await look();
    await look();
    calls.splice(0, 2, call(3, 9));
    await look();
    expect(done.filter((what) => what.startsWith("record"))).toEqual([
      "record 1 of 9",
      "record 2 of 9",
      "record 3 of 9",
    ]);
    expect(new Set(checkIds).size).toBe(3);
  });

  it("remembers a heartbeat that was paused when we started before its call is judged", async () => {
    const paused = { monitor: job(9), live: liveOf({ monitorId: 9, seq: 41 }) };
    const { look, done } = scene([call(1, 9)], [], [paused]);
    await look();
    expect(done).toEqual(["remember 9 at 41", "record 1 of 9"]);
  });

  it("takes a call again whose monitor could not be read", async () => {
    const paused = { monitor: job(9), live: liveOf({ monitorId: 9, seq: 41 }) };
    const { look, held, done } = scene([call(1, 9)], [], [paused]);
    held.isStoreAway = true;
    await expect(look()).rejects.toThrow("away");
    held.isStoreAway = false;
    await look();
    expect(done).toEqual(["remember 9 at 41", "record 1 of 9"]);
  });

  it("discards a call to a monitor that is gone", async () => {
    const { look, done } = scene([call(1, 9)], [], []);
    await look();
    expect(done).toEqual(["discard 1"]);
  });

  it("takes a call again that was not written before its shard was lost, and leaves it alone until it is ours again", async () => {
    const { look, forget, held, done } = scene([call(1, 9)], [plannedOf(9, [], job(9))], []);
    await look();
    held.isOurs = false;
    forget();
    await look();
    expect(done).toHaveLength(2);
    held.isOurs = true;
    await look();
    expect(done.filter((what) => what === "record 1 of 9")).toHaveLength(2);
  });
});
