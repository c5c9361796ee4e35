/** Every event at a real receiver, from what happened to the signature; maintenance windows; what the operator sees of both. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { listen } from "../../demo/loopback.ts";
import {
  configShareEvent,
  EVENT_TYPES,
  type EventType,
  incidentEvent,
  type NewEvent,
  subscriptionEvent,
} from "../../model/event.ts";
import { openReceiver, type Received, type Receiver } from "../../scheduler/webhooks/receivers.suite.ts";
import { openSqlite } from "../../store/sql/db/sqlite.ts";
import { appendEvents } from "../../store/sql/events/outbox.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { admin } from "../admin.ts";
import type { IncidentsBody, MonitorBody, ResultsBody } from "../client.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { type DnsTarget, startDns, startWebsite, type Website } from "../targets.ts";

/** The service as it is with checkers elsewhere. */
const MANY_LOCATIONS = fileURLToPath(new URL("../fixtures/many-locations.mjs", import.meta.url));
const DAY_MS = 86_400_000;
/** Two minutes: machines are shared. */
const WITHIN_MS = 120_000;
const DOMAIN = "watched.site";
const ALLOW = { SONDE_ALLOW_NETS: "127.0.0.0/8" };
const FAST = { interval: 1, timeout: 10, maxretries: 1 };

interface Body {
  readonly type: EventType;
  readonly timestamp: string;
  readonly data: { readonly monitor?: { readonly id: string }; readonly [member: string]: unknown };
}
interface MadeWebhook {
  readonly id: number;
  readonly secret: string;
}
interface Deliveries {
  readonly deliveries: readonly {
    readonly id: string;
    readonly type: string;
    readonly state: string;
    readonly attempts: readonly { readonly status_code: number | null; readonly error: string | null }[];
  }[];
}

let product: Product;
let receiver: Receiver;
let webhook: MadeWebhook;
let site: Website;
let secure: Website;
let flapping: { readonly port: number; close(): unknown };
let names: DnsTarget;
let registry: { readonly port: number; close(): unknown };
const heard: Body[] = [];

beforeAll(async () => {
  const folder = temporaryFolder();
  const authority = makeAuthority();
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.certPem);
  const notAfterMs = Date.now() + 5.5 * DAY_MS;
  const named = { commonName: DOMAIN, names: [DOMAIN], issuer: authority, notAfterMs };
  receiver = await openReceiver();
  site = await startWebsite();
  secure = await startWebsite({ certificate: makeCertificate(named) });
  flapping = await openFlapping();
  names = await startDns("127.0.0.1");
  registry = await openRegistry();
  product = await startProduct({
    script: MANY_LOCATIONS,
    args: ["any,de,nl"],
    env: {
      SONDE_EXTRA_CA: caFile,
      SONDE_RESOLVERS: `127.0.0.1:${names.port}`,
      SONDE_RDAP_BOOTSTRAP: `http://rdap.rig:${registry.port}/dns.json`,
    },
  });
  webhook = await admin<MadeWebhook>(product, ALLOW, "webhook", "create", "--project", "prj_1", "--url", receiver.url);
}, WITHIN_MS);

afterAll(async () => {
  await Promise.all([receiver, site, secure, flapping, registry].map((each) => each?.close()));
  names?.close();
  await cleanUp();
});

/** Fails more often than not, at random, second looks included: two locations soon disagree. */
async function openFlapping() {
  const server = createServer((_request, response) => response.writeHead(Math.random() < 0.4 ? 200 : 503).end());
  return { port: await listen(server), close: () => server.close() };
}

/** RDAP of one domain that ends in nine days. */
async function openRegistry() {
  const server = createServer((request, response) => {
    const services = [[["site"], [`http://rdap.rig:${port}/`]]];
    const events = [{ eventAction: "expiration", eventDate: new Date(Date.now() + 9.5 * DAY_MS).toISOString() }];
    const list = { version: "1.0", publication: "2026-01-01T00:00:00Z", services };
    const record = { objectClassName: "domain", ldhName: DOMAIN, events, links: [] };
    response.end(JSON.stringify(request.url === "/dns.json" ? list : record));
  });
  const port = await listen(server);
  return { port, close: () => server.close() };
}

/** Waits for an event of the type, about the monitor when one is named; every message on the way is verified. */
function hear(type: EventType, monitorId?: string): Promise<Body> {
  return eventually(async () => {
    for (const message of receiver.received.slice(heard.length)) heard.push(verified(message));
    return heard.find((body) => body.type === type && (monitorId === undefined || body.data.monitor?.id === monitorId));
  }, WITHIN_MS);
}

