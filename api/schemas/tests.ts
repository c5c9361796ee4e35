/** On-demand tests and one-off checks (docs/api-contract.md#tests). */
import { z } from "zod";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { errorCategory, id, iso, total, utc, warnings, wholeOrNull } from "./words.ts";

/** Cannot be looked up. */
function label(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}[A-Za-z0-9]+$`))
    .describe("Cannot be looked up")
    .meta({ examples: [`${prefix}Vw3kQ9cZ1mXt7RbN`] });
}

const testId = label("tst_");
const pending = z.literal("pending");

export const test = z
  .strictObject({
    test_id: testId,
    server_id: id("srv_"),
    status: z.enum(["healthy", "down", "degraded"]),
    latency_ms: wholeOrNull,
    connect_ms: wholeOrNull,
    error_message: z.string().nullable(),
    tested_at: utc,
    warnings,
  })
  .meta({ id: "Test" });
export const pendingTest = z
  .strictObject({ test_id: testId, server_id: id("srv_"), status: pending, tested_at: iso, warnings })
  .meta({ id: "PendingTest" });
export const retest = z
  .strictObject({ test_id: testId, incident_id: id("inc_"), status: pending, warnings })
  .meta({ id: "Retest" });

export const batch = z
  .strictObject({
    batch_id: label("bat_"),
    results: z.array(
      z
        .strictObject({
          protocol: z.enum(TUNNEL_PROTOCOLS),
          batch_id: label("job_")
            .nullable()
            .describe("The queue's job for this protocol; null when nothing was queued"),
          count: z.int().min(1).describe("Monitors of this protocol in the group"),
          reason: z.string().optional().describe("Why queuing failed, when it did"),
        })
        .meta({ id: "BatchGroup" }),
    ),
    skipped: z.array(
      z.strictObject({ server_id: id("srv_"), reason: z.enum(["paused", "not_a_tunnel"]) }).meta({ id: "SkippedTest" }),
    ),
    total: total.describe("Monitors in the request, skipped ones included; each once"),
    successful: total.describe("Tests queued"),
    failed: total.describe("Tests that could not be queued"),
    warnings,
  })
  .meta({ id: "Batch" });

export const check = z
  .strictObject({
    test_id: testId,
    status: z.enum(["healthy", "down"]).describe("Whether the tunnel came up"),
    protocol: z.enum(TUNNEL_PROTOCOLS),
    config_detected: z.boolean().describe("Whether the protocol came from a share link"),
    tested_at: iso,
    latency_ms: wholeOrNull,
    connect_ms: wholeOrNull,
    connection_time_ms: wholeOrNull,
    handshake_time_ms: wholeOrNull,
    assigned_ip: z.string().nullable(),
    error_message: z.string().nullable(),
    error_category: errorCategory.nullable(),
    engine_used: z.enum(["xray", "singbox"]).nullable(),
    warnings,
  })
  .meta({ id: "ConfigCheck" });

export const publicLimitError = z
  .strictObject({
    error: z.literal("Public check limit exceeded"),
    message: z.string().meta({ examples: ["Limit of 5 checks per 24 hours exceeded"] }),
    retry_after: z
      .int()
      .min(1)
      .describe("Seconds")
      .meta({ examples: [5400] }),
  })
  .meta({ id: "PublicLimitError" });
