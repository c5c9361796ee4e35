import { describe, expect, it } from "vitest";
import { createInputReader } from "./check-inputs.ts";
import { monitorOf } from "./fixtures.suite.ts";
import { createAdmission, createGateBook } from "./gates.ts";
import { createPlan } from "./plan.ts";

const LIMITS = { perHost: 10, perWorkspace: 100 };
const read = createInputReader((_where, sealed) => sealed);
const sealed = (over: object = {}) =>
  JSON.stringify({ host: "oc.test-site.org", username: "ada", password: "pw", ...over });
const tunnel = (id: number, over: object = {}, locations: readonly string[] = ["any"]) =>
  monitorOf({ id, kind: "openconnect", settings: {}, host: "oc.test-site.org", sealed: sealed(over), locations });

describe("createPlan", () => {
  it("never lets two checks of one account at one server run at once, from wherever", () => {
    const gates = createGateBook();
    const plan = createPlan(gates, LIMITS, { read, hasChecker: () => true });
    const entries = [
      ...plan.set(tunnel(1, {}, ["de", "nl"]), 0),
      ...plan.set(tunnel(2), 0),
      ...plan.set(tunnel(3, { username: "bob" }), 0),
    ].map(({ entry }) => entry);
    const started: number[] = [];
    const admission = createAdmission(100, (entry) => started.push(entry.id));
    for (const entry of entries) admission.request(entry);
    expect(started).toEqual([entries[0]?.id, entries[3]?.id]);
    for (const expected of [entries[1], entries[2]]) {
      const running = entries.find((entry) => entry.state === "running" && entry.monitor.id !== 3);
      if (running !== undefined) {
        running.state = "idle";
        admission.release(running);
      }
      expect(started.at(-1)).toBe(expected?.id);
    }
  });

  it("runs no more of a subscription's monitors at once than it may, also when that changes", () => {
    const plan = createPlan(createGateBook(), LIMITS, { read, hasChecker: () => true });
    const imported = (id: number, subscriptionWorkers: number) =>
      monitorOf({ id, kind: "vless", settings: {}, host: `h${id}`, subscriptionId: 5, subscriptionWorkers });
    const ids = [1, 2, 3, 4];
    const runningWith = (workers: number): number => {
      const entries = ids.flatMap((id) => plan.set(imported(id, workers), 0)).map(({ entry }) => entry);
      let running = 0;
      const admission = createAdmission(100, () => {
        running += 1;
      });
      for (const entry of entries) admission.request(entry);
      for (const entry of entries) entry.state = "idle";
      return running;
    };
    expect(runningWith(2)).toBe(2);
    expect(runningWith(3)).toBe(3);
  });

  it("has entries only where there is a checker", () => {
    const plan = createPlan(createGateBook(), LIMITS, { read, hasChecker: (location) => location !== "nl" });
    expect(plan.set(tunnel(1, {}, ["de", "nl"]), 0).map(({ entry }) => entry.location)).toEqual(["de"]);
    expect(plan.set(tunnel(2, {}, ["nl"]), 0)).toEqual([]);
    expect(plan.monitorCount).toBe(2);
  });

  it("specifies anew what another configuration measures", () => {
    const plan = createPlan(createGateBook(), LIMITS, { read, hasChecker: () => true });
    const [added] = plan.set(tunnel(1), 0);
    expect(added?.entry.spec?.settings).toMatchObject({ username: "ada" });
    expect(plan.set(tunnel(1), 0)[0]?.type).toBe("kept");
    const [changed] = plan.set(tunnel(1, { username: "bob" }), 0);
    expect([changed?.type, changed?.obsoleteSpecKey]).toEqual(["respecified", 1]);
    expect(changed?.entry.spec?.settings).toMatchObject({ username: "bob" });
  });
});
