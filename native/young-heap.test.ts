import { expect, it } from "vitest";
import { type ProcessStart, wordsOf } from "./young-heap.ts";

const START: ProcessStart = {
  platform: "linux",
  execPath: "/usr/bin/node",
  execArgv: [],
  args: ["up", "--demo"],
  env: {},
  hasChannel: false,
};

it("starts Node again with the bound, and with all that it was started with", () => {
  expect(wordsOf("/opt/sonde.js", { ...START, execArgv: ["--cpu-prof"] })).toEqual([
    "/usr/bin/node",
    "--max-semi-space-size=4",
    "--cpu-prof",
    "/opt/sonde.js",
    "up",
    "--demo",
  ]);
});

it.each([
  ["it was", { execArgv: ["--max-semi-space-size=4"] }],
  ["an operator chose another bound", { execArgv: ["--max_semi_space_size=16"] }],
  ["the environment has one", { env: { NODE_OPTIONS: "--enable-source-maps --max-semi-space-size=16" } }],
  ["a parent talks with it through Node's channel", { hasChannel: true }],
  ["the system has no such call", { platform: "darwin" }],
])("does not where %s", (_, differs) => {
  expect(wordsOf("/opt/sonde.js", { ...START, ...differs })).toBe(null);
});
