import { describe, expect, it } from "vitest";
import { after as later } from "./after.ts";

describe("after", () => {
  it("calls back once, unless it is taken back", async () => {
    const calls: string[] = [];
    const cancel = later(1, () => calls.push("cancelled"));
    await new Promise<void>((resolve) => {
      later(2, () => {
        calls.push("called");
        resolve();
      });
      cancel();
    });
    expect(calls).toEqual(["called"]);
  });

  it("takes back what is due and waits for its slice", async () => {
    const calls: number[] = [];
    const cancels: (() => void)[] = [];
    await new Promise<void>((resolve) => {
      for (let index = 0; index < 10; index++) {
        cancels.push(
          later(1, () => {
            calls.push(index);
            if (index === 0) for (const cancel of cancels.slice(1)) cancel();
          }),
        );
      }
      later(20, resolve);
    });
    expect(calls).toEqual([0]);
  });

  it("gives others their turns between when much is due at once, and keeps the order", async () => {
    const order: (number | "turn")[] = [];
    const spin = (ms: number): void => {
      for (const untilMs = performance.now() + ms; performance.now() < untilMs; );
    };
    const all = Array.from(
      { length: 20 },
      (_, index) =>
        new Promise<void>((resolve) => {
          later(1, () => {
            order.push(index);
            spin(3);
            resolve();
          });
        }),
    );
    const turns = setInterval(() => order.push("turn"), 1);
    await Promise.all(all);
    clearInterval(turns);
    const calls = order.filter((each) => each !== "turn");
    expect(calls).toEqual(Array.from({ length: 20 }, (_, index) => index));
    const between = order.slice(order.indexOf(0), order.indexOf(19));
    expect(between.filter((each) => each === "turn").length).toBeGreaterThanOrEqual(5);
  });

  it("goes on after one that throws", async () => {
    const called = new Promise<void>((resolve) => {
      process.once("uncaughtException", () => {});
      later(1, () => {
        throw new Error("a probe's flaw");
      });
      later(1, resolve);
    });
    await called;
  });
});
