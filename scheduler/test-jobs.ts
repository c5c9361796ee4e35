/**
 * Test jobs: tests and retests that a user asked for, rows of SQL until done. Each runs once as an errand, is judged and applied like a
 * turn of its monitor, and ends in the very transaction of the sink that writes its result; so a death in between loses and doubles
 * nothing. What did not end is run again after a restart, and what could not start in its time ends as a fault of ours.
 */

import { isActive } from "../model/monitor.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { ControlPlane, MonitorWithLive } from "../store/sql/control-plane.ts";
import type { JobEnd, OpenTestJob, TestEnd } from "../store/sql/ports/jobs.ts";
import type { Fence, Part } from "../store/sql/ports/shards.ts";
import type { Entry } from "./entry.ts";
import type { Errands } from "./errands.ts";
import { createGate } from "./gates.ts";
import type { JudgedItem, Taken } from "./ledger.ts";

/** Rows of one look; the rest is seen when these have ended. */
const LOOK_ROWS = 1_000;
/** Tests in flight in this process: a share of their own, so that a large batch leaves room for turns. */
const IN_FLIGHT_LIMIT = 128;
/** How long ends are kept for callers that still wait, ms: far beyond the 75 s of POST /test. */
const KEPT_MS = 3_600_000;
const PRUNED_EVERY_MS = 60_000;

export interface TestJobsOptions {
  readonly controlPlane: Pick<ControlPlane, "jobs" | "monitors">;
  readonly errands: Errands;
  readonly nowMs: () => number;
  /** Tests of these monitors are ours to run. */
  readonly part: () => Part;
  readonly fenceOf: (monitorId: number) => Fence | undefined;
  /** Whether this process forgets old jobs for all. */
  readonly isPruner: () => boolean;
  /** Takes in the monitor as it is now, before it is judged. */
  readonly remember: (found: MonitorWithLive) => void;
  /** Judges and writes the outcome. */
  readonly record: (taken: Taken, outcome: CheckOutcome) => JudgedItem;
  /** The monitor's own entry was checked, and its next turn may come sooner. */
  readonly onTested: (own: Entry, judged: JudgedItem) => void;
  /** Tests have ended without a result: callers that wait may look. */
  readonly onEnded: () => void;
}

export interface TestJobs {
  /** Takes up what was asked for since, and ends what is too old. */
  look(): Promise<void>;
  /** The monitor is another now, or gone: what has not ended starts anew with what it is. */
  refresh(monitorId: number): void;
  /** Tests of monitors that are no longer ours: their scheduler runs them. */
  forget(): void;
}

interface Pending {
  readonly job: OpenTestJob;
  /** null while it is being prepared, and after it ended. */
  errand: Entry | null;
  /** It runs what its monitor was before. */
  isObsolete: boolean;
}

interface Unrun {
  readonly job: OpenTestJob;
  readonly fence: Fence;
  readonly end: JobEnd;
}

