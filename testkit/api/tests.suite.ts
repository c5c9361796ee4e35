/** On-demand tests, batches and retests through the API. The scheduler's part is played by hand. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Kind } from "../../model/kind.ts";
import { overridePlans } from "../../model/plan.ts";
import type { OpenTestJob, TestResult } from "../../store/sql/jobs/port.ts";
import { newMonitor } from "../store/new-monitor.suite.ts";
import { type Answer, openWorld, START_MS, type World } from "./world.suite.ts";

const HEALTHY: TestResult = {
  reason: "ran",
  status: "healthy",
  latencyMs: 41,
  connectMs: 320,
  message: null,
  testedAtMs: START_MS + 2_000,
};
const ACTOR = { type: "system", id: null, name: null, via: "system", keyId: null } as const;

async function createMonitor(world: World, kind: Kind = "wireguard", over: { paused?: boolean } = {}): Promise<string> {
  const monitor = await world.controlPlane.monitors.create(
    newMonitor(world, {
      name: kind,
      kind,
      settings: {},
      pauseReasons: over.paused === true ? ["user"] : [],
      pausedAtMs: over.paused === true ? START_MS : null,
      host: "vpn.test-site.org",
      graceS: kind === "push" ? 60 : null,
      nowMs: START_MS,
    }),
    ACTOR,
  );
  return `srv_${monitor.id}`;
}

/** Ends every test that is asked for, as a scheduler would. */
function startTestEnds(world: World, endOf: (job: OpenTestJob) => Partial<TestResult>): () => void {
  const stop = world.state.notices.subscribe("jobs", () => void look());
  async function look(): Promise<void> {
    const open = await world.controlPlane.jobs.openTests(100);
    if (open.length === 0) return;
    const ends = open.map((job) => ({ jobId: job.id, atMs: START_MS + 2_500, end: { ...HEALTHY, ...endOf(job) } }));
    await world.controlPlane.jobs.endTests(ends);
    world.state.notices.publish("jobs");
  }
  return stop;
}

