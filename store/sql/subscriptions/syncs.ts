/** Syncs of subscriptions, written: what is due, and what came of one, each in one transaction that only the lease's holder may make. */
import { subscriptionEvent } from "../../../model/event.ts";
import type { Kind } from "../../../model/kind.ts";
import type { PauseReason } from "../../../model/monitor.ts";
import type { PlanTable } from "../../../model/plan.ts";
import {
  FAILURES_TO_DISABLE,
  type FormerServer,
  mayReplace,
  planSync,
  type SyncPlan,
  syncNote,
} from "../../../model/sync.ts";
import type { WorkspaceRecord } from "../accounts/port.ts";
import { holdWorkspace } from "../accounts/workspaces.ts";
import { assertLease } from "../coordination/leases.ts";
import { type Database, type Session, statement } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { appendEvents } from "../events/outbox.ts";
import { appendJob, endSyncJob } from "../jobs/jobs.ts";
import { changeMonitors, holdImported, holdMonitors } from "../monitors/bulk.ts";
import type { MonitorWithLive } from "../monitors/port.ts";
import { slotsUsed } from "../monitors/slots.ts";
import { fromJson, storableOrNull } from "../schema/text.ts";
import type { SubscriptionRecord } from "./port.ts";
import { toSubscription } from "./subscriptions.ts";
import { changeImported, createImported } from "./sync-writes.ts";
import { type EndedSync, SYNC_LEASE, type SyncOutcome, type SyncReport, type Syncs } from "./syncs-port.ts";

/** Those of projects and workspaces that are alive; the longest waiting first. */
const DUE = statement(
  "due_syncs",
  `select s.id, s.project_id from subscriptions s
   join projects p on p.id = s.project_id and p.active = 1
   join workspaces w on w.id = s.organization_id and w.suspended = 0
   where s.enabled = 1 and (s.attempted_at_ms is null or s.attempted_at_ms + s.sync_interval_s * 1000 <= ?)
     and not exists (select 1 from jobs j where j.subscription_id = s.id and j.ended_at_ms is null)
   order by s.attempted_at_ms, s.id limit ?`,
);
const NEEDED = statement(
  "syncs_needed",
  `select 1 as needed where exists (select 1 from subscriptions) or exists (select 1 from maintenances)
   or exists (select 1 from maintenance_windows)`,
);
const FORMER = statement(
  "former_servers",
  `select m.id, m.kind, m.pause_reasons, s.server_address, s.server_name, s.config_count, l.lateness_ms, m.active
   from monitors m join imported_servers s on s.monitor_id = m.id join live l on l.monitor_id = m.id
   where m.subscription_id = ? and m.deleted_at_ms is null order by m.id`,
);
const FORMER_CONFIGS = statement(
  "former_configs",
  `select c.id, c.monitor_id, c.identity, c.position, c.tag, c.port
   from monitors m join imported_configs c on c.monitor_id = m.id
   where m.subscription_id = ? and m.deleted_at_ms is null order by c.monitor_id, c.position`,
);

const NOTHING: Omit<SyncReport, "subscription"> = { created: 0, changed: 0, paused: 0, resumed: 0, leftOut: 0 };

export function createSyncs({ read, write }: Database): Syncs {
  return {
    isNeeded: async () => (await read.query(NEEDED)).length > 0,
    async queueDue(epoch, nowMs, limit) {
      const due = await read.query<{ id: number; project_id: number }>(DUE, Math.round(nowMs), limit);
      if (due.length === 0) return 0;
      await write(async (session) => {
        await assertLease(session, SYNC_LEASE, epoch);
        for (const { id, project_id: projectId } of due) await queue(session, projectId, id, nowMs);
      });
      return due.length;
    },
    end: (epoch, end) =>
      write(async (session) => {
        await assertLease(session, SYNC_LEASE, epoch);
        return endSync(session, end);
      }),
  };
}

/** The same as a sync that a user asked for. */
async function queue(session: Session, projectId: number, subscriptionId: number, atMs: number): Promise<void> {
  await session.kysely
    .updateTable("subscriptions")
    .set({ last_sync_status: "pending" })
    .where("id", "=", subscriptionId)
    .execute();
  await appendJob(session, { kind: "sync", projectId, subscriptionId, atMs });
}

