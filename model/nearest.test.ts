import { expect, it } from "vitest";
import { nearestOf } from "./nearest.ts";

const WORDS = ["SONDE_PORT", "SONDE_HOST", "SONDE_REDIS_URL"];

it.each([
  ["SONDE_PROT", "SONDE_PORT"],
  ["SONDE_PORTS", "SONDE_PORT"],
  ["SONDE_REDISURL", "SONDE_REDIS_URL"],
  ["sonde_host", undefined],
  ["SONDE_INTERVAL", undefined],
  ["S".repeat(100_000), undefined],
])("%.20s is nearest to %s", (word, expected) => {
  expect(nearestOf(word, WORDS)).toBe(expected);
});
