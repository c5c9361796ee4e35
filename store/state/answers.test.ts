import { describe, expect, it } from "vitest";
import { MemoryAnswers } from "./answers.ts";

describe("answers in memory", () => {
  it("are bounded in bytes: the oldest go first", async () => {
    const answers = new MemoryAnswers(5_000);
    const text = "x".repeat(1_000);
    for (let count = 0; count < 100; count++) {
      await answers.begin(`n${count}`, "r", 1_000, 0);
      await answers.keep(`n${count}`, "r", text, 1_000, 0);
    }
    const found = await Promise.all(
      Array.from({ length: 100 }, async (_, count) => (await answers.begin(`n${count}`, "r", 1_000, 0)).type),
    );
    expect(found.filter((type) => type === "answered").length).toBeLessThanOrEqual(4);
    const one = new MemoryAnswers(5_000);
    await one.keep("last", "r", text, 1_000, 0);
    expect(await one.begin("last", "r", 1_000, 0)).toEqual({ type: "answered", answer: text });
  });

  it("are there for all keys that a workspace may use in a day", async () => {
    const answers = new MemoryAnswers();
    // What a new monitor's answer is when it is packed and sealed.
    const text = "x".repeat(1_200);
    for (let count = 0; count < 10_000; count++) await answers.keep(`${count}`, "r", text, 1_000, 0);
    expect((await answers.begin("0", "r", 1_000, 0)).type).toBe("answered");
  });
});
