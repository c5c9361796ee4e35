import { describe, expect, test } from "vitest";
import { createThreadCpuTime } from "./cpu-time.ts";

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
