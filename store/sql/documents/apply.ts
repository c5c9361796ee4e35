/** All that one apply writes. Runs in one transaction: what is no longer as it was when the order was made undoes all of it. */

import { THING_KINDS, type ThingKind } from "../../../model/document/plan.ts";
import { Slices } from "../../slices.ts";
import { bulkInsert, chunksOf, insertRows } from "../db/bulk.ts";
import type { Session } from "../db/database.ts";
import { holdProject } from "../db/hold-project.ts";
import { holdMonitors } from "../monitors/bulk.ts";
import { encoder } from "../schema/column.ts";
import { DOCUMENT_THINGS } from "../schema/document-tables.ts";
import { create, hold, remove, update } from "../subscriptions/subscriptions.ts";
import { MadeIds } from "./made-ids.ts";
import { applyMonitors } from "./monitors.ts";
import {
  type ApplyOrder,
  type Assigned,
  type ListOrder,
  type Orders,
  type Seen,
  StaleOrderError,
  seenThing,
} from "./port.ts";
import { applySettings } from "./settings.ts";

const fromThing = encoder(DOCUMENT_THINGS);
const ADD_THINGS = bulkInsert(DOCUMENT_THINGS);
/** Rows of one statement, which nothing interrupts. */
const AT_ONCE = 100;

export async function applyOrder(session: Session, order: ApplyOrder): Promise<void> {
  await holdProject(session, order.projectId);
  await requireSeen(session, order);
  const documentId = await saveDocument(session, order);
  await holdAll(session, order);
  const subscriptions = await applySubscriptions(session, order);
  const monitors = await applyMonitors(session, order);
  const settings = await applySettings(session, order, new MadeIds(order, [...subscriptions, ...monitors]));
  await assign(session, order.projectId, documentId, [...subscriptions, ...monitors, ...settings]);
  await release(session, order);
}

interface Claim {
  readonly key: string;
  /** null: it is not there yet, or only its key counts. */
  readonly id: number | null;
}

/** Each key still stands for what it stood for, and each thing has no other key. @throws StaleOrderError */
async function requireSeen(session: Session, order: ApplyOrder): Promise<void> {
  const slices = new Slices();
  for (const [kind, claims] of claimsOf(order)) {
    const released = order.release.filter((one) => one.kind === kind).map(({ key }) => ({ key, id: null }));
    for (const some of chunksOf([...claims, ...released], AT_ONCE)) {
      await requireSome(session, order.projectId, kind, some, order.seen);
      await slices.rest();
    }
  }
}

function claimsOf(order: ApplyOrder): readonly (readonly [ThingKind, readonly Claim[]])[] {
  return [
    ["monitor", claimed(order.monitors)],
    ["subscription", claimed(order.subscriptions)],
    ["channel", claimed(order.channels)],
    ["quiet_hours", listed(order.quietHours)],
    ["alert_rule", listed(order.rules)],
    ["maintenance", claimed(order.maintenance)],
    ["status_page", claimed(order.pages)],
  ];
}

function claimed({ create: made, change }: Orders<unknown, unknown>): readonly Claim[] {
  const managed = change.flatMap(({ id, managed: one }) => (one === null ? [] : [{ key: one.key, id }]));
  return [...managed, ...made.map(({ key }) => ({ key, id: null }))];
}

function listed({ made, managed }: ListOrder<unknown>): readonly Claim[] {
  return [...managed, ...[...made.values()].map(({ key }) => ({ key, id: null }))];
}

async function requireSome(
  { kysely }: Session,
  projectId: number,
  kind: ThingKind,
  some: readonly Claim[],
  seen: Seen,
): Promise<void> {
  const keys = some.map(({ key }) => key);
  const ids = some.flatMap(({ id }) => (id === null ? [] : [id]));
  const rows = await kysely
    .selectFrom("document_things")
    .select(["key", "thing_id as thingId", "document_id as documentId"])
    .where("project_id", "=", projectId)
    .where("kind", "=", kind)
    .where((of) =>
      ids.length === 0 ? of("key", "in", keys) : of.or([of("key", "in", keys), of("thing_id", "in", ids)]),
    )
    .execute();
  for (const row of rows) if (seen.get(`${kind} ${row.key}`) !== seenThing(row)) throw new StaleOrderError();
  const there = new Set(rows.map(({ key }) => key));
  if (keys.some((key) => seen.has(`${kind} ${key}`) && !there.has(key))) throw new StaleOrderError();
}

