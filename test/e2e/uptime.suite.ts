/**
 * Uptime monitoring as a whole: monitors created through the API against targets on loopback, checked on schedule, judged, stored and
 * shown, on whatever stores the service was started with. The cases follow one another on one service.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MonitorBody } from "../client.ts";
import { createMonitor, type ProductSettings, untilMonitor, untilStatus } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import {
  DAYS_LEFT,
  type IncidentShown,
  type MonitorShown,
  openUptimeWorld,
  type ResultsShown,
  SITE_DELAY_MS,
  type UptimeWorld,
  ZONE_ADDRESS,
} from "./uptime-world.ts";

const HOUR_S = 3_600;
const UTC = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Nothing on loopback takes longer on a machine that is not on its knees, ms. */
const SANE_LATENCY_MS = 5_000;
/** The plan's requests a minute: enough never to bite, and a number to see in the headers. */
const PER_MINUTE = 100_000;

const often = { interval: 1, timeout: 10 };
const seldom = { interval: HOUR_S, timeout: 10 };

export function uptimeSuite(stores: string, settings: () => Promise<ProductSettings>): void {
  describe(`uptime monitoring on ${stores}`, () => {
    let world: UptimeWorld;
    const ids: Record<string, string> = {};
    let job = "";

    beforeAll(async () => {
      world = await openUptimeWorld({ ...(await settings()), plan: { requestsPerMinute: PER_MINUTE } });
    });
    afterAll(async () => {
      await world?.close();
      await cleanUp();
    });

    const api = () => world.product.api;
    const create = (body: Readonly<Record<string, unknown>>) => createMonitor(api(), body);
    const shown = async (id: string) => (await api().get<MonitorShown>(`/servers/${id}`)).body;
    const results = async (path: string) => (await api().get<ResultsShown>(`/results${path}`)).body;
    const incidentOf = async (id: string) =>
      (await api().get<{ incidents: IncidentShown[] }>(`/incidents?server_id=${id}`)).body.incidents[0];
    const push = async (words = "") => {
      const answer = await fetch(`${job}${words}`);
      return { status: answer.status, body: (await answer.json()) as { ok: boolean } };
    };
    /** Lets the schedule run for some turns of a monitor that is checked every second: a clock that no busy machine outruns. */
    async function turns(count: number): Promise<void> {
      const ofClock = async () => (await results(`/server/${ids.port}?limit=1`)).total;
      const first = await ofClock();
      await eventually(async () => ((await ofClock()) >= first + count ? true : undefined), 60_000);
    }

    it("checks a monitor of every kind soon after it was created", { timeout: 60_000 }, async () => {
      const { site, shop, secure, mail, zone } = world;
      const host = "127.0.0.1";
      shop.answer(200, "Kettles: In stock");
      Object.assign(ids, {
        // First of its host: it brings the standard of 14 days.
        https: await create({ type: "http", name: "Secure", url: secure.url, ...often }),
        http: await create({ type: "http", name: "Site", url: site.url, tags: ["Web"], maxretries: 3, ...often }),
        keyword: await create({ type: "keyword", name: "Shop", url: shop.url, keyword: "In stock", ...often }),
        port: await create({ type: "port", name: "Mail", host, port: mail.port, ...often }),
        dns: await create({ type: "dns", name: "Zone", domain: "a.test-site.org", host, port: zone.port, ...often }),
        ping: await create({ type: "ping", name: "Loopback", host, ...often }),
      });
      const created = await api().post<MonitorBody>("/servers", { type: "push", name: "Job", period: 60 });
      expect(created.body).toMatchObject({
        status: "unknown",
        last_checked: null,
        period: 60,
        interval: 60,
        grace: 60,
      });
      ids.push = created.body.id;
      job = created.body.heartbeat_url ?? "";
      expect(job).toMatch(new RegExp(`^${world.product.url}/api/push/[A-Za-z0-9]{32}$`));
      expect(await push("?ping=41.6")).toEqual({ status: 200, body: { ok: true } });

      for (const [type, id] of Object.entries(ids)) {
        const monitor = (await untilStatus(api(), id, "healthy")) as MonitorShown;
        const kind = type === "https" ? "http" : type;
        expect(monitor).toMatchObject({ type: kind, protocol: kind, aggregate_status: "healthy", active: true });
        expect(monitor).toMatchObject({ region: "any", locations: ["any"], disabled_locations: [] });
        expect(monitor.last_checked).toMatch(UTC);
        expect(monitor.latency_ms, type).toBeGreaterThanOrEqual(0);
        expect(monitor.latency_ms, type).toBeLessThan(SANE_LATENCY_MS);
        const { any: regional } = monitor.regional_status;
        expect(regional).toEqual({ status: "up", last_check: expect.stringMatching(ISO), ping_ms: monitor.latency_ms });
      }
      expect((await shown(ids.http ?? "")).latency_ms).toBeGreaterThanOrEqual(SITE_DELAY_MS);
      expect((await shown(ids.push ?? "")).latency_ms).toBe(42);
    });

    it("shows what a check saw of a certificate", async () => {
      const good = await untilMonitor(api(), ids.https ?? "", (monitor) => monitor.certificate !== null);
      expect(good).toMatchObject({ certificate: { valid: true, days_remaining: DAYS_LEFT }, ssl_expiration: 14 });
      expect(await shown(ids.http ?? "")).toMatchObject({ certificate: null, ssl_expiration: null });
      const id = await create({ type: "http", name: "Expired", url: world.expired.url, maxretries: 1, ...seldom });
      const bad = (await untilStatus(api(), id, "down")) as MonitorShown;
      expect(bad.certificate?.valid).toBe(false);
      expect(bad.certificate?.days_remaining).toBeLessThan(0);
      expect(bad.latency_ms).toBeNull();
      expect(bad.regional_status.any).toMatchObject({ status: "down", ping_ms: null, error_category: "cert_error" });
      await api().remove(`/servers/${id}`);
    });

    it("goes from retrying to down and back, and an incident with it", { timeout: 60_000 }, async () => {
      const id = ids.http ?? "";
      world.site.answer(503);
      const seen: string[] = [];
      const down = await untilMonitor(api(), id, ({ status }) => {
        if (seen.at(-1) !== status) seen.push(status);
        return status === "down";
      });
      // Passing once more before the target turned is no fault; then it retries, then it is down.
      expect(seen.filter((status) => status !== "healthy")).toEqual(["degraded", "down"]);
      expect(down).toMatchObject({ latency_ms: null, aggregate_status: "down" });
      expect((down as MonitorShown).regional_status.any).toMatchObject({ status: "down", error_category: "rejected" });

      const incident = await eventually(() => incidentOf(id));
      expect(incident).toMatchObject({ status: "active", severity: "critical", error_type: "down", ended_at: null });
      expect(incident).toMatchObject({ acknowledged: false, server_name: "Site" });
      expect(incident.started_at).toMatch(ISO);
      expect(incident.error_message).toContain("503");
      const path = `/incidents/${incident.id}`;
      expect((await api().get(path)).body).toMatchObject({
        ...{ type: "http", protocol: "http", locations: ["any"], acknowledged_by: null, error_category: "rejected" },
      });

      const first = (await api().post<IncidentShown>(`${path}/acknowledge`, { note: "on it" })).body;
      expect(first).toMatchObject({
        acknowledged: true,
        acknowledged_by: { type: "user", via: "api" },
        status: "active",
      });
      const again = (await api().post<IncidentShown>(`${path}/acknowledge`)).body;
      expect(again.acknowledged_at).toBe(first.acknowledged_at);
      expect((await shown(id)).status).toBe("down");

      world.site.answer(200);
      const healthy = await untilStatus(api(), id, "healthy");
      expect(healthy.latency_ms).toBeGreaterThanOrEqual(SITE_DELAY_MS);
      const closed = (await api().get<IncidentShown>(path)).body;
      expect(closed).toMatchObject({ status: "recovered", acknowledged: true, ended_at: expect.stringMatching(ISO) });
      expect(Date.parse(closed.ended_at ?? "")).toBeGreaterThan(Date.parse(closed.started_at));
      const { events } = (await api().get<{ events: { type: string; at: string; data: unknown }[] }>(`${path}/events`))
        .body;
      expect(events.map(({ type }) => type)).toEqual(["opened", "acknowledged", "recovered"]);
      expect(events[0]).toMatchObject({ data: { level: "down" } });
      // It began with the first failure, and was opened when the last of the retries confirmed it.
      expect(Date.parse(events[0]?.at ?? "")).toBeGreaterThan(Date.parse(closed.started_at));
      expect(events[1]).toMatchObject({ data: { note: "on it" } });
      expect(closed.event_count).toBe(3);
      const both = (await api().get<{ incidents: IncidentShown[]; active: number }>(`/incidents?server_id=${id}`)).body;
      expect(both).toMatchObject({ total: 1, active: 0 });
    });

    it("calls every other kind down when its target fails, and healthy again", { timeout: 60_000 }, async () => {
      const { secure, shop, mail, zone } = world;
      shop.answer(200, "Kettles: sold out");
      zone.answer("192.0.2.8");
      await Promise.all([secure.close(), mail.close()]);
      await api().put(`/servers/${ids.dns}`, { keyword: ZONE_ADDRESS });
      const failing = ["https", "keyword", "port", "dns"].map((kind) => ids[kind] ?? "");
      for (const id of failing) {
        const monitor = (await untilStatus(api(), id, "down")) as MonitorShown;
        const isGone = id === ids.https || id === ids.port;
        const category = isGone ? "server_not_connected" : "rejected";
        expect(monitor.regional_status.any?.error_category, monitor.name).toBe(category);
      }
      shop.answer(200, "Kettles: In stock");
      zone.answer(ZONE_ADDRESS);
      await Promise.all([secure.reopen(), mail.reopen()]);
      for (const id of failing) await untilStatus(api(), id, "healthy");
      await eventually(async () => {
        const { body } = await api().get<{ active: number }>("/incidents");
        return body.active === 0 ? true : undefined;
      });
    });

    it("answers results of the project, its failures, and of one monitor", { timeout: 60_000 }, async () => {
      const id = ids.http ?? "";
      const whole = await eventually(async () => {
        const found = await results(`/server/${id}?limit=1000`);
        return found.results.some(({ status }) => status === "down") && found.results[0]?.status === "healthy"
          ? found
          : undefined;
      });
      expect(whole).toMatchObject({ server_id: id, server_name: "Site", period: "24h", total: whole.results.length });
      const counted = (status: string) => whole.results.filter((row) => row.status === status).length;
      expect(whole.success_rate).toBe(Math.round((counted("healthy") / whole.total) * 100));
      expect(whole.success_rate).toBeLessThan(100);
      const oldestFirst = whole.results.toReversed().map(({ status }) => status);
      const turnsTaken = oldestFirst.filter((status, i) => status !== oldestFirst[i - 1]);
      expect(turnsTaken).toEqual(["healthy", "degraded", "down", "healthy"]);
      // Three failures in a row confirm: two were retries.
      expect(counted("degraded")).toBe(2);
      const row = whole.results[0];
      expect(row).toMatchObject({ server_id: id, server_name: "Site", protocol: "http", error_message: null });
      expect(row?.id).toMatch(/^hb_[0-9]+$/);
      expect(row?.tested_at).toMatch(UTC);
      expect(row).not.toHaveProperty("explain");
      expect(row).not.toHaveProperty("connect_ms");
      const order = whole.results.map((each) => BigInt(each.id.slice(3)));
      expect(order).toEqual(order.toSorted((a, b) => (a < b ? 1 : -1)));

      const downs = await results(`/server/${id}?status=down&limit=1&offset=1&explain=1`);
      expect(downs.total).toBe(counted("down"));
      expect(downs.success_rate).not.toBeNull();
      const why = (await results(`/server/${id}?status=down&explain=1&limit=1`)).results[0];
      expect(why?.error_message).toContain("503");
      expect(why?.explain).toMatchObject({ verdict: "rejected", location: "any", stage: expect.any(String) });
      expect(why?.explain?.address).toBe(`127.0.0.1:${world.site.port}`);
      expect(why?.explain?.phases).toMatchObject({ connect: expect.any(Number), request: expect.any(Number) });

      const all = await results("?period=15m&limit=1000");
      expect(all.total).toBe(all.results.length);
      expect(new Set(all.results.map(({ server_id }) => server_id))).toEqual(new Set(Object.values(ids)));
      const { failures, total } = await results("/failures?limit=1000");
      expect(total).toBe(failures.length);
      expect(new Set(failures.map(({ status }) => status))).toEqual(new Set(["down"]));
      expect(failures.filter((each) => each.server_id === id)).toHaveLength(counted("down"));
      expect((await api().get("/results?period=2h")).body).toMatchObject({
        message: "period must be 15m, 1h, 24h or 7d.",
      });
    });

    it("runs nothing while paused, and at once when resumed", { timeout: 90_000 }, async () => {
      const url = `${world.site.url}paused`;
      const requests = () => world.site.requests("/paused");
      const id = await create({ type: "http", name: "Pausing", url, ...often });
      await untilStatus(api(), id, "healthy");
      const paused = (await api().put<MonitorBody>(`/servers/${id}`, { active: false })).body;
      expect(paused).toMatchObject({ status: "paused", aggregate_status: "paused", active: false });
      // What ran at that moment may still arrive.
      await turns(2);
      const before = requests();
      await turns(3);
      expect(requests()).toBe(before);
      // One row for each request, nothing lost and nothing twice; only a check that was under way when the pause came counts for nothing.
      const rowsFrom = (least: number) =>
        eventually(async () => {
          const { total } = await results(`/server/${id}`);
          return total >= least ? total : undefined;
        });
      const rows = await rowsFrom(before - 1);
      expect(rows).toBeLessThanOrEqual(before);

      await api().put(`/servers/${id}`, { interval: HOUR_S });
      const resumed = (await api().put<MonitorBody>(`/servers/${id}`, { active: true })).body;
      expect(resumed).toMatchObject({ status: "healthy", active: true });
      await eventually(async () => (requests() === before + 1 ? true : undefined));
      expect(await rowsFrom(rows + 1)).toBeLessThanOrEqual(before + 1);
      const { entries } = (await api().get<{ entries: { message: string }[] }>(`/servers/${id}/history`)).body;
      const messages = entries.map(({ message }) => message);
      expect(messages.slice(0, 3)).toEqual(["Monitoring resumed", expect.any(String), "Monitoring paused"]);
      await api().put(`/servers/${id}`, { active: true });
      expect((await api().get(`/servers/${id}/history`)).body.total).toBe(entries.length);
      ids.pausing = id;
    });

    it("lets a new address take effect at once", async () => {
      const id = ids.pausing ?? "";
      const moved = `${world.shop.url}moved`;
      expect((await api().put<MonitorBody>(`/servers/${id}`, { url: moved })).body).toMatchObject({ url: moved });
      await eventually(async () => (world.shop.requests("/moved") === 1 ? true : undefined));
    });

    it("forgets a deleted monitor everywhere", { timeout: 60_000 }, async () => {
      const id = ids.pausing ?? "";
      await api().put(`/servers/${id}`, { interval: 1 });
      await eventually(async () => (world.shop.requests("/moved") >= 3 ? true : undefined));
      expect((await api().remove(`/servers/${id}`)).body).toEqual({ success: true, id });
      delete ids.pausing;
      for (const path of [
        `/servers/${id}`,
        `/results/server/${id}`,
        `/servers/${id}/history`,
        `/incidents?server_id=${id}`,
      ])
        expect((await api().get(path)).body).toEqual({ error: true, code: 404, message: "Server not found" });
      expect((await api().remove(`/servers/${id}`)).status).toBe(404);
      await turns(2);
      const before = world.shop.requests("/moved");
      await turns(2);
      expect(world.shop.requests("/moved")).toBe(before);
      const left = (await results("?limit=1000")).results.map(({ server_id }) => server_id);
      expect(left).not.toContain(id);
      expect(
        (await api().get<{ servers: MonitorBody[] }>("/servers?family=all")).body.servers.map((each) => each.id),
      ).not.toContain(id);
    });

    it("hears heartbeats", async () => {
      const id = ids.push ?? "";
      expect((await push("?status=down&msg=disk%20full")).body).toEqual({ ok: true });
      const down = (await untilStatus(api(), id, "down")) as MonitorShown;
      expect(down.latency_ms).toBeNull();
      expect(await eventually(() => incidentOf(id))).toMatchObject({ status: "active", error_message: "disk full" });
      await fetch(job, { method: "POST", body: "ignored" });
      await untilStatus(api(), id, "healthy");
      const rows = await eventually(async () => {
        const found = await results(`/server/${id}`);
        return found.total >= 3 ? found : undefined;
      });
      expect(rows.results.map(({ status, latency_ms, error_message }) => [status, latency_ms, error_message])).toEqual([
        ["healthy", null, null],
        ["down", null, "disk full"],
        ["healthy", 42, null],
      ]);
      expect(await push("?ping=soon")).toMatchObject({ status: 404, body: { ok: false } });
      const unknown = await fetch(`${world.product.url}/api/push/${"x".repeat(32)}`);
      expect([unknown.status, await unknown.json()]).toEqual([404, { ok: false, msg: expect.any(String) }]);
      await api().put(`/servers/${id}`, { active: false });
      expect(await push()).toMatchObject({ status: 404, body: { ok: false } });
      await api().put(`/servers/${id}`, { active: true });
      expect(await push()).toMatchObject({ status: 200 });
    });

    it("finds monitors by name, tag, host and id", async () => {
      const search = async (text: string) =>
        (await api().get<{ servers: MonitorBody[] }>(`/servers/search?q=${encodeURIComponent(text)}`)).body.servers;
      expect((await search("SITE")).map(({ name }) => name)).toEqual(["Site"]);
      expect((await search("web")).map(({ name }) => name)).toEqual(["Site"]);
      expect((await search(ids.ping ?? "")).map(({ id }) => id)).toContain(ids.ping);
      const byHost = await search("127.0.0.1");
      expect(byHost.map(({ name }) => name)).toEqual(["Loopback", "Mail", "Secure", "Shop", "Site", "Zone"]);
      expect(byHost[0]).toMatchObject({ project_id: "prj_1", status: "healthy" });
      expect(JSON.stringify(await search("Job"))).not.toContain("heartbeat_url");
    });

    it("refuses what it must not dial, its own listener first", async () => {
      for (const url of [world.product.url, "http://10.1.2.3/", "http://[::ffff:10.0.0.1]/", "http://a.example.com/"]) {
        const answer = await api().post("/servers", { type: "http", name: "Bad", url });
        expect([url, answer.status]).toEqual([url, 422]);
      }
    });

    it("says how it is and counts what it did", async () => {
      const raw = (path: string) => fetch(`${world.product.url}/api/v1${path}`);
      expect(await (await raw("/health")).json()).toMatchObject({ status: "ok", version: expect.any(String) });
      const deep = await raw("/health/deep");
      expect([deep.status, await deep.json()]).toEqual([
        200,
        expect.objectContaining({
          checks: {
            database: { status: "ok", latency_ms: expect.any(Number) },
            queue: { status: "ok", latency_ms: expect.any(Number) },
          },
        }),
      ]);
      expect(await (await raw("/regions")).json()).toEqual({
        regions: [{ code: "any", name: "Any location", healthy_checkers: 1, available: true }],
        total: 1,
      });
      // The job was paused and resumed just before, which a scheduler hears a moment later.
      const metrics = await eventually(async () => {
        const text = await (await fetch(`${world.product.schedulerUrl ?? world.product.url}/metrics`)).text();
        return /^sonde_monitors 7$/m.test(text) ? text : undefined;
      });
      for (const kind of ["http", "keyword", "port", "dns", "ping", "push"]) {
        expect(metrics).toMatch(new RegExp(`^sonde_checks_total\\{kind="${kind}",verdict="ok"\\} [1-9]`, "m"));
      }
      expect(metrics).toMatch(/^sonde_monitors_silent 0$/m);
      expect(metrics).toMatch(/^process_cpu_seconds_total /m);
    });

    it("counts requests in the headers of every answer to a good key", async () => {
      const first = await api().get("/servers");
      const second = await api().get("/servers/x");
      expect(second.status).toBe(400);
      expect(second.headers.get("x-ratelimit-limit")).toBe(String(PER_MINUTE));
      const left = [first, second].map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
      const resets = [first, second].map(({ headers }) => Number(headers.get("x-ratelimit-reset")));
      // Between the two a minute may have begun.
      if (resets[0] === resets[1]) expect(left[1]).toBe((left[0] ?? 0) - 1);
      expect((resets[1] ?? 0) * 1_000 - Date.now()).toBeLessThanOrEqual(60_000);
    });

    it("comes back from a restart with everything", { timeout: 90_000 }, async () => {
      const before = await results(`/server/${ids.http}?limit=1000`);
      const incidents = (await api().get<{ incidents: unknown[] }>("/incidents")).body.incidents;
      const history = (await api().get(`/servers/${ids.http}/history`)).body;
      // A plan whose day is used up already shows that its requests were not forgotten.
      const startedMs = await world.restart({ requestsPerDay: 20 });
      console.info(`second start on ${stores}: ${Math.round(startedMs)} ms`);
      expect(world.product.firstKey).toBeNull();
      const refused = await api().get("/servers");
      expect(refused.status).toBe(429);
      const untilMidnightS = 86_400 - ((Date.now() / 1_000) % 86_400);
      expect(Math.abs(Number(refused.headers.get("retry-after")) - untilMidnightS)).toBeLessThan(30);
      expect(refused.body).toEqual({
        error: "Daily limit exceeded",
        message: "Daily limit of 20 requests exceeded",
        retry_after: 3_600,
      });
      await world.restart({ requestsPerMinute: PER_MINUTE });

      const after = await eventually(async () => {
        const found = await results(`/server/${ids.http}?limit=1000`);
        return found.total > before.total ? found : undefined;
      });
      const rowsBefore = before.results.map(({ id }) => id);
      const rowsAfter = after.results.map(({ id }) => id);
      expect(rowsAfter.slice(-rowsBefore.length)).toEqual(rowsBefore);
      expect(new Set(rowsAfter).size).toBe(rowsAfter.length);
      expect((await api().get<{ incidents: unknown[] }>("/incidents")).body.incidents).toEqual(incidents);
      expect((await api().get(`/servers/${ids.http}/history`)).body).toEqual(history);
      for (const id of Object.values(ids)) await untilStatus(api(), id, "healthy");
      expect(await push()).toMatchObject({ status: 200 });
      expect((await api().get<MonitorBody>(`/servers/${ids.push}`)).body.heartbeat_url).toBe(job);
    });

    it("throttles an address that guesses keys, but not what needs none", { timeout: 60_000 }, async () => {
      const guess = () => fetch(`${world.product.url}/api/v1/servers`, { headers: { "x-api-key": "uk1_wrong" } });
      const answers: number[] = [];
      while (answers.length < 30 && answers.at(-1) !== 429) answers.push((await guess()).status);
      expect(answers.slice(0, 10)).toEqual(Array(10).fill(401));
      expect(answers.at(-1)).toBe(429);
      const refused = await api().get("/servers");
      expect(refused.status).toBe(429);
      expect(refused.body).toMatchObject({ error: true, code: 429, retry_after: 6 });
      expect(refused.headers.get("retry-after")).toBe("6");
      expect((await fetch(`${world.product.url}/api/v1/health`)).status).toBe(200);
      expect(await push()).toMatchObject({ status: 200 });
      await eventually(async () => ((await api().get("/servers")).status === 200 ? true : undefined));
    });
  });
}
