/** The audit log, with a bound of time and number in each workspace. */
import type { AuditWord } from "../../../model/audit.ts";
import { insertRow, rowInsert } from "../db/bulk.ts";
import { type Database, type Session, statement } from "../db/database.ts";
import { AUDIT } from "../schema/audit-table.ts";
import { decoder, encoder } from "../schema/column.ts";
import type { Row } from "../schema/tables.ts";
import {
  AUDIT_KEPT_ENTRIES,
  AUDIT_KEPT_MS,
  type Audit,
  type AuditEntry,
  type AuditFilter,
  type NewAuditEntry,
} from "./audit-port.ts";

/** Counting out the newest entries costs as much as they are many. */
const COUNTED_EVERY = 500;

const ADD = rowInsert(AUDIT);
const FORGET_OLD = statement("forget_old_audit", "delete from audit where organization_id = ? and at_ms < ?");

const toEntry: (row: Row<"audit">) => AuditEntry = decoder(AUDIT);
const fromEntry = encoder<NewAuditEntry, typeof AUDIT.columns>(AUDIT);

/** @param most entries of one workspace */
export function createAudit({ read, write }: Database, most = AUDIT_KEPT_ENTRIES): Audit {
  const every = Math.min(most, COUNTED_EVERY);
  return {
    add: (entry) =>
      write(async (session) => {
        const id = await insertRow(session, ADD, fromEntry(entry));
        await session.query(FORGET_OLD, entry.organizationId, entry.atMs - AUDIT_KEPT_MS);
        if (id % every === 0) await forgetMost(session, entry.organizationId, most);
      }),
    async list(organizationId, filter, nowMs) {
      const chosen = filtered(read, organizationId, filter, nowMs);
      const { total } = await chosen.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      const rows = await chosen
        .selectAll()
        .orderBy("at_ms", "desc")
        .orderBy("id", "desc")
        .limit(filter.limit)
        .offset(filter.offset)
        .execute();
      return { rows: rows.map(toEntry), total };
    },
  };
}

async function forgetMost({ kysely }: Session, organizationId: number, most: number): Promise<void> {
  const last = await kysely
    .selectFrom("audit")
    .select("at_ms")
    .where("organization_id", "=", organizationId)
    .orderBy("at_ms", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .offset(most)
    .executeTakeFirst();
  if (last === undefined) return;
  await kysely
    .deleteFrom("audit")
    .where("organization_id", "=", organizationId)
    .where("at_ms", "<=", last.at_ms)
    .execute();
}

function filtered({ kysely }: Session, organizationId: number, filter: AuditFilter, nowMs: number) {
  const fromMs = Math.max(filter.fromMs ?? 0, nowMs - AUDIT_KEPT_MS);
  let query = kysely.selectFrom("audit").where("organization_id", "=", organizationId).where("at_ms", ">=", fromMs);
  if (filter.userId !== null) query = query.where("user_id", "=", filter.userId);
  if (filter.what !== null) {
    const { what } = filter;
    query = what.includes(".") ? query.where("what", "=", what as AuditWord) : query.where("what", "like", `${what}.%`);
  }
  return query;
}
