import { expect, it } from "vitest";
import { titleOf } from "./title-text.ts";

it("calls the tab by what is down, and by what is open", () => {
  expect(titleOf(0, "", null)).toBe("Sonde");
  expect(titleOf(3, "", null)).toBe("(3) Sonde");
  expect(titleOf(0, "Monitors", null)).toBe("Sonde · Monitors");
  expect(titleOf(3, "Monitors", "Shop")).toBe("(3) Sonde · Shop");
});
