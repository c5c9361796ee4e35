import { describe, expect, it } from "vitest";
import { SerialQueue } from "./serial-queue.ts";

describe("SerialQueue", () => {
  it("begins an act when the one before has ended, also when that one failed", async () => {
    const queue = new SerialQueue();
    const steps: string[] = [];
    let fail = (_error: Error): void => {};
    const first = queue.run(async () => {
      steps.push("first begins");
      await new Promise<void>((_resolve, reject) => {
        fail = reject;
      });
    });
    const second = queue.run(async () => {
      steps.push("second begins");
      return 2;
    });
    await Promise.resolve();
    expect(steps).toEqual(["first begins"]);
    fail(new Error("disk full"));
    await expect(first).rejects.toThrow("disk full");
    expect(await second).toBe(2);
    expect(steps).toEqual(["first begins", "second begins"]);
  });
});
