/** A project at a glance, its tags, and what lists of monitors and incidents can be narrowed to. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { batch, liveOf, opening } from "../store/ground.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

export function overviewSuite(server: "net" | "node"): void {
  describe("the overview", () => {
    let world: World;
    let ids: readonly number[];
    beforeAll(async () => {
      world = await openWorld(server);
      const bodies = [
        { type: "http", name: "b", url: "https://b.test-site.org/", tags: ["prod", "blue"] },
        { type: "ping", name: "A", host: "a.test-site.org", tags: ["prod"] },
        { type: "ping", name: "c", host: "c.test-site.org", active: false },
      ];
      const made: number[] = [];
      for (const body of bodies)
        made.push(Number((await world.send("POST", "/api/v1/servers", { body })).body.id.slice(4)));
      ids = made;
      const [b = 0] = made;
      const live = liveOf(b, {
        status: "down",
        statusSinceMs: world.clock.nowMs - 60_500,
        lastCheckedAtMs: world.clock.nowMs - 3_000,
        latencyMs: null,
        latenessMs: 4.4,
        certificate: { valid: true, expiresAtMs: world.clock.nowMs + 6 * 86_400_000 },
      });
      const incidents = [opening(b, world.clock.nowMs - 60_500)];
      await world.controlPlane.sink.apply(batch(1, { live: [live], incidents }));
      const report = { monitors: 3, running: 0, waiting: 0, silentMonitors: 2, skippedTurns: 0, trouble: null };
      await world.controlPlane.shards.beat("one", "one", { ...report, spoolRows: 5 });
    });
    afterAll(() => world.close());

    const overview = async () => (await world.send("GET", "/api/v1/overview")).body;
    const later = (): void => {
      world.clock.nowMs += 1_000;
    };

    it("has a place for each monitor in every column, by name", async () => {
      const [b, a, c] = ids;
      const expiresAt = new Date(world.clock.nowMs + 6 * 86_400_000).toISOString();
      expect(await overview()).toEqual({
        at: new Date(world.clock.nowMs).toISOString(),
        counts: { healthy: 0, down: 1, degraded: 0, partial: 0, paused: 1, unknown: 1, maintenance: 0 },
        incidents: { active: 1, unacknowledged: 1 },
        service: { late_p99_ms: 4, silent: 2, spool_rows: 5, condition: null },
        expiring: [{ what: "certificate", id: b, expires_at: expiresAt }],
        kinds: ["ping", "http"],
        tags: ["blue", "prod"],
        subscriptions: [],
        ids: [a, b, c],
        names: ["A", "b", "c"],
        interval_s: [180, 180, 180],
        kind: [0, 1, 0],
        tag: [[1], [1, 0], []],
        subscription: [null, null, null],
        status: "udz",
        latency_ms: [null, null, null],
        checked_s: [null, 3, null],
        since_s: [null, 60, 0],
      });
      expect((await world.send("GET", "/api/v1/tags")).body).toEqual({
        tags: [
          { tag: "blue", servers: 1, down: 1, degraded: 0 },
          { tag: "prod", servers: 2, down: 1, degraded: 0 },
        ],
        total: 2,
      });
    });

    it("is kept for a second, then tells what changed, and why results are late", async () => {
      later();
      const before = await world.send("GET", "/api/v1/overview");
      const body = { name: "B2", tags: ["<b>"] };
      await world.send("PUT", `/api/v1/servers/${ids[0]}`, { body });
      world.condition.text = "results are away";
      const again = await world.send("GET", "/api/v1/overview", {
        headers: { "if-none-match": before.headers.etag ?? "" },
      });
      expect(again.status).toBe(304);
      later();
      expect(await overview()).toMatchObject({
        names: ["A", "B2", "c"],
        tags: ["<b>", "prod"],
        service: { condition: "results are away" },
      });
      world.condition.text = null;
      await world.send("POST", "/api/v1/maintenances", {
        body: {
          server_ids: [`srv_${ids[0]}`, `srv_${ids[2]}`],
          ends_at: new Date(world.clock.nowMs + 60_000).toISOString(),
        },
      });
      later();
      expect(await overview()).toMatchObject({ status: "umz", counts: { maintenance: 1, paused: 1, down: 0 } });
    });

    it("is the same for those who wait for it together, and another project has its own", async () => {
      later();
      const answers = await Promise.all(Array.from({ length: 5 }, () => world.send("GET", "/api/v1/overview")));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const project = world.sql(
        "insert into projects (organization_id, name, active, created_at_ms) values (?, 'Empty', 1, 1)",
        world.organizationId,
      );
      const empty = await world.send("GET", "/api/v1/overview", { project: `prj_${project}` });
      expect(empty.body).toMatchObject({ ids: [], status: "", kinds: [], service: { late_p99_ms: null } });
    });

    it("has views, which are a person's own or everyone's", async () => {
      const ask = (method: string, path: string, body?: unknown, key = world.key) =>
        world.send(method, `/api/v1/views${path}`, { key, ...(body !== undefined && { body }) });
      const { userId } = (await world.controlPlane.accounts.addMember(
        ...([world.organizationId, { email: "vic@test-site.org", name: null }, "viewer", world.clock.nowMs] as const),
      )) ?? { userId: 0 };
      const viewer = await world.newKey({ userId, organizationId: world.organizationId });
      const mine = (await ask("POST", "", { name: " Mine ", query: "q=status%3Adown" })).body;
      expect(mine).toEqual({
        id: expect.stringMatching(/^viw_/),
        name: "Mine",
        query: "q=status%3Adown",
        shared: false,
      });
      const ours = (await ask("POST", "", { name: "Ours", query: "q=<b>", shared: true })).body;
      expect((await ask("POST", "", { name: "Mine", query: "q=x" })).body).toEqual({ ...mine, query: "q=x" });
      expect((await ask("GET", "")).body).toEqual({ views: [{ ...mine, query: "q=x" }, ours], total: 2 });
      expect((await ask("GET", "", undefined, viewer)).body.views).toEqual([ours]);
      const own = (await ask("POST", "", { name: "Mine", query: "q=y" }, viewer)).body;
      const forEditors = "Views of everyone are saved and removed by owners, admins and managers.";
      const refused = [
        ask("POST", "", { name: "Ours", query: "q=z", shared: true }, viewer),
        ask("DELETE", `/${ours.id}`, undefined, viewer),
        ask("DELETE", `/${own.id}`),
        ask("DELETE", "/spg_1"),
        ask("POST", "", { name: "x".repeat(61), query: "q=z" }),
        ask("POST", "", { name: "\u0000", query: "q=z" }),
        ask("POST", "", { name: "x", query: "x".repeat(2_001) }),
        ask("POST", "", { name: "x", query: "q=z", shared: "yes" }),
      ];
      expect((await Promise.all(refused)).map(({ status, body }) => [status, body.message])).toEqual([
        [403, forEditors],
        [403, forEditors],
        [404, "View not found"],
        [400, "Invalid view ID"],
        [400, "name must be a text of 1 to 60 characters."],
        [400, "name must be a text of 1 to 60 characters."],
        [400, "query must be a text of 1 to 2000 characters."],
        [400, "shared must be true or false."],
      ]);
      const many = Array.from({ length: 20 }, (_, n) => ask("POST", "", { name: `v${n}`, query: "q=z" }));
      const full = (await Promise.all(many)).filter(({ status }) => status !== 200);
      expect(full.map(({ body }) => body.message)).toEqual(["There are 20 views: remove one first."]);
      expect((await ask("DELETE", `/${ours.id}`)).body).toEqual({ success: true, id: ours.id });
      const { entries } = (await world.send("GET", "/api/v1/audit?what=view&limit=1")).body;
      expect(entries).toMatchObject([{ what: "view.removed", subject: { id: ours.id, name: "Ours" } }]);
    });

    it("comes again after the database was away", async () => {
      later();
      world.sql("alter table live rename to gone");
      expect((await world.send("GET", "/api/v1/overview")).status).toBe(503);
      world.sql("alter table gone rename to live");
      expect((await overview()).names).toEqual(["A", "B2", "c"]);
    });

    it("narrows the list of monitors to tags, ids and a subscription, in another order", async () => {
      const names = async (query: string) =>
        (await world.send("GET", `/api/v1/servers?family=all&${query}`)).body.servers
          ?.map((row: { name: string }) => row.name)
          .join(" ");
      expect(await names("tag=prod")).toBe("A");
      expect(await names("tag=PROD&tag=%3Cb%3E")).toBe("");
      expect(await names("tag=&tag=%3Cb%3E")).toBe("B2");
      expect(await names("tag=%00")).toBe("");
      expect(await names(`ids=${ids[2]},srv_${ids[1]},999`)).toBe("A c");
      expect(await names("subscription_id=5")).toBe("");
      expect(await names("sort=status")).toBe("B2 A c");
      expect(await names("sort=name&order=desc")).toBe("c B2 A");
      const refusals = await Promise.all(
        [
          `ids=${Array(1_001).fill(1)}`,
          "ids=1,,2",
          "subscription_id=srv_1",
          "sort=age",
          "order=up",
          Array(21).fill("tag=a").join("&"),
        ].map(async (query) => (await world.send("GET", `/api/v1/servers?${query}`)).body.message),
      );
      expect(refusals).toEqual([
        "ids must be at most 1000 ids between commas.",
        "ids must be at most 1000 ids between commas.",
        "Invalid subscription ID",
        "sort must be name, status, latency or checked.",
        "order must be asc or desc.",
        "tag may be sent 20 times at most.",
      ]);
    });

    it("narrows the list of incidents, and acknowledges many", async () => {
      const list = async (query: string) => (await world.send("GET", `/api/v1/incidents?${query}`)).body;
      const [incident] = (await list("")).incidents;
      const started = encodeURIComponent(incident.started_at);
      for (const query of ["acknowledged=false", "severity=critical", "tag=%3CB%3E", `from=${started}&to=${started}`]) {
        expect([query, (await list(query)).total]).toEqual([query, 1]);
      }
      for (const query of ["acknowledged=true", "severity=warning", "tag=prod", "to=2020-01-01", "offset=1"]) {
        expect([query, (await list(query)).total]).toEqual([query, 0]);
      }
      const refused = ["from=soon", "to=x", "acknowledged=1", "severity=bad", "from=2026-01-02&to=2026-01-01"];
      expect(await Promise.all(refused.map(async (query) => (await list(query)).message))).toEqual([
        "from must be an ISO time, such as 2026-11-21T06:10:00Z.",
        "to must be an ISO time, such as 2026-11-21T06:10:00Z.",
        "acknowledged must be true or false.",
        "severity must be critical or warning.",
        "from must not be after to.",
      ]);
      const acknowledge = async (body: object) =>
        (await world.send("POST", "/api/v1/incidents/acknowledge", { body })).body;
      expect(await acknowledge({ ids: [] })).toMatchObject({ message: "ids must be a list of 1 to 500 incident ids." });
      expect(await acknowledge({ ids: [5] })).toMatchObject({ message: "Invalid incident ID" });
      const long = { ids: [incident.id], note: "x".repeat(501) };
      expect(await acknowledge(long)).toMatchObject({ message: "note must be a string of at most 500 characters." });
      const all = { ids: [incident.id, incident.id, "inc_999"], note: "on it" };
      expect(await acknowledge(all)).toEqual({ acknowledged: 1, unchanged: 0, total: 1 });
      expect(await acknowledge(all)).toEqual({ acknowledged: 0, unchanged: 1, total: 1 });
      later();
      expect((await overview()).incidents).toEqual({ active: 1, unacknowledged: 0 });
    });
  });
}
