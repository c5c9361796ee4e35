import { expect, it } from "vitest";
import { z } from "zod";
import { firstMembers } from "./first-members.ts";

it("hands on one member above the bound", () => {
  const first = firstMembers(2);
  expect(first({ a: 1, b: 2, c: 3, d: 4 })).toEqual({ a: 1, b: 2, c: 3 });
  for (const sent of [[1, 2, 3], { a: 1, b: 2 }, "abcd", null, undefined, 7]) expect(first(sent)).toBe(sent);
});

it("keeps zod from judging what is too many anyway, and changes nothing of the document", () => {
  let judged = 0;
  const value = z.string().refine(() => ++judged > 0);
  const record = z.preprocess(firstMembers(20), z.record(z.string(), value));
  expect(record.safeParse(Object.fromEntries(Array.from({ length: 16_000 }, (_, at) => [`h${at}`, "a"]))).success).toBe(
    true,
  );
  expect(judged).toBe(21);
  expect(z.toJSONSchema(record, { io: "input" })).toMatchObject({ type: "object" });
});
