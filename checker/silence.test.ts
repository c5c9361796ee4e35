import { expect, it } from "vitest";
import { Silence } from "./silence.ts";

const prompt = (begunAtMs: number) => ({ begunAtMs, isPrompt: true });
const slow = (begunAtMs: number) => ({ begunAtMs, isPrompt: false });

it("suspects the network when a healthy target does not answer and none has passed for a second", () => {
  const silence = new Silence();
  expect(silence.isSuspicious([], 5_000)).toBe(false);
  expect(silence.isSuspicious([prompt(4_001)], 5_000)).toBe(false);
  expect(silence.isSuspicious([slow(0), prompt(4_000)], 5_000)).toBe(true);
  silence.passed(4_500);
  expect(silence.isSuspicious([prompt(0)], 5_499)).toBe(false);
  expect(silence.isSuspicious([prompt(0)], 5_500)).toBe(true);
});

it("expects nothing of targets that were down, tunnels and lists", () => {
  expect(new Silence().isSuspicious([slow(0), slow(10)], 60_000)).toBe(false);
});
