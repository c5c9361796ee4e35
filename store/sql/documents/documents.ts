/** Documents, read: what their keys stand for, and the monitors that they are compared with. */
import { sql } from "kysely";
import type { ThingKind } from "../../../model/document/plan.ts";
import { Slices } from "../../slices.ts";
import { chunksOf } from "../db/bulk.ts";
import type { Database, Session } from "../db/database.ts";
import { MONITOR_COLUMNS, toMonitor } from "../monitors/rows.ts";
import { decoder } from "../schema/column.ts";
import { DOCUMENT_THINGS, DOCUMENTS } from "../schema/document-tables.ts";
import type { Row, Tables } from "../schema/tables.ts";
import { applyOrder } from "./apply.ts";
import type { DocumentRecord, Documents, DocumentThing, MonitorOfProject } from "./port.ts";

/** Rows of one statement, which nothing interrupts: on SQLite some milliseconds of work. */
const AT_ONCE = 250;

const toDocument: (row: Row<"documents">) => DocumentRecord = decoder(DOCUMENTS);
const toThing = decoder(DOCUMENT_THINGS);

/** Of each kind: its table, and what a row is asked that may be removed and still be there. */
const TABLES: Readonly<Record<ThingKind, { readonly table: keyof Tables & string; readonly removedAt?: string }>> = {
  monitor: { table: "monitors", removedAt: "deleted_at_ms" },
  subscription: { table: "subscriptions" },
  channel: { table: "channels" },
  quiet_hours: { table: "quiet_hours" },
  alert_rule: { table: "alert_rules", removedAt: "removed_at_ms" },
  maintenance: { table: "maintenances" },
  status_page: { table: "status_pages" },
};

export function createDocuments({ read, write }: Database): Documents {
  return {
    async list(projectId) {
      const rows = await read.kysely
        .selectFrom("documents")
        .selectAll()
        .where("project_id", "=", projectId)
        .orderBy("name")
        .execute();
      return rows.map(toDocument);
    },
    things: (projectId) => things(read, projectId),
    monitors: (projectId) => monitors(read, projectId),
    async sealedOf(monitorIds) {
      const found = new Map<number, string>();
      for (const ids of chunksOf(monitorIds)) {
        const rows = await read.kysely.selectFrom("monitors").select(["id", "sealed"]).where("id", "in", ids).execute();
        for (const { id, sealed } of rows) if (sealed !== null) found.set(id, sealed);
      }
      return found;
    },
    async tokenHashes(monitorIds) {
      const found = new Map<number, string>();
      for (const ids of chunksOf(monitorIds)) {
        const query = read.kysely.selectFrom("heartbeats").select(["monitor_id as id", "token_hash as hash"]);
        for (const { id, hash } of await query.where("monitor_id", "in", ids).execute()) found.set(id, hash);
      }
      return found;
    },
    async takenTokens(hashes) {
      const found = new Set<string>();
      for (const some of chunksOf(hashes)) {
        const query = read.kysely.selectFrom("heartbeats").select("token_hash as hash");
        for (const { hash } of await query.where("token_hash", "in", some).execute()) found.add(hash);
      }
      return found;
    },
    async incidentCounts(monitorIds) {
      const found = new Map<number, number>();
      for (const ids of chunksOf(monitorIds)) {
        const rows = await read.kysely
          .selectFrom("incidents")
          .select((of) => ["monitor_id as id", of.fn.countAll<number>().as("count")])
          .where("monitor_id", "in", ids)
          .groupBy("monitor_id")
          .execute();
        for (const { id, count } of rows) found.set(id, count);
      }
      return found;
    },
    apply: (order) => write((session) => applyOrder(session, order)),
  };
}

async function* things(session: Session, projectId: number): AsyncIterable<readonly DocumentThing[]> {
  const slices = new Slices();
  for (const [kind, { table, removedAt }] of Object.entries(TABLES)) {
    const isAlive = removedAt === undefined ? sql`true` : sql`${sql.ref(`o.${removedAt}`)} is null`;
    const isThere = sql<boolean | number>`exists (select 1 from ${sql.table(table)} o where o.id = t.thing_id
      and o.project_id = t.project_id and ${isAlive})`;
    for (let after = ""; ; ) {
      const rows = await session.kysely
        .selectFrom("document_things as t")
        .selectAll()
        .select(isThere.as("is_there"))
        .where("t.project_id", "=", projectId)
        .where("t.kind", "=", kind as ThingKind)
        .where("t.key", ">", after)
        .orderBy("t.key")
        .limit(AT_ONCE)
        .execute();
      yield rows.map((row) => ({ ...toThing(row), isThere: Boolean(row.is_there) }));
      await slices.rest();
      if (rows.length < AT_ONCE) break;
      after = rows.at(-1)?.key ?? after;
    }
  }
}

async function* monitors(session: Session, projectId: number): AsyncIterable<readonly MonitorOfProject[]> {
  const slices = new Slices();
  for (let after = 0; ; ) {
    const rows = await session.kysely
      .selectFrom("monitors as m")
      .select([...MONITOR_COLUMNS, "m.generation"])
      .where("m.project_id", "=", projectId)
      .where("m.deleted_at_ms", "is", null)
      .where("m.id", ">", after)
      .orderBy("m.id")
      .limit(AT_ONCE)
      .execute();
    yield rows.map((row) => ({ monitor: toMonitor(row), generation: row.generation }));
    if (rows.length < AT_ONCE) return;
    after = rows.at(-1)?.id ?? after;
    await slices.rest();
  }
}
