import { describe, expect, it } from "vitest";
import type { CheckRun } from "../../engine/contract/messages.ts";
import { monitorOf, plannedOf } from "../fixtures.suite.ts";
import { type Run, runOf } from "../plan/planned-check.ts";
import { CheckIds, Dispatch } from "./dispatch.ts";

function scene() {
  const runs: CheckRun[] = [];
  const forgotten: number[] = [];
  const dispatch = new Dispatch({
    probers: {
      define: () => {},
      forget: (keys) => forgotten.push(...keys),
      run: (batch) => runs.push(...batch),
    },
    states: { wasHealthy: () => true, isConfirming: (monitorId) => monitorId === 2 },
    checkIds: new CheckIds(0),
    nowMs: () => 5_000,
  });
  return { dispatch, runs, forgotten };
}

function runAt(id: number, dueAtMs: number): Run {
  const planned = plannedOf(id, [], monitorOf({ id }));
  if (planned.spec === null) throw new Error("nothing to run");
  return runOf(planned, planned.spec, dueAtMs);
}

describe("Dispatch", () => {
  it("finds the run of an outcome once, and none that it did not send", () => {
    const { dispatch, runs } = scene();
    const run = runAt(1, 4_990.4);
    dispatch.send(run);
    dispatch.flush();
    expect(dispatch.ended(77)).toBeUndefined();
    expect(dispatch.ended(runs[0]?.checkId ?? 0)).toBe(run);
    expect(dispatch.ended(runs[0]?.checkId ?? 0)).toBeUndefined();
    expect(runs[0]?.dueAtMs).toBe(4_990);
  });

  it("says of each run where it belongs, until when, and whether it confirms a failure", () => {
    const { dispatch, runs } = scene();
    dispatch.send(runAt(1, 1));
    dispatch.send(runAt(2, 1));
    dispatch.send({ ...runAt(1, 1), attempt: 2 });
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
    expect(runs.map((run) => run.place)).toEqual([
      place,
      { ...place, home: 2, elsewhere: true },
      { ...place, elsewhere: true },
    ]);
    expect(runs[2]?.dueAtMs).toBe(5_000);
  });

  it("forgets a spec only after the runs that may name it", () => {
    const { dispatch, runs, forgotten } = scene();
    dispatch.send(runAt(1, 0));
    dispatch.forget(1);
    expect(forgotten).toEqual([]);
    dispatch.flush();
    expect([runs.length, forgotten]).toEqual([1, [1]]);
  });
});
