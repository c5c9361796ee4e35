/** The service for its operator. */
import { describe, expect, it } from "vitest";
import { openWorld } from "./world.suite.ts";

export function serviceSuite(server: "net" | "node"): void {
  describe("the service", () => {
    it("is shown to owners of the first workspace: schedulers, locations, stores, without the words of faults", async () => {
      const machine = {
        ...{ name: "de-1", version: "0.1.0", isHealthy: true, isFit: false, reasons: ["no network"] },
        ...{ clockOffsetMs: -3.4, running: 2, room: 64, seenAtMs: Date.UTC(2026, 10, 21, 6, 10) },
      };
      const regions = async () => [
        { code: "de", healthyCheckers: 3, machines: [machine] },
        { code: "any", healthyCheckers: 9 },
      ];
      const world = await openWorld(server, {}, {}, { regions });
      const report = { monitors: 3, running: 1, waiting: 2, silentMonitors: 0, skippedTurns: 4, spoolRows: 5 };
      await world.controlPlane.shards.beat("s1", "one", { ...report, trouble: null });
      await world.controlPlane.shards.take(0, "s1", 0);
      world.health.queue = () => Promise.reject(new Error("redis://user:s3cret@host"));
      world.condition.text = "ClickHouse is away";
      const shown = await world.send("GET", "/api/v1/service");
      expect(shown.body).toMatchObject({
        ...{ version: "0.1.0", http_server: server, database: "sqlite", database_trouble: null },
        ...{ queue_trouble: "It does not answer. The log says why.", condition: "ClickHouse is away" },
        schedulers: [{ name: "one", shards: 1, monitors: 3, skipped_turns: 4, spool_rows: 5 }],
        waiting_deliveries: 0,
      });
      const shownMachine = {
        ...{ name: "de-1", version: "0.1.0", healthy: true, fit: false, reasons: ["no network"] },
        ...{ clock_offset_ms: -3, running: 2, room: 64, seen_at: "2026-11-21T06:10:00.000Z" },
      };
      expect(shown.body.checkers).toEqual([
        { code: "de", healthy_checkers: 3, machines: [shownMachine] },
        { code: "any", healthy_checkers: 9, machines: [] },
      ]);
      expect(shown.text).not.toContain("s3cret");
      const other = await world.controlPlane.accounts.createWorkspace({
        ...{ name: "Second", plan: "business", projectName: "P", nowMs: world.clock.nowMs },
        owner: { email: "second@test-site.org", name: null },
      });
      const key = await world.newKey({ userId: other?.userId ?? 0, organizationId: other?.organizationId ?? 0 });
      const refused = await world.send("GET", "/api/v1/service", { key });
      expect([refused.status, refused.body.message]).toEqual([
        403,
        "This is for owners of the service's first workspace.",
      ]);
      await world.close();
    });
  });
}
