import { describe, expect, it } from "vitest";
import type { CheckRun, CheckSpec } from "../engine/check.ts";
import type { CheckOutcome } from "../model/result.ts";
import { createDispatch, type Dispatch } from "./dispatch.ts";
import type { Entry } from "./entry.ts";
import { entryOf, outcomeOf } from "./fixtures.suite.ts";

interface Scene {
  readonly dispatch: Dispatch;
  readonly runs: CheckRun[];
  readonly forgotten: number[];
  readonly obsolete: Entry[];
  readonly unrun: Entry[];
  readonly ended: { readonly entry: Entry; readonly outcome: CheckOutcome; readonly attempt: number }[];
}

function scene(wasHealthy = true): Scene {
  const runs: CheckRun[] = [];
  const forgotten: number[] = [];
  const ended: Scene["ended"] = [];
  const obsolete: Entry[] = [];
  const unrun: Entry[] = [];
  let lastCheckId = 0;
  const dispatch = createDispatch({
    probers: {
      define: (_specs: readonly CheckSpec[]) => {},
      forget: (keys) => forgotten.push(...keys),
      run: (batch) => runs.push(...batch),
    },
    overallLimit: 1_000,
    nowMs: () => 5_000,
    nextCheckId: () => ++lastCheckId,
    wasHealthy: () => wasHealthy,
    isConfirming: (entry) => entry.monitor.id === 2,
    onUnrun: (entry) => unrun.push(entry),
    onOutcome: (entry, outcome, attempt) => ended.push({ entry, outcome, attempt }),
    onObsolete: (entry) => obsolete.push(entry),
  });
  return { dispatch, runs, forgotten, ended, obsolete, unrun };
}

function last(runs: readonly CheckRun[]): number {
  return runs.at(-1)?.checkId ?? 0;
}

describe("createDispatch", () => {
  it("applies an outcome once, and no outcome that it did not ask for", () => {
    const { dispatch, runs, ended } = scene();
    dispatch.begin(entryOf(1), 4_990);
    dispatch.flush();
    const outcome = outcomeOf(last(runs));
    dispatch.take([outcome, outcome, outcomeOf(77)]);
    expect(ended).toHaveLength(1);
    expect(runs[0]?.dueAtMs).toBe(4_990);
  });

  it("counts a turn that no checker could run, which says nothing about its target", () => {
    const { dispatch, runs, ended, unrun } = scene();
    const entry = entryOf(1);
    dispatch.begin(entry, 1);
    dispatch.flush();
    dispatch.take([outcomeOf(last(runs), { verdict: "cancelled" })]);
    expect([ended, unrun, entry.state]).toEqual([[], [entry], "idle"]);
    expect(dispatch.begin(entry, 2)).toBe(true);
  });

  it("says of each run where it belongs, until when, and whether it confirms a failure", () => {
    const { dispatch, runs } = scene();
    dispatch.begin(entryOf(1), 1);
    dispatch.begin(entryOf(2), 1);
    dispatch.flush();
    const place = {
      location: "any",
      home: 1,
      elsewhere: false,
      expiresAtMs: 65_000,
      host: "site.test",
      wasHealthy: true,
      account: null,
    };
    expect(runs.map((run) => run.place)).toEqual([place, { ...place, home: 2, elsewhere: true }]);
  });

  it("never runs an entry twice at once", () => {
    const { dispatch, runs } = scene();
    const entry = entryOf(1);
    expect(dispatch.begin(entry, 1)).toBe(true);
    expect(dispatch.begin(entry, 2)).toBe(false);
    dispatch.flush();
    expect(runs).toHaveLength(1);
  });

  it("looks twice at a failure of a crowded moment before it counts", () => {
    const { dispatch, runs, ended } = scene();
    dispatch.begin(entryOf(1), 0);
    dispatch.flush();
    dispatch.take([outcomeOf(last(runs), { verdict: "timeout", latenessMs: 400 })]);
    expect(ended).toHaveLength(0);
    dispatch.flush();
    expect(runs).toHaveLength(2);
    dispatch.take([outcomeOf(last(runs))]);
    expect(ended.map(({ outcome, attempt }) => [outcome.verdict, attempt])).toEqual([["ok", 2]]);
  });

  it("believes at once what a target said itself, what happened in quiet, and what was not healthy before", () => {
    for (const [verdict, latenessMs, wasHealthy] of [
      ["rejected", 400, true],
      ["timeout", 0, true],
      ["timeout", 400, false],
    ] as const) {
      const { dispatch, runs, ended } = scene(wasHealthy);
      dispatch.begin(entryOf(1), 0);
      dispatch.flush();
      dispatch.take([outcomeOf(last(runs), { verdict, latenessMs })]);
      expect(ended).toHaveLength(1);
    }
  });

  it("drops the outcome of an entry that was removed, and gives its place back", () => {
    const { dispatch, runs, ended } = scene();
    const entry = entryOf(1);
    dispatch.begin(entry, 0);
    dispatch.flush();
    dispatch.abandon(entry);
    dispatch.take([outcomeOf(last(runs))]);
    expect(ended).toHaveLength(0);
    expect(dispatch.running).toBe(0);
  });

  it("does not take an outcome for what the monitor is now when it was changed while it ran", () => {
    const { dispatch, runs, ended, obsolete } = scene();
    const entry = entryOf(1);
    dispatch.begin(entry, 0);
    dispatch.flush();
    entry.spec = { key: 2, kind: "http", settings: {}, timeoutMs: 10_000 };
    dispatch.take([outcomeOf(last(runs))]);
    expect([ended.length, obsolete.length, entry.state]).toEqual([0, 1, "idle"]);
  });

  it("forgets a spec only after the runs that may name it", () => {
    const { dispatch, runs, forgotten } = scene();
    dispatch.begin(entryOf(1), 0);
    dispatch.forget(1);
    expect(forgotten).toEqual([]);
    dispatch.flush();
    expect([runs.length, forgotten]).toEqual([1, [1]]);
  });
});
