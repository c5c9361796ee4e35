import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { MOST_VIEWS, readViews, withView } from "./views.ts";

const RUNS = { numRuns: 100 };

property([fc.string()], RUNS)("anything in the storage is a list of views", (text) => {
  for (const { name, query } of readViews(text)) expect([typeof name, typeof query]).toEqual(["string", "string"]);
});

property([fc.jsonValue()], RUNS)("any JSON is a list that is not too long", (value) => {
  expect(readViews(JSON.stringify(value)).length).toBeLessThanOrEqual(MOST_VIEWS);
});

it("reads back what it keeps, and replaces what has the same name", () => {
  const views = withView(withView([], { name: " Down ", query: "q=status%3Adown" }), { name: "Down", query: "q=x" });
  expect(views).toEqual([{ name: "Down", query: "q=x" }]);
  expect(readViews(JSON.stringify(views))).toEqual(views);
});

it("forgets the oldest of too many", () => {
  const many = Array.from({ length: MOST_VIEWS + 1 }, (_, index) => ({ name: `n${index}`, query: "" }));
  const kept = many.reduce<ReturnType<typeof readViews>>(withView, []);
  expect(kept).toHaveLength(MOST_VIEWS);
  expect(kept[0]?.name).toBe("n1");
});
