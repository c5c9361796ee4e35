/**
 * Test jobs: tests and retests that a user asked for, rows of SQL until done. Each runs once, on demand, is judged and applied like a
 * turn of its monitor, and ends in the transaction of the sink that writes its result; so a crash in between loses and doubles
 * nothing. What did not end is run again after a restart, and what could not start in its time ends as a fault of ours.
 */
import { ConcurrencyLimit } from "../../engine/limits/concurrency.ts";
import { isPassive } from "../../model/kind.ts";
import { isActive } from "../../model/monitor.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { ShardLease } from "../../store/sql/coordination/shards-port.ts";
import type { EndedTest, OpenTestJob, TestResult } from "../../store/sql/jobs/port.ts";
import type { MonitorWithLive } from "../../store/sql/monitors/port.ts";
import type { Notices } from "../../store/state/state.ts";
import type { Run } from "../plan/planned-check.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import type { CheckPipeline } from "./pipeline.ts";
import type { MonitorStates } from "./states.ts";

/** Rows of one look; the rest is seen when these have ended. */
const LOOK_ROWS = 1_000;
/** Tests in flight in this process: a share of their own, so that a large batch leaves room for turns. */
const IN_FLIGHT_LIMIT = 128;
/** How long ends are kept for callers that still wait, ms: far beyond the 75 s of POST /test. */
const KEPT_MS = 3_600_000;
const PRUNED_EVERY_MS = 60_000;

export interface TestJobsOptions {
  readonly controlPlane: Pick<ControlPlane, "jobs" | "monitors">;
  readonly ownedShards: Pick<OwnedShards, "leaseOf" | "filter" | "hasFirst">;
  readonly states: Pick<MonitorStates, "set">;
  readonly pipeline: Pick<CheckPipeline, "onDemandRuns" | "record" | "judged">;
  readonly notices: Pick<Notices, "publish">;
  readonly nowMs: () => number;
}

interface Pending {
  readonly job: OpenTestJob;
  /** null while it is being prepared, and after it ended. */
  run: Run | null;
  /** It runs what its monitor was before. */
  isObsolete: boolean;
}

/** A test that ends without a run. */
interface Unrun {
  readonly job: OpenTestJob;
  readonly lease: ShardLease;
  readonly end: EndedTest;
}

