import { expect, it } from "vitest";
import { ReadBudget } from "../model/read-budget.ts";
import { ReadQueue } from "./read-queue.ts";

/** A queue whose budget is what is left while checks are late: 300 ms of the thread a second. Time moves only while a read waits for it. */
async function pressedQueue(places: number) {
  const at = { nowMs: 0, usedMs: 0, begun: 0, late: 0 };
  const reading = () => ({ ...at });
  const sleepers: (() => void)[] = [];
  const pause = (): Promise<void> => new Promise((wake) => void sleepers.push(wake));
  const queue = new ReadQueue(new ReadBudget(reading(), 300), places, { reading, pause });
  const pass = async (ms: number): Promise<void> => {
    at.nowMs += ms;
    at.begun += 5 * ms;
    at.late += ms;
    for (const wake of sleepers.splice(0)) wake();
    for (let turn = 0; turn < 10; turn++) await null;
  };
  /** @returns null when it was let in */
  const read = async (costMs: number, usedMs = costMs): Promise<number | null> => {
    const refusedMs = await queue.enter(costMs, 1);
    if (refusedMs !== null) return refusedMs;
    at.usedMs += usedMs;
    queue.budget.leave(costMs, reading());
    return null;
  };
  for (let n = 0; n < 30; n++) {
    await pass(100);
    void read(100);
  }
  for (let n = 0; n < 20; n++) await pass(100);
  expect(queue.budget.share).toBe(0.3);
  return { at, queue, pass, read };
}

it("lets reads of one workspace in in the order in which they came, evenly", async () => {
  const { at, pass, read } = await pressedQueue(100);
  const entered: { readonly reader: number; readonly waitedMs: number }[] = [];
  let isOver = false;
  const reader = async (number: number): Promise<void> => {
    while (!isOver) {
      const fromMs = at.nowMs;
      expect(await read(3)).toBe(null);
      entered.push({ reader: number, waitedMs: at.nowMs - fromMs });
    }
  };
  const readers = Array.from({ length: 8 }, (_, number) => reader(number));
  for (let n = 0; n < 2_000; n++) await pass(1);
  isOver = true;
  for (let n = 0; n < 100; n++) await pass(1);
  await Promise.all(readers);
  const settled = entered.slice(40, -20);
  // 3 ms each at 300 ms a second are 100 a second: eight readers wait 80 ms each.
  expect(Math.min(...settled.map(({ waitedMs }) => waitedMs))).toBeGreaterThanOrEqual(75);
  expect(Math.max(...settled.map(({ waitedMs }) => waitedMs))).toBeLessThanOrEqual(85);
  for (let n = 8; n < settled.length; n++) expect(settled[n]?.reader).toBe(settled[n - 8]?.reader);
});

it("refuses one that has waited for a second, and one that finds no place", async () => {
  const { pass, read } = await pressedQueue(2);
  expect(await read(90, 250)).toBe(null);
  const [first, second, third] = [read(90), read(90), read(90)];
  expect(await third).toBeGreaterThan(0);
  for (let n = 0; n < 1_100; n++) await pass(1);
  expect(await first).toBe(null);
  expect(await second).toBeGreaterThan(0);
});
