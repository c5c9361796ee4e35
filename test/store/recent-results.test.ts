/** The newest results in memory over the embedded ClickHouse: what memory answers is what the store answers. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { History, step } from "../../store/recent/history.suite.ts";
import type { JudgedRow } from "../../store/recent/plain-results.suite.ts";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { segmentOf } from "../../store/results/result-store.suite.ts";
import { SILENT, startTestClickHouse, type TestClickHouse } from "./embedded.ts";

let clickhouse: TestClickHouse;
let store: ClickHouseResults;

beforeAll(async () => {
  clickhouse = await startTestClickHouse();
  store = new ClickHouseResults({ url: clickhouse.url, log: SILENT });
}, 60_000);

afterAll(async () => {
  await store.close();
  await clickhouse.remove();
});

function lineOf({ row, projectId, seq, changed, durationMs }: JudgedRow): object {
  return {
    id: row.id,
    project_id: projectId,
    monitor_id: row.monitorId,
    location: "any",
    checker: "here",
    seq,
    check_id: seq,
    kind: row.kind,
    tested_at: row.testedAtMs,
    status: row.status,
    verdict: "ok",
    changed,
    latency_ms: row.latencyMs,
    connect_ms: row.connectMs,
    error_category: null,
    error_message: row.errorMessage,
    lateness_ms: 0,
    duration_ms: durationMs,
    attempt: 1,
    phases: "{}",
    explanation: "",
  };
}

describe("recent results over ClickHouse", () => {
  it("are those that it has, after losses and restarts too", async () => {
    let firstMonitor = 1_000;
    let fromMemory = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        firstMonitor += 10;
        let stored = 0;
        const put = async (rows: readonly JudgedRow[]): Promise<void> => {
          const more = rows.slice(stored);
          stored = rows.length;
          if (more.length > 0) await store.insert(segmentOf(`${firstMonitor} ${stored}`, more.map(lineOf)));
        };
        // Not before now: the store drops what has expired by its own clock.
        const startMs = Date.now();
        const history = new History({ store, put }, { startMs, firstMonitor, maxBytes: 4_000_000 });
        for (const one of steps) await history.run(one);
        fromMemory += history.fromMemory;
      }),
      { numRuns: 15 },
    );
    expect(fromMemory).toBeGreaterThan(0);
  }, 300_000);
});
