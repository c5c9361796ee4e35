/** Subscriptions, and what a change of one means for the monitors it imported: all of it in one transaction. */
import { SHRUNKEN_REFUSALS } from "../../../model/sync.ts";
import { URL_HASH_KEY } from "../../sealed-cells.ts";
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { isTaken } from "../db/unique.ts";
import { appendJob, openSyncJob } from "../jobs/jobs.ts";
import { type BulkChange, changeMonitors, holdImported } from "../monitors/bulk.ts";
import { decoder } from "../schema/column.ts";
import { NOT_SEALED_YET, sealedFor } from "../schema/seal-new.ts";
import { type Row, SUBSCRIPTIONS } from "../schema/tables.ts";
import { storableOrNull } from "../schema/text.ts";
import {
  type NewSubscription,
  type SubscriptionChange,
  type SubscriptionRecord,
  type Subscriptions,
  type SyncRequest,
  UrlTakenError,
} from "./port.ts";

export const toSubscription: (row: Row<"subscriptions">) => SubscriptionRecord = decoder(SUBSCRIPTIONS);

export function createSubscriptions({ read, write }: Database): Subscriptions {
  return {
    create: (input) => write((session) => create(session, input)),
    async find(projectId, id) {
      const row = await one(read, projectId, id).executeTakeFirst();
      return row && toSubscription(row);
    },
    async recall(id) {
      const row = await read.kysely.selectFrom("subscriptions").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toSubscription(row);
    },
    async list(projectId, limit, offset) {
      const ofProject = read.kysely.selectFrom("subscriptions").where("project_id", "=", projectId);
      const rows = await ofProject.selectAll().orderBy("id").limit(limit).offset(offset).execute();
      const { total } = await ofProject.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      return { rows: rows.map(toSubscription), total };
    },
    update: (projectId, id, change, nowMs) =>
      write(async (session) => {
        const now = await hold(session, projectId, id);
        return now && update(session, now, change, nowMs);
      }),
    remove: (projectId, id, nowMs) => write((session) => remove(session, projectId, id, nowMs)),
    requestSync: (projectId, id, nowMs) => write((session) => requestSync(session, projectId, id, nowMs)),
    holder: (projectId, urlHash) => holderOf(read, projectId, urlHash),
    async hashKey(fresh) {
      const known = await sealedHashKey(read);
      if (known !== undefined) return known;
      const sealed = fresh();
      return write(async (session) => {
        await session.kysely
          .insertInto("hash_keys")
          .values({ id: URL_HASH_KEY, sealed })
          .onConflict((conflict) => conflict.column("id").doNothing())
          .execute();
        return (await sealedHashKey(session)) ?? sealed;
      });
    },
    async excluded(id) {
      const rows = await read.kysely
        .selectFrom("excluded_servers")
        .select("server_address as address")
        .where("subscription_id", "=", id)
        .orderBy("server_address")
        .execute();
      return rows.map((row) => row.address);
    },
  };
}

async function sealedHashKey({ kysely }: Session): Promise<string | undefined> {
  const key = kysely.selectFrom("hash_keys").select("sealed").where("id", "=", URL_HASH_KEY);
  return (await key.executeTakeFirst())?.sealed;
}

async function holderOf({ kysely }: Session, projectId: number, urlHash: string): Promise<number | undefined> {
  const row = await kysely
    .selectFrom("subscriptions")
    .select("id")
    .where("project_id", "=", projectId)
    .where("url_hash", "=", urlHash)
    .executeTakeFirst();
  return row?.id;
}

function one(session: Session, projectId: number, id: number) {
  return session.kysely
    .selectFrom("subscriptions")
    .selectAll()
    .where("id", "=", id)
    .where("project_id", "=", projectId);
}

/** Held against other writers until the transaction ends. */
export async function hold(session: Session, projectId: number, id: number): Promise<SubscriptionRecord | undefined> {
  const query = one(session, projectId, id);
  const row = await (session.dialect === "postgres" ? query.forNoKeyUpdate() : query).executeTakeFirst();
  return row && toSubscription(row);
}

