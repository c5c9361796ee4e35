/** Lists and searches of monitors, and how their live state is shown. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorld, type World } from "./world.suite.ts";

export function listsSuite(server: "net" | "node"): void {
  describe("lists of monitors", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
      const bodies = [
        { type: "http", name: "beta", url: "https://b.test-site.org/", tags: ["Blue"] },
        { type: "ping", name: "Alpha", host: "a.test-site.org" },
        { type: "ping", name: "gamma", host: "c.test-site.org", active: false },
      ];
      for (const body of bodies) expect((await world.send("POST", "/api/v1/servers", { body })).status).toBe(200);
    });
    afterAll(() => world.close());

    const names = async (query: string) => {
      const { servers, total } = (await world.send("GET", `/api/v1/servers?${query}`)).body;
      return [servers.map((row: { name: string }) => row.name).join(" "), total];
    };

    it("filters and pages", async () => {
      expect(await names("")).toEqual(["", 0]);
      expect(await names("family=uptime")).toEqual(["Alpha beta gamma", 3]);
      expect(await names("family=all&limit=1&offset=1")).toEqual(["beta", 3]);
      expect(await names("family=all&active_only=1")).toEqual(["Alpha beta", 2]);
      expect(await names("family=all&active_only=yes")).toEqual(["Alpha beta gamma", 3]);
      expect(await names("family=all&status=paused")).toEqual(["gamma", 1]);
      expect(await names("family=all&status=&limit=&offset=")).toEqual(["Alpha beta gamma", 3]);
      expect(await names("family=all&protocol=ping")).toEqual(["Alpha gamma", 2]);
      expect(await names("family=all&protocol=nope")).toEqual(["", 0]);
      expect(await names("family=all&name=%20LPH%20")).toEqual(["Alpha", 1]);
      expect(await names("family=all&q=alpha&search=beta")).toEqual(["beta", 1]);
      expect(await names("family=all&q=alpha&search=beta&name=gamma")).toEqual(["gamma", 1]);
      expect(await names("family=all&name=%25")).toEqual(["", 0]);
      // The greatest that the document names.
      expect(await names(`family=all&offset=${Number.MAX_SAFE_INTEGER}`)).toEqual(["", 3]);
    });

    it.each([
      ["family=vpn", "family must be tunnel, uptime or all"],
      ["status=up", "status must be healthy, down, degraded, partial, paused or unknown."],
      ["limit=0", "limit must be a whole number from 1 to 1000."],
      ["limit=1001", "limit must be a whole number from 1 to 1000."],
      ["limit=1.5", "limit must be a whole number from 1 to 1000."],
      ["limit=+5", "limit must be a whole number from 1 to 1000."],
      ["offset=-1", "offset must be a whole number, 0 or more."],
      ["offset=9e9", "offset must be a whole number, 0 or more."],
      ["offset=9007199254740992", "offset must be a whole number, 0 or more."],
      [`name=${"x".repeat(256)}`, "name must be at most 255 characters."],
    ])("refuses %s", async (query, message) => {
      expect((await world.send("GET", `/api/v1/servers?${query}`)).body).toEqual({ error: true, code: 400, message });
    });

    it("adds lateness when asked to explain", async () => {
      const plain = (await world.send("GET", "/api/v1/servers?family=all")).body.servers[0];
      const explained = (await world.send("GET", "/api/v1/servers?family=all&explain=1")).body.servers[0];
      expect(explained).toEqual({ ...plain, lateness_ms: null });
    });

    it("searches names, hosts, tags and ids across projects", async () => {
      const project = world.sql(
        "insert into projects (organization_id, name, active, created_at_ms) values (?, 'Second', 1, 1)",
        world.organizationId,
      );
      const other = await world.send("POST", "/api/v1/servers", {
        project: `prj_${project}`,
        body: { type: "ping", name: "Delta", host: "a.other-site.org" },
      });
      const found = async (query: string) =>
        (await world.send("GET", `/api/v1/servers/search?${query}`, { project: null })).body;
      expect((await found("q=delta")).servers).toEqual([
        {
          ...other.body,
          project_id: `prj_${project}`,
          project_name: "Second",
          organization_id: world.organizationId,
          organization_name: "Acme",
        },
      ]);
      expect((await found("q=blue")).total).toBe(1);
      expect((await found("q=test-site")).total).toBe(3);
      expect((await found("q=a.&limit=1")).servers).toHaveLength(1);
      expect((await found(`q=${other.body.id}`)).servers[0].name).toBe("Delta");
      expect((await found("q=%20")).message).toBe("q is required");
      expect((await found("")).message).toBe("q is required");
      expect((await found(`q=${"x".repeat(256)}`)).message).toBe("q is required");
      const account = await world.newKey({ userId: world.userId, organizationId: null });
      expect(
        (await world.send("GET", "/api/v1/servers/search?q=delta", { key: account, project: null })).body.total,
      ).toBe(1);
      world.sql("update projects set active = 0 where id = ?", project);
      expect((await found("q=delta")).total).toBe(0);
    });

    it("shows live state as the contract words it", async () => {
      const id = (await world.send("GET", "/api/v1/servers?family=all&name=beta")).body.servers[0].id;
      const monitorId = Number(id.slice(4));
      const now = await world.controlPlane.monitors.find(world.projectId, monitorId);
      if (now === undefined) throw new Error("no monitor");
      const atMs = Date.UTC(2026, 10, 21, 6, 9, 59, 120);
      await world.controlPlane.sink.apply({
        spool: "spool",
        appliedSeq: 1,
        incidents: [],
        drainedInboxIds: [],
        live: [
          {
            ...now.live,
            status: "down",
            lastCheckedAtMs: atMs,
            region: "any",
            latenessMs: 3,
            certificate: { valid: true, expiresAtMs: world.clock.nowMs + 86_400_000 * 9.5 },
            locations: {
              any: {
                status: "down",
                confirmed: "down",
                notPassed: 2,
                failingSinceMs: atMs,
                lastCheckAtMs: atMs,
                pingMs: null,
                errorCategory: "timeout",
              },
            },
          },
        ],
      });
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body).toMatchObject({
        status: "down",
        aggregate_status: "down",
        region: "any",
        last_checked: "2026-11-21 06:09:59",
        certificate: { valid: true, days_remaining: 9 },
        regional_status: {
          any: { status: "down", last_check: "2026-11-21T06:09:59.120Z", ping_ms: null, error_category: "timeout" },
        },
      });
      expect(
        (await world.send("GET", "/api/v1/servers?family=all&status=down&explain=1")).body.servers[0].lateness_ms,
      ).toBe(3);
    });
  });
}
