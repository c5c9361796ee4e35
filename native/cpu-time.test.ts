import { describe, expect, test } from "vitest";
import { createThreadCpuTime, keptCpuTime } from "./cpu-time.ts";

describe("createThreadCpuTime", () => {
  test("grows with what this thread computes, and not while it waits", async () => {
    const cpuMs = createThreadCpuTime();
    const fromMs = cpuMs();
    while (cpuMs() - fromMs < 20);
    const thenMs = cpuMs();
    expect(thenMs - fromMs).toBeGreaterThanOrEqual(20);
    await new Promise((resolve) => setTimeout(resolve, 300));
    // What the runner itself does meanwhile is in it.
    expect(cpuMs() - thenMs).toBeLessThan(250);
  });
});

test("keptCpuTime tells for a while what it told, and then what there is", () => {
  const at = { nowMs: 100, usedMs: 7 };
  const cpuMs = keptCpuTime(
    () => at.usedMs,
    () => at.nowMs,
  );
  at.usedMs = 8;
  at.nowMs = 100.05;
  expect(cpuMs()).toBe(7);
  at.nowMs = 100.15;
  expect(cpuMs()).toBe(8);
  at.usedMs = 9;
  expect(cpuMs()).toBe(8);
});