export class TestJobs {
  readonly #options: TestJobsOptions;
  readonly #limit = new ConcurrencyLimit<Run>(IN_FLIGHT_LIMIT);
  /** Taken up, by job; kept until the row is no longer open. */
  readonly #taken = new Map<number, Pending>();
  #prunedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: TestJobsOptions) {
    this.#options = options;
  }

  /** Whether some were taken up that may not have ended: their time may pass. */
  get areOpen(): boolean {
    return this.#taken.size > 0;
  }

  /** Takes up what was asked for since, and ends what is too old. */
  async look(): Promise<void> {
    const { controlPlane, ownedShards } = this.#options;
    const open = await controlPlane.jobs.openTests(LOOK_ROWS, ownedShards.filter());
    // Jobs that are missing are no longer open, but only if this look read all open jobs.
    if (open.length < LOOK_ROWS) this.#forgetEnded(new Set(open.map((job) => job.id)));
    this.#takeBackLate();
    await this.#endUnrun(await this.#startAll(open));
    await this.#prune();
  }

  /** @returns those that end without a run */
  async #startAll(open: readonly OpenTestJob[]): Promise<readonly Unrun[]> {
    const unrun: Unrun[] = [];
    for (const job of open) {
      const lease = this.#options.ownedShards.leaseOf(job.monitorId);
      if (this.#taken.has(job.id) || lease === undefined) continue;
      const pending: Pending = { job, run: null, isObsolete: false };
      const end = await this.#prepare(pending);
      if (end === "another's") continue;
      if (end === undefined) this.#taken.set(job.id, pending);
      else unrun.push({ job, lease, end });
    }
    return unrun;
  }

  /** @returns how it ends without a run; undefined when it was started; "another's" when its shard was lost meanwhile */
  async #prepare(pending: Pending): Promise<EndedTest | undefined | "another's"> {
    const { controlPlane, ownedShards, nowMs } = this.#options;
    const { job } = pending;
    if (nowMs() > job.expiresAtMs) return unrun(job, "expired", nowMs());
    const found = await controlPlane.monitors.recall(job.monitorId);
    if (ownedShards.leaseOf(job.monitorId) === undefined) return "another's";
    if (found === undefined || isPassive(found.monitor.kind)) return unrun(job, "gone", nowMs());
    if (!isActive(found.monitor)) return unrun(job, "paused", nowMs());
    this.#start(pending, found);
    return undefined;
  }

  #start(pending: Pending, { monitor, live }: MonitorWithLive): void {
    const { pipeline, states } = this.#options;
    const { id: jobId, location } = pending.job;
    // As it is now, before it is judged.
    states.set(monitor, live);
    pending.isObsolete = false;
    pending.run = pipeline.onDemandRuns.start({
      monitor,
      location,
      limit: this.#limit,
      onEnd: (outcome, attempt, planned) => {
        pending.run = null;
        // The next look starts the job again, until it is too old. So it does when no checker could run it.
        if (pending.isObsolete || outcome.verdict === "cancelled") return void this.#taken.delete(jobId);
        const judged = pipeline.record({ monitor, location, attempt, inboxId: null, jobId }, outcome);
        if (planned !== undefined) pipeline.judged(planned, judged);
      },
    });
  }

  #forgetEnded(openIds: ReadonlySet<number>): void {
    for (const id of this.#taken.keys()) if (!openIds.has(id)) this.#taken.delete(id);
  }

  /** Withdraws runs that have waited for a limit too long. The next look ends their jobs as too old. */
  #takeBackLate(): void {
    const nowMs = this.#options.nowMs();
    for (const [id, { run, job }] of this.#taken) {
      if (run !== null && nowMs > job.expiresAtMs && this.#withdraw(run)) this.#taken.delete(id);
    }
  }

  /** Ends what never ran, each under its shard's epoch. */
  async #endUnrun(unrun: readonly Unrun[]): Promise<void> {
    const { controlPlane, ownedShards, notices } = this.#options;
    const ours = unrun.filter(({ job, lease }) => ownedShards.leaseOf(job.monitorId)?.epoch === lease.epoch);
    if (ours.length === 0) return;
    const leases = new Map(ours.map(({ lease }) => [lease.shard, lease]));
    await controlPlane.jobs.endTests(
      ours.map(({ end }) => end),
      [...leases.values()],
    );
    notices.publish("jobs");
  }

  /** The holder of the first shard forgets old jobs for all schedulers. */
  async #prune(): Promise<void> {
    const { controlPlane, ownedShards, nowMs } = this.#options;
    if (!ownedShards.hasFirst || nowMs() - this.#prunedAtMs < PRUNED_EVERY_MS) return;
    this.#prunedAtMs = nowMs();
    await controlPlane.jobs.prune(nowMs() - KEPT_MS);
  }

  /** The monitor was changed or deleted: its open tests start again, with the new settings. */
  refresh(monitorId: number): void {
    for (const [id, pending] of this.#taken) {
      if (pending.job.monitorId !== monitorId || pending.run === null) continue;
      if (this.#withdraw(pending.run)) this.#taken.delete(id);
      else pending.isObsolete = true;
    }
  }

  /** Forgets tests of monitors that another scheduler holds now: that scheduler runs them. */
  forget(): void {
    for (const [id, pending] of this.#taken) {
      if (this.#options.ownedShards.leaseOf(pending.job.monitorId) !== undefined) continue;
      pending.isObsolete = true;
      if (pending.run === null || this.#withdraw(pending.run)) this.#taken.delete(id);
    }
  }

  /** @returns whether it had not begun; then it never does */
  #withdraw(run: Run): boolean {
    return this.#options.pipeline.onDemandRuns.withdraw(run);
  }
}

const REASONS: Readonly<Record<Exclude<TestResult["reason"], "ran">, string>> = {
  paused: "The test was not run: the monitor was paused",
  gone: "The test was not run: the monitor is gone",
  expired: "The test was not run in time: the checker was busy or away. This says nothing about the server.",
};

/** Nothing was measured, so nothing is said about the target. */
function unrun(job: OpenTestJob, reason: Exclude<TestResult["reason"], "ran">, atMs: number): EndedTest {
  const message = REASONS[reason];
  const end: TestResult = { reason, status: "degraded", latencyMs: null, connectMs: null, message, testedAtMs: atMs };
  return { jobId: job.id, end, atMs };
}
