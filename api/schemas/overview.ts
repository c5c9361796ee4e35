/** A project at a glance, as columns, its tags, and saved views (docs/api-contract.md#overview). */
import { z } from "zod";
import { id, iso, PROTOCOLS, total, warnings, wholeOrNull } from "./words.ts";

const count = z.int().min(0);
const place = z.int().min(0);

const counts = z
  .strictObject({
    healthy: count,
    down: count,
    degraded: count,
    partial: count,
    paused: count,
    unknown: count,
    maintenance: count.describe("In maintenance, and not paused: counted here alone"),
  })
  .meta({ id: "StatusCounts" });

const service = z
  .strictObject({
    late_p99_ms: wholeOrNull.describe(
      "How late the latest checks of the project's active monitors began, 99th percentile",
    ),
    silent: count.describe("Monitors without a result for two intervals, of the whole service"),
    spool_rows: count.describe("Results that wait to be written, of the whole service"),
    condition: z.string().nullable().describe("Why results are late or away; null when all is well"),
  })
  .meta({ id: "ServiceAtAGlance" });

const seconds = z.array(wholeOrNull);

const expiring = z
  .strictObject({
    what: z.enum(["certificate"]),
    id: z.int().min(1).describe("Of the monitor, without `srv_`"),
    expires_at: iso,
  })
  .meta({ id: "Expiring" });

export const overview = z
  .strictObject({
    at: iso,
    counts,
    incidents: z.strictObject({ active: count, unacknowledged: count }).meta({ id: "IncidentCounts" }),
    service,
    expiring: z
      .array(expiring)
      .max(20)
      .describe(
        "What ends within 30 days or has ended, of monitors that are not paused: the soonest first, ten seconds old at most",
      )
      .meta({ examples: [[{ what: "certificate", id: 13, expires_at: "2026-12-02T00:00:00.000Z" }]] }),
    status: z
      .string()
      .regex(/^[hdgpzum]*$/)
      .describe(
        "A letter for each monitor: h healthy, d down, g degraded, p partial, z paused, u unknown, m in maintenance",
      )
      .meta({ examples: ["hd"] }),
    latency_ms: z.array(wholeOrNull).meta({ examples: [[41, null]] }),
    checked_s: seconds.describe("Seconds since the latest check; null before the first").meta({ examples: [[7, 12]] }),
    since_s: seconds
      .describe("Seconds since the status is what it is; null where it is not known")
      .meta({ examples: [[86_400, 61]] }),
    kinds: z.array(z.enum(PROTOCOLS)).meta({ examples: [["http", "wireguard"]] }),
    tags: z.array(z.string()).meta({ examples: [["blue", "prod"]] }),
    subscriptions: z.array(
      z.strictObject({ id: z.int().min(1), name: z.string().nullable() }).meta({ id: "NamedSubscription" }),
    ),
    ids: z
      .array(z.int().min(1))
      .describe("Of monitors, without `srv_`")
      .meta({ examples: [[12, 13]] }),
    names: z.array(z.string()).meta({ examples: [["Berlin 1", "Shop"]] }),
    interval_s: z
      .array(z.int().min(1))
      .describe("Seconds between two checks; of a push monitor, between two calls")
      .meta({ examples: [[60, 300]] }),
    kind: z
      .array(place)
      .describe("Places in `kinds`, from 0")
      .meta({ examples: [[1, 0]] }),
    tag: z
      .array(z.array(place))
      .describe("Places in `tags`")
      .meta({ examples: [[[0, 1], []]] }),
    subscription: z
      .array(place.nullable())
      .describe("Places in `subscriptions`; null: it follows none")
      .meta({ examples: [[0, null]] }),
  })
  .meta({ id: "Overview" });

export const tagList = z
  .strictObject({
    tags: z
      .array(z.strictObject({ tag: z.string(), servers: count, down: count, degraded: count }).meta({ id: "Tag" }))
      .meta({ examples: [[{ tag: "prod", servers: 12, down: 1, degraded: 0 }]] }),
    total,
  })
  .meta({ id: "TagList" });

const viewFields = {
  id: id("viw_"),
  name: z.string(),
  query: z
    .string()
    .describe("As the page's address has it after `?`")
    .meta({ examples: ["q=status%3Adown"] }),
  shared: z.boolean().describe("Whether it is everyone's in the project"),
};
export const view = z.strictObject({ ...viewFields, warnings }).meta({ id: "View" });
export const viewList = z.strictObject({ views: z.array(view), total }).meta({ id: "ViewList" });
export const removedView = z.strictObject({ success: z.literal(true), id: id("viw_") }).meta({ id: "RemovedView" });