async function endSync(session: Session, end: EndedSync): Promise<SyncReport> {
  const { job, atMs } = end;
  const held = await hold(session, job.subscriptionId);
  await endSyncJob(session, job.id, atMs);
  if (held === undefined) return { ...NOTHING, subscription: undefined };
  const { subscription, shrunken, workspace } = held;
  if (!subscription.enabled) return { ...NOTHING, subscription: undefined };
  if (subscription.urlSealed !== end.urlSealed) {
    // The address was changed or sealed again since the provider was asked: the sync runs again.
    await queue(session, subscription.projectId, subscription.id, atMs);
    return { ...NOTHING, subscription: undefined };
  }
  const outcome = judged(end.outcome, subscription, shrunken);
  if (outcome.kind === "failed") {
    const isShrunken = end.outcome.kind === "list" && end.outcome.servers.length > 0;
    return fail(session, subscription, outcome.message, isShrunken ? shrunken + 1 : shrunken, atMs);
  }
  return apply(session, { subscription, workspace }, outcome, end.plans, atMs);
}

/** Every transaction that needs several locks the workspace first, then its subscriptions, then their monitors. */
async function hold(session: Session, id: number) {
  const { kysely } = session;
  const owner = await kysely
    .selectFrom("subscriptions")
    .select("organization_id")
    .where("id", "=", id)
    .executeTakeFirst();
  if (owner === undefined) return undefined;
  const workspace = await holdWorkspace(session, owner.organization_id);
  const query = kysely.selectFrom("subscriptions").selectAll().where("id", "=", id);
  const row = await (session.dialect === "postgres" ? query.forNoKeyUpdate() : query).executeTakeFirst();
  if (row === undefined || workspace === undefined) return undefined;
  return { subscription: toSubscription(row), shrunken: row.shrunken, workspace };
}

/** A list that has become much shorter counts as a failure, until several lists in a row are as short. */
function judged(outcome: SyncOutcome, { lastServerCount }: SubscriptionRecord, shrunken: number): SyncOutcome {
  if (outcome.kind !== "list") return outcome;
  const formerCount = lastServerCount ?? 0;
  const count = outcome.servers.length;
  if (mayReplace(formerCount, count, shrunken)) return outcome;
  const message =
    count === 0
      ? "The list is empty."
      : `The list has shrunk from ${formerCount} servers to ${count}: it is taken if it stays so.`;
  return { kind: "failed", message };
}

async function apply(
  session: Session,
  { subscription, workspace }: { readonly subscription: SubscriptionRecord; readonly workspace: WorkspaceRecord },
  outcome: Exclude<SyncOutcome, { kind: "failed" }>,
  plans: PlanTable,
  atMs: number,
): Promise<SyncReport> {
  const slots = workspace.suspended ? 0 : plans[workspace.plan].tunnelSlots;
  const { former, latenessMs } = await formerOf(session, subscription.id);
  let counts = NOTHING;
  if (outcome.kind === "list") {
    const plan = planSync({
      former,
      listed: outcome.servers,
      excluded: await excludedOf(session, subscription.id),
      freeSlots: slots === null ? null : slots - (await slotsUsed(session, workspace.id)),
    });
    await write(session, subscription, plan, former, atMs);
    counts = countsOf(plan);
  }
  const note = syncNote({
    ...outcome,
    leftOut: counts.leftOut,
    slots: workspace.suspended ? null : slots,
    intervalS: subscription.syncIntervalS,
    maxWorkers: subscription.maxWorkers,
    latenessMs,
  });
  const lastServerCount = outcome.kind === "list" ? outcome.servers.length : subscription.lastServerCount;
  return succeed(session, subscription, { lastServerCount, note }, counts, atMs);
}

function countsOf({ created, changed, leftIds, returnedIds, leftOut }: SyncPlan): Omit<SyncReport, "subscription"> {
  return {
    created: created.length,
    changed: changed.length,
    paused: leftIds.length,
    resumed: returnedIds.length,
    leftOut,
  };
}

async function write(
  session: Session,
  subscription: SubscriptionRecord,
  { created, changed, leftIds, returnedIds }: SyncPlan,
  former: readonly FormerServer[],
  atMs: number,
): Promise<void> {
  const runOthers = changed.filter(({ runsOthers }) => runsOthers).map(({ monitorId }) => monitorId);
  const held = await holdMonitors(session, [...new Set([...leftIds, ...returnedIds, ...runOthers])]);
  const those = (ids: readonly number[]): readonly MonitorWithLive[] => {
    const wanted = new Set(ids);
    return held.filter(({ monitor }) => wanted.has(monitor.id));
  };
  await changeMonitors(session, those(leftIds), { addPauseReason: "provider" }, atMs);
  await changeMonitors(session, those(returnedIds), { removePauseReasons: ["provider"] }, atMs);
  if (created.length === 0 && changed.length === 0) return;
  const addressOf = new Map(former.map(({ monitorId, address }) => [monitorId, address]));
  const generation = await raiseGeneration(session);
  await changeImported(
    session,
    changed.map((change) => ({ ...change, address: addressOf.get(change.monitorId) ?? "" })),
    generation,
    atMs,
  );
  await createImported(session, subscription, created, generation, atMs);
}

