import { describe, expect, it } from "vitest";
import type { CheckRun, CheckSpec } from "../engine/check.ts";
import type { Monitor } from "../model/monitor.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { JobEnd, OpenTestJob } from "../store/sql/ports/jobs.ts";
import { createDispatch } from "./dispatch.ts";
import { createErrands } from "./errands.ts";
import { liveOf, monitorOf, outcomeOf } from "./fixtures.suite.ts";
import { createGateBook } from "./gates.ts";
import { createLedger, type Taken } from "./ledger.ts";
import { createPlan } from "./plan.ts";
import type { SinkItem } from "./sink-item.ts";
import { createTestJobs, type TestJobsOptions } from "./test-jobs.ts";

function jobOf(id: number, over: Partial<OpenTestJob> = {}): OpenTestJob {
  return {
    id,
    kind: "test",
    projectId: 1,
    monitorId: 1,
    testId: `tst_${id}`,
    location: "any",
    incidentId: null,
    atMs: 1_000,
    expiresAtMs: 100_000,
    ...over,
  };
}

const FENCE = { shard: 0, epoch: 1 };

/** The real plan, caps, errands and ledger; a prober and a table of jobs in memory. */
function scene(monitors: readonly Monitor[] = [monitorOf()]) {
  let nowMs = 5_000;
  let open: OpenTestJob[] = [];
  const known = new Map(monitors.map((monitor) => [monitor.id, monitor]));
  const runs: CheckRun[] = [];
  const specs = new Map<number, CheckSpec>();
  const ends: JobEnd[] = [];
  const items: SinkItem[] = [];
  const ownOutcomes: CheckOutcome[] = [];
  const forgotten: number[] = [];
  let told = 0;
  let hastened = 0;
  let isHeld = true;
  const plan = createPlan(createGateBook(), { perHost: 10, perWorkspace: 100 });
  const ledger = createLedger({ checker: "here", fenceOf: () => FENCE });
  for (const monitor of monitors) {
    plan.set(monitor, nowMs);
    ledger.set(monitor, liveOf({ monitorId: monitor.id }));
  }
  let lastCheckId = 0;
  const dispatch = createDispatch({
    probers: {
      define(defined) {
        for (const spec of defined) specs.set(spec.key, spec);
      },
      forget: (keys) => forgotten.push(...keys),
      run: (batch) => runs.push(...batch),
    },
    overallLimit: 1_000,
    nowMs: () => nowMs,
    nextCheckId: () => ++lastCheckId,
    wasHealthy: () => false,
    isConfirming: () => false,
    onUnrun: () => {},
    onOutcome(entry, outcome, attempt) {
      if (entry.errand === null) ownOutcomes.push(outcome);
      else entry.errand.end(outcome, attempt);
    },
    onObsolete: () => {},
  });
  const errands = createErrands({ plan, dispatch, nowMs: () => nowMs });
  const endTests = async (ended: readonly JobEnd[]): Promise<void> => {
    ends.push(...ended);
    open = open.filter((job) => !ended.some(({ jobId }) => jobId === job.id));
  };
  const testJobs = createTestJobs({
    controlPlane: {
      jobs: { openTests: async () => open, endTests, prune: async () => {} },
      monitors: {
        async recall(id: number) {
          const monitor = known.get(id);
          return monitor && { monitor, live: liveOf({ monitorId: id }) };
        },
      },
    } as unknown as TestJobsOptions["controlPlane"],
    errands,
    nowMs: () => nowMs,
    part: () => ({ count: 1, shards: [0] }),
    fenceOf: () => (isHeld ? FENCE : undefined),
    isPruner: () => true,
    remember: ({ monitor, live }) => ledger.set(monitor, live),
    record(taken: Taken, outcome) {
      const judged = ledger.judge(taken, outcome);
      items.push(judged);
      return judged;
    },
    onTested: () => {
      hastened += 1;
    },
    onEnded: () => {
      told += 1;
    },
  });
  return {
    plan,
    dispatch,
    errands,
    testJobs,
    known,
    runs,
    specs,
    ends,
    items,
    ownOutcomes,
    forgotten,
    told: () => told,
    hastened: () => hastened,
    /** Its shard is another scheduler's (again ours). */
    hold(held: boolean) {
      isHeld = held;
      if (!held) testJobs.forget();
    },
    at: (toMs: number) => {
      nowMs = toMs;
    },
    async look(...jobs: OpenTestJob[]) {
      open = jobs;
      await testJobs.look();
      dispatch.flush();
    },
    answer(over: Partial<CheckOutcome> = {}) {
      const run = runs.at(-1);
      if (run === undefined) throw new Error("nothing runs");
      dispatch.take([outcomeOf(run.checkId, over)]);
      dispatch.flush();
    },
  };
}

