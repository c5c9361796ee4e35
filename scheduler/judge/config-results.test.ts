import { describe, expect, test } from "vitest";
import type { ConfigOutcome } from "../../model/result.ts";
import { outcomeOf } from "../fixtures.suite.ts";
import { configResultsOf } from "./config-results.ts";

const passed: ConfigOutcome = {
  configId: 1,
  verdict: "ok",
  totalMs: 40,
  peerAnswered: true,
  message: null,
  publicIp: "192.0.2.7",
  engineUsed: "xray",
  exitCountry: "DE",
};
const failed: ConfigOutcome = {
  ...{ configId: 2, verdict: "stuck", totalMs: 40, peerAnswered: true },
  ...{ message: "nothing came back", publicIp: null, engineUsed: "xray" },
};

describe("results of configs", () => {
  test("are what the subscription block shows, at the place they were found from", () => {
    expect(configResultsOf(outcomeOf(1, { configs: [passed, failed] }), "de")).toEqual([
      {
        configId: 1,
        location: "de",
        atMs: 1_000,
        success: true,
        totalMs: 40,
        error: "",
        errorCategory: "",
        publicIp: "192.0.2.7",
        engineUsed: "xray",
        exitCountry: "DE",
      },
      {
        configId: 2,
        location: "de",
        atMs: 1_000,
        success: false,
        totalMs: 40,
        error: "nothing came back",
        errorCategory: "internet_stuck",
        publicIp: "",
        engineUsed: "xray",
        exitCountry: "",
      },
    ]);
  });

  test("of a fault of ours that passes there are none: what was found before stays", () => {
    const unfit: ConfigOutcome = { ...failed, verdict: "unfit" };
    expect(configResultsOf(outcomeOf(1, { configs: [passed, unfit] }), "any")).toHaveLength(1);
    expect(configResultsOf(outcomeOf(1, { verdict: "unfit", configs: [failed, passed] }), "any")).toMatchObject([
      { configId: 1, success: true },
    ]);
  });

  test("of a check of one config only there is nothing", () => {
    expect(configResultsOf(outcomeOf(1), "any")).toBeUndefined();
  });
});
