/** A move takes every table of results: of a new table or column this test asks for its line. */
import { expect, it } from "vitest";
import { COPIED_RESULTS } from "./copied-tables.ts";
import { SCHEMA_STEPS } from "./schema.ts";

const CREATE = /^CREATE TABLE IF NOT EXISTS sonde\.(\w+) \(([\s\S]*?)\)\s+ENGINE/;
const tables = SCHEMA_STEPS.flatMap(({ statements }) => statements("sonde")).flatMap((statement) => {
  const [, name, columns = ""] = CREATE.exec(statement) ?? [];
  // A comma of a type is inside of its brackets.
  const parts = columns.replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, "").split(",");
  return name === undefined ? [] : [{ name, columns: parts.map((part) => part.trim().split(/\s/)[0] ?? "").sort() }];
});

it("the list of tables that are carried has all of them, with all their columns", () => {
  expect(tables.length).toBeGreaterThan(2);
  expect(COPIED_RESULTS.map(({ name, columns }) => ({ name, columns: [...columns].sort() }))).toEqual(tables);
});

it("refuses a location that no location is called, because it stands in a question", () => {
  const literal = COPIED_RESULTS.find(({ name }) => name === "hours")?.key[2]?.literal;
  expect(literal?.("de")).toBe("'de'");
  expect(() => literal?.("' OR 1")).toThrow();
});