export async function create(session: Session, input: NewSubscription): Promise<SubscriptionRecord> {
  const row = await session.kysely
    .insertInto("subscriptions")
    .values({
      project_id: input.projectId,
      organization_id: input.organizationId,
      name: storableOrNull(input.name),
      url_sealed: NOT_SEALED_YET,
      url_hash: input.urlHash,
      sync_interval_s: input.syncIntervalS,
      timeout_s: input.timeoutS,
      max_workers: input.maxWorkers,
      config_alert_percent: input.configAlertPercent,
      engine: "both",
      enabled: input.enabled ? 1 : 0,
      last_synced_at_ms: null,
      last_server_count: null,
      last_sync_status: "pending",
      sync_error_message: null,
      failures: 0,
      shrunken: 0,
      attempted_at_ms: null,
      created_at_ms: input.nowMs,
      updated_at_ms: input.nowMs,
    })
    .onConflict((conflict) => conflict.columns(["project_id", "url_hash"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw new UrlTakenError();
  const urlSealed = sealedFor(row.id, input.urlSealed);
  await session.kysely.updateTable("subscriptions").set({ url_sealed: urlSealed }).where("id", "=", row.id).execute();
  const created = toSubscription({ ...row, url_sealed: urlSealed });
  if (created.enabled) await queueSync(session, created, input.nowMs);
  return created;
}

export async function update(
  session: Session,
  now: SubscriptionRecord,
  { url, ...values }: SubscriptionChange,
  nowMs: number,
): Promise<SubscriptionRecord> {
  const isMoved = url !== undefined && (await takeUrl(session, now, url));
  const present = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  let after: SubscriptionRecord = { ...now, ...present };
  const isSwitchedOn = after.enabled && !now.enabled;
  if (isSwitchedOn) after = { ...after, failures: 0 };
  const isSynced = after.enabled && (isSwitchedOn || isMoved);
  if (isSynced) after = { ...after, lastSyncStatus: "pending" };
  if (!isMoved && JSON.stringify(after) === JSON.stringify(now)) return now;
  after = { ...after, name: storableOrNull(after.name), updatedAtMs: nowMs };
  await save(session, after);
  await followMonitors(session, now, after, nowMs);
  if (isSynced) await queueSync(session, after, nowMs);
  return after;
}

/** @throws UrlTakenError @returns whether it is another address than before */
async function takeUrl(
  session: Session,
  { id, projectId }: SubscriptionRecord,
  { sealed, hash }: { readonly sealed: string; readonly hash: string },
): Promise<boolean> {
  const { kysely } = session;
  const holder = await holderOf(session, projectId, hash);
  if (holder === id) return false;
  if (holder !== undefined) throw new UrlTakenError();
  try {
    await kysely
      .updateTable("subscriptions")
      // Another provider's list may have any length: it is not compared with the former one's (docs/api-contract.md#subscriptions).
      .set({ url_sealed: sealed, url_hash: hash, shrunken: SHRUNKEN_REFUSALS })
      .where("id", "=", id)
      .execute();
  } catch (error) {
    // Another process stored the address first; on PostgreSQL only the unique index finds that out.
    if (isTaken(error)) throw new UrlTakenError();
    throw error;
  }
  return true;
}

/** Intervals and timeouts are the monitors' too; switching off and on pauses and resumes them (docs/api-contract.md#subscriptions). */
async function followMonitors(
  session: Session,
  before: SubscriptionRecord,
  after: SubscriptionRecord,
  nowMs: number,
): Promise<void> {
  const wanted: BulkChange = {
    ...(before.syncIntervalS !== after.syncIntervalS && { intervalS: after.syncIntervalS }),
    ...(before.timeoutS !== after.timeoutS && { timeoutS: after.timeoutS }),
    ...(before.enabled && !after.enabled && { addPauseReason: "subscription" as const }),
    ...(!before.enabled && after.enabled && { removePauseReasons: ["subscription", "user"] as const }),
  };
  if (Object.keys(wanted).length > 0) {
    await changeMonitors(session, await holdImported(session, after.id), wanted, nowMs);
  }
  const followed = ["maxWorkers", "engine", "configAlertPercent"] as const;
  if (followed.every((name) => before[name] === after[name])) return;
  await holdImported(session, after.id);
  // Nothing of the monitors differs, but how many of them run at once, on what, and when they alert.
  await session.kysely
    .updateTable("monitors")
    .set({ generation: await raiseGeneration(session) })
    .where("subscription_id", "=", after.id)
    .where("deleted_at_ms", "is", null)
    .execute();
}

export async function remove(
  session: Session,
  projectId: number,
  id: number,
  nowMs: number,
): Promise<number | undefined> {
  const now = await hold(session, projectId, id);
  if (now === undefined) return undefined;
  const { kysely } = session;
  const held = await holdImported(session, id);
  // Ordinary paused monitors from now on: nothing but a person's wish keeps them paused (docs/api-contract.md#subscriptions).
  const wanted: BulkChange = { addPauseReason: "user", removePauseReasons: ["subscription", "provider"] };
  await changeMonitors(session, held, wanted, nowMs);
  await kysely.updateTable("monitors").set({ subscription_id: null }).where("subscription_id", "=", id).execute();
  await kysely.deleteFrom("jobs").where("subscription_id", "=", id).execute();
  await kysely.deleteFrom("excluded_servers").where("subscription_id", "=", id).execute();
  await kysely.deleteFrom("subscriptions").where("id", "=", id).execute();
  return held.length;
}

async function requestSync(
  session: Session,
  projectId: number,
  id: number,
  nowMs: number,
): Promise<SyncRequest | undefined> {
  const now = await hold(session, projectId, id);
  if (now === undefined) return undefined;
  if (!now.enabled) return { subscription: await update(session, now, { enabled: true }, nowMs), isNew: true };
  if ((await openSyncJob(session, id)) !== undefined) return { subscription: now, isNew: false };
  const subscription: SubscriptionRecord = { ...now, lastSyncStatus: "pending" };
  await save(session, subscription);
  await queueSync(session, subscription, nowMs);
  return { subscription, isNew: true };
}

async function queueSync(session: Session, { id, projectId }: SubscriptionRecord, atMs: number): Promise<void> {
  await appendJob(session, { kind: "sync", projectId, subscriptionId: id, atMs });
}

/** Changes everything but the address. */
async function save(session: Session, record: SubscriptionRecord): Promise<void> {
  await session.kysely
    .updateTable("subscriptions")
    .set({
      name: record.name,
      sync_interval_s: record.syncIntervalS,
      timeout_s: record.timeoutS,
      max_workers: record.maxWorkers,
      config_alert_percent: record.configAlertPercent,
      engine: record.engine,
      enabled: record.enabled ? 1 : 0,
      last_sync_status: record.lastSyncStatus,
      failures: record.failures,
      updated_at_ms: record.updatedAtMs,
    })
    .where("id", "=", record.id)
    .execute();
}
