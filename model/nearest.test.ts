import { expect, it } from "vitest";
import { editDistance, MOST_COMPARED, nearestOf } from "./nearest.ts";

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

it("compares no more words than its bound", () => {
  let asked = 0;
  const keys = function* (): Generator<string> {
    for (; ; asked++) yield `monitor-${asked}`;
  };
  expect(nearestOf("nothing like them", keys())).toBeUndefined();
  expect(asked).toBeLessThanOrEqual(MOST_COMPARED);
});

it.each([
  ["interval", "interval", 0],
  ["intreval", "interval", 1],
  ["inteval", "interval", 1],
  ["kitten", "sitting", 3],
  ["ca", "abc", 3],
  ["", "abc", 3],
])("%s and %s are %i letters apart, or further than what is asked for", (one, other, apart) => {
  expect([editDistance(one, other, 3), editDistance(other, one, 3)]).toEqual([apart, apart]);
  for (let most = 0; most < apart; most++) expect(editDistance(one, other, most)).toBe(most + 1);
});