async function formerOf(session: Session, subscriptionId: number) {
  const rows = await session.query<{
    id: number;
    kind: string;
    pause_reasons: string;
    server_address: string | null;
    server_name: string | null;
    config_count: number;
    lateness_ms: number | null;
    active: number;
  }>(FORMER, subscriptionId);
  const configs = await session.query<FormerServer["configs"][number] & { monitor_id: number }>(
    FORMER_CONFIGS,
    subscriptionId,
  );
  const configsOf = new Map<number, FormerServer["configs"][number][]>(rows.map(({ id }) => [id, []]));
  for (const { monitor_id: monitorId, ...config } of configs) configsOf.get(monitorId)?.push(config);
  const former = rows.map(
    (row): FormerServer => ({
      monitorId: row.id,
      address: row.server_address ?? "",
      name: row.server_name,
      kind: row.kind as Kind,
      configCount: row.config_count,
      pauseReasons: fromJson<PauseReason[]>(row.pause_reasons),
      configs: configsOf.get(row.id) ?? [],
    }),
  );
  const latenessMs = rows.flatMap((row) => (row.active === 1 && row.lateness_ms !== null ? [row.lateness_ms] : []));
  return { former, latenessMs };
}

async function excludedOf({ kysely }: Session, subscriptionId: number): Promise<ReadonlySet<string>> {
  const rows = await kysely
    .selectFrom("excluded_servers")
    .select("server_address")
    .where("subscription_id", "=", subscriptionId)
    .execute();
  return new Set(rows.map((row) => row.server_address));
}

async function succeed(
  session: Session,
  before: SubscriptionRecord,
  { lastServerCount, note }: { readonly lastServerCount: number | null; readonly note: string | null },
  counts: Omit<SyncReport, "subscription">,
  atMs: number,
): Promise<SyncReport> {
  const subscription: SubscriptionRecord = {
    ...before,
    lastSyncedAtMs: atMs,
    lastServerCount,
    lastSyncStatus: "success",
    syncErrorMessage: note,
    failures: 0,
    updatedAtMs: atMs,
  };
  await save(session, subscription, 0, atMs);
  return { ...counts, subscription };
}

async function fail(
  session: Session,
  before: SubscriptionRecord,
  message: string,
  shrunken: number,
  atMs: number,
): Promise<SyncReport> {
  const failures = before.failures + 1;
  const isDisabled = failures >= FAILURES_TO_DISABLE;
  const subscription: SubscriptionRecord = {
    ...before,
    enabled: !isDisabled,
    lastSyncStatus: isDisabled ? "auto_disabled" : "failed",
    syncErrorMessage: message,
    failures,
    updatedAtMs: atMs,
  };
  await save(session, subscription, shrunken, atMs);
  let paused = 0;
  if (isDisabled) {
    const held = await holdImported(session, subscription.id);
    paused = held.filter(({ monitor }) => monitor.pauseReasons.length === 0).length;
    await changeMonitors(session, held, { addPauseReason: "subscription" }, atMs);
  }
  const type = isDisabled ? "subscription.auto_disabled" : "subscription.sync_failed";
  await appendEvents(session, [subscriptionEvent(type, subscription, atMs)]);
  return { ...NOTHING, paused, subscription };
}

async function save(session: Session, record: SubscriptionRecord, shrunken: number, atMs: number): Promise<void> {
  await session.kysely
    .updateTable("subscriptions")
    .set({
      enabled: record.enabled ? 1 : 0,
      last_synced_at_ms: record.lastSyncedAtMs,
      last_server_count: record.lastServerCount,
      last_sync_status: record.lastSyncStatus,
      sync_error_message: storableOrNull(record.syncErrorMessage),
      failures: record.failures,
      shrunken,
      attempted_at_ms: Math.round(atMs),
      updated_at_ms: Math.round(atMs),
    })
    .where("id", "=", record.id)
    .execute();
}
