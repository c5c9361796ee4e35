import fc from "fast-check";
import { expect, it } from "vitest";
import { property } from "../../testkit/property.ts";
import { matchPath, parseHash } from "./route.ts";

it("reads path and query of the part after #", () => {
  expect(parseHash("").path).toBe("/");
  expect(parseHash("#/monitors?q=a%20b").path).toBe("/monitors");
  expect(parseHash("#/monitors?q=a%20b").query.get("q")).toBe("a b");
});

it("matches a pattern, and decodes what it names", () => {
  expect(matchPath("/monitors/:id", "/monitors/srv_1")).toEqual({ id: "srv_1" });
  expect(matchPath("/monitors/:id", "/monitors")).toBeNull();
  expect(matchPath("/monitors/:id", "/incidents/inc_1")).toBeNull();
  expect(matchPath("/monitors/:id", "/monitors/%E0%A4%A")).toEqual({ id: "%E0%A4%A" });
});

property([fc.webSegment().filter((text) => text !== "")])("any segment comes back as it was", (text) => {
  expect(matchPath("/x/:id", `/x/${encodeURIComponent(text)}`)).toEqual({ id: text });
});