async function saveDocument({ kysely }: Session, order: ApplyOrder): Promise<number> {
  const { projectId, name, nowMs, actor, hash } = order;
  const values = { applied_at_ms: nowMs, applied_by: JSON.stringify(actor), hash };
  const { id } = await kysely
    .insertInto("documents")
    .values({ project_id: projectId, name, ...values })
    .onConflict((conflict) => conflict.columns(["project_id", "name"]).doUpdateSet(values))
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** A change of a subscription raises the generation, which is locked after all rows of a transaction (store/sql/db/generation.ts). */
async function holdAll(session: Session, { projectId, subscriptions, monitors }: ApplyOrder): Promise<void> {
  const lists = [...subscriptions.change, ...subscriptions.remove].map(({ id }) => id).sort((a, b) => a - b);
  if (lists.length === 0 || session.dialect === "sqlite") return;
  for (const id of lists) await hold(session, projectId, id);
  const query = session.kysely.selectFrom("monitors").select("id").where("subscription_id", "in", lists);
  const imported = (await query.where("deleted_at_ms", "is", null).execute()).map(({ id }) => id);
  await holdMonitors(session, [...imported, ...[...monitors.change, ...monitors.remove].map(({ id }) => id)]);
}

async function applySubscriptions(session: Session, order: ApplyOrder): Promise<readonly Assigned[]> {
  const { projectId, nowMs, subscriptions } = order;
  const assigned: Assigned[] = [];
  for (const { id, version } of subscriptions.remove) {
    if ((await hold(session, projectId, id))?.updatedAtMs !== version) throw new StaleOrderError();
    await remove(session, projectId, id, nowMs);
  }
  for (const { id, version, change, managed } of subscriptions.change) {
    const now = await hold(session, projectId, id);
    if (now?.updatedAtMs !== version) throw new StaleOrderError();
    if (change !== null) await update(session, now, change, nowMs);
    if (managed !== null) assigned.push({ kind: "subscription", thingId: id, ...managed });
  }
  for (const { key, input, marks } of subscriptions.create) {
    const { id } = await create(session, input);
    assigned.push({ kind: "subscription", key, thingId: id, marks });
  }
  return assigned;
}

/** A key stands for one thing, and a thing has one key. */
async function assign(
  session: Session,
  projectId: number,
  documentId: number,
  things: readonly Assigned[],
): Promise<void> {
  const { kysely } = session;
  const slices = new Slices();
  for (const some of chunksOf(things, AT_ONCE)) {
    await slices.rest();
    for (const kind of THING_KINDS) {
      const ofKind = some.filter((thing) => thing.kind === kind);
      if (ofKind.length === 0) continue;
      const [keys, ids] = [ofKind.map(({ key }) => key), ofKind.map(({ thingId }) => thingId)];
      await kysely
        .deleteFrom("document_things")
        .where("project_id", "=", projectId)
        .where("kind", "=", kind)
        .where((of) => of.or([of("key", "in", keys), of("thing_id", "in", ids)]))
        .execute();
      const rows = ofKind.map((thing) => fromThing({ projectId, documentId, ...thing }));
      await insertRows(session, ADD_THINGS, rows);
    }
  }
}

async function release({ kysely }: Session, { projectId, release: things }: ApplyOrder): Promise<void> {
  const slices = new Slices();
  for (const some of chunksOf(things, AT_ONCE)) {
    await slices.rest();
    for (const kind of THING_KINDS) {
      const keys = some.filter((thing) => thing.kind === kind).map(({ key }) => key);
      if (keys.length === 0) continue;
      await kysely
        .updateTable("document_things")
        .set({ document_id: null })
        .where("project_id", "=", projectId)
        .where("kind", "=", kind)
        .where("key", "in", keys)
        .execute();
    }
  }
}
