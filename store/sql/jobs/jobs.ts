/** Jobs, and the monthly quota that tests are taken from (docs/api-contract.md#tests, #plans). */
import type { Insertable } from "kysely";
import { type Actor, SYSTEM_ACTOR } from "../../../model/actor.ts";
import { IN_SHARDS, shardFilterValues } from "../coordination/shard-filter.ts";
import { assertShards } from "../coordination/shards.ts";
import { type Database, type Session, statement } from "../db/database.ts";
import { addEventToIncident } from "../incidents/events.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { fromJson, storableOrNull, toJson } from "../schema/text.ts";
import type { EndedTest, Jobs, NewJob, OpenSyncJob, OpenTestJob, TestOrder, TestResult } from "./port.ts";

type JobRow = Row<"jobs">;

/** Stands for an unlimited quota. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

const OPEN_SYNC = statement("open_sync", "select id from jobs where subscription_id = ? and ended_at_ms is null");
/**
 * Workspaces take turns, and projects within each, so that thousands of jobs of one do not delay the others; bounded, because it runs
 * every second.
 */
const inTurns = (which: string): string => `select * from (
     select p.*, row_number() over (partition by organization_id order by project_turn, id) as turn
     from (
       select j.*, o.organization_id, row_number() over (partition by j.project_id order by j.id) as project_turn
       from (select * from jobs where ${which} and ended_at_ms is null order by id limit 20000) j
       join projects o on o.id = j.project_id
     ) p
   ) t order by turn, id limit ?`;
const OPEN_SYNCS = statement("open_syncs", inTurns("kind = 'sync'"));
const OPEN_TESTS = statement("open_tests", inTurns(`kind in ('test', 'retest') and ${IN_SHARDS}`));
const RESULT = statement("job_result", "select ended_at_ms, result from jobs where id = ?");
const END = statement(
  "end_job",
  `update jobs set ended_at_ms = ?, result = ? where id = ? and ended_at_ms is null returning incident_id, test_id`,
);
const PRUNE = statement("prune_jobs", "delete from jobs where ended_at_ms < ?");
const USED = statement("on_demand_used", "select used from on_demand where organization_id = ? and month = ?");
/** Answers a row only when something is left; locks it until the end of the transaction, so that concurrent calls cannot exceed the quota. */
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
    async openTests(limit, filter) {
      return (await read.query<JobRow>(OPEN_TESTS, ...shardFilterValues(filter), limit)).map(toTest);
    },
    async openSyncs(limit) {
      return (await read.query<JobRow & { readonly organization_id: number }>(OPEN_SYNCS, limit)).map(toSync);
    },
    async testResult(jobId) {
      const row = (await read.query<Pick<JobRow, "ended_at_ms" | "result">>(RESULT, jobId))[0];
      if (row === undefined) return undefined;
      return row.ended_at_ms === null || row.result === null ? null : fromJson<TestResult>(row.result);
    },
    async endedTests(projectIds, sinceMs, limit) {
      if (projectIds.length === 0) return [];
      const rows = await read.kysely
        .selectFrom("jobs")
        .select(["id", "project_id", "monitor_id", "test_id", "result"])
        .where("project_id", "in", [...projectIds])
        .where("kind", "in", ["test", "retest"])
        .where("ended_at_ms", ">=", Math.round(sinceMs))
        .orderBy("ended_at_ms", "desc")
        .limit(limit)
        .execute();
      return rows.flatMap(({ id, project_id, monitor_id, test_id, result }) =>
        monitor_id === null || test_id === null || result === null
          ? []
          : [{ id, projectId: project_id, monitorId: monitor_id, testId: test_id, result: fromJson(result) }],
      );
    },
    endTests: (ends, leases = []) =>
      write(async (session) => {
        await assertShards(session, leases);
        await endTests(session, ends);
      }),
    endSync: (jobId, atMs) => write((session) => endSyncJob(session, jobId, atMs)),
    prune: (beforeMs) => write(async (session) => void (await session.query(PRUNE, Math.round(beforeMs)))),
  };
}

/**
 * Runs in the transaction of the change that requests the job.
 * @returns the job's id; of a sync that is open already, that one's
 */
export async function appendJob(session: Session, job: NewJob): Promise<number> {
  const added = await session.kysely
    .insertInto("jobs")
    .values(rowOf(job))
    .onConflict((conflict) =>
      conflict
        .column("subscription_id")
        .where("subscription_id", "is not", null)
        .where("ended_at_ms", "is", null)
        .doNothing(),
    )
    .returning("id")
    .executeTakeFirst();
  if (added !== undefined) return added.id;
  const open = job.kind === "sync" ? await openSyncJob(session, job.subscriptionId) : undefined;
  if (open === undefined) throw new Error(`a ${job.kind} job was not taken in`);
  return open;
}

/** The subscription's sync that waits or runs. */
export async function openSyncJob(session: Session, subscriptionId: number): Promise<number | undefined> {
  return (await session.query<{ id: number }>(OPEN_SYNC, subscriptionId))[0]?.id;
}

export async function endSyncJob(session: Session, jobId: number, atMs: number): Promise<void> {
  await session.query(END, Math.round(atMs), null, jobId);
}

/** In the sink's transaction, and for tests that never ran. A job that ended before, or was deleted with its monitor, stays as it is. */
export async function endTests(session: Session, ends: readonly EndedTest[]): Promise<void> {
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
  // One statement, because others of the workspace wait; nine values each stay below SQLite's 32,766 parameters.
  const made = await session.kysely.insertInto("jobs").values(jobs.map(rowOf)).returning("id").execute();
  for (const { incidentId, testId, atMs } of jobs) {
    if (incidentId !== null) await tellIncident(session, incidentId, testId, atMs, actor);
  }
  // Ids are given in the order of the rows.
  const jobIds = made.map(({ id }) => id).sort((a, b) => a - b);
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

function rowOf(job: NewJob): Insertable<Tables["jobs"]> {
  const row = { kind: job.kind, project_id: job.projectId, created_at_ms: Math.round(job.atMs) };
  if (job.kind === "sync") return { ...row, subscription_id: job.subscriptionId };
  return {
    ...row,
    monitor_id: job.monitorId,
    incident_id: job.incidentId,
    test_id: job.testId,
    location: job.location,
    expires_at_ms: Math.round(job.expiresAtMs),
  };
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

function toSync(row: JobRow & { readonly organization_id: number }): OpenSyncJob {
  return {
    id: row.id,
    kind: "sync",
    projectId: row.project_id,
    organizationId: row.organization_id,
    subscriptionId: row.subscription_id ?? 0,
    atMs: row.created_at_ms,
  };
}
