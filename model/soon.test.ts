import { expect, it } from "vitest";
import { after } from "./soon.ts";

it("goes on at once with what is there, and waits for what is not", async () => {
  expect(after(1, (value) => value + 1)).toBe(2);
  const later = after(Promise.resolve(1), (value) => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
  expect(() =>
    after(1, () => {
      throw new Error("no");
    }),
  ).toThrow("no");
  await expect(
    after(Promise.resolve(1), () => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
});
