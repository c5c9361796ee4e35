import { expect, it } from "vitest";
import { Trouble } from "./trouble.ts";

it("is said when it begins, once a minute while it lasts, and when it is over", () => {
  let clockMs = 0;
  const said: string[] = [];
  const say = (_fields: object, message: string): void => void said.push(`${clockMs / 1_000} ${message}`);
  const trouble = new Trouble({ error: say, info: say }, "rows wait", () => clockMs);
  for (; clockMs < 150_000; clockMs += 1_000) trouble.is("spool", new Error("the disk is full"));
  expect(trouble.reason).toBe("spool: the disk is full");
  trouble.isOver();
  trouble.isOver();
  expect(trouble.reason).toBeNull();
  // One that comes and goes within the minute adds no line.
  trouble.is("spool", new Error("the disk is full"));
  trouble.isOver();
  expect(said).toEqual(["0 rows wait", "60 rows wait", "120 rows wait", "150 over: rows wait"]);
});
