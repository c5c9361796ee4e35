import { describe, expect, it } from "vitest";
import { SchedulerWatch } from "./scheduler-watch.ts";
import type { SchedulerRow } from "./shards-port.ts";

function rowOf(id: string, beat: number, trouble: string | null = null): SchedulerRow {
  const report = { monitors: 0, running: 0, waiting: 0, silentMonitors: 0, skippedTurns: 0, spoolRows: 0, trouble };
  return { id, name: id, beat, report };
}

describe("SchedulerWatch", () => {
  it("knows who lives by beats that move, and tells the trouble of the living", async () => {
    let nowMs = 0;
    let schedulers: SchedulerRow[] = [];
    const watch = new SchedulerWatch({
      shards: { view: async () => ({ shards: [], schedulers }) },
      monotonicNowMs: () => nowMs,
    });
    await expect(watch.ping()).rejects.toThrow("no scheduler");
    schedulers = [rowOf("a", 1, "ClickHouse is away"), rowOf("b", 1)];
    await watch.ping();
    expect(watch.trouble()).toBe("ClickHouse is away");
    nowMs = 14_000;
    schedulers = [rowOf("a", 1, "ClickHouse is away"), rowOf("b", 2)];
    await watch.ping();
    nowMs = 16_000;
    await watch.ping();
    expect(watch.trouble()).toBeNull();
    nowMs = 30_000;
    await expect(watch.ping()).rejects.toThrow("no scheduler");
    schedulers = [];
    await expect(watch.ping()).rejects.toThrow("no scheduler");
    watch.close();
  });
});
