/** Rules, quiet hours, and what was sent (docs/api-contract.md#alerts). */
import { z } from "zod";
import { NOTIFICATION_STATES } from "../../model/alerting-delivery.ts";
import { ALERT_EVENTS, ALERT_SEVERITIES, isGrouping } from "../../model/alerting-rule.ts";
import { isTimeOfDay, isTimezone, QUIET_MODES } from "../../model/quiet-hours.ts";
import { id, iso, total, warnings } from "./words.ts";

/** Our choices: lists that a person reads. */
export const MOST_RULES = 100;
const MOST_CHANNELS = 100;
const MOST_STEPS = 10;
export const MOST_QUIET = 50;
const MOST_SPANS = 20;
/** A month, s. */
const LONGEST_S = 31 * 86_400;
const LONGEST_NAME = 120;

const name = z.string().trim().min(1).max(LONGEST_NAME);
const seconds = z.int().min(0).max(LONGEST_S);
const channels = z.array(id("ch_")).max(MOST_CHANNELS);
const severities = z.array(z.enum(ALERT_SEVERITIES)).max(2);
/** Characters of one template of a rule; our choice: a title and a summary are a line each. */
const LONGEST_TEMPLATE = 2_000;
/** `tag:` and a tag. */
const LONGEST_GROUPING = 54;

const words = z.string().trim().min(1).max(LONGEST_TEMPLATE).nullable().default(null);
const template = z
  .strictObject({ title: words, summary: words })
  .nullable()
  .default(null)
  .describe("Words of messages in Liquid, in place of ours; null: ours");

const ruleFields = {
  name,
  active: z.boolean().default(true),
  continue: z.boolean().default(false).describe("Rules after it are looked at too"),
  match: z
    .strictObject({
      events: z.array(z.enum(ALERT_EVENTS)).min(1).max(ALERT_EVENTS.length).nullable().default(null),
      select: z.looseObject({}).nullable().default(null).describe("A selector; null: everything"),
      severity: severities.min(1).nullable().default(null),
    })
    .prefault({}),
  channels: channels.nullable().default(null).describe("null: every active channel"),
  delay_s: seconds.default(0).describe("Told only if it still holds then"),
  group_by: z
    .string()
    .max(LONGEST_GROUPING)
    .refine(isGrouping, "must be none, monitor, host, subscription, project or tag:<name>")
    .default("host")
    .describe("none, monitor, host, subscription, project or tag:<name>"),
  wait_s: seconds.max(3_600).default(30).describe("The first message of a group waits so long for others"),
  interval_s: seconds.min(1).default(300).describe("Between two messages of a group"),
  repeat_s: seconds.min(60).nullable().default(null).describe("Said again while it holds; null: never"),
  repeat_growth: z
    .int()
    .min(1)
    .max(10)
    .default(2)
    .describe("Each further repetition comes so many times later, a day at most"),
  recovered: z.boolean().default(true),
  quiet_hours: z.int().min(1).nullable().default(null).describe("Id of quiet hours"),
  escalation: z
    .array(
      z.strictObject({
        after_s: seconds.min(1),
        channels: channels.min(1),
        unless: z.literal("acknowledged").default("acknowledged"),
      }),
    )
    .max(MOST_STEPS)
    .default([]),
  template,
};
const ruleId = z.int().min(1).nullable().default(null).describe("Of a rule that is there already; null: a new one");
const version = z.int().min(0).describe("As it was read; 409 when the list is another by now");

const time = z.string().refine(isTimeOfDay, "must be HH:MM");
const quietFields = {
  name,
  timezone: z.string().refine(isTimezone, "must be a name of the IANA database, such as Europe/Berlin"),
  spans: z
    .array(z.strictObject({ days: z.array(z.int().min(1).max(7)).min(1).max(7), from: time, to: time }))
    .max(MOST_SPANS)
    .describe("1 is Monday; `to` before `from` is on the next day, the same is a whole day"),
  mode: z.enum(QUIET_MODES).default("hold"),
  let_through: z
    .strictObject({ severity: severities.default([]), tags: z.array(z.string().max(50)).max(100).default([]) })
    .prefault({}),
};

export const alertRulesBody = z
  .strictObject({ version, rules: z.array(z.strictObject({ id: ruleId, ...ruleFields })).max(MOST_RULES) })
  .meta({
    id: "AlertRulesChange",
    examples: [
      { version: 0, rules: [{ name: "Production", match: { select: { tags: ["prod"] } }, group_by: "host" }] },
    ],
  });
