import { describe, expect, it } from "vitest";
import type { Monitor } from "../../model/monitor.ts";
import type { EndedTest, OpenTestJob } from "../../store/sql/jobs/port.ts";
import { liveOf, monitorOf } from "../fixtures.suite.ts";
import { pipelineScene } from "../pipeline.suite.ts";
import { TestJobs, type TestJobsOptions } from "./test-jobs.ts";

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

const LEASE = { shard: 0, epoch: 1 };

/** The pipeline with its real plan, limits and states; a prober and a table of jobs in memory. */
function scene(monitors: readonly Monitor[] = [monitorOf()]) {
  let nowMs = 5_000;
  let open: OpenTestJob[] = [];
  const known = new Map(monitors.map((monitor) => [monitor.id, monitor]));
  const ends: EndedTest[] = [];
  let told = 0;
  let hastened = 0;
  let isHeld = true;
  const inMemory = pipelineScene({ monitors, nowMs: () => nowMs });
  const { pipeline, states, judged } = inMemory;
  const endTests = async (ended: readonly EndedTest[]): Promise<void> => {
    ends.push(...ended);
    open = open.filter((job) => !ended.some(({ jobId }) => jobId === job.id));
  };
  const testJobs = new TestJobs({
    controlPlane: {
      jobs: { openTests: async () => open, endTests, prune: async () => {} },
      monitors: {
        async recall(id: number) {
          const monitor = known.get(id);
          return monitor && { monitor, live: liveOf({ monitorId: id }) };
        },
      },
    } as unknown as TestJobsOptions["controlPlane"],
    ownedShards: {
      filter: () => ({ count: 1, shards: [0] }),
      leaseOf: () => (isHeld ? LEASE : undefined),
      hasFirst: true,
    },
    states,
    pipeline: {
      onDemandRuns: pipeline.onDemandRuns,
      record: (context, outcome) => pipeline.record(context, outcome),
      judged() {
        hastened += 1;
      },
    },
    notices: {
      publish() {
        told += 1;
      },
    },
    nowMs: () => nowMs,
  });
  const items = () => judged.filter(({ context }) => context.jobId !== undefined).map(({ item }) => item);
  return {
    ...inMemory,
    testJobs,
    known,
    ends,
    items,
    ownOutcomes: () => judged.filter(({ context }) => context.jobId === undefined),
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
      pipeline.flush();
    },
  };
}

describe("TestJobs", () => {
  it("runs a test once, and ends it with the result's row", async () => {
    const at = scene();
    await at.look(jobOf(7));
    await at.look(jobOf(7));
    expect(at.runs).toHaveLength(1);
    at.answer({ latencyMs: 41, startedAtMs: 6_000, durationMs: 50 });
    expect(at.items()).toHaveLength(1);
    expect(at.items()[0]?.endedTest).toEqual({
      jobId: 7,
      atMs: 6_050,
      end: { reason: "ran", status: "healthy", latencyMs: 41, connectMs: null, message: null, testedAtMs: 6_000 },
    });
    expect(JSON.parse(at.items()[0]?.line ?? "")).toMatchObject({ monitor_id: 1, replay: { job_id: 7 } });
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
    expect([at.runs.length, at.items(), at.ends]).toEqual([1, [], []]);
    at.hold(true);
    await at.look(jobOf(7));
    expect(at.runs).toHaveLength(2);
    at.answer();
    expect(at.items().map(({ endedTest }) => endedTest?.jobId)).toEqual([7]);
  });

  it("never runs beside the monitor's own check, and lets that wait in turn", async () => {
    const at = scene();
    const [own] = at.plan.plannedOf(1);
    at.pipeline.advance();
    await at.look(jobOf(7), jobOf(8));
    expect(at.runs).toHaveLength(1);
    at.answer();
    expect(at.ownOutcomes()).toHaveLength(1);
    expect(at.runs).toHaveLength(2);
    // It is due while the first test runs: it waits behind the second.
    at.at(65_000);
    at.pipeline.advance();
    expect(at.pipeline.waiting).toBe(2);
    expect(at.runs).toHaveLength(2);
    at.answer();
    at.answer();
    expect(at.items().map(({ endedTest }) => endedTest?.jobId)).toEqual([7, 8]);
    at.answer();
    expect(at.ownOutcomes()).toHaveLength(2);
    expect(at.pipeline.running).toBe(0);
    expect(at.pipeline.waiting).toBe(0);
    expect(own?.limits).toHaveLength(2);
  });

  it("shares with a planned check that comes while a test runs", async () => {
    const at = scene([]);
    at.known.set(1, monitorOf());
    await at.look(jobOf(7));
    at.set(monitorOf());
    at.pipeline.advance();
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
    expect(at.items().map(({ endedTest }) => endedTest?.jobId)).toEqual([7]);
    expect(at.runs).toHaveLength(1);
  });

  it("starts anew with what the monitor is now", async () => {
    const at = scene();
    await at.look(jobOf(7), jobOf(8));
    const changed = monitorOf({ settings: { url: "http://elsewhere.test/" } });
    at.known.set(1, changed);
    at.set(changed);
    at.testJobs.refresh(1);
    at.answer({ verdict: "refused" });
    expect(at.items()).toEqual([]);
    await at.look(jobOf(7), jobOf(8));
    expect(at.runs).toHaveLength(2);
    expect(at.defined.get(at.runs[1]?.specKey ?? 0)?.settings).toEqual({ url: "http://elsewhere.test/" });
    at.answer();
    at.answer();
    expect(
      at
        .items()
        .map(({ endedTest }) => endedTest?.jobId)
        .sort(),
    ).toEqual([7, 8]);
    expect(at.pipeline.running).toBe(0);
  });
});