function verified({ body, headers }: Received): Body {
  return new Webhook(webhook.secret).verify(body, headers) as Body;
}

/** What the service cannot cause yet: tunnels' refused logins, subscriptions' syncs. Written to its outbox as they will be. */
async function append(event: NewEvent): Promise<void> {
  const database = await openSqlite({ file: join(product.dataDir, "control.sqlite"), durable: true });
  await database.write((session) => appendEvents(session, [event]));
  await database.close();
}

describe("webhooks", () => {
  it("send a test", { timeout: WITHIN_MS }, async () => {
    await admin(product, ALLOW, "webhook", "test", String(webhook.id));
    expect(await hear("webhook.test")).toMatchObject({ data: { organization_id: 1, project_id: "prj_1" } });
  });

  it("tell of pauses and resumes, and of nothing when nothing changed", { timeout: WITHIN_MS }, async () => {
    const { api } = product;
    const { body: job } = await api.post<MonitorBody>("/servers", {
      type: "push",
      name: "Job",
      period: 60,
      tags: ["Ä"],
    });
    for (const active of [false, false, true, true]) await api.put(`/servers/${job.id}`, { active });
    expect(await hear("monitor.resumed", job.id)).toMatchObject({
      data: {
        monitor: { name: "Job", type: "push", status: "unknown", active: true, tags: ["ä"] },
        previous_status: "paused",
        actor: { type: "user", via: "api", key_id: 1 },
      },
    });
    const ofJob = heard.filter((body) => body.data.monitor?.id === job.id).map(({ type }) => type);
    expect(ofJob.sort()).toEqual(["monitor.paused", "monitor.resumed"]);
    expect(JSON.stringify(receiver.received)).not.toContain(job.heartbeat_url?.split("/").at(-1));
  });

  it("tell of an incident from opened to recovered, and the incident tells of its alerts", {
    timeout: WITHIN_MS,
  }, async () => {
    const { api } = product;
    const id = await createMonitor(api, { type: "http", name: "Shop", url: site.url, ...FAST });
    await untilStatus(api, id, "healthy");
    site.answer(503);
    const opened = await hear("incident.opened", id);
    expect(opened.data).toMatchObject({
      monitor: { id, status: "down" },
      incident: { server_id: id, status: "active", severity: "critical", error_type: "down" },
    });
    const { body } = await api.get<IncidentsBody>(`/incidents?server_id=${id}`);
    const incident = body.incidents[0]?.id;
    await api.post(`/incidents/${incident}/acknowledge`, { note: "seen" });
    expect((await hear("incident.acknowledged", id)).data).toMatchObject({
      incident: { id: incident, acknowledged: true },
      actor: { type: "user" },
    });
    site.answer(200);
    expect((await hear("incident.recovered", id)).data).toMatchObject({
      incident: { id: incident, status: "recovered" },
    });
    await eventually(async () => {
      const events = await api.get<{ readonly events: readonly { type: string; data: unknown }[] }>(
        `/incidents/${incident}/events`,
      );
      const alerts = events.body.events.filter(({ type }) => type === "alert_sent");
      return alerts.length === 2 && JSON.stringify(alerts[0]?.data) === '{"channel":"webhook","error":null}'
        ? true
        : undefined;
    });
  });

  it("tell of certificates and domains that run out", { timeout: WITHIN_MS }, async () => {
    const { api } = product;
    const url = `https://${DOMAIN}:${secure.port}/`;
    const body = { type: "http", name: "Secure", url, ...FAST, ssl_expiration: 7, domain_expiration: 14 };
    const id = await createMonitor(api, body);
    expect((await hear("monitor.certificate_expiring", id)).data).toMatchObject({ days_remaining: 5 });
    expect((await hear("monitor.domain_expiring", id)).data).toMatchObject({ days_remaining: 9 });
    await untilResults(id, 4);
    await admin(product, ALLOW, "webhook", "test", String(webhook.id));
    await hear("webhook.test");
    const told = heard.filter(({ type, data }) => data.monitor?.id === id && type.endsWith("_expiring"));
    expect(told).toHaveLength(2);
  });

  it("tell of a partial outage", { timeout: WITHIN_MS }, async () => {
    const url = `http://127.0.0.1:${flapping.port}/`;
    const id = await createMonitor(product.api, { type: "http", name: "Everywhere", url, ...FAST });
    await admin(product, ALLOW, "monitor", "notify-partial", id, "true");
    await admin(product, ALLOW, "monitor", "locations", id, "de,nl");
    const { data } = await hear("monitor.partial", id);
    expect(data).toMatchObject({ monitor: { status: "partial" } });
    expect([["de"], ["nl"]]).toContainEqual(data.locations_down);
  });

  it("tell of what other parts of the service write down", { timeout: WITHIN_MS }, async () => {
    const nowMs = Date.now();
    const monitor = { id: 1, projectId: 1, name: "VPN", kind: "openconnect", pauseReasons: [], tags: [] } as const;
    const incident = { id: 1, monitorId: 1, monitorName: "VPN", level: "down", startedAtMs: nowMs } as const;
    const rest = { endedAtMs: null, acknowledgedAtMs: null, errorMessage: "timeout" };
    await append(incidentEvent("incident.level_changed", monitor, "down", { ...incident, ...rest }, nowMs));
    const subscription = {
      id: 5,
      projectId: 1,
      name: "Provider A",
      syncIntervalS: 300,
      timeoutS: 30,
      maxWorkers: 50,
      configAlertPercent: 50,
      engine: "both",
      enabled: true,
      lastSyncedAtMs: null,
      lastServerCount: null,
      lastSyncStatus: "failed",
      syncErrorMessage: "The list is empty",
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await append(subscriptionEvent("subscription.sync_failed", subscription, nowMs));
    await append(subscriptionEvent("subscription.auto_disabled", { ...subscription, enabled: false }, nowMs));
    const turn = { status: "healthy", share: { working: 2, total: 11 }, location: "any", atMs: nowMs } as const;
    for (const change of ["failing", "recovered"] as const)
      await append(configShareEvent(monitor, { ...turn, change }));
    await hear("incident.level_changed");
    expect((await hear("monitor.configs_failing")).data).toMatchObject({ configs_working: 2, configs_total: 11 });
    await hear("monitor.configs_recovered");
    expect((await hear("subscription.sync_failed")).data).toMatchObject({
      subscription: { id: 5, lastSyncStatus: "failed" },
    });
    expect((await hear("subscription.auto_disabled")).data).toMatchObject({ subscription: { enabled: false } });
  });

  it("have told of every type by now, with no secret in any message or log", () => {
    // No channel is here that could fail; the store's suite has that event.
    const here = EVENT_TYPES.filter((type) => type !== "channel.failing");
    expect([...new Set(heard.map(({ type }) => type))].sort()).toEqual([...here].sort());
    const everything = JSON.stringify(receiver.received) + product.output().replaceAll(product.firstKey ?? "-", "");
    for (const secret of [webhook.secret, webhook.secret.slice(6), product.key])
      expect(everything).not.toContain(secret);
    for (const { headers } of receiver.received) expect(headers["content-type"]).toBe("application/json");
  });

  it("are seen, rotated and removed by the operator", { timeout: WITHIN_MS }, async () => {
    const words = ["webhook", "deliveries", String(webhook.id)] as const;
    const { deliveries } = await admin<Deliveries>(product, ALLOW, ...words);
    expect(deliveries.length).toBeGreaterThan(8);
    expect(deliveries.every(({ id }) => receiver.received.some(({ headers }) => headers["webhook-id"] === id))).toBe(
      true,
    );
    const rotated = await admin<MadeWebhook>(product, ALLOW, "webhook", "rotate", String(webhook.id));
    expect(rotated.secret).not.toBe(webhook.secret);
    const before = receiver.received.length;
    await admin(product, ALLOW, "webhook", "test", String(webhook.id));
    const message = (await receiver.waitFor(before + 1)).at(-1);
    for (const { secret } of [webhook, rotated]) {
      new Webhook(secret).verify(message?.body ?? "", message?.headers ?? {});
    }
    await admin(product, ALLOW, "webhook", "delete", String(webhook.id));
    const list = await admin<{ readonly total: number }>(product, ALLOW, "webhook", "list", "--project", "prj_1");
    expect(list.total).toBe(0);
  });

  it.each([
    ["--url", "ftp://hooks.test-site.org/", "http or https"],
    ["--url", "https://user:pass@hooks.test-site.org/", "password"],
    ["--url", "http://10.0.0.1/", "SONDE_ALLOW_NETS"],
    ["--url", "http://[::ffff:192.168.0.1]/", "SONDE_ALLOW_NETS"],
    ["--url", "http://localhost/", undefined],
    ["--url", "https://hooks.example.org/", "documentation"],
    ["--events", "incident.closed", "incident.recovered"],
    ["--project", "prj_9", "there is no project"],
  ])("refuse %s %s", { timeout: WITHIN_MS }, async (option, value, why) => {
    const given = { "--project": "prj_1", "--url": receiver.url, "--events": "incident.opened", [option]: value };
    const made = admin(product, ALLOW, "webhook", "create", ...Object.entries(given).flat());
    // Loopback is open here, by name too.
    if (why === undefined)
      expect(await made).toMatchObject({ secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) });
    else await expect(made).rejects.toThrow(why);
  });
});