export function createTestJobs(options: TestJobsOptions): TestJobs {
  const { controlPlane, errands, nowMs } = options;
  const { jobs } = controlPlane;
  const lane = createGate(IN_FLIGHT_LIMIT);
  /** Taken up; kept until the row is no longer open. */
  const taken = new Map<number, Pending>();
  let prunedAtMs = Number.NEGATIVE_INFINITY;

  function start(pending: Pending, found: MonitorWithLive): void {
    const { id: jobId, location } = pending.job;
    const { monitor } = found;
    options.remember(found);
    pending.isObsolete = false;
    pending.errand = errands.start({
      monitor,
      location,
      lane,
      end(outcome, attempt, own) {
        pending.errand = null;
        // The next look takes it again, also when no checker could run it, until it is too old.
        if (pending.isObsolete || outcome.verdict === "cancelled") return void taken.delete(jobId);
        const judged = options.record({ monitor, location, attempt, inboxId: null, jobId }, outcome);
        if (own !== undefined) options.onTested(own, judged);
      },
    });
  }

  /** @returns how it ends without a run; undefined when it was started; "another's" when its shard was lost meanwhile */
  async function prepare(pending: Pending): Promise<JobEnd | undefined | "another's"> {
    const { job } = pending;
    if (nowMs() > job.expiresAtMs) return unrun(job, "expired", nowMs());
    const found = await controlPlane.monitors.recall(job.monitorId);
    if (options.fenceOf(job.monitorId) === undefined) return "another's";
    if (found === undefined || found.monitor.kind === "push") return unrun(job, "gone", nowMs());
    if (!isActive(found.monitor)) return unrun(job, "paused", nowMs());
    start(pending, found);
    return undefined;
  }

  function forgetEnded(openIds: ReadonlySet<number>): void {
    for (const id of taken.keys()) if (!openIds.has(id)) taken.delete(id);
  }

  /** What waits for a cap beyond its time is looked at anew, and found too old. */
  function takeBackLate(): void {
    for (const [id, { errand, job }] of taken) {
      if (errand !== null && nowMs() > job.expiresAtMs && errands.withdraw(errand)) taken.delete(id);
    }
  }

  /** Ends what never ran, each under its shard's epoch. */
  async function endUnrun(unrun: readonly Unrun[]): Promise<void> {
    const ours = unrun.filter(({ job, fence }) => options.fenceOf(job.monitorId)?.epoch === fence.epoch);
    if (ours.length === 0) return;
    const fences = new Map(ours.map(({ fence }) => [fence.shard, fence]));
    await jobs.endTests(
      ours.map(({ end }) => end),
      [...fences.values()],
    );
    options.onEnded();
  }

  async function prune(): Promise<void> {
    if (!options.isPruner() || nowMs() - prunedAtMs < PRUNED_EVERY_MS) return;
    prunedAtMs = nowMs();
    await jobs.prune(nowMs() - KEPT_MS);
  }

  return {
    async look() {
      const open = await jobs.openTests(LOOK_ROWS, options.part());
      // Only a look that sees all of them tells what is no longer open.
      if (open.length < LOOK_ROWS) forgetEnded(new Set(open.map((job) => job.id)));
      takeBackLate();
      const unrun: Unrun[] = [];
      for (const job of open) {
        const fence = options.fenceOf(job.monitorId);
        if (taken.has(job.id) || fence === undefined) continue;
        const pending: Pending = { job, errand: null, isObsolete: false };
        const end = await prepare(pending);
        if (end === "another's") continue;
        if (end === undefined) taken.set(job.id, pending);
        else unrun.push({ job, fence, end });
      }
      await endUnrun(unrun);
      await prune();
    },
    refresh(monitorId) {
      for (const [id, pending] of taken) {
        if (pending.job.monitorId !== monitorId || pending.errand === null) continue;
        if (errands.withdraw(pending.errand)) taken.delete(id);
        else pending.isObsolete = true;
      }
    },
    forget() {
      for (const [id, pending] of taken) {
        if (options.fenceOf(pending.job.monitorId) !== undefined) continue;
        pending.isObsolete = true;
        if (pending.errand === null || errands.withdraw(pending.errand)) taken.delete(id);
      }
    },
  };
}

const REASONS: Readonly<Record<Exclude<TestEnd["reason"], "ran">, string>> = {
  paused: "The test was not run: the monitor was paused",
  gone: "The test was not run: the monitor is gone",
  expired: "The test was not run in time: the checker was busy or away. This says nothing about the server.",
};

/** Nothing was measured, so nothing is said about the target. */
function unrun(job: OpenTestJob, reason: Exclude<TestEnd["reason"], "ran">, atMs: number): JobEnd {
  const message = REASONS[reason];
  const end: TestEnd = { reason, status: "degraded", latencyMs: null, connectMs: null, message, testedAtMs: atMs };
  return { jobId: job.id, end, atMs };
}