describe("createTestJobs", () => {
  it("runs a test once, and ends it with the result's row", async () => {
    const at = scene();
    await at.look(jobOf(7));
    await at.look(jobOf(7));
    expect(at.runs).toHaveLength(1);
    at.answer({ latencyMs: 41, startedAtMs: 6_000, durationMs: 50 });
    expect(at.items).toHaveLength(1);
    expect(at.items[0]?.jobEnd).toEqual({
      jobId: 7,
      atMs: 6_050,
      end: { reason: "ran", status: "healthy", latencyMs: 41, connectMs: null, message: null, testedAtMs: 6_000 },
    });
    expect(JSON.parse(at.items[0]?.line ?? "")).toMatchObject({ monitor_id: 1, replay: { job_id: 7 } });
    expect(at.hastened()).toBe(1);
    // No run uses its spec any more, and the row is open until the sink has written: nothing starts again.
    expect(at.forgotten).toEqual([at.runs[0]?.specKey]);
    await at.look(jobOf(7));
    expect(at.runs).toHaveLength(1);
    await at.look();
    await at.look(jobOf(8));
    expect(at.runs).toHaveLength(2);
  });

  it("leaves a test to the scheduler that took its shard, and runs it anew when the shard is back before it ended", async () => {
    const at = scene();
    await at.look(jobOf(7));
    at.hold(false);
    at.answer();
    await at.look(jobOf(7));
    expect([at.runs.length, at.items, at.ends]).toEqual([1, [], []]);
    at.hold(true);
    await at.look(jobOf(7));
    expect(at.runs).toHaveLength(2);
    at.answer();
    expect(at.items.map(({ jobEnd }) => jobEnd?.jobId)).toEqual([7]);
  });

  it("never runs beside the monitor's own check, and lets that wait in turn", async () => {
    const at = scene();
    const [own] = at.plan.entriesOf(1);
    if (own === undefined) throw new Error("no entry");
    at.dispatch.begin(own, 5_000);
    at.dispatch.flush();
    await at.look(jobOf(7), jobOf(8));
    expect(at.runs).toHaveLength(1);
    at.answer();
    expect(at.ownOutcomes).toHaveLength(1);
    expect(at.runs).toHaveLength(2);
    // The next turn comes while the first test runs: it waits behind the second.
    expect(at.dispatch.begin(own, 6_000)).toBe(true);
    at.dispatch.flush();
    expect(at.runs).toHaveLength(2);
    at.answer();
    at.answer();
    expect(at.items.map(({ jobEnd }) => jobEnd?.jobId)).toEqual([7, 8]);
    at.answer();
    expect(at.ownOutcomes).toHaveLength(2);
    expect(at.dispatch.running).toBe(0);
    expect(at.dispatch.waiting).toBe(0);
    expect(own.gates).toHaveLength(2);
  });

  it("shares with an entry that comes while a test runs", async () => {
    const at = scene([]);
    at.known.set(1, monitorOf());
    await at.look(jobOf(7));
    const [change] = at.plan.set(monitorOf(), 5_000);
    if (change === undefined) throw new Error("no entry");
    // What course.apply does with an entry that was added.
    at.errands.adopt(change.entry);
    at.dispatch.begin(change.entry, 5_000);
    at.dispatch.flush();
    expect(at.runs).toHaveLength(1);
    at.answer();
    expect(at.runs).toHaveLength(2);
  });

  it("ends what cannot run with the reason", async () => {
    const at = scene([monitorOf(), monitorOf({ id: 2, pauseReasons: ["user"] }), monitorOf({ id: 4, kind: "push" })]);
    at.at(200_000);
    await at.look(
      jobOf(1),
      jobOf(2, { monitorId: 2, expiresAtMs: 300_000 }),
      jobOf(3, { monitorId: 3, expiresAtMs: 300_000 }),
      jobOf(4, { monitorId: 4, expiresAtMs: 300_000 }),
    );
    expect(at.ends.map(({ jobId, end }) => [jobId, end.reason])).toEqual([
      [1, "expired"],
      [2, "paused"],
      [3, "gone"],
      [4, "gone"],
    ]);
    expect(at.ends[0]?.end).toMatchObject({
      status: "degraded",
      testedAtMs: 200_000,
      message: expect.stringMatching(/not run in time/),
    });
    expect(at.told()).toBe(1);
    expect(at.runs).toEqual([]);
  });

  it("takes back what waits for a cap beyond its time, and lets what runs end", async () => {
    const at = scene();
    await at.look(jobOf(7), jobOf(8));
    expect(at.runs).toHaveLength(1);
    at.at(100_001);
    await at.look(jobOf(7), jobOf(8));
    expect(at.ends.map(({ jobId, end }) => [jobId, end.reason])).toEqual([[8, "expired"]]);
    at.answer();
    expect(at.items.map(({ jobEnd }) => jobEnd?.jobId)).toEqual([7]);
    expect(at.runs).toHaveLength(1);
  });

  it("starts anew with what the monitor is now", async () => {
    const at = scene();
    await at.look(jobOf(7), jobOf(8));
    const changed = monitorOf({ settings: { url: "http://elsewhere.test/" } });
    at.known.set(1, changed);
    at.plan.set(changed, 5_000);
    at.testJobs.refresh(1);
    at.answer({ verdict: "refused" });
    expect(at.items).toEqual([]);
    await at.look(jobOf(7), jobOf(8));
    expect(at.runs).toHaveLength(2);
    expect(at.specs.get(at.runs[1]?.specKey ?? 0)?.settings).toEqual({ url: "http://elsewhere.test/" });
    at.answer();
    at.answer();
    expect(at.items.map(({ jobEnd }) => jobEnd?.jobId).sort()).toEqual([7, 8]);
    expect(at.dispatch.running).toBe(0);
  });
});
