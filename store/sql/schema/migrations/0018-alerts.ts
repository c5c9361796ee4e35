/** Who is told of what: rules, quiet hours, what is being told, and to which channel it went. */
import { type ColumnDataType, type CreateTableBuilder, type Kysely, sql } from "kysely";
import type { Dialect } from "../dialect.ts";
import { withId } from "./columns.ts";

type Builder = CreateTableBuilder<string, string>;

/** `name` holds null where its type ends with `?`. */
function withColumns(
  table: Builder,
  columns: Readonly<Record<string, ColumnDataType | `${"text" | "bigint" | "integer"}?`>>,
): Builder {
  let built = table;
  for (const [name, type] of Object.entries(columns)) {
    const isNullable = typeof type === "string" && type.endsWith("?");
    const plain = (isNullable ? type.slice(0, -1) : type) as ColumnDataType;
    built = built.addColumn(name, plain, (column) => (isNullable ? column : column.notNull()));
  }
  return built;
}

const RULES = {
  project_id: "bigint",
  position: "integer",
  name: "text",
  active: "integer",
  goes_on: "integer",
  match: "text",
  channels: "text?",
  group_by: "text",
  delay_s: "integer",
  wait_s: "integer",
  interval_s: "integer",
  repeat_s: "integer?",
  repeat_growth: "integer",
  recovered: "integer",
  quiet_hours_id: "bigint?",
  escalation: "text",
  template: "text?",
  external_key: "text?",
  managed_by: "bigint?",
  removed_at_ms: "bigint?",
} as const;

const GROUPS = {
  project_id: "bigint",
  rule_id: "bigint",
  key: "text",
  is_notice: "integer",
  is_fold: "integer",
  state: "text",
  folded_into: "bigint?",
  step: "integer",
  repeats: "integer",
  first_told_at_ms: "bigint?",
  told_at_ms: "bigint?",
  due_at_ms: "bigint?",
  changed_at_ms: "bigint",
  opened_at_ms: "bigint",
  closed_at_ms: "bigint?",
} as const;

const MEMBERS = {
  subject: "text",
  event: "text",
  severity: "text",
  told_severity: "text?",
  firing: "integer",
  told: "text",
  acknowledged: "integer",
  monitor_id: "bigint?",
  incident_id: "bigint?",
  channel_id: "bigint?",
  name: "text?",
  why: "text",
  since_ms: "bigint",
  joined_at_ms: "bigint",
  ended_at_ms: "bigint?",
  said_at_ms: "bigint?",
} as const;

const NOTIFICATIONS = {
  project_id: "bigint",
  reason: "text",
  state: "text",
  attempts: "integer",
  begun: "integer",
  next_attempt_at_ms: "bigint?",
  came_and_went: "integer",
  external_ref: "text?",
  shown: "text?",
  last_error: "text?",
  created_at_ms: "bigint",
  ended_at_ms: "bigint?",
} as const;

export const alerts = async (db: Kysely<unknown>, dialect: Dialect): Promise<void> => {
  const { schema } = db;
  await withColumns(withId(dialect, schema.createTable("alert_rules")), RULES).execute();
  await schema.createIndex("alert_rules_in_order").on("alert_rules").columns(["project_id", "position"]).execute();
  await withColumns(
    schema.createTable("alert_rule_versions").addColumn("project_id", "bigint", (column) => column.primaryKey()),
    { rules: "bigint", quiet_hours: "bigint" },
  ).execute();
  await withColumns(withId(dialect, schema.createTable("quiet_hours")), {
    ...{ project_id: "bigint", name: "text", timezone: "text", spans: "text", mode: "text", let_through: "text" },
  }).execute();
  await schema.createIndex("quiet_hours_of_project").on("quiet_hours").column("project_id").execute();
  await withColumns(withId(dialect, schema.createTable("alert_groups")), GROUPS).execute();
  await createGroupIndexes(db);
  const groupId = schema
    .createTable("alert_members")
    .addColumn("group_id", "bigint", (column) => column.notNull().references("alert_groups.id").onDelete("cascade"));
  await withColumns(groupId, MEMBERS).addPrimaryKeyConstraint("alert_members_key", ["group_id", "subject"]).execute();
  await schema.createIndex("alert_members_by_subject").on("alert_members").column("subject").execute();
  await schema.createIndex("alert_members_by_monitor").on("alert_members").column("monitor_id").execute();
  await createNotifications(db, dialect);
};

async function createGroupIndexes({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createIndex("alert_groups_open")
    .unique()
    .on("alert_groups")
    .columns(["project_id", "rule_id", "key"])
    .where(sql.ref("closed_at_ms"), "is", null)
    .execute();
  await schema
    .createIndex("alert_groups_due")
    .on("alert_groups")
    .column("due_at_ms")
    .where(sql.ref("due_at_ms"), "is not", null)
    .execute();
  // Partial, so that no look for open groups goes through all of them.
  await schema
    .createIndex("alert_groups_closed")
    .on("alert_groups")
    .column("closed_at_ms")
    .where(sql.ref("closed_at_ms"), "is not", null)
    .execute();
}

async function createNotifications(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { schema } = db;
  const table = withId(dialect, schema.createTable("notifications"))
    .addColumn("channel_id", "bigint", (column) => column.notNull().references("channels.id").onDelete("cascade"))
    .addColumn("group_id", "bigint", (column) => column.notNull().references("alert_groups.id").onDelete("cascade"));
  await withColumns(table, NOTIFICATIONS).execute();
  await schema
    .createIndex("notifications_due")
    .on("notifications")
    .columns(["next_attempt_at_ms", "channel_id"])
    .where(sql.ref("next_attempt_at_ms"), "is not", null)
    .execute();
  await schema.createIndex("notifications_of_channel").on("notifications").columns(["channel_id", "id"]).execute();
  await schema.createIndex("notifications_of_group").on("notifications").columns(["group_id", "channel_id"]).execute();
  await withColumns(
    withId(dialect, schema.createTable("notification_attempts")).addColumn("notification_id", "bigint", (column) =>
      column.notNull().references("notifications.id").onDelete("cascade"),
    ),
    { at_ms: "bigint", status_code: "integer?", error: "text?", duration_ms: "double precision" },
  ).execute();
  await schema.createIndex("attempts_of_notification").on("notification_attempts").column("notification_id").execute();
}
