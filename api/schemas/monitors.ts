/** Monitors: the record, its lists, its history (docs/api-contract.md#monitors). */
import { z } from "zod";
import { fieldsOf, uptimeKinds } from "../../engine/contract/registry.ts";
import { MONITOR_STATUSES, REGIONAL_STATUSES } from "../../model/status.ts";
import { moreFieldsOf } from "../monitors/fields.ts";
import { actor, errorCategory, id, iso, MONITOR_TYPES, PROTOCOLS, total, utc, warnings, wholeOrNull } from "./words.ts";

const regionalStatus = z
  .strictObject({
    status: z.enum(REGIONAL_STATUSES),
    // One text, not a choice of two: generated clients distinguish choices by their type.
    last_check: z
      .string()
      .regex(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)?$/)
      .describe("ISO 8601, UTC, with milliseconds; empty before the first check")
      .meta({ examples: ["2026-11-21T06:10:00.000Z"] }),
    ping_ms: z.number().nullable(),
    error_category: errorCategory.optional(),
  })
  .meta({ id: "RegionalStatus" });

const configResult = {
  success: z.boolean(),
  total_ms: z.number(),
  error: z.string(),
  error_category: z.string(),
  public_ip: z.string().describe("Where traffic left from when the check passed"),
  engine_used: z.string(),
};

const importedConfig = z
  .strictObject({
    tag: z.string().describe("Its name in the subscription"),
    type: z.string().describe("Its protocol, such as vless"),
    server: z.string(),
    port: z.union([z.int(), z.string()]),
    ...configResult,
    region_results: z.record(z.string(), z.strictObject(configResult)).describe("The same by location"),
  })
  .meta({ id: "ImportedConfig" });

const subscriptionBlock = z
  .strictObject({
    subscription_url_id: z.string().nullable().describe("null once the subscription is deleted"),
    server_address: z.string().nullable(),
    server_name: z.string().nullable(),
    config_count: z.int().min(0).describe("All of them; at most 256 are tested and listed"),
    healthy_count: z.int().min(0),
    configs: z.array(importedConfig),
  })
  .meta({ id: "SubscriptionBlock" });

const maintenanceSpan = z.strictObject({ starts_at: iso, ends_at: iso }).meta({ id: "MaintenanceSpan" });

const certificate = z.strictObject({ valid: z.boolean(), days_remaining: z.int() }).meta({ id: "Certificate" });

const monitorFields = {
  id: id("srv_"),
  name: z.string(),
  type: z.enum(MONITOR_TYPES),
  protocol: z.enum(PROTOCOLS),
  status: z.enum(MONITOR_STATUSES),
  aggregate_status: z.enum(MONITOR_STATUSES).describe("Always equal to status"),
  active: z.boolean(),
  interval: wholeOrNull.describe("Seconds between scheduled checks"),
  timeout_follows_interval: z
    .boolean()
    .optional()
    .describe("Addition: a check may take as long as the interval is; absent for heartbeats"),
  latency_ms: wholeOrNull,
  connect_ms: wholeOrNull.optional().describe("Tunnels only"),
  region: z.string().nullable(),
  locations: z.array(z.string()),
  disabled_locations: z.array(z.string()),
  regional_status: z.record(z.string(), regionalStatus),
  notify_on_partial: z.boolean(),
  tags: z.array(z.string()),
  last_checked: utc.nullable(),
  maintenance: maintenanceSpan
    .optional()
    .describe("Addition: the stretch of maintenance that is on or comes next; absent while there is none"),
  subscription: subscriptionBlock.optional().describe("Only on monitors imported from a subscription"),
  url: z
    .string()
    .nullable()
    .optional()
    .describe(
      "This and the next ten: uptime checks only. A user name and a password in it are never shown (`https://***@host/`), the query only to callers who can edit (`?***` to others), a fragment is not kept. Sent back in PUT, `***` keeps what it stands for, on the same scheme, host and port only",
    ),
  host: z.string().nullable().optional(),
  domain: z.string().nullable().optional(),
  port: wholeOrNull.optional(),
  keyword: z.string().nullable().optional(),
  invert_keyword: z.boolean().optional(),
  accepted_statuscodes: z.array(z.string()).optional(),
  certificate: certificate.nullable().optional(),
  ssl_expiration: wholeOrNull.optional(),
  domain_expiration: wholeOrNull.optional(),
  ip_version: z.enum(["ipv4", "ipv6"]).nullable().optional(),
  period: z.int().optional().describe("Heartbeats only, seconds"),
  grace: z.int().optional().describe("Heartbeats only, seconds"),
  ...moreFields(),
};

/** Of kinds with fields that no other kind shows. */
function moreFields(): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(
    uptimeKinds.flatMap((described) => {
      const own = new Set(moreFieldsOf(described.kind).map(([field]) => field));
      const shown = Object.entries(fieldsOf(described)).filter(([field]) => own.has(field));
      return shown.map(([field, schema]) => [field, schema.nullable().optional()] as const);
    }),
  );
}

const latenessMs = wholeOrNull.optional().describe("Only with `explain=1`: how late the latest check started, ms");

export const monitorRow = z.strictObject({ ...monitorFields, lateness_ms: latenessMs }).meta({ id: "MonitorRow" });

export const monitor = z
  .strictObject({
    ...monitorFields,
    heartbeat_url: z.string().optional().describe("Heartbeats only, and only to callers who can edit: a secret"),
    warnings,
  })
  .meta({ id: "Monitor" });

export const monitorList = z.strictObject({ servers: z.array(monitorRow), total }).meta({ id: "MonitorList" });

export const searchList = z
  .strictObject({
    servers: z.array(
      z
        .strictObject({
          ...monitorFields,
          project_id: id("prj_"),
          project_name: z.string(),
          organization_id: z.int(),
          organization_name: z.string(),
        })
        .meta({ id: "FoundMonitor" }),
    ),
    total,
  })
  .meta({ id: "FoundMonitorList" });

export const removed = z.strictObject({ success: z.literal(true), id: id("srv_") }).meta({ id: "RemovedMonitor" });

export const historyList = z
  .strictObject({
    server_id: id("srv_"),
    entries: z.array(
      z
        .strictObject({
          id: id("hst_"),
          type: z.enum(["created", "updated", "paused", "resumed"]),
          at: iso,
          message: z.string(),
          actor,
        })
        .meta({ id: "HistoryEntry" }),
    ),
    total,
  })
  .meta({ id: "HistoryList" });

export const monitorLocations = z
  .strictObject({
    server_id: id("srv_"),
    locations: z.array(z.string()),
    disabled_locations: z.array(z.string()),
    notify_on_partial: z.boolean(),
    warnings,
  })
  .meta({ id: "MonitorLocations" });

const named = { id: id("srv_"), name: z.string() };
export const bulkOutcome = z
  .strictObject({
    matched: total,
    changed: total,
    unchanged: total,
    refused: z
      .array(z.strictObject({ ...named, message: z.string() }).meta({ id: "BulkRefusal" }))
      .describe("The first 1,000 of those that stay as they are, and why"),
    sample: z.array(z.strictObject(named)).max(10).describe("The first ten that match, by name"),
    warnings,
  })
  .meta({ id: "BulkOutcome" });
