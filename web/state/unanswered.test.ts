import { expect, it } from "vitest";
import { isUnanswered } from "./unanswered.ts";

it.each([
  ["a connection that was refused", { phases: { connect: 0.3 }, stage: "connect" }, "server_not_connected", false],
  ["a name that has no address", { phases: {}, stage: "resolve" }, "server_not_connected", false],
  [
    "a server that takes the connection and is silent",
    { phases: { connect: 3 }, stage: "request" },
    "server_not_connected",
    true,
  ],
  ["a server that answers late", { phases: { connect: 3 }, stage: "request" }, "timeout", false],
] as const)("tells %s", (_, steps, category, isSilent) => {
  expect(isUnanswered(steps, category)).toBe(isSilent);
});
