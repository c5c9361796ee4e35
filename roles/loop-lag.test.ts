import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { measureLoopLag } from "./loop-lag.ts";

describe("lag of the event loop", () => {
  it("is what the loop was late, without the period of the look, since the last scrape", async () => {
    const registry = new Registry();
    let [nowMs, look] = [1_000, () => {}];
    measureLoopLag(
      registry,
      () => nowMs,
      (everyMs, run) => {
        expect(everyMs).toBe(500);
        look = run;
        return () => {};
      },
    );
    for (const lateMs of [0, 0, 200]) {
      nowMs += 500 + lateMs;
      look();
    }
    const figure = (text: string, name: string): number =>
      Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds ([\\d.e-]+)$`, "m").exec(text)?.[1]);
    const text = await registry.metrics();
    expect(figure(text, "p99")).toBeCloseTo(0.2, 2);
    expect(figure(text, "mean")).toBeCloseTo(0.2 / 3, 3);
    expect(figure(text, "p50")).toBeLessThan(0.000_001);
    // Nothing was measured since.
    expect(figure(await registry.metrics(), "max")).toBe(0);
  });
});
