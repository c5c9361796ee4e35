/**
 * Another caller, in a process of its own, because who makes thousands of monitors has stretches of work himself. Asks again and again, until it is told to stop;
 * then it says what it waited for answers, and ends.
 *
 * Argument: the address.
 */
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../statistics.ts";

export interface WaitsReport {
  readonly longestMs: number;
  readonly p99Ms: number;
}

/** How often it asks, ms. */
const ASKED_EVERY_MS = 5;
const [url = ""] = process.argv.slice(2);

const agent = new Agent({ keepAlive: true });
const waits: number[] = [];
let isOver = false;
process.once("message", () => {
  isOver = true;
});
process.send?.("ready");
while (!isOver) {
  const startedAt = performance.now();
  await answered();
  waits.push(performance.now() - startedAt);
  await pause(ASKED_EVERY_MS);
}
agent.destroy();
process.send?.({ longestMs: Math.max(0, ...waits), p99Ms: percentile(waits, 0.99) } satisfies WaitsReport);
process.disconnect();

function answered(): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (answer) => answer.resume().once("end", () => resolve()));
    asked.once("error", reject).end();
  });
}
