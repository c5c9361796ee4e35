import { describe, expect, it } from "vitest";
import { SenderMetrics } from "./metrics.ts";

const ATTEMPTS = [
  "# HELP sonde_webhook_attempts_total Attempts to send webhooks, by what came of them",
  "# TYPE sonde_webhook_attempts_total counter",
];
const PENDING = [
  "# HELP sonde_webhook_deliveries_pending Webhook deliveries that wait for an attempt",
  "# TYPE sonde_webhook_deliveries_pending gauge",
];

describe("SenderMetrics", () => {
  it("says the names, labels and types that operators have on their boards, each time anew", async () => {
    const metrics = new SenderMetrics();
    await metrics.text({ delivered: 7, failed: 1 }, 40);
    expect(linesOf(await metrics.text({ delivered: 8, failed: 0 }, 3))).toEqual([
      ...ATTEMPTS,
      'sonde_webhook_attempts_total{outcome="delivered"} 8',
      'sonde_webhook_attempts_total{outcome="failed"} 0',
      ...PENDING,
      "sonde_webhook_deliveries_pending 3",
    ]);
  });

  it("says no number of what waits while the store is away, and one again afterwards", async () => {
    const metrics = new SenderMetrics();
    await metrics.text({ delivered: 0, failed: 0 }, 5);
    expect(linesOf(await metrics.text({ delivered: 0, failed: 0 }, undefined))).toEqual([
      ...ATTEMPTS,
      'sonde_webhook_attempts_total{outcome="delivered"} 0',
      'sonde_webhook_attempts_total{outcome="failed"} 0',
      ...PENDING,
    ]);
    expect(linesOf(await metrics.text({ delivered: 0, failed: 0 }, 0))).toContain("sonde_webhook_deliveries_pending 0");
  });
});

function linesOf(text: string): readonly string[] {
  expect(text.endsWith("\n")).toBe(true);
  return text.split("\n").filter((line) => line !== "");
}
