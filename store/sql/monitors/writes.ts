/** Monitors, changed. Each change is one transaction that also raises the generation and writes history. */

import { type Actor, SYSTEM_ACTOR } from "../../../model/actor.ts";
import { familyOf, WEBSITE_KINDS } from "../../../model/kind.ts";
import { newLiveState } from "../../../model/live.ts";
import type { Monitor } from "../../../model/monitor.ts";
import { Slices } from "../../slices.ts";
import { holdWorkspace } from "../accounts/workspaces.ts";
import { bulkInsert, insertRow, insertRows, rowInsert } from "../db/bulk.ts";
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { isTaken } from "../db/unique.ts";
import { sealedFor } from "../schema/seal-new.ts";
import { LIVE, MONITORS } from "../schema/tables.ts";
import { storable, storableOrNull } from "../schema/text.ts";
import { type HeldChange, holdWhole, tellChanges, writeChanges } from "./bulk.ts";
import { changeMonitor } from "./change.ts";
import { addHistory } from "./history.ts";
import { excludeImported, forgetImport } from "./imports.ts";
import { holdIds } from "./maintenance.ts";
import {
  type ManyChanged,
  type MonitorChange,
  type Monitors,
  type MonitorWithLive,
  type NewMonitor,
  SlotsFullError,
  TokenTakenError,
} from "./port.ts";
import { fromLive, fromMonitor, LIVE_COLUMNS, MONITOR_COLUMNS, SEALED_COLUMN, toMonitorWithLive } from "./rows.ts";
import { requireSlot, slotsUsed } from "./slots.ts";

type MonitorWrites = Pick<Monitors, "create" | "update" | "updateMany" | "remove" | "removeMany" | "setHostExpiry">;
const ADD_MONITOR = rowInsert(MONITORS);
const ADD_LIVE = bulkInsert(LIVE);

type HostExpiry = Parameters<Monitors["setHostExpiry"]>[2];

export function createMonitorWrites({ write }: Database): MonitorWrites {
  return {
    create: (input, actor, slots = null) =>
      write(async (session) => {
        if (familyOf(input.kind) === "tunnel") await requireSlot(session, input.organizationId, slots);
        return create(session, input, actor);
      }),
    update: (projectId, id, nowMs, actor, decide, slots = null) =>
      write(async (session) => {
        const now = await hold(session, projectId, id);
        if (now === undefined) return undefined;
        const wanted = decide(now);
        if (takesSlot(now, wanted)) await requireSlot(session, now.monitor.organizationId, slots);
        if (wanted.sealed !== undefined) await forgetImport(session, id);
        return change(session, now, wanted, nowMs, actor);
      }),
    updateMany: (projectId, ids, nowMs, actor, decide, options) =>
      write((session) => updateMany(session, projectId, ids, { nowMs, actor, decide, ...options })),
    remove: (projectId, id, nowMs) => write((session) => remove(session, projectId, id, nowMs)),
    removeMany: (projectId, ids, nowMs) =>
      write(async (session) => {
        let removed = 0;
        const slices = new Slices();
        for (const id of await holdIds(session, ids)) {
          if (await remove(session, projectId, id, nowMs)) removed += 1;
          await slices.rest();
        }
        return removed;
      }),
    setHostExpiry: (projectId, host, expiry, nowMs) =>
      write((session) => setHostExpiry(session, projectId, host, expiry, nowMs)),
  };
}

type UpdateMany = Parameters<Monitors["updateMany"]>;
interface ManyUpdate {
  readonly nowMs: number;
  readonly actor: Actor;
  readonly decide: UpdateMany[4];
  readonly slots: number | null;
  readonly isDry: boolean;
}