async function untilResults(id: string, count: number): Promise<void> {
  const { body } = await product.api.get<ResultsBody>(`/results/server/${id}?limit=1`);
  await eventually(async () => {
    const now = await product.api.get<ResultsBody>(`/results/server/${id}?limit=1`);
    return now.body.total >= body.total + count ? true : undefined;
  }, WITHIN_MS);
}

describe("maintenance", () => {
  it("keeps status and incidents as they are, and ends when it is told to", { timeout: WITHIN_MS }, async () => {
    const { api } = product;
    const target = await startWebsite();
    const id = await createMonitor(api, { type: "http", name: "Kept", url: target.url, ...FAST });
    await untilStatus(api, id, "healthy");
    const words = ["maintenance", "create", "--monitor", id, "--minutes", "60"] as const;
    const made = await admin<{ readonly id: number }>(product, ALLOW, ...words);
    const latest = async () => (await api.get<ResultsBody>(`/results/server/${id}?limit=3`)).body.results;
    await eventually(async () => ((await latest())[0]?.status === "unknown" ? true : undefined), WITHIN_MS);
    target.answer(503);
    await eventually(async () => {
      const rows = await latest();
      return rows.length === 3 && rows.every((row) => row.status === "unknown" && row.error_message !== null)
        ? true
        : undefined;
    }, WITHIN_MS);
    expect((await api.get<MonitorBody>(`/servers/${id}`)).body.status).toBe("healthy");
    expect((await api.get<IncidentsBody>(`/incidents?server_id=${id}`)).body.total).toBe(0);
    await admin(product, ALLOW, "maintenance", "end", String(made.id));
    await untilStatus(api, id, "down", WITHIN_MS);
    expect((await api.get<IncidentsBody>(`/incidents?server_id=${id}`)).body.active).toBe(1);
    await target.close();
  });

  it.each([
    [["create", "--monitor", "srv_999", "--minutes", "5"], "there is no monitor"],
    [["create", "--monitor", "srv_1", "--minutes", "0"], "--minutes"],
    [["create", "--monitor", "srv_1", "--minutes", "1.5"], "--minutes"],
    [["end", "999"], "there is no maintenance"],
  ])("refuses %s", { timeout: WITHIN_MS }, async (words, why) => {
    await expect(admin(product, ALLOW, "maintenance", ...words)).rejects.toThrow(why);
  });
});

