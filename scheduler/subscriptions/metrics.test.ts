import { describe, expect, it } from "vitest";
import { SyncMetrics } from "./metrics.ts";

describe("SyncMetrics", () => {
  it("says the names, labels and types that operators have on their boards, each time anew", async () => {
    const metrics = new SyncMetrics();
    const counts = { success: 9, unchanged: 9, failed: 9, dropped: 9 };
    await metrics.text({ counts, inFlight: 9, threadEnds: 9, restingLists: 9 });
    const text = await metrics.text({
      counts: { success: 4, unchanged: 3, failed: 2, dropped: 0 },
      inFlight: 5,
      threadEnds: 1,
      restingLists: 6,
    });
    expect(text.endsWith("\n")).toBe(true);
    expect(text.split("\n").filter((line) => line !== "")).toEqual([
      "# HELP sonde_syncs_total Syncs of subscriptions, by what came of them",
      "# TYPE sonde_syncs_total counter",
      'sonde_syncs_total{outcome="success"} 4',
      'sonde_syncs_total{outcome="unchanged"} 3',
      'sonde_syncs_total{outcome="failed"} 2',
      'sonde_syncs_total{outcome="dropped"} 0',
      "# HELP sonde_syncs_in_flight Providers that are being asked",
      "# TYPE sonde_syncs_in_flight gauge",
      "sonde_syncs_in_flight 5",
      "# HELP sonde_sync_thread_ends_total Times that the thread of syncs ended while it read a list",
      "# TYPE sonde_sync_thread_ends_total counter",
      "sonde_sync_thread_ends_total 1",
      "# HELP sonde_lists_resting Lists that took too much to read and are not read again for an hour",
      "# TYPE sonde_lists_resting gauge",
      "sonde_lists_resting 6",
    ]);
  });
});
