/** Announcements of status pages. */
import type { PageUpdate } from "../../../model/status-page.ts";
import type { Database } from "../db/database.ts";
import { decoder } from "../schema/column.ts";
import { STATUS_PAGE_UPDATES } from "../schema/status-page-tables.ts";
import { storable, toJson } from "../schema/text.ts";
import { MOST_UPDATES, type StatusPages } from "./port.ts";

const decode = decoder(STATUS_PAGE_UPDATES);

export function createUpdates({ read, write }: Database): Pick<StatusPages, "updates" | "addUpdate" | "changeUpdate"> {
  return {
    async updates(pageId, limit, offset) {
      const ofPage = read.kysely.selectFrom("status_page_updates").where("status_page_id", "=", pageId);
      const inOrder = ofPage.selectAll().orderBy("at_ms", "desc").orderBy("id", "desc");
      const rows = await inOrder.limit(limit).offset(offset).execute();
      const { total } = await ofPage.select((of) => of.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
      return { rows: rows.map(decode), total };
    },
    addUpdate: (pageId, update, actor) =>
      write(async ({ kysely, dialect }) => {
        // Held on PostgreSQL: a page that is deleted at this moment would refuse the row.
        const page = kysely.selectFrom("status_pages").select("id").where("id", "=", pageId);
        if ((await (dialect === "postgres" ? page.forKeyShare() : page).executeTakeFirst()) === undefined)
          return undefined;
        const row = await kysely
          .insertInto("status_page_updates")
          .values({ ...columnsOf(update), status_page_id: pageId, actor: toJson(actor) })
          .returningAll()
          .executeTakeFirstOrThrow();
        const ofPage = kysely.selectFrom("status_page_updates").select("id").where("status_page_id", "=", pageId);
        const beyond = await ofPage.orderBy("id", "desc").limit(MOST_UPDATES).offset(MOST_UPDATES).execute();
        const ids = beyond.map(({ id }) => id);
        if (ids.length > 0) await kysely.deleteFrom("status_page_updates").where("id", "in", ids).execute();
        return decode(row);
      }),
    changeUpdate: (pageId, id, decide) =>
      write(async ({ kysely, dialect }) => {
        const found = kysely
          .selectFrom("status_page_updates")
          .selectAll()
          .where("id", "=", id)
          .where("status_page_id", "=", pageId);
        const row = await (dialect === "postgres" ? found.forUpdate() : found).executeTakeFirst();
        if (row === undefined) return undefined;
        const before = decode(row);
        const update = decide(before);
        if (update === null) {
          await kysely.deleteFrom("status_page_updates").where("id", "=", id).execute();
          return before;
        }
        await kysely.updateTable("status_page_updates").set(columnsOf(update)).where("id", "=", id).execute();
        return { ...before, ...update };
      }),
  };
}

function columnsOf({ level, title, text, atMs, endsAtMs }: PageUpdate) {
  return { level, title: storable(title), text: storable(text), at_ms: atMs, ends_at_ms: endsAtMs };
}
