/** Jobs, and the monthly quota that tests are taken from (open-points 4.1, 18.7.12). */
import type { Selectable } from "kysely";
import { type Actor, SYSTEM_ACTOR } from "./control-plane.ts";
import { type Database, type Session, statement } from "./database.ts";
import { addEventToIncident } from "./incident-events.ts";
import type { JobEnd, Jobs, NewJob, OpenSyncJob, OpenTestJob, TestEnd, TestOrder } from "./ports/jobs.ts";
import type { JobTable } from "./tables.ts";
import { fromJson, storableOrNull, toJson } from "./text.ts";

type JobRow = Selectable<JobTable>;

/** Stands for a quota without an end. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

const ADD = statement(
  "add_job",
  `insert into jobs (kind, project_id, monitor_id, subscription_id, incident_id, test_id, location, created_at_ms, expires_at_ms)
   values (?, ?, ?, ?, ?, ?, ?, ?, ?)
   on conflict (subscription_id) where subscription_id is not null and ended_at_ms is null do nothing
   returning id`,
);
const OPEN_SYNC = statement("open_sync", "select id from jobs where subscription_id = ? and ended_at_ms is null");
const OPEN_SYNCS = statement(
  "open_syncs",
  "select * from jobs where kind = 'sync' and ended_at_ms is null order by id limit ?",
);
/** Projects take turns, so that one's thousands do not keep the others' waiting; bounded, because it is asked every second. */
const OPEN_TESTS = statement(
  "open_tests",
  `select * from (
     select j.*, row_number() over (partition by project_id order by id) as turn
     from (select * from jobs where kind in ('test', 'retest') and ended_at_ms is null order by id limit 20000) j
   ) t order by turn, id limit ?`,
);
const RESULT = statement("job_result", "select ended_at_ms, result from jobs where id = ?");
const END = statement(
  "end_job",
  `update jobs set ended_at_ms = ?, result = ? where id = ? and ended_at_ms is null returning incident_id, test_id`,
);
const PRUNE = statement("prune_jobs", "delete from jobs where ended_at_ms < ?");
const USED = statement("on_demand_used", "select used from on_demand where organization_id = ? and month = ?");
/** Answers a row only when something was left; holds it until the end of the transaction, so that of many at once none is let through too many. */
const TAKE = statement(
  "take_on_demand",
  `insert into on_demand (organization_id, month, used) values (?, ?, ?)
   on conflict (organization_id, month) do update set used = on_demand.used + excluded.used where on_demand.used < ?
   returning used`,
);

export function createJobs({ read, write }: Database): Jobs {
  return {
    order: (order) => write((session) => orderTests(session, order)),
    onDemandUsed: (organizationId, month) => usedOf(read, organizationId, month),
    async openTests(limit) {
      return (await read.query<JobRow>(OPEN_TESTS, limit)).map(toTest);
    },
    async openSyncs(limit) {
      return (await read.query<JobRow>(OPEN_SYNCS, limit)).map(toSync);
    },
    async testEnd(jobId) {
      const row = (await read.query<Pick<JobRow, "ended_at_ms" | "result">>(RESULT, jobId))[0];
      if (row === undefined) return undefined;
      return row.ended_at_ms === null || row.result === null ? null : fromJson<TestEnd>(row.result);
    },
    endTests: (ends) => write((session) => endTests(session, ends)),
    endSync: (jobId, atMs) => write(async (session) => void (await session.query(END, Math.round(atMs), null, jobId))),
    prune: (beforeMs) => write(async (session) => void (await session.query(PRUNE, Math.round(beforeMs)))),
  };
}

/**
 * In the transaction of what asks for it.
 * @returns the job's id; of a sync that is open already, that one's
 */
export async function appendJob(session: Session, job: NewJob): Promise<number> {
  const added = await session.query<{ id: number }>(ADD, ...valuesOf(job));
  if (added[0] !== undefined) return added[0].id;
  const open = job.kind === "sync" ? await openSyncJob(session, job.subscriptionId) : undefined;
  if (open === undefined) throw new Error(`a ${job.kind} job was not taken in`);
  return open;
}

/** The subscription's sync that waits or runs. */
export async function openSyncJob(session: Session, subscriptionId: number): Promise<number | undefined> {
  return (await session.query<{ id: number }>(OPEN_SYNC, subscriptionId))[0]?.id;
}

/** In the sink's transaction, and for tests that never ran. A job that ended before, or is gone with its monitor, stays as it is. */
export async function endTests(session: Session, ends: readonly JobEnd[]): Promise<void> {
  for (const { jobId, end, atMs } of ends) {
    const result = toJson({ ...end, message: storableOrNull(end.message) });
    const [ended] = await session.query<Pick<JobRow, "incident_id" | "test_id">>(END, Math.round(atMs), result, jobId);
    if (ended === undefined || ended.incident_id === null) continue;
    await addEventToIncident(session, ended.incident_id, {
      type: "retest_finished",
      atMs,
      message: "Retest finished",
      actor: SYSTEM_ACTOR,
      location: null,
      data: {
        test_id: ended.test_id,
        status: end.status,
        latency_ms: end.latencyMs,
        error_message: end.message,
      },
    });
  }
}

async function orderTests(session: Session, order: TestOrder) {
  const { organizationId, month, quota, jobs, actor } = order;
  if (quota !== null && quota <= 0) return refused(session, organizationId, month);
  const taken = await session.query(TAKE, organizationId, month, jobs.length, quota ?? UNLIMITED);
  if (taken.length === 0) return refused(session, organizationId, month);
  const jobIds: number[] = [];
  for (const job of jobs) {
    jobIds.push(await appendJob(session, job));
    if (job.incidentId !== null) await tellIncident(session, job.incidentId, job.testId, job.atMs, actor);
  }
  return { type: "queued", jobIds } as const;
}

async function tellIncident(session: Session, incidentId: number, testId: string, atMs: number, actor: Actor) {
  const data = { test_id: testId };
  await addEventToIncident(session, incidentId, {
    type: "retest_queued",
    atMs,
    message: "Retest queued",
    actor,
    location: null,
    data,
  });
}

async function refused(session: Session, organizationId: number, month: string) {
  return { type: "refused", used: await usedOf(session, organizationId, month) } as const;
}

async function usedOf(session: Session, organizationId: number, month: string): Promise<number> {
  return (await session.query<{ used: number }>(USED, organizationId, month))[0]?.used ?? 0;
}

function valuesOf(job: NewJob) {
  const { kind, projectId } = job;
  const atMs = Math.round(job.atMs);
  if (kind === "sync") return [kind, projectId, null, job.subscriptionId, null, null, null, atMs, null];
  const { monitorId, incidentId, testId, location, expiresAtMs } = job;
  return [kind, projectId, monitorId, null, incidentId, testId, location, atMs, Math.round(expiresAtMs)];
}

function toTest(row: JobRow): OpenTestJob {
  return {
    id: row.id,
    kind: row.kind as OpenTestJob["kind"],
    projectId: row.project_id,
    monitorId: row.monitor_id ?? 0,
    testId: row.test_id ?? "",
    location: row.location ?? "",
    incidentId: row.incident_id,
    atMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms ?? row.created_at_ms,
  };
}

function toSync(row: JobRow): OpenSyncJob {
  return {
    id: row.id,
    kind: "sync",
    projectId: row.project_id,
    subscriptionId: row.subscription_id ?? 0,
    atMs: row.created_at_ms,
  };
}
