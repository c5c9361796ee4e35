/** The process that looks into answers with users' expressions: what takes too long, or too much memory, ends it and nothing else. */
import { existsSync } from "node:fs";
import { afterEach, beforeAll, expect, it } from "vitest";
import type { TextJudgeProcess as Judge, TextJudgeOptions } from "../engine/text-judge/judge-process.ts";
import type { TextRules } from "../engine/text-judge/text-judge.ts";

const BUILT = new URL("../dist/engine/text-judge/judge-process.js", import.meta.url);
let TextJudgeProcess: new (options: TextJudgeOptions) => Judge;
beforeAll(async () => {
  if (!existsSync(BUILT)) throw new Error("dist is missing: run `npm run build` first");
  ({ TextJudgeProcess } = await import(BUILT.href));
});

const open: Judge[] = [];
afterEach(() => {
  for (const judge of open.splice(0)) judge.close();
});

function start(withinMs = 500): Judge {
  const judge = new TextJudgeProcess({ log: { warn: () => {} }, withinMs });
  open.push(judge);
  return judge;
}

const nothing: TextRules = { regex: null, query: null, expected: null };

it("judges one text after the other in one process", async () => {
  const judge = start(10_000);
  const query = { ...nothing, query: "a.b", expected: "5" };
  const texts = ['{"a":{"b":5}}', '{"a":{"b":6}}', "<p>"];
  const answers = await Promise.all(texts.map((text) => judge.judge(query, text, 1)));
  expect(answers.map(({ type }) => type)).toEqual(["passed", "failed", "failed"]);
  expect(await judge.judge({ ...nothing, regex: "b.*5" }, "x".repeat(1_000_000) + texts[0], 1)).toEqual({
    type: "passed",
  });
  expect(judge.stats).toMatchObject({ started: 1, killed: 0, answered: 4 });
});

it("a workspace waits for one text of another, however many of them there are", async () => {
  const judge = start(10_000);
  const slow = { ...nothing, query: "$sum([1..100000])" };
  const order: number[] = [];
  const busy: number[] = [];
  const ask = async (workspace: number): Promise<void> => {
    const answer = await judge.judge(slow, "1", workspace);
    if (answer.type === "passed") order.push(workspace);
    else busy.push(workspace);
  };
  const first = Array.from({ length: 300 }, () => ask(1));
  await Promise.race([ask(2), Promise.all(first)]);
  expect(order).toEqual([1, 2]);
  expect(busy.every((workspace) => workspace === 1)).toBe(true);
});

it.each([
  ["a query that never ends", { ...nothing, query: "($f := function($x) { $f($x) }; $f(1))" }, "1", /takes too long/],
  [
    "an expression within a query that never ends",
    { ...nothing, query: "$match(a, /^(a+)+$/)" },
    `{"a":"${"a".repeat(50)}!"}`,
    /takes too long/,
  ],
  [
    "a query that needs all memory",
    { ...nothing, query: '$length($uppercase($pad("é", 400000000)))' },
    "1",
    /too much memory|takes too long/,
  ],
] as const)(
  "%s is the settings' fault, is not run again, and holds up no other",
  async (_name, rules, text, message) => {
    const judge = start();
    const [bad, good] = await Promise.all([
      judge.judge(rules, text, 1),
      judge.judge({ ...nothing, query: "$" }, "1", 1),
    ]);
    expect(bad).toMatchObject({ type: "refused", verdict: "misconfigured", message: expect.stringMatching(message) });
    expect(good).toEqual({ type: "passed" });
    const { started } = judge.stats;
    expect(await judge.judge(rules, text, 1)).toEqual(bad);
    expect(judge.stats.started).toBe(started);
  },
);