async function updateMany(
  session: Session,
  projectId: number,
  ids: readonly number[],
  { nowMs, actor, decide, slots, isDry }: ManyUpdate,
): Promise<ManyChanged> {
  const refused: ManyChanged["refused"][number][] = [];
  const changes: HeldChange[] = [];
  let unchanged = 0;
  const free = new FreeSlots(session, isDry ? null : slots);
  for (const now of await holdWhole(session, projectId, ids)) {
    const { id, name } = now.monitor;
    const wanted = decide(now);
    if ("refused" in wanted) {
      refused.push({ id, name, why: wanted.refused });
      continue;
    }
    const full = takesSlot(now, wanted) ? await free.take(now.monitor.organizationId) : null;
    const changed = full === null ? changeMonitor(now.monitor, wanted, nowMs) : null;
    if (full !== null) refused.push({ id, name, why: full });
    else if (changed?.isChanged === true) changes.push({ ...changed, status: now.live.status });
    else unchanged += 1;
  }
  if (!isDry) await writeChanges(session, changes, nowMs, actor);
  return { changed: changes.length, unchanged, refused };
}

/** Of the workspace of a project: what this transaction takes of them is written after all were taken. */
class FreeSlots {
  readonly #session: Session;
  readonly #slots: number | null;
  #used: number | null = null;

  /** @param slots null: unlimited */
  constructor(session: Session, slots: number | null) {
    this.#session = session;
    this.#slots = slots;
  }