export function testsSuite(server: "net" | "node"): void {
  describe("POST /test", () => {
    let world: World;
    let tunnel = "";
    let stop = (): void => {};
    const post = (body: unknown, more = {}): Promise<Answer> => world.send("POST", "/api/v1/test", { body, ...more });
    beforeAll(async () => {
      world = await openWorld(server);
      tunnel = await createMonitor(world);
    });
    afterEach(() => stop());
    afterAll(() => world.close());

    it("waits for the result", async () => {
      stop = startTestEnds(world, () => ({}));
      const { status, body } = await post({ server_id: tunnel });
      expect(status).toBe(200);
      expect(body).toEqual({
        test_id: expect.stringMatching(/^tst_[A-Za-z0-9]{16}$/),
        server_id: tunnel,
        status: "healthy",
        latency_ms: 41,
        connect_ms: 320,
        error_message: null,
        tested_at: "2026-11-21 06:10:07",
      });
      const bare = await post({ server_id: tunnel.slice(4) });
      expect(bare.body.server_id).toBe(tunnel);
    });

    it("says what the row says", async () => {
      stop = startTestEnds(world, () => ({ status: "down", latencyMs: null, connectMs: null, message: "no answer" }));
      expect((await post({ server_id: tunnel })).body).toMatchObject({
        status: "down",
        latency_ms: null,
        error_message: "no answer",
      });
      stop();
      // A test inside a maintenance window: its row is `unknown`.
      stop = startTestEnds(world, () => ({ status: "unknown" }));
      expect((await post({ server_id: tunnel })).body.status).toBe("healthy");
    });

    it("answers what became of the monitor meanwhile", async () => {
      stop = startTestEnds(world, () => ({ reason: "paused", status: "degraded", message: "paused" }));
      expect(await post({ server_id: tunnel })).toMatchObject({ status: 409 });
      stop();
      stop = startTestEnds(world, () => ({ reason: "gone", status: "degraded", message: "gone" }));
      expect(await post({ server_id: tunnel })).toMatchObject({ status: 404 });
      stop();
      stop = startTestEnds(world, () => ({ reason: "expired", status: "degraded", message: "not run in time" }));
      expect((await post({ server_id: tunnel })).body).toMatchObject({
        status: "degraded",
        error_message: "not run in time",
      });
      stop();
      const other = await createMonitor(world);
      const deleted = world.state.notices.subscribe("jobs", () => {
        void world.controlPlane.monitors.remove(world.projectId, Number(other.slice(4)), START_MS, ACTOR);
      });
      stop = deleted;
      expect(await post({ server_id: other })).toMatchObject({ status: 404, body: { message: "Server not found" } });
    });

    it("refuses in the contract's words and order", async () => {
      const before = await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11");
      const paused = await createMonitor(world, "wireguard", { paused: true });
      const site = await createMonitor(world, "http");
      const pausedSite = await createMonitor(world, "http", { paused: true });
      const cases: readonly (readonly [unknown, number, string])[] = [
        [{}, 400, "Missing or invalid server_id"],
        [{ server_id: 12 }, 400, "Missing or invalid server_id"],
        [{ server_id: "prj_1" }, 400, "Missing or invalid server_id"],
        [{ server_id: "srv_0", region: "DE" }, 400, "Missing or invalid server_id"],
        [{ server_id: "srv_999", region: "DE" }, 404, "Server not found"],
        [{ server_id: tunnel, region: "DE" }, 400, "Invalid region"],
        [{ server_id: tunnel, region: "deu" }, 400, "Invalid region"],
        [{ server_id: tunnel, region: "" }, 400, "Invalid region"],
        [{ server_id: tunnel, region: 7 }, 400, "Invalid region"],
        [{ server_id: site }, 400, "On-demand tests are for tunnels only."],
        [{ server_id: pausedSite }, 400, "On-demand tests are for tunnels only."],
        [{ server_id: paused }, 409, "The tunnel is paused. Resume it to run a check."],
        [{ server_id: tunnel, region: "nl", region_fallback: "fail" }, 503, "No checker is available in this region."],
        [{ server_id: tunnel, region: "zz", region_fallback: "fail" }, 503, "No checker is available in this region."],
      ];
      for (const [body, status, message] of cases) {
        expect([body, (await post(body)).body]).toEqual([body, { error: true, code: status, message }]);
      }
      expect((await world.send("POST", "/api/v1/test", { raw: "[]" })).body.message).toBe("Invalid JSON body");
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(before);
    });

    it("runs where it was asked to, or in the general pool", async () => {
      const locations: string[] = [];
      stop = startTestEnds(world, ({ location }) => {
        locations.push(location);
        return {};
      });
      await post({ server_id: tunnel, region: "de" });
      await post({ server_id: tunnel, region: "nl" });
      await post({ server_id: tunnel, region: "nl", region_fallback: "maybe" });
      await post({ server_id: tunnel, region: "any", region_fallback: "fail" });
      await post({ server_id: tunnel, region: null });
      expect(locations).toEqual(["de", "any", "any", "any", "any"]);
    });

    it("is not for viewers", async () => {
      const key = await viewerKey(world);
      expect((await post({}, { key })).body).toEqual({
        error: true,
        code: 403,
        message: "You do not have permission to run tests in this project",
      });
    });

    it("answers 202 when the API stops while it waits", async () => {
      const own = await openWorld(server);
      const id = await createMonitor(own);
      const asked = own.send("POST", "/api/v1/test", { body: { server_id: id } });
      await expect.poll(async () => (await own.controlPlane.jobs.openTests(1)).length).toBe(1);
      const closing = own.api.close();
      expect((await asked).body).toEqual({
        test_id: expect.stringMatching(/^tst_/),
        server_id: id,
        status: "pending",
        tested_at: "2026-11-21T06:10:05.250Z",
      });
      await closing;
      await own.close();
    });
  });

  quotaTests(server);
  batchTests(server);
  retestTests(server);
}

async function viewerKey(world: World): Promise<string> {
  const userId = world.sql(
    "insert into users (email, email_key, name, active, created_at_ms) values (?, ?, ?, 1, ?)",
    "viewer@test-site.org",
    "viewer@test-site.org",
    "viewer",
    START_MS,
  );
  world.sql(
    "insert into memberships (organization_id, user_id, role, created_at_ms) values (?, ?, ?, ?)",
    world.organizationId,
    userId,
    "viewer",
    START_MS,
  );
  return world.newKey({ userId, organizationId: world.organizationId });
}

