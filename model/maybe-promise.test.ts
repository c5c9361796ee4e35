import { expect, it } from "vitest";
import { andThen } from "./maybe-promise.ts";

it("goes on at once with what is there, and waits for what is not", async () => {
  expect(andThen(1, (value) => value + 1)).toBe(2);
  const later = andThen(Promise.resolve(1), (value) => value + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
  expect(() =>
    andThen(1, () => {
      throw new Error("no");
    }),
  ).toThrow("no");
  await expect(
    andThen(Promise.resolve(1), () => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
});
