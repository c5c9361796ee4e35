import { expect, it } from "vitest";
import { COLUMN_NAMES, columnsOf, withColumn } from "./columns.ts";

it("takes the columns of the address, in their order, and never one that there is not", () => {
  expect(columnsOf("p95,latency,nothing,name", "usual")).toEqual(["status", "name", "latency", "p95"]);
  expect(columnsOf(",", "wide")).toEqual(["status", "name"]);
  expect(columnsOf("", "wide")).toEqual(COLUMN_NAMES);
  expect(columnsOf("", "narrow").length).toBeLessThan(columnsOf("", "usual").length);
});

it("adds and removes one", () => {
  const usual = columnsOf("", "usual");
  expect(columnsOf(withColumn(usual, "p95", true), "usual")).toEqual(
    COLUMN_NAMES.filter((name) => name === "p95" || usual.includes(name)),
  );
  expect(columnsOf(withColumn(usual, "kind", false), "usual")).toEqual(usual.filter((name) => name !== "kind"));
});
