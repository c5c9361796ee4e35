/** Filters and orders that people have named. */

import type { Database, Session } from "../db/database.ts";
import { holdProject } from "../db/hold-project.ts";
import { decoder, encoder } from "../schema/column.ts";
import { SAVED_VIEWS } from "../schema/saved-view-table.ts";
import type { Row } from "../schema/tables.ts";
import { MOST_VIEWS, type NewView, type SavedView, type SavedViews } from "./saved-views-port.ts";

const toView: (row: Row<"saved_views">) => SavedView = decoder(SAVED_VIEWS);
const fromView = encoder<NewView, typeof SAVED_VIEWS.columns>(SAVED_VIEWS);

export function createSavedViews({ read, write }: Database): SavedViews {
  return {
    list: async (projectId, userId) =>
      (await seen(read, projectId, userId).orderBy("id").execute()).map((row) => toView(row)),
    save: (view) => write((session) => save(session, view)),
    async find(projectId, userId, id) {
      const row = await seen(read, projectId, userId).where("id", "=", id).executeTakeFirst();
      return row && toView(row);
    },
    remove: (projectId, id) =>
      write(async ({ kysely }) => {
        const ofProject = kysely.deleteFrom("saved_views").where("project_id", "=", projectId);
        return (await ofProject.where("id", "=", id).executeTakeFirst()).numDeletedRows > 0n;
      }),
  };
}

function seen({ kysely }: Session, projectId: number, userId: number) {
  return kysely
    .selectFrom("saved_views")
    .selectAll()
    .where("project_id", "=", projectId)
    .where((of) => of.or([of("user_id", "=", userId), of("user_id", "is", null)]));
}

async function save(session: Session, view: NewView): Promise<SavedView | "full" | undefined> {
  const { kysely } = session;
  if (!(await holdProject(session, view.projectId))) return undefined;
  const values = fromView(view);
  const kept = await kysely
    .selectFrom("saved_views")
    .select(["id", "name"])
    .where("project_id", "=", view.projectId)
    .where("user_id", view.userId === null ? "is" : "=", view.userId)
    .execute();
  const before = kept.find(({ name }) => name === values.name);
  if (before === undefined && kept.length >= MOST_VIEWS) return "full";
  const row =
    before === undefined
      ? await kysely.insertInto("saved_views").values(values).returningAll().executeTakeFirstOrThrow()
      : await kysely
          .updateTable("saved_views")
          .set({ query: values.query })
          .where("id", "=", before.id)
          .returningAll()
          .executeTakeFirstOrThrow();
  return toView(row);
}

/** With the membership: what is of everyone stays. */
export async function forgetViews({ kysely }: Session, organizationId: number, userId: number): Promise<void> {
  await kysely
    .deleteFrom("saved_views")
    .where("user_id", "=", userId)
    .where("project_id", "in", (of) =>
      of.selectFrom("projects").select("id").where("organization_id", "=", organizationId),
    )
    .execute();
}
