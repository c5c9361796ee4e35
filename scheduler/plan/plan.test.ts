import { describe, expect, it } from "vitest";
import { Admission, ConcurrencyLimits } from "../../engine/limits/concurrency.ts";
import { monitorOf } from "../fixtures.suite.ts";
import { createInputReader } from "./check-inputs.ts";
import { CheckSpecs } from "./check-specs.ts";
import { Plan } from "./plan.ts";
import type { PlannedCheck, Run } from "./planned-check.ts";
import { runOf } from "./planned-check.ts";

const LIMITS = { perHost: 10, perWorkspace: 100 };
const read = createInputReader(
  (_where, sealed) => sealed,
  (_protocol, identity) => identity,
);
const sealed = (over: object = {}) =>
  JSON.stringify({ host: "oc.test-site.org", username: "ada", password: "pw", ...over });
const tunnel = (id: number, over: object = {}, locations: readonly string[] = ["any"]) =>
  monitorOf({ id, kind: "openconnect", settings: {}, host: "oc.test-site.org", sealed: sealed(over), locations });

const planWith = (hasChecker?: (location: string) => boolean): Plan =>
  new Plan(new CheckSpecs(new ConcurrencyLimits<Run>(), LIMITS, read), hasChecker);

function runFor(planned: PlannedCheck): Run {
  if (planned.spec === null) throw new Error("nothing to run");
  return runOf(planned, planned.spec, 0);
}

describe("Plan", () => {
  it("never lets two checks of one account at one server run at once, from wherever", () => {
    const plan = planWith();
    const runs = [
      ...plan.set(tunnel(1, {}, ["de", "nl"]), 0),
      ...plan.set(tunnel(2), 0),
      ...plan.set(tunnel(3, { username: "bob" }), 0),
    ].map(({ planned }) => runFor(planned));
    const admission = new Admission<Run>(100);
    for (const run of runs) admission.request(run);
    expect(admission.takeStarted()).toEqual([runs[0], runs[3]]);
    for (const [ended, expected] of [
      [0, 1],
      [1, 2],
    ] as const) {
      admission.release(runs[ended] as Run);
      expect(admission.takeStarted()).toEqual([runs[expected]]);
    }
  });

  it("runs no more of a subscription's monitors at once than it may, also when that changes", () => {
    const plan = planWith();
    const imported = (id: number, subscriptionWorkers: number) =>
      monitorOf({ id, kind: "vless", settings: {}, host: `h${id}`, subscriptionId: 5, subscriptionWorkers });
    const ids = [1, 2, 3, 4];
    const runningWith = (workers: number): number => {
      const admission = new Admission<Run>(100);
      for (const { planned } of ids.flatMap((id) => plan.set(imported(id, workers), 0)))
        admission.request(runFor(planned));
      return admission.takeStarted().length;
    };
    expect(runningWith(2)).toBe(2);
    expect(runningWith(3)).toBe(3);
  });

  it("plans only where there is a checker", () => {
    const plan = planWith((location) => location !== "nl");
    expect(plan.set(tunnel(1, {}, ["de", "nl"]), 0).map(({ planned }) => planned.location)).toEqual(["de"]);
    expect(plan.set(tunnel(2, {}, ["nl"]), 0)).toEqual([]);
    expect(plan.monitorCount).toBe(2);
  });

  it("specifies anew what another configuration measures", () => {
    const plan = planWith();
    const [added] = plan.set(tunnel(1), 0);
    expect(added?.planned.spec?.settings).toMatchObject({ username: "ada" });
    expect(plan.set(tunnel(1), 0)[0]?.type).toBe("kept");
    const [changed] = plan.set(tunnel(1, { username: "bob" }), 0);
    expect([changed?.type, changed?.obsoleteSpecKey]).toEqual(["respecified", 1]);
    expect(changed?.planned.spec?.settings).toMatchObject({ username: "bob" });
  });
});
