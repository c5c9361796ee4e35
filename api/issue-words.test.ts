import { expect, test } from "vitest";
import { z } from "zod";
import { issueWords } from "./issue-words.ts";

const schema = z.strictObject({
  name: z.string().min(1).max(3),
  days: z.array(z.int().min(1).max(7)).min(1).max(2),
  mode: z.enum(["hold", "drop", "tell"]).default("hold"),
  only: z.literal("all").default("all"),
  on: z.boolean().default(true),
  more: z.strictObject({}).default({}),
  time: z
    .string()
    .refine((text) => text === "00:00", "must be HH:MM")
    .default("00:00"),
});
const good = { name: "a", days: [1] };

function wordsOf(value: unknown): string | undefined {
  return schema.safeParse(value, { error: issueWords }).error?.issues[0]?.message;
}

test.each([
  [[], "must be an object"],
  [{ ...good, name: undefined }, "is missing"],
  [{ ...good, name: null }, "must be a text"],
  [{ ...good, name: "" }, "must not be empty"],
  [{ ...good, name: "abcd" }, "must have at most 3 characters"],
  [{ ...good, days: "1" }, "must be a list"],
  [{ ...good, days: [] }, "must not be empty"],
  [{ ...good, days: [1, 2, 3] }, "must have at most 2 entries"],
  [{ ...good, days: [0] }, "must be at least 1"],
  [{ ...good, days: [8] }, "must be at most 7"],
  [{ ...good, days: ["1"] }, "must be a number"],
  [{ ...good, days: [1.5] }, "must be a whole number"],
  [{ ...good, days: [1e300] }, "must be at most 9007199254740991"],
  [{ ...good, mode: "keep" }, "must be hold, drop or tell"],
  [{ ...good, only: 1 }, "must be all"],
  [{ ...good, on: "true" }, "must be true or false"],
  [{ ...good, more: { foo: 1 } }, "has no member foo"],
  [{ ...good, time: "1" }, "must be HH:MM"],
])("%j: %s", (value, words) => {
  expect(wordsOf(value)).toBe(words);
});
