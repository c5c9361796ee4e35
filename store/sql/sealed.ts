/** Seals anew what was sealed with an older key, page by page, so that no transaction holds a running service up. */
import { sql } from "kysely";
import { keyIdOf, presentPrefix } from "../sealing.ts";
import type { Database, Session } from "./database.ts";
import type { ResealCounts, Sealed } from "./ports/sealed.ts";
import { sealAddresses } from "./sealed-addresses.ts";
import { SEALED_COLUMNS, type SealedColumn } from "./sealed-columns.ts";

/** Rows of one transaction: milliseconds. */
const PAGE_ROWS = 200;

type Sealer = Parameters<Sealed["reseal"]>[0];
interface SealedRow {
  readonly id: number;
  readonly sealed: string;
  /** What its place is made of; a row has at most two parts. */
  readonly first: string | number;
  readonly second: string | number | null;
}

export function createSealed(database: Database): Sealed {
  return {
    async reseal(sealer) {
      const counts = { resealed: 0, unreadable: [] as string[] };
      if (sealer.bindsRows) counts.resealed += await sealAddresses(database, sealer.seal);
      for (const column of SEALED_COLUMNS) await resealColumn(database, column, sealer, counts);
      return counts;
    },
    async keyIds() {
      const ids = new Set<string>();
      for (const { table, column } of SEALED_COLUMNS) {
        // Version, dot, eight digits: all that tells the keys apart.
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
  sealer: Sealer,
  counts: { resealed: number; unreadable: string[] } & ResealCounts,
): Promise<void> {
  let after = 0;
  for (;;) {
    const rows = await olderRows(database.read, column, presentPrefix(sealer), after);
    if (rows.length === 0) return;
    after = rows.at(-1)?.id ?? after;
    const renewed = rows.flatMap((row) => renew(row, column, sealer, counts.unreadable));
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

function renew(row: SealedRow, { table, place }: SealedColumn, sealer: Sealer, unreadable: string[]) {
  try {
    const where = place(...[row.first, row.second].filter((part) => part !== null));
    return [{ ...row, renewed: sealer.seal(where, sealer.open(where, row.sealed)) }];
  } catch (error) {
    unreadable.push(`${table} ${row.id}: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}

/** Only where it still is what was opened: a change that came in between has sealed its own. */
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
