/** Seals anew what was sealed with an older key, page by page, so that no transaction holds a running service up. */
import { sql } from "kysely";
import { keyIdOf, presentPrefix, type Sealing } from "../../sealed-text.ts";
import type { Database, Session } from "../db/database.ts";
import { sealAddresses } from "./addresses.ts";
import { SEALED_COLUMNS, type SealedColumn } from "./columns.ts";
import type { ResealCounts, Sealed } from "./port.ts";

/** Rows of one transaction: milliseconds. */
const PAGE_ROWS = 200;

interface SealedRow {
  readonly id: number;
  readonly sealed: string;
  /** What its cell is known by; a row has at most two parts. */
  readonly first: string | number;
  readonly second: string | number | null;
}

export function createSealed(database: Database): Sealed {
  return {
    async reseal(sealing) {
      const counts = { resealed: 0, unreadable: [] as string[] };
      if (sealing.bindsRows) counts.resealed += await sealAddresses(database, sealing.seal);
      for (const column of SEALED_COLUMNS) await resealColumn(database, column, sealing, counts);
      return counts;
    },
    async keyIds() {
      const ids = new Set<string>();
      for (const { table, column } of SEALED_COLUMNS) {
        // Version, dot, eight digits: all that distinguishes the keys.
        const { rows } = await sql<{ start: string }>`select distinct substr(${sql.ref(column)}, 1, 10) as start
          from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(database.read.kysely);
        for (const { start } of rows) ids.add(keyIdOf(start));
      }
      return ids;
    },
    scrub: () => database.scrub(),
  };
}

async function resealColumn(
  database: Database,
  column: SealedColumn,
  sealing: Sealing,
  counts: { resealed: number; unreadable: string[] } & ResealCounts,
): Promise<void> {
  let after = 0;
  for (;;) {
    const rows = await olderRows(database.read, column, presentPrefix(sealing), after);
    if (rows.length === 0) return;
    after = rows.at(-1)?.id ?? after;
    const renewed = rows.flatMap((row) => renew(row, column, sealing, counts.unreadable));
    counts.resealed += await database.write((session) => replaceRows(session, column, renewed));
  }
}

function olderRows(session: Session, { table, key, column, row }: SealedColumn, prefix: string, after: number) {
  const [first = key, second = "null"] = row;
  const rows = sql<SealedRow>`select ${sql.ref(key)} as id, ${sql.ref(column)} as sealed, ${sql.raw(first)} as first,
      ${sql.raw(second)} as second
    from ${sql.table(table)}
    where ${sql.ref(key)} > ${after} and ${sql.ref(column)} is not null and ${sql.ref(column)} not like ${`${prefix}%`}
    order by ${sql.ref(key)} limit ${PAGE_ROWS}`.execute(session.kysely);
  return rows.then((answer) => answer.rows);
}

function renew(row: SealedRow, { table, cell }: SealedColumn, sealing: Sealing, unreadable: string[]) {
  try {
    const where = cell(...[row.first, row.second].filter((part) => part !== null));
    return [{ ...row, renewed: sealing.seal(where, sealing.open(where, row.sealed)) }];
  } catch (error) {
    unreadable.push(`${table} ${row.id}: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

/** Replaces the text only where it has not changed since it was read. A change in between has sealed its text with the new key. */
async function replaceRows(
  session: Session,
  { table, key, column }: SealedColumn,
  rows: readonly (SealedRow & { readonly renewed: string })[],
): Promise<number> {
  let replaced = 0;
  for (const { id, sealed, renewed } of rows) {
    const { numAffectedRows } = await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${renewed}
      where ${sql.ref(key)} = ${id} and ${sql.ref(column)} = ${sealed}`.execute(session.kysely);
    replaced += Number(numAffectedRows ?? 0n);
  }
  return replaced;
}
