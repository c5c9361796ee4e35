/** The service as its operator sees it. */
import { z } from "zod";
import { WARNINGS } from "../../store/sql/coordination/shards-port.ts";
import { iso, total } from "./words.ts";

const machine = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    healthy: z.boolean().describe("Gets runs: it reports, its clock is right, it is not leaving"),
    fit: z.boolean().describe("Trusts its own measurements"),
    reasons: z.array(z.string()).describe("Why it does not; empty when fit"),
    clock_offset_ms: z.int().describe("Its clock minus the queue's"),
    running: total,
    room: total.describe("Checks that it runs at the same time"),
    seen_at: iso,
  })
  .meta({ id: "ServiceMachine" });

export const service = z
  .strictObject({
    at: iso,
    version: z.string(),
    started_at: iso.describe("Of the process that answers"),
    http_server: z.enum(["net", "node"]),
    database: z.enum(["sqlite", "postgres"]),
    database_trouble: z.string().nullable().describe("null: it answers"),
    queue_trouble: z.string().nullable().describe("null: it answers"),
    condition: z.string().nullable().describe("Why results are late or away; null: all is well"),
    warnings_of_service: z.array(z.enum(WARNINGS)),
    schedulers: z.array(
      z
        .strictObject({
          name: z.string(),
          shards: total,
          monitors: total,
          running: total,
          waiting: total,
          silent_monitors: total,
          skipped_turns: total.describe("Since it started"),
          spool_rows: total,
          trouble: z.string().nullable(),
        })
        .meta({ id: "ServiceScheduler" }),
    ),
    free_shards: total.describe("Shards that no scheduler holds: their monitors are not checked"),
    skipped_turns: total.describe("Turns that no prober ran, since the database was made"),
    checkers: z.array(
      z
        .strictObject({
          code: z.string(),
          healthy_checkers: total,
          machines: z.array(machine).describe("Checkers of other machines; empty where the service checks by itself"),
        })
        .meta({ id: "ServiceLocation" }),
    ),
    waiting_deliveries: total.describe("Messages to webhooks that wait"),
  })
  .meta({ id: "Service" });
