import { expect, it } from "vitest";
import { type MonitorShown, monitorWords } from "./monitor-words.ts";

const PLAIN = { columns: null, paint: (_color: string, text: string) => text };
const MONITOR: MonitorShown = {
  ...{
    id: "srv_3",
    name: "Berlin\u001b[2J",
    type: "vpn",
    protocol: "vless",
    status: "down",
    active: true,
    interval: 60,
  },
  ...{ latency_ms: null, last_checked: "2026-11-21 15:25:13", tags: ["prod", "eu"] },
  maintenance: { starts_at: "2026-11-21T22:00:00.000Z", ends_at: "2026-11-21T23:00:00.000Z" },
  regional_status: {
    de: { status: "down", ping_ms: null, error_category: "timeout" },
    nl: { status: "healthy", ping_ms: 41 },
  },
  subscription: {
    ...{ server_address: "vpn.test-site.org", server_name: "Berlin", config_count: 2, healthy_count: 1 },
    configs: [
      {
        ...{ tag: "WS", type: "vless", success: true, total_ms: 210, error: "", error_category: "" },
        ...{ public_ip: "192.0.2.7", engine_used: "xray" },
      },
      {
        ...{
          tag: "REALITY",
          type: "vless",
          success: false,
          total_ms: 0,
          error: "no answer",
          error_category: "timeout",
        },
        ...{ public_ip: "", engine_used: "" },
      },
    ],
  },
};
const row = (status: string, latency: number | null, message: string | null) => ({
  ...{ id: "hb_1", server_id: "srv_3", server_name: "Berlin", status, latency_ms: latency, protocol: "vless" },
  ...{ tested_at: "", error_message: message },
});
const INCIDENT = {
  ...{ id: "inc_4", server_id: "srv_3", server_name: "Berlin", status: "active", severity: "critical" },
  ...{ started_at: "2026-11-21T15:20:00.000Z", ended_at: null, acknowledged: false, error_message: "" },
};

it("tells how a monitor stands, why, and how each of its configurations did", () => {
  const results = { results: [row("down", null, "no answer"), row("healthy", 20, null)], period: "24h" };
  const said = monitorWords(MONITOR, { ...results, uptime_percent: 99.5 }, INCIDENT, PLAIN);
  for (const words of [
    /^srv_3 {2}Berlin�\[2J {2}vless {2}down$/m,
    /^ {2}checked +every 60 s$/m,
    /^ {2}tags +prod, eu$/m,
    /^ {2}latency +█×$/m,
    /^ {2}why +no answer$/m,
    /^ {2}uptime +99\.5 % of 24h$/m,
    /^ {2}incident +inc_4 critical since \S+, not seen yet: sonde ack inc_4$/m,
    /^ {2}maintenance +2026-11-21T22:00:00\.000Z to 2026-11-21T23:00:00\.000Z$/m,
    /^ {2}locations +de down timeout · nl healthy 41 ms$/m,
    /^1 of 2 configurations work \(Berlin, vpn\.test-site\.org\)$/m,
    /WS +│ vless +│ works +│ 210 +│ 192\.0\.2\.7 +│ xray/,
    /REALITY +│ vless +│ timeout +│ – +│ – +│ – +│ no answer/,
  ])
    expect(said).toMatch(words);
  expect(said).not.toContain("\u001b");
});

it("tells of a job that reports where it calls, and nothing that it has not", () => {
  const { subscription: _, ...rest } = MONITOR;
  const job = {
    ...rest,
    regional_status: {},
    tags: [],
    interval: null,
    period: 60,
    grace: 5,
    heartbeat_url: "http://a/b",
  };
  const said = monitorWords(job, { results: [], period: "24h" }, undefined, PLAIN);
  expect(said).toMatch(/^ {2}checked +called every 60 s, 5 s late at most$/m);
  expect(said).toMatch(/^ {2}called at +http:\/\/a\/b$/m);
  for (const label of ["tags", "latency", "why", "incident", "locations", "certificate"]) {
    expect(said).not.toMatch(new RegExp(`^  ${label} `, "m"));
  }
});
