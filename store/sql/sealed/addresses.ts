/** Seals addresses that stand in clear: written by a version before, or by a process of it beside us. */

import { sql } from "kysely";
import { WEBSITE_KINDS } from "../../../model/kind.ts";
import { displayAddress, receiverAddress } from "../../../model/web-address.ts";
import { SEALED_CELLS, type SealedCell } from "../../sealed-cells.ts";
import type { Database, Session } from "../db/database.ts";
import { fromJson, toJson } from "../schema/text.ts";

/** Rows of one transaction: milliseconds. */
const PAGE_ROWS = 200;

type Seal = (where: SealedCell, plaintext: string) => string;

/** @returns how many were sealed */
export async function sealAddresses(database: Database, seal: Seal): Promise<number> {
  const targets = await eachPage((after) => sealTargets(database, seal, after));
  return targets + (await eachPage((after) => sealReceivers(database, seal, after)));
}

interface Page {
  /** undefined: there is no further page. */
  readonly last: number | undefined;
  readonly sealed: number;
}

async function eachPage(page: (after: number) => Promise<Page>): Promise<number> {
  let total = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { last, sealed } = await page(after);
    total += sealed;
    after = last;
  }
  return total;
}

async function sealTargets({ read, write }: Database, seal: Seal, after: number): Promise<Page> {
  const rows = await read.kysely
    .selectFrom("monitors")
    .select(["id", "settings"])
    .where("kind", "in", WEBSITE_KINDS)
    .where("deleted_at_ms", "is", null)
    .where("id", ">", after)
    .orderBy("id")
    .limit(PAGE_ROWS)
    .execute();
  const clear = rows.flatMap(({ id, settings: before }) => {
    const settings = fromJson<Record<string, unknown>>(before);
    const url = String(settings.url);
    const display = displayAddress(url);
    if (display === url) return [];
    return [{ id, before, after: toJson({ ...settings, url: display }), sealed: seal(SEALED_CELLS.target(id), url) }];
  });
  return { last: rows.at(-1)?.id, sealed: await replace(write, clear, "monitors", "settings") };
}

async function sealReceivers({ read, write }: Database, seal: Seal, after: number): Promise<Page> {
  const rows = await read.kysely
    .selectFrom("webhooks")
    .select(["id", "url"])
    .where("id", ">", after)
    .orderBy("id")
    .limit(PAGE_ROWS)
    .execute();
  const clear = rows.flatMap(({ id, url }) => {
    const display = receiverAddress(url);
    return display === url ? [] : [{ id, before: url, after: display, sealed: seal(SEALED_CELLS.webhookUrl(id), url) }];
  });
  return { last: rows.at(-1)?.id, sealed: await replace(write, clear, "webhooks", "url") };
}

interface Clear {
  readonly id: number;
  readonly before: string;
  readonly after: string;
  readonly sealed: string;
}

/** Replaces the address only where it has not changed since it was read. A later pass seals a changed one. */
function replace(
  write: Database["write"],
  rows: readonly Clear[],
  table: "monitors" | "webhooks",
  column: "settings" | "url",
): Promise<number> {
  if (rows.length === 0) return Promise.resolve(0);
  return write(async (session: Session) => {
    let replaced = 0;
    for (const { id, before, after, sealed } of rows) {
      const { numAffectedRows } =
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${after}, url_sealed = ${sealed}
        where id = ${id} and ${sql.ref(column)} = ${before}`.execute(session.kysely);
      replaced += Number(numAffectedRows ?? 0n);
    }
    return replaced;
  });
}
