import { expect, it } from "vitest";
import { listText } from "./act.ts";

const COLUMNS = ["id", { head: "name", least: 12 }, { head: "created", dropped: 1 }];
const ROWS = [[31, "A key with a very long name", "2026-11-28T15:20:00.000Z"]];
const onTerminal = (columns: number) => ({ columns, paint: (_color: string, text: string) => text });

it("a list without members says so", () => {
  expect(listText("status pages", COLUMNS, [])).toBe("no status pages");
});

it("a list fits its terminal", () => {
  const longest = (columns: number) =>
    Math.max(
      ...listText("keys", COLUMNS, ROWS, onTerminal(columns))
        .split("\n")
        .map((line) => line.length),
    );
  expect(longest(50)).toBeLessThanOrEqual(50);
  expect(longest(24)).toBeLessThanOrEqual(24);
  expect(listText("keys", COLUMNS, ROWS, onTerminal(24))).toContain("31");
});