function quotaTests(server: "net" | "node"): void {
  describe("the quota of on-demand tests", () => {
    let world: World;
    let stop = (): void => {};
    afterEach(async () => {
      stop();
      await world.close();
    });

    async function open(plan: string, used: number): Promise<void> {
      world = await openWorld(server);
      world.sql("update workspaces set plan = ?", plan);
      world.sql("insert into on_demand values (?, '2026-11', ?)", world.organizationId, used);
      stop = startTestEnds(world, () => ({}));
    }

    it("is taken by every kind of test, and said when it is used up", async () => {
      await open("starter", 49);
      const tunnel = await createMonitor(world);
      expect((await world.send("POST", "/api/v1/test", { body: { server_id: tunnel } })).status).toBe(200);
      const refused = { error: true, code: 403, message: "Monthly on-demand test limit reached (50/50)" };
      expect((await world.send("POST", "/api/v1/test", { body: { server_id: tunnel } })).body).toEqual(refused);
      expect((await world.send("POST", "/api/v1/test/batch", { body: { server_ids: [tunnel] } })).body).toEqual(
        refused,
      );
      // Region and state come before the quota.
      const region = { server_id: tunnel, region: "de" };
      expect((await world.send("POST", "/api/v1/test", { body: region })).body).toEqual({
        error: true,
        code: 402,
        message: "Region targeting requires the Pro plan or above.",
      });
      world.clock.nowMs = Date.UTC(2026, 11, 1);
      expect((await world.send("POST", "/api/v1/test", { body: { server_id: tunnel } })).status).toBe(200);
    });

    it("is never passed by fifty at once", async () => {
      await open("starter", 30);
      const tunnel = await createMonitor(world);
      const asked = Array.from({ length: 50 }, () =>
        world.send("POST", "/api/v1/test", { body: { server_id: tunnel } }),
      );
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      // Thirty pass the limit of the minute, twenty of them the quota.
      const count = (of: number): number => statuses.filter((status) => status === of).length;
      expect([count(200), count(403), count(429)]).toEqual([20, 10, 20]);
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(50);
    });

    it("may be passed by one batch, which runs whole", async () => {
      await open("starter", 49);
      const ids = [await createMonitor(world), await createMonitor(world), await createMonitor(world)];
      const { body } = await world.send("POST", "/api/v1/test/batch", { body: { server_ids: ids } });
      expect(body).toMatchObject({ successful: 3, failed: 0 });
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(52);
      const refused = await world.send("POST", "/api/v1/test/batch", { body: { server_ids: ids } });
      expect(refused.body.message).toBe("Monthly on-demand test limit reached (52/50)");
    });

    it("may be none at all", async () => {
      world = await openWorld(server, { plans: overridePlans({ business: { onDemandTestsPerMonth: 0 } }) });
      const tunnel = await createMonitor(world);
      const { body } = await world.send("POST", "/api/v1/test", { body: { server_id: tunnel } });
      expect(body).toEqual({ error: true, code: 403, message: "On-demand tests are not available on your plan" });
    });
  });
}

