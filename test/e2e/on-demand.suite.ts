/** Tests, retests and one-off checks of a whole service: jobs are taken by its scheduler, results come back the usual way. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultsBody, TestClient } from "../client.ts";
import { createMonitor, type Product, type ProductSettings, startProduct, untilStatus } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startTcp } from "../targets.ts";

/** Kept sealed with a monitor, and nowhere after a check. */
const SECRET = "word-that-must-stay-secret";
/** A login at a port that no server listens on: it fails at once, whether or not this version can run it. */
export const TUNNEL = { protocol: "openconnect", host: "127.0.0.1", port: 9, username: "ada", password: SECRET };
/** Opened for anonymous callers. */
const OUTSIDE = "127.0.0.2";

export interface EventsBody {
  readonly events: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
  readonly total: number;
}
interface TestBody {
  readonly test_id: string;
  readonly server_id: string;
  readonly status: string;
  readonly error_message: string | null;
  readonly tested_at: string;
}

/** A down monitor with its open incident: a port that no server listens on, not checked again by itself within the test. */
export async function createDown(
  api: TestClient,
  name: string,
  port: number,
): Promise<{ id: string; incident: string }> {
  const body = { type: "port", name, host: "127.0.0.1", port, interval: 86_400, maxretries: 1 };
  const id = await createMonitor(api, body);
  await untilStatus(api, id, "down");
  const incident = await eventually(async () => {
    const { body: list } = await api.get<{ incidents: readonly { id: string }[] }>(`/incidents?server_id=${id}`);
    return list.incidents[0]?.id;
  });
  return { id, incident };
}

export async function eventsOf(api: TestClient, incident: string): Promise<EventsBody["events"]> {
  return (await api.get<EventsBody>(`/incidents/${incident}/events`)).body.events;
}

export function onDemandSuite(name: string, stores: () => Promise<ProductSettings>): void {
  describe(`on demand, on ${name}`, () => {
    let product: Product;
    let api: TestClient;
    let tunnel = "";

    beforeAll(async () => {
      const { env, ...rest } = await stores();
      product = await startProduct({
        ...rest,
        env: { ...env, SONDE_PUBLIC_ALLOW_NETS: OUTSIDE },
        plan: { onDemandTestsPerMonth: 40 },
      });
      api = product.api;
      tunnel = await createMonitor(api, { ...TUNNEL, name: "Berlin", interval: 86_400 });
      await eventually(async () => (await rowsOf(tunnel)) === 1 || undefined);
    });
    afterAll(cleanUp);

    async function rowsOf(id: string): Promise<number> {
      return (await api.get<ResultsBody>(`/results/server/${id}`)).body.total;
    }

    it("tests a tunnel; the result is in its results and its status", async () => {
      const { status, body } = await api.post<TestBody>("/test", { server_id: tunnel });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        server_id: tunnel,
        tested_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      });
      const rows = await eventually(async () => {
        const { body: found } = await api.get<ResultsBody>(`/results/server/${tunnel}`);
        return found.total === 2 ? found.results : undefined;
      });
      expect(rows[0]).toMatchObject({ status: body.status, error_message: body.error_message });
      const monitor = (await api.get<{ status: string; last_checked: string }>(`/servers/${tunnel}`)).body;
      expect(monitor).toMatchObject({ status: body.status, last_checked: body.tested_at });
    });

    it("answers several callers at once, each with a result of its own", async () => {
      const before = await rowsOf(tunnel);
      const answers = await Promise.all([1, 2, 3, 4].map(() => api.post<TestBody>("/test", { server_id: tunnel })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(answers.map(({ body }) => body.test_id)).size).toBe(4);
      await eventually(async () => (await rowsOf(tunnel)) === before + 4 || undefined);
    });

    it("tests a batch", async () => {
      const site = await createMonitor(api, { type: "port", name: "P", host: "127.0.0.1", port: 9, interval: 86_400 });
      const before = await rowsOf(tunnel);
      const { body } = await api.post("/test/batch", { server_ids: [tunnel, site] });
      expect(body).toMatchObject({ successful: 1, skipped: [{ server_id: site, reason: "not_a_tunnel" }], total: 2 });
      await eventually(async () => (await rowsOf(tunnel)) === before + 1 || undefined);
    });

    it("retests a down monitor; the incident closes once it has recovered", async () => {
      const target = await startTcp();
      await target.close();
      const { id, incident } = await createDown(api, "Gate", target.port);
      const first = await api.post<TestBody>(`/incidents/${incident}/retest`);
      expect(first.body).toMatchObject({ incident_id: incident, status: "pending" });
      const events = await eventually(async () => {
        const found = await eventsOf(api, incident);
        return found.some(({ type }) => type === "retest_finished") ? found : undefined;
      });
      expect(events.map(({ type }) => type)).toEqual(["opened", "retest_queued", "retest_finished"]);
      expect(events[2]?.data).toMatchObject({ test_id: first.body.test_id, status: "down", latency_ms: null });
      expect((await api.get(`/incidents/${incident}`)).body).toMatchObject({ status: "active", event_count: 3 });

      await target.reopen();
      await api.post(`/incidents/${incident}/retest`);
      await eventually(async () => {
        const { body } = await api.get<{ status: string }>(`/incidents/${incident}`);
        return body.status === "recovered" || undefined;
      });
      const types = (await eventsOf(api, incident)).map(({ type }) => type);
      expect(types.filter((type) => type === "recovered")).toHaveLength(1);
      expect(types.filter((type) => type === "retest_finished")).toHaveLength(2);
      await untilStatus(api, id, "healthy");
      await eventually(async () => (await rowsOf(id)) === 3 || undefined);
      await target.close();
    });

    it("says that a test was refused when the monitor is paused", async () => {
      await api.put(`/servers/${tunnel}`, { active: false });
      const { status, body } = await api.post("/test", { server_id: tunnel });
      expect([status, body.message]).toEqual([409, "The tunnel is paused. Resume it to run a check."]);
      await api.put(`/servers/${tunnel}`, { active: true });
    });

    it("checks a configuration and keeps nothing", async () => {
      const { status, body } = await api.post("/check", { ...TUNNEL, timeout: 5 });
      expect(status).toBe(200);
      expect(body).toMatchObject({ protocol: "openconnect", config_detected: false, status: "down" });
    });

    it("checks for anonymous callers: never inside our own network, and five a day", async () => {
      const inside = await api.post("/check/public", TUNNEL);
      expect(inside.status).toBe(422);
      const outside = { ...TUNNEL, host: OUTSIDE, timeout: 5 };
      const statuses: number[] = [];
      for (let count = 0; count < 6; count += 1) statuses.push((await api.post("/check/public", outside)).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    });

    it("stops at the month's quota", async () => {
      const statuses = await Promise.all(
        Array.from({ length: 50 }, async () => (await api.post("/test", { server_id: tunnel })).status),
      );
      const { used } = (await api.get<{ on_demand_tests: { used: number } }>("/usage")).body.on_demand_tests;
      expect(used).toBe(40);
      expect(statuses.filter((status) => status === 403).length).toBeGreaterThanOrEqual(10);
      expect(statuses.every((status) => status === 200 || status === 403)).toBe(true);
    });

    it("ends with an exit code of 0, and leaves no secret on disk or in the log", async () => {
      expect(await product.stop()).toBe(0);
      expect(product.output()).not.toContain(SECRET);
      for (const entry of readdirSync(product.dataDir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const content = readFileSync(join(entry.parentPath, entry.name));
        expect([entry.name, content.includes(SECRET)]).toEqual([entry.name, false]);
      }
    });
  });
}
