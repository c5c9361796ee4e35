/** Conditions that the two databases spell differently, on monitors as `m` and incidents as `i`. */
import { type Expression, type SqlBool, sql } from "kysely";
import type { Dialect } from "../schema/dialect.ts";
import { storable } from "../schema/text.ts";

/** Ids come as one JSON value, so that the statement is one however many there are. */
export function isIn(
  dialect: Dialect,
  column: "m.id" | "m.subscription_id" | "i.id" | "i.monitor_id",
  ids: readonly number[],
): Expression<SqlBool> {
  const json = JSON.stringify(ids);
  return dialect === "sqlite"
    ? sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${json}))`
    : sql<SqlBool>`${sql.ref(column)} in (select value::bigint from json_array_elements_text(${json}::json))`;
}

/** Tags are JSON text. What PostgreSQL cannot have in a text is in no tag. */
export function hasTag(dialect: Dialect, tag: string): Expression<SqlBool> {
  const wanted = storable(tag);
  return dialect === "sqlite"
    ? sql<SqlBool>`exists (select 1 from json_each(m.tags) where value = ${wanted})`
    : sql<SqlBool>`m.tags::jsonb @> ${JSON.stringify([wanted])}::jsonb`;
}

/** Not LIKE, because `%` and `_` in the text must not be wildcards. */
export function contains(dialect: Dialect, column: "m.name_key" | "m.search_key", text: string): Expression<SqlBool> {
  const position = dialect === "sqlite" ? sql`instr` : sql`strpos`;
  return sql<SqlBool>`${position}(${sql.ref(column)}, ${text}) > 0`;
}
