/** Shapes of answers: document them, and tests hold every answer against them. */
import { z } from "zod";
import { TUNNEL_PROTOCOLS, UPTIME_KINDS } from "../model/kind.ts";
import { PERIODS, PHASES } from "../model/result.ts";
import { MONITOR_STATUSES, REGIONAL_STATUSES, ROW_STATUSES } from "../model/status.ts";
import { ERROR_CATEGORIES, VERDICTS } from "../model/verdict.ts";
import { INCIDENT_EVENT_TYPES } from "../store/sql/control-plane.ts";

export const MONITOR_TYPES = ["vpn", ...UPTIME_KINDS] as const;
export const PROTOCOLS = [...TUNNEL_PROTOCOLS, ...UPTIME_KINDS] as const;

const utc = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .describe("YYYY-MM-DD HH:MM:SS, UTC, no zone marker");
const iso = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .describe("ISO 8601, UTC, with milliseconds");
const wholeOrNull = z.int().nullable();
const total = z.int().min(0);

function id(prefix: string) {
  return z.string().regex(new RegExp(`^${prefix}[0-9]+$`));
}

export const errorCategory = z.enum(ERROR_CATEGORIES);

export const actor = z
  .strictObject({
    type: z.enum(["user", "system"]),
    id: wholeOrNull,
    name: z.string().nullable(),
    via: z.enum(["api", "dashboard", "system"]),
    key_id: wholeOrNull,
  })
  .meta({ id: "Actor" });

const regionalStatus = z
  .strictObject({
    status: z.enum(REGIONAL_STATUSES),
    last_check: z.union([iso, z.literal("")]),
    ping_ms: z.number().nullable(),
    error_category: errorCategory.optional(),
  })
  .meta({ id: "RegionalStatus" });

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
  latency_ms: wholeOrNull,
  connect_ms: wholeOrNull.optional().describe("Tunnels only"),
  region: z.string().nullable(),
  locations: z.array(z.string()),
  disabled_locations: z.array(z.string()),
  regional_status: z.record(z.string(), regionalStatus),
  notify_on_partial: z.boolean(),
  tags: z.array(z.string()),
  last_checked: utc.nullable(),
  url: z.string().nullable().optional().describe("This and the next ten: uptime checks only"),
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
};

const latenessMs = wholeOrNull.optional().describe("Only with `explain=1`: how late the latest check started, ms");

export const monitorRow = z.strictObject({ ...monitorFields, lateness_ms: latenessMs }).meta({ id: "MonitorRow" });

export const monitor = z
  .strictObject({
    ...monitorFields,
    heartbeat_url: z.string().optional().describe("Heartbeats only, and only to callers who can edit: a secret"),
  })
  .meta({ id: "Monitor" });

export const monitorList = z.strictObject({ servers: z.array(monitorRow), total });

export const searchList = z.strictObject({
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
});

export const removed = z.strictObject({ success: z.literal(true), id: id("srv_") });

export const historyList = z.strictObject({
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
});

const explain = z
  .strictObject({
    started_at: iso,
    lateness_ms: z.number(),
    location: z.string(),
    checker: z.string(),
    verdict: z.enum(VERDICTS),
    attempt: z.int(),
    duration_ms: z.number(),
    error_category: errorCategory.nullable(),
    phases: z.partialRecord(z.enum(PHASES), z.number()),
    stage: z.enum(PHASES).nullable(),
    address: z.string().nullable(),
    peer: z.string().nullable(),
    hint: z.string().nullable(),
  })
  .meta({ id: "Explain", description: "Only with `explain=1`; an addition of ours" });

export const result = z
  .strictObject({
    id: id("hb_"),
    server_id: id("srv_"),
    server_name: z.string(),
    status: z.enum(ROW_STATUSES),
    latency_ms: wholeOrNull,
    connect_ms: wholeOrNull.optional().describe("Tunnel results only"),
    protocol: z.enum(PROTOCOLS),
    tested_at: utc,
    error_message: z.string().nullable(),
    explain: explain.optional(),
  })
  .meta({ id: "CheckResult" });

const period = z.enum(PERIODS);
export const resultList = z.strictObject({ results: z.array(result), period, total });
export const failureList = z.strictObject({ failures: z.array(result), period, total });
export const monitorResults = z.strictObject({
  server_id: id("srv_"),
  server_name: z.string(),
  results: z.array(result),
  period,
  total,
  success_rate: z.int().min(0).max(100).nullable(),
});

const incidentFields = {
  id: id("inc_"),
  server_id: id("srv_"),
  server_name: z.string(),
  status: z.enum(["active", "recovered"]),
  severity: z.enum(["critical", "warning"]),
  started_at: iso,
  ended_at: iso.nullable(),
  acknowledged: z.boolean(),
  acknowledged_at: iso.nullable(),
  error_type: z.enum(["down", "degraded"]),
  error_message: z.string(),
};

export const incidentRow = z.strictObject(incidentFields).meta({ id: "IncidentRow" });
export const incident = z
  .strictObject({
    ...incidentFields,
    type: z.enum(MONITOR_TYPES),
    protocol: z.enum(PROTOCOLS),
    duration_seconds: z.int().min(0),
    acknowledged_by: actor.nullable(),
    locations: z.array(z.string()),
    error_category: errorCategory.nullable(),
    event_count: z.int().min(0),
  })
  .meta({ id: "Incident" });
export const incidentList = z.strictObject({ incidents: z.array(incidentRow), total, active: total });
export const incidentEvents = z.strictObject({
  incident_id: id("inc_"),
  events: z.array(
    z
      .strictObject({
        id: id("evt_"),
        type: z.enum(INCIDENT_EVENT_TYPES),
        at: iso,
        message: z.string(),
        actor,
        location: z.string().nullable(),
        data: z.record(z.string(), z.unknown()),
      })
      .meta({ id: "IncidentEvent" }),
  ),
  total,
});

export const health = z.strictObject({
  status: z.literal("ok"),
  version: z.string(),
  uptime: z.int().min(0),
  timestamp: iso,
});
const component = z.strictObject({ status: z.enum(["ok", "error"]), latency_ms: wholeOrNull });
const checks = z.strictObject({ database: component, queue: component });
export const deepHealth = z.strictObject({
  status: z.literal("ok"),
  version: z.string(),
  uptime: z.int().min(0),
  timestamp: iso,
  checks,
});
export const failedHealth = z.strictObject({
  error: z.literal(true),
  code: z.literal(503),
  message: z.string(),
  details: z.strictObject({ checks }),
});

export const regionList = z.strictObject({
  regions: z.array(
    z
      .strictObject({ code: z.string(), name: z.string(), healthy_checkers: z.int().min(0), available: z.boolean() })
      .meta({ id: "Region" }),
  ),
  total,
});

export const heartbeatTaken = z.strictObject({ ok: z.literal(true) });
export const heartbeatRefused = z.strictObject({ ok: z.literal(false), msg: z.string() });

export const error = z
  .strictObject({
    error: z.literal(true),
    code: z.int(),
    message: z.string(),
    details: z.unknown().optional(),
    retry_after: z.int().optional(),
  })
  .meta({ id: "Error" });
export const usageLimitError = z
  .strictObject({
    error: z.enum(["Rate limit exceeded", "Daily limit exceeded", "Monthly limit exceeded"]),
    message: z.string(),
    retry_after: z.int().optional(),
  })
  .meta({ id: "UsageLimitError" });
