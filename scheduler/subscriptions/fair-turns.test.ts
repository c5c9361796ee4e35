import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairTurns } from "./fair-turns.ts";

function rig() {
  let nowMs = 0;
  const turns = new FairTurns(() => nowMs);
  const order: number[] = [];
  return {
    order,
    pass: (ms: number) => {
      nowMs += ms;
    },
    run: (workspaceId: number, costMs: number) =>
      turns.run(workspaceId, async () => {
        order.push(workspaceId);
        await Promise.resolve();
        nowMs += costMs;
      }),
  };
}

describe("turns of workspaces", () => {
  it("go to the workspace that has used the thread least", async () => {
    const { run, order } = rig();
    await Promise.all([...Array.from({ length: 5 }, () => run(1, 1_000)), run(2, 10), run(2, 10), run(3, 10)]);
    expect(order).toEqual([1, 2, 3, 2, 1, 1, 1, 1]);
  });

  it("forgive after minutes", async () => {
    const { run, order, pass } = rig();
    await run(1, 1_000);
    pass(20 * 60_000);
    await Promise.all([run(3, 1), run(2, 100), run(2, 100), run(1, 100)]);
    expect(order).toEqual([1, 3, 2, 1, 2]);
  });

  it("go on after a piece of work that failed", async () => {
    const turns = new FairTurns(() => 0);
    const failed = turns.run(1, () => Promise.reject(new Error("no")));
    const next = turns.run(1, async () => "yes");
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });

  it("run every piece once and one at a time, and none waits for more than its share of the others", async () => {
    const fair = fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 5_000 })), { maxLength: 40 }),
      async (pieces) => {
        let nowMs = 0;
        let running = 0;
        const usedMs = new Map<number, number>();
        const turns = new FairTurns(() => nowMs);
        const left = new Map<number, number>();
        for (const [id] of pieces) left.set(id, (left.get(id) ?? 0) + 1);
        let isFirst = true;
        const ends = pieces.map(([id, costMs]) =>
          turns.run(id, async () => {
            expect(++running).toBe(1);
            // Nothing decays to another order within this: all waiting is for the least used.
            if (!isFirst)
              for (const [other, count] of left)
                if (count > 0) expect(usedMs.get(id) ?? 0).toBeLessThanOrEqual((usedMs.get(other) ?? 0) + 200_000);
            isFirst = false;
            left.set(id, (left.get(id) ?? 0) - 1);
            await Promise.resolve();
            nowMs += costMs;
            usedMs.set(id, (usedMs.get(id) ?? 0) + costMs);
            running--;
          }),
        );
        await Promise.all(ends);
        expect([...left.values()].every((count) => count === 0)).toBe(true);
      },
    );
    await fc.assert(fair);
  });
});
