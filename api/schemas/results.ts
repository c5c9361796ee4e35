/** Check results and their lists (docs/api-contract.md#results). */
import { z } from "zod";
import { PERIODS, PHASES } from "../../model/result.ts";
import { ROW_STATUSES } from "../../model/status.ts";
import { VERDICTS } from "../../model/verdict.ts";
import { errorCategory, id, iso, PROTOCOLS, total, utc, wholeOrNull } from "./words.ts";

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
export const resultList = z.strictObject({ results: z.array(result), period, total }).meta({ id: "ResultList" });
export const failureList = z.strictObject({ failures: z.array(result), period, total }).meta({ id: "FailureList" });
export const monitorResults = z
  .strictObject({
    server_id: id("srv_"),
    server_name: z.string(),
    results: z.array(result),
    period,
    total,
    success_rate: z.int().min(0).max(100).nullable(),
    uptime_percent: z
      .number()
      .min(0)
      .max(100)
      .nullable()
      .describe("Percent of the period's watched time that the monitor was not down, to three decimals"),
  })
  .meta({ id: "MonitorResults" });

const beats = z.strictObject({
  status: z
    .string()
    .regex(/^[hdgu]*$/)
    .describe("A letter a result: h healthy, d down, g degraded, u unknown")
    .meta({ examples: ["hd"] }),
  latency_ms: z.array(wholeOrNull).meta({ examples: [[41, null]] }),
  tested_s: z
    .array(z.int().min(0))
    .describe("Whole seconds since its check began")
    .meta({ examples: [[61, 1]] }),
});
export const recentResults = z
  .strictObject({ servers: z.record(z.string(), beats).describe("By `srv_…`; what is not there is left out") })
  .meta({ id: "RecentResults", description: "Columns, oldest first" });

const seconds = z.int().min(0);
const uptimePercent = z.number().min(0).max(100).nullable();
const uptimeDays = {
  days: z.array(
    z
      .strictObject({
        date: z.iso.date().meta({ examples: ["2026-11-21"] }),
        down_s: seconds,
        degraded_s: seconds,
        maintenance_s: seconds,
        paused_s: seconds,
        unwatched_s: seconds.describe("Before the monitor was made, or its first check"),
        incidents: total.describe("That were open in it"),
      })
      .meta({ id: "MonitorDay" }),
  ),
  uptime: z
    .strictObject({
      "24h": uptimePercent,
      "7d": uptimePercent,
      "30d": uptimePercent,
      "90d": uptimePercent,
      "365d": uptimePercent,
    })
    .describe("Percent of the watched time that it was not down, to three decimals; null: nothing was watched")
    .meta({ id: "Uptime" }),
};
export const monitorDays = z.strictObject({ server_id: id("srv_"), ...uptimeDays }).meta({ id: "MonitorDays" });
export const manyDays = z
  .strictObject({ servers: z.record(z.string(), z.strictObject(uptimeDays)).describe("By `srv_…`") })
  .meta({ id: "ManyDays" });

const msColumn = z.array(z.number().min(0).nullable());
const countColumn = z.array(z.int().min(0));
export const latency = z
  .strictObject({
    server_id: id("srv_"),
    step_s: z.int().min(1),
    t: z.array(iso).describe("Where each step begins; a step without a check is left out"),
    min: msColumn,
    avg: msColumn,
    p50: msColumn,
    p95: msColumn,
    max: msColumn,
    checks: countColumn,
    failed: countColumn.describe("By the target's fault"),
    ours: countColumn.describe("By a fault of ours"),
    phases: z.partialRecord(z.enum(PHASES), msColumn).describe("Means; none of steps older than a day"),
  })
  .meta({ id: "MonitorLatency", description: "Columns, oldest first; ms to a tenth" });
