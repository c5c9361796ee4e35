import { expect, it } from "vitest";
import { CheckDelays, LATE_MS } from "./check-delays.ts";

it("is read by another thread from the memory that one writes", () => {
  const written = new CheckDelays();
  for (const latenessMs of [0, LATE_MS, LATE_MS + 1, 400]) written.count(latenessMs);
  const read = new CheckDelays(structuredClone(written.memory));
  expect([read.begun, read.late]).toEqual([4, 2]);
  written.count(1);
  expect(read.begun).toBe(5);
});
