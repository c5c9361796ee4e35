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