describe("channels", () => {
  it("are added, tested and removed by the operator", { timeout: WITHIN_MS }, async () => {
    const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
    const file = join(temporaryFolder(), "settings.json");
    writeFileSync(file, JSON.stringify({ url: receiver.url, secret }));
    const words = ["--project", "prj_1", "--kind", "webhook", "--name", "Ours", "--settings", `@${file}`];
    const { id } = await admin<{ readonly id: string }>(product, ALLOW, "channel", "add", ...words);
    const before = receiver.received.length;
    const tested = await admin<{ readonly delivered: boolean }>(product, ALLOW, "channel", "test", id);
    expect(tested).toMatchObject({ id, delivered: true, status_code: 204 });
    const message = (await receiver.waitFor(before + 1)).at(-1);
    const body = new Webhook(secret).verify(message?.body ?? "", message?.headers ?? {});
    expect(body).toMatchObject({ type: "alert.test", data: { title: "A test of this channel" } });
    const listed = await admin(product, ALLOW, "channel", "list", "--project", "prj_1");
    expect(listed).toMatchObject({ total: 1, channels: [{ id, state: "ok", has_secret: ["url", "secret"] }] });
    expect(JSON.stringify([tested, listed])).not.toContain(secret);
    expect((await product.api.get<{ readonly state: string }>(`/channels/${id}`)).body.state).toBe("ok");
    await expect(admin(product, ALLOW, "channel", "add", ...words)).rejects.toThrow("a channel Ours already");
    await admin(product, ALLOW, "channel", "rm", id);
    await expect(admin(product, ALLOW, "channel", "test", id)).rejects.toThrow("there is no channel");
  });
});
