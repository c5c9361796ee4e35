/** Names of what schedulers and checkers share in Redis. All keys of a location begin alike, for its checkers' rights (checker-rights.ts). */

import { PREFIX } from "./redis.ts";
import type { CheckerName } from "./runs.ts";

export function runsKey({ location, id }: CheckerName): string {
  return `${PREFIX}runs:{${location}}:${id}`;
}

export function outcomesKey(location: string, scheduler: string): string {
  return `${PREFIX}outcomes:{${location}}:${scheduler}`;
}

/** A hash: reports by checker. */
export function checkersKey(location: string): string {
  return `${PREFIX}checkers:{${location}}`;
}

/** Bound to the way it goes, so that nothing sealed for one place stands for another. */
export const runsPurpose = ({ location, id }: CheckerName): string => `runs ${location} ${id}`;
export const outcomesPurpose = (location: string, scheduler: string): string => `outcomes ${location} ${scheduler}`;
