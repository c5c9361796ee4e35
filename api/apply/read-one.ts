/** One entry of a list that the API takes as a whole. */
import type { z } from "zod";
import { badRequest } from "../errors.ts";
import { issueWords } from "../issue-words.ts";

/** @throws 400 that begins with the field's name */
export function readOne<List extends string, One>(
  schema: z.ZodType<{ readonly [Name in List]: readonly One[] }>,
  list: List,
  entry: unknown,
): One {
  const read = schema.safeParse({ version: 0, [list]: [entry] }, { error: issueWords });
  if (read.success) {
    const [one] = read.data[list];
    if (one !== undefined) return one;
  }
  const issue = read.error?.issues[0];
  if (issue?.code === "unrecognized_keys")
    throw badRequest(`${issue.keys[0]?.slice(0, 60)}: there is no such field here.`);
  const path = (issue?.path ?? []).slice(2).map(String).join(".").slice(0, 100);
  throw badRequest(`${path === "" ? "It" : path}: ${issue?.message.slice(0, 200) ?? "invalid"}.`);
}