  /** @returns null: there was one */
  async take(organizationId: number): Promise<SlotsFullError | null> {
    if (this.#slots === null) return null;
    if (this.#used === null) {
      await holdWorkspace(this.#session, organizationId);
      this.#used = await slotsUsed(this.#session, organizationId);
    }
    if (this.#used >= this.#slots) return new SlotsFullError(this.#used, this.#slots);
    this.#used += 1;
    return null;
  }
}

/** A tunnel that the plan paused has given its slot back (docs/api-contract.md#plans). */
export function takesSlot({ monitor }: MonitorWithLive, { removePauseReasons }: MonitorChange): boolean {
  return (
    familyOf(monitor.kind) === "tunnel" &&
    monitor.pauseReasons.includes("plan") &&
    removePauseReasons?.includes("plan") === true
  );
}

/** What is stored of a new one but its secrets, which are sealed for its id. */
export function monitorOf({ nowMs, heartbeatToken: _, sealed: _sealed, urlSealed: _url, ...monitor }: NewMonitor) {
  return {
    ...monitor,
    name: storable(monitor.name),
    host: storableOrNull(monitor.host),
    maintenance: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

async function create(session: Session, input: NewMonitor, actor: Actor): Promise<Monitor> {
  const { nowMs, heartbeatToken, sealed, urlSealed } = input;
  const monitor = monitorOf(input);
  const generation = await raiseGeneration(session);
  const id = await insertRow(session, ADD_MONITOR, { ...fromMonitor(monitor), generation });
  const secrets = {
    ...(sealed !== undefined && { sealed: sealedFor(id, sealed) }),
    ...(urlSealed !== undefined && { urlSealed: sealedFor(id, urlSealed) }),
  };
  if (sealed !== undefined || urlSealed !== undefined) {
    const columns = { sealed: secrets.sealed ?? null, url_sealed: secrets.urlSealed ?? null };
    await session.kysely.updateTable("monitors").set(columns).where("id", "=", id).execute();
  }
  await insertRows(session, ADD_LIVE, [fromLive(newLiveState(id))]);
  if (heartbeatToken !== null) {
    await addHeartbeat(session, id, heartbeatToken);
  }
  await addHistory(session, id, { type: "created", atMs: nowMs, message: "Monitor created", actor });
  return { ...monitor, ...secrets, id };
}

/** @throws TokenTakenError */
async function addHeartbeat(
  { kysely }: Session,
  id: number,
  { hash, sealed }: NonNullable<NewMonitor["heartbeatToken"]>,
): Promise<void> {
  const holders = kysely.selectFrom("heartbeats").where("token_hash", "=", hash);
  const holder = await holders.select("monitor_id as id").executeTakeFirst();
  if (holder !== undefined) {
    // Rows of a deleted monitor stay for a while, and its address is free.
    const gone = kysely
      .selectFrom("monitors")
      .select("id")
      .where("id", "=", holder.id)
      .where("deleted_at_ms", "is not", null);
    const { numDeletedRows } = await kysely.deleteFrom("heartbeats").where("monitor_id", "in", gone).executeTakeFirst();
    if (numDeletedRows === 0n) throw new TokenTakenError();
  }
  try {
    await kysely
      .insertInto("heartbeats")
      .values({ monitor_id: id, token_hash: hash, token_sealed: sealedFor(id, sealed), last_call_at_ms: null })
      .execute();
  } catch (error) {
    if (isTaken(error)) throw new TokenTakenError();
    throw error;
  }
}

/** The monitor, held against other writers until the transaction ends. */
async function hold(session: Session, projectId: number, id: number): Promise<MonitorWithLive | undefined> {
  let query = session.kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .select([...MONITOR_COLUMNS, SEALED_COLUMN, ...LIVE_COLUMNS])
    .where("m.id", "=", id)
    .where("m.project_id", "=", projectId)
    .where("m.deleted_at_ms", "is", null);
  if (session.dialect === "postgres") query = query.forNoKeyUpdate("m");
  const row = await query.executeTakeFirst();
  return row && toMonitorWithLive(row);
}

/** Changes a monitor that this transaction has locked. @returns the monitor after the change */
export async function change(
  session: Session,
  now: MonitorWithLive,
  wanted: MonitorChange,
  nowMs: number,
  actor: Actor,
): Promise<MonitorWithLive> {
  const changed = changeMonitor(now.monitor, wanted, nowMs);
  if (!changed.isChanged) return now;
  const { monitor } = changed;
  await tellChanges(session, [{ ...changed, status: now.live.status }], nowMs, actor);
  await session.kysely
    .updateTable("monitors")
    .set({ ...fromMonitor(monitor), generation: await raiseGeneration(session) })
    .where("id", "=", monitor.id)
    .execute();
  return { monitor, live: now.live };
}

/** A tombstone without settings stays: it informs the scheduler's plan, and results are hidden until they expire. */
export async function remove(session: Session, projectId: number, id: number, nowMs: number): Promise<boolean> {
  const now = await hold(session, projectId, id);
  if (now === undefined) return false;
  const { kysely } = session;
  await excludeImported(session, now.monitor);
  await kysely.deleteFrom("live").where("monitor_id", "=", id).execute();
  await kysely.deleteFrom("heartbeats").where("monitor_id", "=", id).execute();
  await kysely.deleteFrom("heartbeat_inbox").where("monitor_id", "=", id).execute();
  // Their events go with them (on delete cascade).
  await kysely.deleteFrom("incidents").where("monitor_id", "=", id).execute();
  await kysely.deleteFrom("history").where("monitor_id", "=", id).execute();
  await kysely.deleteFrom("maintenance_windows").where("monitor_id", "=", id).execute();
  await kysely.deleteFrom("expiry_alerts").where("monitor_id", "=", id).execute();
  await kysely.deleteFrom("jobs").where("monitor_id", "=", id).execute();
  const generation = await raiseGeneration(session);
  await kysely
    .updateTable("monitors")
    .set({ deleted_at_ms: nowMs, updated_at_ms: nowMs, generation, settings: "{}", sealed: null, url_sealed: null })
    .where("id", "=", id)
    .execute();
  return true;
}

/** Certificates are of https addresses only; an http check of the same host keeps its null. */
async function setHostExpiry(
  session: Session,
  projectId: number,
  host: string,
  expiry: HostExpiry,
  nowMs: number,
): Promise<void> {
  let query = session.kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .select([...MONITOR_COLUMNS, ...LIVE_COLUMNS])
    .where("m.project_id", "=", projectId)
    .where("m.host", "=", host)
    .where("m.kind", "in", WEBSITE_KINDS)
    .where("m.deleted_at_ms", "is", null)
    .orderBy("m.id");
  if (session.dialect === "postgres") query = query.forNoKeyUpdate("m");
  for (const now of (await query.execute()).map(toMonitorWithLive)) {
    const { sslExpirationDays, ...others } = expiry;
    const isHttps = String(now.monitor.settings.url).toLowerCase().startsWith("https:");
    const wanted = isHttps && sslExpirationDays !== undefined ? { ...others, sslExpirationDays } : others;
    await change(session, now, wanted, nowMs, SYSTEM_ACTOR);
  }
}