function batchTests(server: "net" | "node"): void {
  describe("POST /servers/{id}/check", () => {
    let world: World;
    let stop = (): void => {};
    const check = (id: string, body?: unknown): Promise<Answer> =>
      world.send("POST", `/api/v1/servers/${id}/check`, body === undefined ? {} : { body });
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterEach(() => stop());
    afterAll(() => world.close());

    it("waits for the result of a check of any kind", async () => {
      const locations: string[] = [];
      stop = startTestEnds(world, ({ location }) => {
        locations.push(location);
        return { connectMs: null };
      });
      for (const kind of ["http", "ping", "wireguard"] as const) {
        const id = await createMonitor(world, kind);
        const { status, body } = await check(id);
        expect([kind, status]).toEqual([kind, 200]);
        expect(body).toMatchObject({
          server_id: id,
          status: "healthy",
          latency_ms: 41,
          tested_at: "2026-11-21 06:10:07",
        });
        expect((await check(id, { region: "de" })).status).toBe(200);
      }
      expect(locations).toEqual(["any", "de", "any", "de", "any", "de"]);
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(6);
    });

    it("refuses what cannot be checked", async () => {
      const cases: readonly (readonly [string, unknown, number, string])[] = [
        [await createMonitor(world, "push"), undefined, 400, "A heartbeat cannot be tested."],
        [
          await createMonitor(world, "http", { paused: true }),
          {},
          409,
          "The monitor is paused. Resume it to run a check.",
        ],
        [
          await createMonitor(world, "wireguard", { paused: true }),
          {},
          409,
          "The tunnel is paused. Resume it to run a check.",
        ],
        [await createMonitor(world, "http"), { region: "DE" }, 400, "Invalid region"],
        ["srv_999", undefined, 404, "Server not found"],
        ["x", undefined, 400, "Invalid server ID"],
      ];
      for (const [id, body, code, message] of cases) {
        expect((await check(id, body)).body).toEqual({ error: true, code, message });
      }
    });
  });

  describe("POST /test/batch", () => {
    let world: World;
    const post = (body: unknown): Promise<Answer> => world.send("POST", "/api/v1/test/batch", { body });
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    it("queues by protocol and says what it left out", async () => {
      const one = await createMonitor(world);
      const two = await createMonitor(world);
      const link = await createMonitor(world, "vless");
      const paused = await createMonitor(world, "tuic", { paused: true });
      const site = await createMonitor(world, "http");
      const { status, body } = await post({ server_ids: [one, link, two, paused, site, one.slice(4)] });
      expect(status).toBe(200);
      expect(body).toEqual({
        batch_id: expect.stringMatching(/^bat_[A-Za-z0-9]{16}$/),
        results: [
          { protocol: "wireguard", batch_id: expect.stringMatching(/^job_\d+$/), count: 2 },
          { protocol: "vless", batch_id: expect.stringMatching(/^job_\d+$/), count: 1 },
        ],
        skipped: [
          { server_id: paused, reason: "paused" },
          { server_id: site, reason: "not_a_tunnel" },
        ],
        total: 5,
        successful: 3,
        failed: 0,
      });
      const open = await world.controlPlane.jobs.openTests(10);
      expect(open.map((job) => [job.kind, `srv_${job.monitorId}`])).toEqual([
        ["test", one],
        ["test", link],
        ["test", two],
      ]);
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(3);
    });

    it("uses nothing when everything is skipped", async () => {
      const before = await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11");
      const site = await createMonitor(world, "http");
      expect((await post({ server_ids: [site] })).body).toMatchObject({
        results: [],
        total: 1,
        successful: 0,
        failed: 0,
      });
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(before);
    });

    it("says per protocol that no checker is there, and uses nothing", async () => {
      const own = await openWorld(server, {}, {}, { regions: async () => [{ code: "any", healthyCheckers: 0 }] });
      const one = await createMonitor(own);
      const { body } = await own.send("POST", "/api/v1/test/batch", { body: { server_ids: [one] } });
      expect(body).toMatchObject({
        results: [{ protocol: "wireguard", batch_id: null, count: 1, reason: "No checker is available" }],
        total: 1,
        successful: 0,
        failed: 1,
      });
      expect(await own.controlPlane.jobs.onDemandUsed(own.organizationId, "2026-11")).toBe(0);
      await own.close();
    });

    it("refuses in the contract's words and order", async () => {
      const one = await createMonitor(world);
      const many = Array.from({ length: 501 }, (_, index) => `srv_${index + 1}`);
      const cases: readonly (readonly [unknown, number, string])[] = [
        [{}, 400, "Missing or invalid server_ids"],
        [{ server_ids: [] }, 400, "Missing or invalid server_ids"],
        [{ server_ids: one }, 400, "Missing or invalid server_ids"],
        [{ server_ids: [one, 7] }, 400, "Missing or invalid server_ids"],
        [{ server_ids: [one, "inc_7"] }, 400, "Missing or invalid server_ids"],
        [{ server_ids: many }, 400, "server_ids must have at most 500 ids."],
        [{ server_ids: [one], region: "D" }, 400, "Invalid region"],
        [{ server_ids: [one], region: "nl", region_fallback: "fail" }, 503, "No checker is available in this region."],
      ];
      for (const [body, status, message] of cases) {
        expect((await post(body)).body).toEqual({ error: true, code: status, message });
      }
      const { body } = await post({ server_ids: [one, "999", "srv_998"], region: "D" });
      expect(body).toEqual({
        error: true,
        code: 403,
        message: "Some servers are not accessible",
        details: { invalid: ["srv_999", "srv_998"] },
      });
    });
  });
}

