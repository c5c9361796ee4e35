import { describe, expect, it } from "vitest";
import {
  acknowledgedEvent,
  EVENT_TYPES,
  type EventMonitor,
  expiryEvent,
  incidentEvent,
  partialEvent,
  pauseEvent,
  subscriptionEvent,
} from "./event.ts";

/** 2026-11-21T06:10:00.000Z */
const AT_MS = 1_795_241_400_000;
const MONITOR: EventMonitor = {
  id: 12,
  projectId: 42,
  name: "Berlin 1",
  kind: "wireguard",
  pauseReasons: [],
  tags: ["prod"],
};
const ADA = { type: "user", id: 7, name: "Ada Byron", via: "api", keyId: 31 } as const;
const INCIDENT = {
  id: 9,
  monitorId: 12,
  monitorName: "Berlin 1",
  level: "down",
  startedAtMs: AT_MS,
  endedAtMs: null,
  acknowledgedAtMs: null,
  errorMessage: "Handshake did not complete",
} as const;

describe("events", () => {
  it("are those of docs/api-contract.md#webhooks", () => {
    expect([...EVENT_TYPES].sort()).toEqual([
      "channel.failing",
      "incident.acknowledged",
      "incident.level_changed",
      "incident.opened",
      "incident.recovered",
      "monitor.certificate_expiring",
      "monitor.configs_failing",
      "monitor.configs_recovered",
      "monitor.domain_expiring",
      "monitor.partial",
      "monitor.paused",
      "monitor.resumed",
      "subscription.auto_disabled",
      "subscription.sync_failed",
      "webhook.test",
    ]);
  });

  it("tell a pause as docs/api-contract.md#webhooks shows it", () => {
    const paused: EventMonitor = { ...MONITOR, pauseReasons: ["user"] };
    expect(pauseEvent(paused, "healthy", ADA, AT_MS)).toEqual({
      type: "monitor.paused",
      projectId: 42,
      atMs: AT_MS,
      data: {
        monitor: {
          id: "srv_12",
          name: "Berlin 1",
          type: "vpn",
          protocol: "wireguard",
          status: "paused",
          active: false,
          tags: ["prod"],
        },
        previous_status: "healthy",
        actor: { type: "user", id: 7, name: "Ada Byron", via: "api", key_id: 31 },
      },
    });
  });

  it("tell a resume with the status before the pause", () => {
    const { type, data } = pauseEvent(MONITOR, "down", ADA, AT_MS);
    expect(type).toBe("monitor.resumed");
    expect(data).toMatchObject({ monitor: { status: "down", active: true }, previous_status: "paused" });
  });

  it("tell which locations are down", () => {
    expect(partialEvent(MONITOR, "healthy", ["de"], AT_MS).data).toMatchObject({
      monitor: { status: "partial" },
      previous_status: "healthy",
      locations_down: ["de"],
    });
  });

  it("count the days that remain, below zero too", () => {
    const days = (expiresAtMs: number): unknown =>
      expiryEvent("certificate", MONITOR, "healthy", expiresAtMs, AT_MS).data.days_remaining;
    expect(days(AT_MS + 13.5 * 86_400_000)).toBe(13);
    expect(days(AT_MS - 1)).toBe(-1);
    expect(expiryEvent("domain", MONITOR, "healthy", AT_MS, AT_MS).type).toBe("monitor.domain_expiring");
  });

  it("show an incident as the list does", () => {
    const { data } = incidentEvent("incident.opened", MONITOR, "down", INCIDENT, AT_MS);
    expect(data).toEqual({
      monitor: expect.objectContaining({ id: "srv_12", status: "down" }),
      incident: {
        id: "inc_9",
        server_id: "srv_12",
        server_name: "Berlin 1",
        status: "active",
        severity: "critical",
        started_at: "2026-11-21T06:10:00.000Z",
        ended_at: null,
        acknowledged: false,
        acknowledged_at: null,
        error_type: "down",
        error_message: "Handshake did not complete",
      },
    });
    const acknowledged = { ...INCIDENT, acknowledgedAtMs: AT_MS };
    expect(acknowledgedEvent(MONITOR, "down", acknowledged, ADA, AT_MS).data).toMatchObject({
      incident: { acknowledged: true, acknowledged_at: "2026-11-21T06:10:00.000Z" },
      actor: { id: 7 },
    });
  });

  it("show a subscription's record without its URL", () => {
    const subscription = {
      id: 5,
      projectId: 42,
      name: null,
      syncIntervalS: 300,
      timeoutS: 30,
      maxWorkers: 50,
      configAlertPercent: 50,
      engine: "both",
      enabled: true,
      lastSyncedAtMs: null,
      lastServerCount: 12,
      lastSyncStatus: "failed",
      syncErrorMessage: "The list is empty",
      createdAtMs: AT_MS,
      updatedAtMs: AT_MS,
      url: "https://provider.test-site.org/secret",
    };
    const { data } = subscriptionEvent("subscription.sync_failed", subscription, AT_MS);
    expect(JSON.stringify(data)).not.toContain("secret");
    expect(data.subscription).toMatchObject({ id: 5, projectId: 42, createdAt: "2026-11-21 06:10:00" });
  });
});