export const quietHoursBody = z
  .strictObject({ version, quiet_hours: z.array(z.strictObject({ id: ruleId, ...quietFields })).max(MOST_QUIET) })
  .meta({
    id: "QuietHoursChange",
    examples: [
      {
        version: 0,
        quiet_hours: [
          { name: "Night", timezone: "Europe/Berlin", spans: [{ days: [1, 2, 3, 4, 5], from: "22:00", to: "07:00" }] },
        ],
      },
    ],
  });
export const previewBody = z
  .strictObject({
    server_id: z.string().optional().describe("A monitor, `srv_<n>`; or else an incident"),
    incident_id: z.string().optional().describe("An incident, `inc_<n>`: its monitor, and what it is about"),
    event: z.enum(ALERT_EVENTS).default("down").describe("Of the monitor"),
  })
  .refine(({ server_id: server, incident_id: incident }) => (server === undefined) !== (incident === undefined), {
    error: "send either server_id or incident_id",
  })
  .meta({
    id: "AlertPreviewQuestion",
    examples: [{ server_id: "srv_12", event: "down" }, { incident_id: "inc_9" }],
  });

const given = z.int().min(0);
export const alertRules = z
  .strictObject({
    version,
    rules: z.array(
      z.strictObject({
        id: given.describe("0: the default rule, of a project that has none"),
        name: z.string(),
        active: z.boolean(),
        continue: z.boolean(),
        match: z.strictObject({
          events: z.array(z.enum(ALERT_EVENTS)).nullable(),
          select: z.record(z.string(), z.unknown()).nullable(),
          severity: z.array(z.enum(ALERT_SEVERITIES)).nullable(),
        }),
        channels: z.array(id("ch_")).nullable(),
        delay_s: given,
        group_by: z.string(),
        wait_s: given,
        interval_s: given,
        repeat_s: given.nullable(),
        repeat_growth: given,
        recovered: z.boolean(),
        quiet_hours: given.nullable(),
        escalation: z.array(
          z.strictObject({ after_s: given, channels: z.array(id("ch_")), unless: z.literal("acknowledged") }),
        ),
        template: z.strictObject({ title: z.string().nullable(), summary: z.string().nullable() }).nullable(),
      }),
    ),
    warnings,
  })
  .meta({ id: "AlertRules" });
export const quietHours = z
  .strictObject({
    version,
    quiet_hours: z.array(
      z.strictObject({
        id: given,
        name: z.string(),
        timezone: z.string(),
        spans: z.array(z.strictObject({ days: z.array(given), from: z.string(), to: z.string() })),
        mode: z.enum(QUIET_MODES),
        let_through: z.strictObject({ severity: z.array(z.enum(ALERT_SEVERITIES)), tags: z.array(z.string()) }),
      }),
    ),
    warnings,
  })
  .meta({ id: "QuietHours" });
const channelOf = z.strictObject({ id: id("ch_"), kind: z.string(), name: z.string() });
export const alertPreview = z
  .strictObject({
    steps: z.array(
      z.strictObject({
        rule: z.strictObject({ id: given, name: z.string() }),
        matched: z.boolean(),
        because: z.string(),
        channels: z.array(channelOf),
        after_s: given.nullable().describe("When the first message goes; null: it does not match"),
        at: iso.nullable().describe("That time, when it happened now, quiet hours included"),
      }),
    ),
    silent_because: z.string().nullable().describe("Why no channel is told"),
    warnings,
  })
  .meta({ id: "AlertPreview" });
export const sentAlerts = z
  .strictObject({
    alerts: z.array(
      z.strictObject({
        channel: channelOf,
        reason: z.enum(["opened", "raised", "changed", "acknowledged", "reminder", "recovered", "notice", "digest"]),
        state: z.enum(NOTIFICATION_STATES),
        title: z.string().nullable().describe("As it was sent last"),
        attempts: z.array(
          z.strictObject({
            at: iso,
            status_code: z.int().nullable(),
            error: z.string().nullable(),
            duration_ms: z.number().min(0),
          }),
        ),
        last_error: z.string().nullable(),
        created_at: iso,
        sent_at: iso.nullable(),
        next_attempt_at: iso.nullable(),
      }),
    ),
    total,
    warnings,
  })
  .meta({ id: "SentAlerts" });
