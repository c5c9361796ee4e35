import { expect, it } from "vitest";
import { keyStatus } from "./key.ts";

it.each([
  [true, null, "active"],
  [true, 11, "active"],
  [true, 10, "expired"],
  [false, null, "inactive"],
  [false, 11, "inactive"],
  [false, 9, "expired"],
] as const)("a key, active %s, that expires at %s is %s at 10", (active, expiresAtMs, status) => {
  expect(keyStatus({ active, expiresAtMs }, 10)).toBe(status);
});
