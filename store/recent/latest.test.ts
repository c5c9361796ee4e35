import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoredResult } from "../results/result-store.ts";
import { rowOfLatest, withLatest } from "./latest.ts";

const row = (number: number): StoredResult => ({
  id: String(10_000 + number),
  monitorId: number % 7,
  kind: "ping",
  status: "healthy",
  latencyMs: null,
  connectMs: null,
  // Some start in the same millisecond.
  testedAtMs: Math.floor(number / 3),
  errorMessage: null,
  details: null,
});

describe("withLatest", () => {
  it("gives the page that a store would give that has the rows already", () => {
    const numbers = fc.uniqueArray(fc.nat(60), { maxLength: 40 });
    fc.assert(
      fc.property(numbers, fc.nat(20), fc.integer({ min: 1, max: 50 }), (known, late, limit) => {
        const newestFirst = known.sort((a, b) => b - a).map(row);
        const stored = newestFirst.slice(Math.min(late, known.length)).slice(0, limit);
        // Latest rows may be stored already, or stand on a later page.
        const { rows, added } = withLatest(stored, newestFirst, limit);
        expect(rows).toEqual(newestFirst.slice(0, limit));
        expect(added.every(({ id }) => !stored.some((one) => one.id === id))).toBe(true);
      }),
    );
  });

  it("leaves a page as it is where nothing is missing", () => {
    const stored = [row(9), row(5)];
    expect(withLatest(stored, [row(9)], 10)).toEqual({ rows: stored, added: [] });
    expect(withLatest(stored, [row(1)], 2)).toEqual({ rows: stored, added: [] });
  });
});

describe("rowOfLatest", () => {
  const check = {
    monitorId: 3,
    kind: "ping",
    lastRowId: "17",
    lastRowStatus: "down",
    lastCheckedAtMs: 5,
    latencyMs: null,
    connectMs: null,
    errorMessage: "silence",
  } as const;

  it("is the row of the check", () => {
    expect(rowOfLatest(check)).toEqual({
      ...row(0),
      id: "17",
      monitorId: 3,
      status: "down",
      testedAtMs: 5,
      errorMessage: "silence",
    });
  });

  it("is none before the first check, nor of one that a version before judged", () => {
    for (const without of ["lastRowId", "lastRowStatus", "lastCheckedAtMs"] as const)
      expect(rowOfLatest({ ...check, [without]: null })).toBeUndefined();
  });
});