function retestTests(server: "net" | "node"): void {
  describe("POST /incidents/{id}/retest", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    let seq = 0;
    async function incidentOf(monitor: string): Promise<string> {
      const monitorId = Number(monitor.slice(4));
      seq += 1;
      await world.controlPlane.sink.apply({
        spool: "spool",
        appliedSeq: seq,
        live: [],
        drainedInboxIds: [],
        incidents: [
          {
            type: "open",
            monitorId,
            atMs: START_MS - 60_000,
            startedAtMs: START_MS - 60_000,
            level: "down",
            message: "no",
            category: null,
            locations: ["any"],
          },
        ],
      });
      const [incident] = await world.controlPlane.incidents.list(world.projectId, { monitorId, limit: 1 });
      return `inc_${incident?.id}`;
    }
    const retest = (id: string): Promise<Answer> => world.send("POST", `/api/v1/incidents/${id}/retest`);

    it("queues a test from any, of a tunnel and of an uptime check, and tells the incident", async () => {
      for (const kind of ["wireguard", "http"] as const) {
        const id = await incidentOf(await createMonitor(world, kind));
        const { status, body } = await retest(id);
        expect(status).toBe(200);
        expect(body).toEqual({ test_id: expect.stringMatching(/^tst_/), incident_id: id, status: "pending" });
        const job = (await world.controlPlane.jobs.openTests(10)).at(-1);
        expect(job).toMatchObject({ kind: "retest", location: "any", testId: body.test_id });
        await world.controlPlane.jobs.endTests([{ jobId: job?.id ?? 0, end: HEALTHY, atMs: START_MS + 9_000 }]);
        const { events } = (await world.send("GET", `/api/v1/incidents/${id}/events`)).body;
        expect(events.slice(1)).toMatchObject([
          { type: "retest_queued", data: { test_id: body.test_id }, actor: { type: "user", via: "api" } },
          {
            type: "retest_finished",
            data: { test_id: body.test_id, status: "healthy", latency_ms: 41, error_message: null },
            actor: { type: "system" },
          },
        ]);
      }
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(2);
    });

    it("refuses in the contract's words", async () => {
      expect((await retest("srv_1")).body).toMatchObject({ code: 400, message: "Invalid incident ID" });
      expect((await retest("inc_999")).body).toMatchObject({ code: 404, message: "Incident not found" });
      const heartbeat = await incidentOf(await createMonitor(world, "push"));
      expect((await retest(heartbeat)).body).toMatchObject({ code: 400, message: "A heartbeat cannot be tested." });
      const tunnel = await createMonitor(world);
      const site = await createMonitor(world, "http");
      const ofTunnel = await incidentOf(tunnel);
      const ofSite = await incidentOf(site);
      for (const id of [tunnel, site]) {
        await world.controlPlane.monitors.update(world.projectId, Number(id.slice(4)), START_MS, ACTOR, () => ({
          addPauseReason: "user",
        }));
      }
      expect((await retest(ofTunnel)).body).toMatchObject({
        code: 409,
        message: "The tunnel is paused. Resume it to run a check.",
      });
      expect((await retest(ofSite)).body).toMatchObject({
        code: 409,
        message: "The monitor is paused. Resume it to run a check.",
      });
      const key = await viewerKey(world);
      const viewed = await world.send("POST", `/api/v1/incidents/${ofSite}/retest`, { key });
      expect(viewed.body.message).toBe("You do not have permission to run tests in this project");
    });
  });
}
