import { describe, expect, it } from "vitest";
import { monitorOf, outcomeOf } from "../fixtures.suite.ts";
import { pipelineScene } from "../pipeline.suite.ts";

const crowded = { verdict: "timeout", latenessMs: 400 } as const;

describe("CheckPipeline", () => {
  it("judges an outcome once, and none that it did not ask for", () => {
    const at = pipelineScene();
    at.advance(0);
    const outcome = outcomeOf(at.last());
    at.pipeline.take([outcome, outcome, outcomeOf(77)]);
    expect(at.verdicts()).toEqual([["ok", 1]]);
  });

  it("counts a due time that no checker could run, which says nothing about its target", () => {
    const at = pipelineScene();
    at.advance(0);
    at.answer({ verdict: "cancelled" });
    expect([at.judged, at.pipeline.dueTimes.skipped, at.pipeline.running]).toEqual([[], 1, 0]);
    at.advance(60_000);
    expect(at.runs).toHaveLength(2);
  });

  it("never runs a planned check twice at once, and counts what is due meanwhile", () => {
    const at = pipelineScene();
    at.advance(0);
    at.advance(60_000);
    expect([at.runs.length, at.pipeline.dueTimes.skipped]).toEqual([1, 1]);
  });

  it("looks twice at a failure of a crowded moment before it counts", () => {
    const at = pipelineScene({ areHealthy: true });
    at.advance(0);
    at.answer(crowded);
    expect([at.judged.length, at.runs.length, at.pipeline.secondLooks]).toEqual([0, 2, 1]);
    at.answer();
    expect(at.verdicts()).toEqual([["ok", 2]]);
    expect(at.pipeline.running).toBe(0);
  });

  it("believes at once what a target said itself, what happened in quiet, and what was not healthy before", () => {
    for (const [verdict, latenessMs, areHealthy] of [
      ["rejected", 400, true],
      ["timeout", 0, true],
      ["timeout", 400, false],
    ] as const) {
      const at = pipelineScene({ areHealthy });
      at.advance(0);
      at.answer({ verdict, latenessMs });
      expect(at.verdicts()).toEqual([[verdict, 1]]);
    }
  });

  it("tells how late checks of its own plan begin, less what a cap held them back", () => {
    const monitors = [1, 2].map((id) => monitorOf({ id, host: "192.0.2.1" }));
    const at = pipelineScene({ monitors, perHost: 1 });
    at.advance(0);
    at.advance(300);
    at.answer({ latenessMs: 4 });
    at.advance(0);
    at.answer({ latenessMs: 340 });
    expect(at.delays).toEqual([4, 40]);
    at.advance(60_000);
    at.answer({ latenessMs: 90, checker: "elsewhere" });
    expect(at.delays).toEqual([4, 40]);
  });

  it("says in the log when an incident opens and closes, once each", () => {
    const at = pipelineScene({ monitors: [monitorOf({ maxRetries: 0, name: "Site" })], areHealthy: true });
    for (const verdict of ["rejected", "rejected", "ok", "ok"] as const) {
      at.advance(60_000);
      at.answer({ verdict, message: verdict === "ok" ? null : "status 500" });
    }
    const monitor = { monitor: "srv_1", name: "Site" };
    expect(at.logged).toEqual([
      ["incident opened", { ...monitor, level: "down", reason: "status 500", since: expect.stringMatching(/Z$/) }],
      ["incident closed", { ...monitor, at: expect.stringMatching(/Z$/) }],
    ]);
  });

  it("drops the outcome of a monitor that was removed, and gives its places back", () => {
    const at = pipelineScene();
    at.advance(0);
    at.remove(1);
    at.answer();
    expect([at.judged, at.pipeline.running]).toEqual([[], 0]);
  });

  it("does not take an outcome for what the monitor is now when it was changed while it ran: that is checked at once", () => {
    const at = pipelineScene();
    at.advance(0);
    at.set(monitorOf({ settings: { url: "http://other.test/" } }));
    at.answer();
    expect([at.judged, at.pipeline.running]).toEqual([[], 0]);
    at.advance(1);
    expect(at.runs.map(({ specKey }) => specKey)).toEqual([1, 2]);
    at.answer();
    expect(at.verdicts()).toEqual([["ok", 1]]);
  });

  it("runs what a monitor is now, under its limits of now, when it was changed while it waited", () => {
    const at = pipelineScene({ monitors: [monitorOf({ id: 1 }), monitorOf({ id: 2 })], overallLimit: 1 });
    at.advance(0);
    const changed = at.runs[0]?.place?.home === 1 ? 2 : 1;
    at.set(monitorOf({ id: changed, settings: { url: "http://other.test/" } }));
    at.advance(1);
    at.answer();
    expect(at.runs.map(({ specKey }) => specKey).at(-1)).toBe(3);
    at.answer();
    expect([at.pipeline.running, at.pipeline.waiting, at.judged.length]).toEqual([0, 0, 2]);
  });

  it("gives up a second look whose monitor was removed or changed meanwhile", () => {
    const monitors = Array.from({ length: 17 }, (_, index) => monitorOf({ id: index + 1, host: `h${index}` }));
    const at = pipelineScene({ monitors, areHealthy: true });
    at.advance(0);
    expect(at.runs).toHaveLength(17);
    const first = at.runs.map(({ checkId }) => checkId);
    at.pipeline.take(first.map((checkId) => outcomeOf(checkId, crowded)));
    // Sixteen at once: the last one waits.
    expect(at.runs).toHaveLength(33);
    at.remove(at.runs[16]?.place?.home ?? 0);
    for (const { checkId } of at.runs.slice(17)) at.pipeline.take([outcomeOf(checkId)]);
    expect([at.runs.length, at.pipeline.running, at.judged.length]).toEqual([33, 0, 16]);
  });

  it("begins nothing while it may not, then each check once, and none of a monitor that it lost meanwhile", () => {
    let isOurs = false;
    const monitors = [monitorOf({ id: 1, intervalS: 10 }), monitorOf({ id: 2, intervalS: 10 })];
    const at = pipelineScene({ monitors, mayBegin: () => isOurs });
    at.advance(0);
    at.advance(25_000);
    expect(at.runs).toEqual([]);
    at.remove(2);
    isOurs = true;
    at.advance(1);
    expect(at.runs.map(({ place }) => place?.home)).toEqual([1]);
    at.answer();
    expect([at.pipeline.running, at.pipeline.waiting, at.judged.length]).toEqual([0, 0, 1]);
    // Two turns of each came meanwhile at least, and are counted.
    expect(at.pipeline.dueTimes.skipped).toBeGreaterThanOrEqual(4);
  });

  it("ends what waits when its shard is given back, and lets run what runs", () => {
    const at = pipelineScene({ monitors: [monitorOf({ id: 1 }), monitorOf({ id: 2 })], overallLimit: 1 });
    at.advance(0);
    for (const planned of at.plan.all()) at.pipeline.changes.retire(planned);
    expect([at.pipeline.running, at.pipeline.waiting]).toEqual([1, 0]);
    at.answer();
    expect([at.runs.length, at.judged.length]).toEqual([1, 1]);
  });

  it("counts the turns before a late check began, which the next holder of its shard does not know of", () => {
    let isActive = true;
    let clockMs = 5_000;
    const at = pipelineScene({ isActive: () => isActive, nowMs: () => clockMs });
    at.advance(0);
    const [planned] = at.plan.plannedOf(1);
    if (planned === undefined) throw new Error("there is no planned check");
    const nextMs = planned.nextDueAtMs;
    isActive = false;
    at.pipeline.changes.retire(planned);
    // Whether or not the wheel goes on meanwhile.
    clockMs = nextMs + 60_500;
    at.advance(0);
    expect(at.runs).toHaveLength(1);
    at.answer({ startedAtMs: nextMs + 60_400, latenessMs: 100_000 });
    expect([at.judged.length, at.pipeline.dueTimes.skipped]).toEqual([1, 2]);
  });

  it("leaves to the next holder of its shard what was not run, and what is due after its last check", () => {
    for (const [verdict, judged] of [
      ["ok", 1],
      ["cancelled", 0],
    ] as const) {
      let isActive = true;
      const at = pipelineScene({ isActive: () => isActive });
      at.advance(0);
      isActive = false;
      at.advance(600_000);
      at.answer({ verdict, startedAtMs: 5_010 });
      expect([at.runs.length, at.judged.length, at.pipeline.dueTimes.skipped]).toEqual([1, judged, 0]);
    }
  });

  it("comes back sooner after a failure, by the monitor's rules", () => {
    const at = pipelineScene({ monitors: [monitorOf({ intervalS: 600 })] });
    at.advance(0);
    at.answer({ verdict: "refused" });
    at.advance(30_000);
    expect(at.runs).toHaveLength(2);
  });

  it("judges a heartbeat's deadline, and sets the next one", () => {
    const at = pipelineScene({ monitors: [monitorOf({ kind: "push", intervalS: 60, graceS: 30, host: null })] });
    at.advance(89_999);
    expect(at.judged).toEqual([]);
    at.advance(1);
    at.advance(60_000);
    expect(at.verdicts()).toEqual([
      ["timeout", 1],
      ["timeout", 1],
    ]);
    expect(at.runs).toEqual([]);
  });
});
