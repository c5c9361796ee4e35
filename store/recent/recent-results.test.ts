/** Memory over a store in plain arrays; over the real one: test/store/recent-results.test.ts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { History, step } from "./history.suite.ts";
import { PlainResults } from "./plain-results.suite.ts";

const START_MS = Date.UTC(2026, 10, 21, 6, 10);
const ROOM = { maxBytes: 4_000_000, startMs: START_MS, firstMonitor: 10 };

async function told(steps: readonly Parameters<History["run"]>[0][], room: typeof ROOM): Promise<number> {
  const store = new PlainResults();
  const put = async (rows: PlainResults["rows"]): Promise<void> => {
    store.rows = rows;
  };
  const history = new History({ store, put }, room);
  for (const one of steps) await history.run(one);
  return history.fromMemory;
}

describe("recent results", () => {
  it("answer what the store would if it had every row, after losses and restarts too", async () => {
    let fromMemory = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
        fromMemory += await told(steps, ROOM);
      }),
      { numRuns: 300 },
    );
    expect(fromMemory).toBeGreaterThan(100);
  }, 120_000);

  it("answer the same with room for one monitor", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
        await told(steps, { ...ROOM, maxBytes: 6_000 });
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});
