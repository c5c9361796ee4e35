/** Results and incidents through the API. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { batchText } from "../../store/recent/batch.ts";
import type { ResultDetails } from "../../store/results/result-store.ts";
import { openWorld, START_MS, type World } from "./world.suite.ts";

const DETAILS: ResultDetails = {
  verdict: "timeout",
  location: "any",
  checker: "main",
  lateness_ms: 4,
  duration_ms: 10_003,
  attempt: 2,
  phases: '{"resolve":1.5,"connect":10001}',
  explanation: '{"stage":"connect","address":"198.51.100.7:443","peer":null,"hint":"nothing answered"}',
  error_category: "server_not_connected",
};
const HOUR_MS = 3_600_000;

export function resultsSuite(server: "net" | "node"): void {
  describe("results", () => {
    let world: World;
    let id = "";
    beforeAll(async () => {
      world = await openWorld(server);
      id = (
        await world.send("POST", "/api/v1/servers", { body: { type: "ping", name: "Gate", host: "g.test-site.org" } })
      ).body.id;
      const other = (
        await world.send("POST", "/api/v1/servers", { body: { type: "ping", name: "Gone", host: "h.test-site.org" } })
      ).body.id;
      const add = (row: number, monitor: string, status: "healthy" | "down" | "degraded" | "unknown", agoMs: number) =>
        world.results.rows.push({
          projectId: world.projectId,
          id: `17634054050000000${String(row).padStart(2, "0")}`,
          monitorId: Number(monitor.slice(4)),
          kind: "ping",
          status,
          latencyMs: status === "healthy" ? 12 : null,
          connectMs: null,
          testedAtMs: START_MS - agoMs,
          errorMessage: status === "healthy" ? null : "no answer",
          details: null,
          full: DETAILS,
        });
      add(1, id, "healthy", 1_000);
      add(2, id, "down", 1_000);
      add(3, id, "degraded", 20 * 60_000);
      add(4, id, "healthy", 2 * HOUR_MS);
      add(5, id, "healthy", 48 * HOUR_MS);
      add(6, other, "down", 500);
      // What their live states say of these.
      const live = [];
      for (const [one, seq, row, agoMs] of [
        [id, 5, 2, 1_000],
        [other, 1, 6, 500],
      ] as const) {
        const now = await world.controlPlane.monitors.find(world.projectId, Number(one.slice(4)));
        if (now === undefined) throw new Error("no monitor");
        const latest = {
          lastRowStatus: "down",
          lastRowId: `17634054050000000${String(row).padStart(2, "0")}`,
        } as const;
        live.push({ ...now.live, ...latest, seq, errorMessage: "no answer", lastCheckedAtMs: START_MS - agoMs });
      }
      const batch = { spool: "first", appliedSeq: 1, incidents: [], drainedInboxIds: [], live };
      await world.controlPlane.sink.apply(batch);
    });
    afterAll(() => world.close());

    it("lists what the status says was checked before the store has its row, once", async () => {
      const body = { type: "ping", name: "New", host: "n.test-site.org" };
      const { id: own } = (await world.send("POST", "/api/v1/servers", { body })).body;
      const monitorId = Number(own.slice(4));
      const now = await world.controlPlane.monitors.find(world.projectId, monitorId);
      if (now === undefined) throw new Error("no monitor");
      expect(await get(`/server/${own}`)).toMatchObject({ results: [], total: 0, success_rate: null });
      const check = { status: "down", lastRowStatus: "down", lastRowId: "1763405405000000099", region: "any" } as const;
      const live = { ...now.live, ...check, seq: 1, lastCheckedAtMs: START_MS - 100, errorMessage: "no answer" };
      const batch = { spool: "spool", appliedSeq: 1, incidents: [], drainedInboxIds: [], live: [live] };
      await world.controlPlane.sink.apply(batch);
      expect((await world.send("GET", `/api/v1/servers/${own}`)).body.status).toBe("down");
      const row = {
        id: "hb_1763405405000000099",
        server_id: own,
        server_name: "New",
        status: "down",
        latency_ms: null,
        protocol: "ping",
        tested_at: "2026-11-21 06:10:05",
        error_message: "no answer",
      };
      const lists = async () => [
        await get(`/server/${own}`),
        await get(`/server/${own}?status=down&limit=1`),
        { results: (await get("")).results.slice(0, 1), total: 1 },
        { results: (await get("/failures?limit=1")).failures, total: 1 },
      ];
      for (const list of await lists()) expect(list).toMatchObject({ results: [row], total: 1 });
      expect(await get(`/server/${own}`)).toMatchObject({ success_rate: 0 });
      expect((await get(`/server/${own}?status=up`)).results).toEqual([]);
      expect((await get(`/server/${own}?offset=1`)).results).toEqual([]);
      const stored = {
        id: check.lastRowId,
        monitorId,
        kind: "ping",
        status: "down",
        latencyMs: null,
        connectMs: null,
      } as const;
      const rest = { testedAtMs: START_MS - 100, errorMessage: "no answer", details: null, full: DETAILS };
      world.results.rows.push({ ...stored, ...rest, projectId: world.projectId });
      for (const list of await lists()) expect(list).toMatchObject({ results: [row], total: 1 });
      world.results.rows.pop();
      await world.send("DELETE", `/api/v1/servers/${own}`);
      expect((await get("")).results.map((each: { server_id: string }) => each.server_id)).not.toContain(own);
    });

    const get = async (path: string) => (await world.send("GET", `/api/v1/results${path}`)).body;

    it("lists the project's, newest first, ties by id", async () => {
      const all = await get("");
      expect(all).toMatchObject({ period: "24h", total: 5 });
      expect(all.results.slice(0, 3)).toEqual([
        {
          id: "hb_1763405405000000006",
          server_id: "srv_2",
          server_name: "Gone",
          status: "down",
          latency_ms: null,
          protocol: "ping",
          tested_at: "2026-11-21 06:10:04",
          error_message: "no answer",
        },
        expect.objectContaining({ id: "hb_1763405405000000002", status: "down" }),
        expect.objectContaining({
          id: "hb_1763405405000000001",
          status: "healthy",
          latency_ms: 12,
          error_message: null,
        }),
      ]);
      expect(await get("?period=7D&limit=2")).toMatchObject({ period: "7d", total: 2 });
      expect(await get("?period=15m")).toMatchObject({ total: 3 });
    });

    it("lists failures", async () => {
      const { failures, period, total } = await get("/failures?period=1h");
      expect([failures.length, period, total]).toEqual([2, "1h", 2]);
    });

    it("lists a monitor's with totals over all pages", async () => {
      const page = await get(`/server/${id}?limit=1&offset=1`);
      expect(page).toMatchObject({ server_id: id, server_name: "Gate", period: "24h", total: 4, success_rate: 50 });
      expect(page.results[0].status).toBe("healthy");
      expect(await get(`/server/${id}?status=up`)).toMatchObject({ total: 2, success_rate: 50 });
      expect(await get(`/server/${id}?status=down&period=7d`)).toMatchObject({ total: 1, success_rate: 60 });
      expect(await get(`/server/${id}?period=15m&status=degraded`)).toMatchObject({
        total: 0,
        results: [],
        success_rate: 50,
      });
    });

    it("shows the newest of many as columns, oldest first", async () => {
      const recent = await get(`/recent?ids=${id},srv_999,2&limit=3`);
      expect(recent).toEqual({
        servers: {
          [id]: { status: "ghd", latency_ms: [null, 12, null], tested_s: [1_200, 1, 1] },
          srv_2: { status: "d", latency_ms: [null], tested_s: [0] },
        },
      });
      expect(await get(`/recent?ids=${id}`)).toMatchObject({ servers: { [id]: { status: "hhghd" } } });
      expect(await get("/recent")).toEqual({ servers: {} });
    });

    it("shows what came from a scheduler at once, and whatever the store says", async () => {
      const body = { type: "ping", name: "Quick", host: "q.test-site.org" };
      const { id: own } = (await world.send("POST", "/api/v1/servers", { body })).body;
      const common = { monitorId: Number(own.slice(4)), projectId: world.projectId, kind: "ping" } as const;
      const measured = { latencyMs: 7, connectMs: null, errorMessage: null, liveStatus: "healthy" } as const;
      const rows = [1, 2].map((seq) => ({
        ...{ ...common, ...measured, seq, status: "healthy" as const },
        id: `18634054050000000${seq}`,
        testedAtMs: START_MS - 10 + seq,
      }));
      world.state.rows.publish(batchText({ publisher: "scheduler", number: 1, rows, refused: [] }));
      world.results.isAway = true;
      const list = await get(`/server/${own}?limit=1`);
      const [row] = list.results;
      expect(list).toMatchObject({ total: 2, success_rate: 100 });
      expect(row).toMatchObject({ id: "hb_186340540500000002", server_name: "Quick", latency_ms: 7 });
      expect((await get(`/recent?ids=${own}`)).servers[own]).toMatchObject({ status: "hh", latency_ms: [7, 7] });
      world.results.isAway = false;
      // A scheduler takes back what the database refused.
      world.state.rows.publish(batchText({ publisher: "scheduler", number: 2, rows: [], refused: [common.monitorId] }));
      expect(await get(`/server/${own}`)).toMatchObject({ total: 0 });
      await world.send("DELETE", `/api/v1/servers/${own}`);
    });

    it("asks SQL once of a monitor whose status and name stay, and shows each row and each change at once", async () => {
      const body = { type: "ping", name: "Steady", host: "s.test-site.org" };
      const { id: own } = (await world.send("POST", "/api/v1/servers", { body })).body;
      const monitorId = Number(own.slice(4));
      const { monitors, sink } = world.controlPlane;
      const publish = (seq: number, status: "healthy" | "down"): void => {
        const measured = { latencyMs: 7, connectMs: null, errorMessage: null, testedAtMs: START_MS - 100 + seq };
        const known = { monitorId, projectId: world.projectId, kind: "ping", liveStatus: status, status } as const;
        const rows = [{ ...known, ...measured, seq, id: `19634054050000000${seq}` }];
        world.state.rows.publish(batchText({ publisher: "steady", number: seq, rows, refused: [] }));
      };
      publish(1, "healthy");
      const now = await monitors.find(world.projectId, monitorId);
      if (now === undefined) throw new Error("no monitor");
      const latest = { lastRowStatus: "healthy", lastRowId: "196340540500000001", status: "healthy" } as const;
      const live = [{ ...now.live, ...latest, seq: 1, lastCheckedAtMs: START_MS - 99 }];
      await sink.apply({ spool: "steady", appliedSeq: 1, incidents: [], drainedInboxIds: [], live });
      const asked = vi.spyOn(monitors, "findChecked");
      const list = async () => {
        const { total, server_name, results } = await get(`/server/${own}?period=1h`);
        return [total, server_name, results[0].id.at(-1), asked.mock.calls.length];
      };
      expect([await list(), await list()]).toEqual([
        [1, "Steady", "1", 1],
        [1, "Steady", "1", 1],
      ]);
      publish(2, "healthy");
      expect(await list()).toEqual([2, "Steady", "2", 1]);
      expect((await get(`/recent?ids=${own}`)).servers[own].status).toBe("hh");
      expect(await list()).toEqual([2, "Steady", "2", 1]);
      publish(3, "down");
      expect(await list()).toEqual([3, "Steady", "3", 2]);
      await world.send("PUT", `/api/v1/servers/${own}`, { body: { name: "Renamed" } });
      expect(await list()).toEqual([3, "Renamed", "3", 3]);
      asked.mockRestore();
      await world.send("DELETE", `/api/v1/servers/${own}`);
      expect((await world.send("GET", `/api/v1/results/server/${own}`)).status).toBe(404);
    });

    it("explains when asked", async () => {
      expect((await get(`/server/${id}?explain=1`)).results[0].explain).toEqual({
        started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        lateness_ms: 4,
        location: "any",
        checker: "main",
        verdict: "timeout",
        attempt: 2,
        duration_ms: 10_003,
        error_category: "server_not_connected",
        phases: { resolve: 1.5, connect: 10_001 },
        stage: "connect",
        address: "198.51.100.7:443",
        peer: null,
        hint: "nothing answered",
      });
      expect((await get("?explain=0")).results[0].explain).toBeUndefined();
    });

    it.each([
      ["?period=2h", "period must be 15m, 1h, 24h or 7d."],
      ["?limit=0", "limit must be a whole number from 1 to 1000."],
      ["/failures?limit=x", "limit must be a whole number from 1 to 1000."],
      ["/failures?period=constructor", "period must be 15m, 1h, 24h or 7d."],
      ["/recent?ids=x", "ids must be at most 100 ids between commas."],
      ["/recent?ids=srv_1,", "ids must be at most 100 ids between commas."],
      [`/recent?ids=${Array.from({ length: 101 }, (_, n) => n + 1)}`, "ids must be at most 100 ids between commas."],
      ["/recent?limit=101", "limit must be a whole number from 1 to 100."],
      ["/server/srv_1?offset=-1", "offset must be a whole number, 0 or more."],
      ["/server/srv_1?status=paused", "status must be healthy, down or degraded."],
      ["/server/hb_1", "Invalid server ID"],
      ["/server/%00", "Invalid server ID"],
      ["/server/%zz", "Invalid server ID"],
    ])("refuses %s", async (path, message) => {
      expect(await get(path)).toEqual({ error: true, code: 400, message });
    });

    it("hides deleted monitors and does not find foreign ones", async () => {
      expect((await world.send("DELETE", "/api/v1/servers/2")).status).toBe(200);
      expect(await get("/failures")).toMatchObject({ total: 1 });
      expect(await get("/server/2")).toMatchObject({ code: 404, message: "Server not found" });
    });

    it("says when results are late or away, while the rest goes on", async () => {
      world.condition.text = "ClickHouse is restarting;\nrows wait";
      expect((await world.send("GET", "/api/v1/results")).headers["x-results-delayed"]).toBe(
        "ClickHouse is restarting; rows wait",
      );
      world.results.isAway = true;
      // An answer is given again for a second.
      world.clock.nowMs += 1_000;
      const away = await world.send("GET", "/api/v1/results");
      expect(away.status).toBe(503);
      expect(away.body.message).toContain("Results are not available right now (ClickHouse is restarting");
      expect(away.headers["retry-after"]).toBe("5");
      expect((await world.send("GET", `/api/v1/results/server/${id}?explain=1`)).status).toBe(503);
      // What is in memory needs no store.
      expect((await world.send("GET", `/api/v1/results/server/${id}`)).body).toMatchObject({ total: 4 });
      expect((await world.send("GET", `/api/v1/servers/${id}`)).status).toBe(200);
      world.results.isAway = false;
      world.condition.text = null;
    });
  });

  describe("uptime", () => {
    it("is the share of time that the monitor was not down, whatever rows are left", async () => {
      const world = await openWorld(server);
      try {
        const body = { type: "ping", name: "Gate", host: "g.test-site.org" };
        const { id } = (await world.send("POST", "/api/v1/servers", { body })).body;
        const uptime = async () =>
          (await world.send("GET", `/api/v1/results/server/${id}?period=7d`)).body.uptime_percent;
        expect(await uptime()).toBeNull();
        const monitorId = Number(id.slice(4));
        const begin = {
          type: "open",
          monitorId,
          atMs: START_MS + 60_000,
          startedAtMs: START_MS,
          level: "down",
        } as const;
        const why = { message: "no answer", category: "timeout", locations: ["any"] } as const;
        const end = { type: "close", monitorId, atMs: START_MS + 6 * HOUR_MS } as const;
        const incidents = [{ ...begin, ...why }, end];
        await world.controlPlane.sink.apply({
          spool: "spool",
          appliedSeq: 1,
          live: [],
          incidents,
          drainedInboxIds: [],
        });
        world.clock.nowMs = START_MS + 96 * HOUR_MS;
        const row = {
          projectId: world.projectId,
          id: "1763405405000000001",
          monitorId,
          kind: "ping",
          status: "healthy",
        } as const;
        const measured = { latencyMs: 12, connectMs: null, testedAtMs: world.clock.nowMs, errorMessage: null } as const;
        world.results.rows.push({ ...row, ...measured, details: null, full: DETAILS });
        const now = await world.controlPlane.monitors.find(world.projectId, monitorId);
        if (now === undefined) throw new Error("no monitor");
        const latest = {
          seq: 1,
          lastRowStatus: "healthy",
          lastRowId: row.id,
          lastCheckedAtMs: world.clock.nowMs,
        } as const;
        const live = [{ ...now.live, ...latest, latencyMs: 12 }];
        await world.controlPlane.sink.apply({
          spool: "spool",
          appliedSeq: 2,
          live,
          incidents: [],
          drainedInboxIds: [],
        });
        expect(await uptime()).toBe(93.75);
      } finally {
        await world.close();
      }
    });
  });

  describe("incidents", () => {
    let world: World;
    let batch = 0;
    const ids: number[] = [];
    beforeAll(async () => {
      world = await openWorld(server);
      for (const name of ["A", "B", "C"]) {
        const made = await world.send("POST", "/api/v1/servers", {
          body: { type: "ping", name, host: "g.test-site.org" },
        });
        ids.push(Number(made.body.id.slice(4)));
      }
      const [a = 0, b = 0, c = 0] = ids;
      const open = (monitorId: number, level: "down" | "degraded", agoS: number) =>
        ({
          type: "open",
          monitorId,
          atMs: START_MS - agoS * 1_000,
          startedAtMs: START_MS - agoS * 1_000,
          level,
          message: "no answer",
          category: "timeout",
          locations: ["any"],
        }) as const;
      await apply([open(a, "degraded", 600), open(b, "down", 900), open(c, "down", 1_200)]);
      await apply([{ type: "close", monitorId: c, atMs: START_MS - 300_000 }]);
    });
    afterAll(() => world.close());

    async function apply(incidents: Parameters<World["controlPlane"]["sink"]["apply"]>[0]["incidents"]) {
      batch += 1;
      await world.controlPlane.sink.apply({
        spool: "spool",
        appliedSeq: batch,
        live: [],
        incidents,
        drainedInboxIds: [],
      });
    }
    const get = async (path: string) => (await world.send("GET", `/api/v1/incidents${path}`)).body;
    const namesOf = (list: { incidents: { server_name: string }[] }) =>
      list.incidents.map((row) => row.server_name).join("");

    it("lists open ones first, down before degraded", async () => {
      const list = await get("");
      expect([namesOf(list), list.total, list.active]).toEqual(["BAC", 3, 2]);
      expect(list.incidents[0]).toEqual({
        id: expect.stringMatching(/^inc_\d+$/),
        server_id: `srv_${ids[1]}`,
        server_name: "B",
        status: "active",
        severity: "critical",
        started_at: new Date(START_MS - 900_000).toISOString(),
        ended_at: null,
        acknowledged: false,
        acknowledged_at: null,
        error_type: "down",
        error_message: "no answer",
      });
      expect(list.incidents[1]).toMatchObject({ severity: "warning", error_type: "degraded" });
      expect(list.incidents[2]).toMatchObject({
        status: "recovered",
        ended_at: new Date(START_MS - 300_000).toISOString(),
      });
    });

    it("filters after considering", async () => {
      const recovered = await get("?status=recovered");
      expect([namesOf(recovered), recovered.total, recovered.active]).toEqual(["C", 1, 2]);
      expect(await get("?status=active&limit=1")).toMatchObject({ total: 1, active: 1 });
      expect(await get("?status=recovered&limit=2")).toMatchObject({ total: 0, active: 2 });
      expect(await get("?status=whatever")).toMatchObject({ total: 3 });
      expect(namesOf(await get(`?server_id=srv_${ids[0]}`))).toBe("A");
      expect(await get("?server_id=x")).toMatchObject({ code: 400, message: "Invalid server ID" });
      expect(await get("?server_id=9999")).toMatchObject({ code: 404, message: "Server not found" });
      expect(await get("?limit=1001")).toMatchObject({
        code: 400,
        message: "limit must be a whole number from 1 to 1000.",
      });
    });

    it("shows one with its events, and acknowledges it once", async () => {
      const row = (await get("")).incidents[1];
      const detail = await get(`/${row.id}`);
      expect(detail).toEqual({
        ...row,
        type: "ping",
        protocol: "ping",
        duration_seconds: 600,
        acknowledged_by: null,
        locations: ["any"],
        error_category: "timeout",
        event_count: 1,
        report: null,
      });
      world.clock.nowMs += 10_000;
      const path = `/api/v1/incidents/${row.id}/acknowledge`;
      for (const note of [5, "x".repeat(501), {}]) {
        const refused = await world.send("POST", path, { body: { note } });
        expect(refused.body).toEqual({
          error: true,
          code: 400,
          message: "note must be a string of at most 500 characters.",
        });
      }
      expect((await world.send("POST", path, { raw: "{" })).body).toMatchObject({
        code: 400,
        message: "Invalid JSON body",
      });
      const first = (await world.send("POST", path, { body: { note: "on it" } })).body;
      const actor = { type: "user", id: world.userId, name: "Ada Byron", via: "api", key_id: world.keyId };
      expect(first).toMatchObject({
        acknowledged: true,
        acknowledged_at: new Date(START_MS + 10_000).toISOString(),
        acknowledged_by: actor,
        duration_seconds: 610,
        event_count: 2,
      });
      world.clock.nowMs += 10_000;
      expect((await world.send("POST", path)).body).toEqual({ ...first, duration_seconds: 620 });
      const events = await get(`/${row.id}/events`);
      expect(events).toMatchObject({ incident_id: row.id, total: 2 });
      expect(events.events[0]).toMatchObject({
        id: expect.stringMatching(/^evt_\d+$/),
        type: "opened",
        location: null,
        actor: { type: "system", via: "system" },
      });
      expect(events.events[1]).toMatchObject({ type: "acknowledged", actor, data: { note: "on it" } });
      expect((await get(`/${row.id}/events?offset=1`)).events).toHaveLength(1);
    });

    it("hides those of paused monitors from the list only", async () => {
      await world.send("PUT", `/api/v1/servers/${ids[1]}`, { body: { active: false } });
      const list = await get("");
      expect(namesOf(list)).not.toContain("B");
      const shown = await get("/2");
      expect(shown.server_name).toBe("B");
      const events = await get("/2/events");
      expect(events.events.map((event: { type: string }) => event.type)).toContain("monitor_paused");
    });

    it.each(["/x", "/srv_1", "/0", "/x/events"])("refuses the id of %s", async (path) => {
      expect(await get(path)).toMatchObject({ code: 400, message: "Invalid incident ID" });
    });

    it("does not find what is not there", async () => {
      for (const path of ["/999", "/999/events"])
        expect(await get(path)).toMatchObject({ code: 404, message: "Incident not found" });
      expect((await world.send("POST", "/api/v1/incidents/999/acknowledge", { raw: "{" })).body).toMatchObject({
        code: 404,
        message: "Incident not found",
      });
    });
  });
}
