/** Selectors as conditions on monitors with their live states. */
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Selected, Selector } from "../../../model/selector.ts";
import { contains, hasTag, isIn } from "../db/conditions.ts";
import type { Dialect } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import { caseKey } from "../schema/text.ts";

type Of = ExpressionBuilder<Tables & { m: Tables["monitors"]; l: Tables["live"] }, "m" | "l">;
type Condition = Expression<SqlBool>;

/** Of a query that has monitors as `m` and live states as `l`. */
export function isSelected(of: Of, dialect: Dialect, { not, ...selected }: Selector): Condition {
  const conditions = conditionsOf(of, dialect, selected);
  return of.and(not === undefined ? conditions : [...conditions, of.not(of.and(conditionsOf(of, dialect, not)))]);
}

function conditionsOf(of: Of, dialect: Dialect, selected: Selected): Condition[] {
  const { ids, tags, anyTag, kinds, family, subscriptionIds, name, status } = selected;
  const conditions: Condition[] = [];
  if (ids !== undefined) conditions.push(isIn(dialect, "m.id", ids));
  for (const tag of tags ?? []) conditions.push(hasTag(dialect, tag));
  if (anyTag !== undefined) conditions.push(of.or(anyTag.map((tag) => hasTag(dialect, tag))));
  if (kinds !== undefined) conditions.push(of("m.kind", "in", kinds));
  if (family !== undefined) conditions.push(of("m.family", "=", family));
  // A monitor that follows none is not one of theirs; unknown would make it selected by neither `not` nor its opposite.
  if (subscriptionIds !== undefined)
    conditions.push(
      of.and([of("m.subscription_id", "is not", null), isIn(dialect, "m.subscription_id", subscriptionIds)]),
    );
  if (name !== undefined) conditions.push(contains(dialect, "m.name_key", caseKey(name)));
  if (status !== undefined) conditions.push(of.or(status.map((word) => hasStatus(of, word))));
  return conditions;
}

function hasStatus(of: Of, status: NonNullable<Selected["status"]>[number]): Condition {
  if (status === "paused") return of("m.active", "=", 0);
  return of.and([of("m.active", "=", 1), of("l.status", "=", status)]);
}
