/** Subscriptions: the record, its list, and what changes answer (docs/api-contract.md#subscriptions). */
import { z } from "zod";
import {
  CONFIG_ALERT_PERCENT,
  ENGINES,
  SERVER_TIMEOUT_S,
  SYNC_INTERVAL_S,
  SYNC_STATUSES,
  WORKERS,
} from "../../model/subscription.ts";
import { id, iso, total, utc, warnings, wholeOrNull } from "./words.ts";

export const subscription = z
  .strictObject({
    id: z.int().min(1),
    projectId: z.int().min(1),
    name: z.string().nullable(),
    syncIntervalSec: z.int().max(SYNC_INTERVAL_S.most).describe("Seconds between syncs"),
    timeoutSeconds: z
      .int()
      .min(SERVER_TIMEOUT_S.least)
      .max(SERVER_TIMEOUT_S.most)
      .describe("Seconds each server's test may take"),
    maxWorkers: z.int().min(WORKERS.least).max(WORKERS.most).describe("Servers tested at the same time"),
    configAlertPercent: z
      .int()
      .min(CONFIG_ALERT_PERCENT.least)
      .max(CONFIG_ALERT_PERCENT.most)
      .describe("A monitor of several configs alerts when a smaller share of them works; 0 is never"),
    engine: z.enum(ENGINES).describe("Engines tried per config"),
    enabled: z.boolean(),
    lastSyncedAt: utc.nullable().describe("null before the first sync"),
    lastServerCount: wholeOrNull.describe("Servers found in the last sync"),
    lastSyncStatus: z.enum(SYNC_STATUSES).nullable(),
    syncErrorMessage: z.string().nullable(),
    createdAt: utc,
    updatedAt: utc,
    warnings,
  })
  .meta({ id: "Subscription", description: "Its URL is never returned" });

export const subscriptionList = z
  .strictObject({ subscriptions: z.array(subscription), total })
  .meta({ id: "SubscriptionList" });

export const subscriptionRemoved = z
  .strictObject({
    success: z.literal(true),
    paused_monitors: z.int().min(0).describe("Monitors that it had imported: they are kept, paused"),
  })
  .meta({ id: "RemovedSubscription" });

export const syncStarted = z
  .strictObject({
    subscription_id: z.int().min(1),
    status: z.literal("syncing"),
    message: z.enum(["Sync started", "A sync is already running"]),
    warnings,
  })
  .meta({ id: "StartedSync" });

export const subscriptionConfigs = z
  .strictObject({
    configs: z.array(
      z
        .strictObject({
          server_id: id("srv_"),
          tag: z.string().describe("Its name in the subscription"),
          type: z.string().describe("Its protocol, such as vless"),
          server: z.string(),
          port: z.int(),
          success: z.boolean(),
          total_ms: z.number().nullable().describe("Of its last check; null before the first"),
          error: z.string(),
          error_category: z.string(),
          public_ip: z.string().describe("Where traffic left from when the check passed"),
          country: z.string().describe("Where that is, ISO 3166-1 alpha-2; empty where it is not known"),
          engine_used: z.string(),
          locations: z
            .record(z.string(), z.boolean())
            .describe("Whether it passed when it was last tested from there, by location"),
          checked_at: iso.nullable(),
        })
        .meta({ id: "SubscriptionConfig" }),
    ),
    total: total.describe("With the status that was asked for"),
    healthy: total.describe("Of all"),
  })
  .meta({ id: "SubscriptionConfigList" });
