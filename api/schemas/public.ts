/** Health, regions and the heartbeat address (docs/api-contract.md#health-and-documents, #heartbeat-address). */
import { z } from "zod";
import { WARNINGS } from "../../store/sql/coordination/shards-port.ts";
import { iso, total, wholeOrNull } from "./words.ts";

export const health = z
  .strictObject({
    status: z.literal("ok"),
    version: z.string(),
    uptime: z.int().min(0),
    timestamp: iso,
  })
  .meta({ id: "Health" });
const component = z
  .strictObject({ status: z.enum(["ok", "error"]), latency_ms: wholeOrNull })
  .meta({ id: "HealthComponent" });
const checks = z.strictObject({ database: component, queue: component }).meta({ id: "HealthChecks" });
// Only where there is something to look at; the logs and metrics say what.
const warnings = z.array(z.enum(WARNINGS)).optional();
export const deepHealth = z
  .strictObject({
    status: z.literal("ok"),
    version: z.string(),
    uptime: z.int().min(0),
    timestamp: iso,
    checks,
    warnings,
  })
  .meta({ id: "DeepHealth" });
export const failedHealth = z
  .strictObject({
    error: z.literal(true),
    code: z.literal(503),
    message: z.literal("Health check failed"),
    details: z.strictObject({ checks, warnings }),
  })
  .meta({ id: "FailedHealth" });

export const regionList = z
  .strictObject({
    regions: z.array(
      z
        .strictObject({ code: z.string(), name: z.string(), healthy_checkers: z.int().min(0), available: z.boolean() })
        .meta({ id: "Region" }),
    ),
    total,
  })
  .meta({ id: "RegionList" });

export const heartbeatTaken = z.strictObject({ ok: z.literal(true) }).meta({ id: "HeartbeatTaken" });
export const heartbeatRefused = z
  .strictObject({ ok: z.literal(false), msg: z.string() })
  .meta({ id: "HeartbeatRefused" });
