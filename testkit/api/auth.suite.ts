/** Keys, projects, roles, throttle, limits, unknown paths: everything before a handler. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overridePlans } from "../../model/plan.ts";
import { openWorld, START_MS, type World } from "./world.suite.ts";

export function authSuite(server: "net" | "node"): void {
  describe("who calls", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const error = (code: number, message: string) => ({ error: true, code, message });

    it("takes a key by either header", async () => {
      expect((await world.send("GET", "/api/v1/servers")).status).toBe(200);
      const bearer = await world.send("GET", "/api/v1/servers", {
        key: null,
        headers: { authorization: `Bearer ${world.key}` },
      });
      expect(bearer.status).toBe(200);
      const dashboard = await world.newKey({
        userId: world.userId,
        organizationId: world.organizationId,
        prefix: "dk",
      });
      expect((await world.send("GET", "/api/v1/servers", { key: dashboard })).status).toBe(200);
    });

    it("asks for a key", async () => {
      const message = "API key is required. Provide X-API-Key header or Authorization: Bearer <key>";
      for (const headers of [{}, { "x-api-key": " " }, { authorization: "Basic YTpi" }, { authorization: "Bearer" }]) {
        const answer = await world.send("GET", "/api/v1/servers", { key: null, headers });
        expect(answer.body).toEqual(error(401, message));
        expect(answer.headers["www-authenticate"]).toBe("Bearer");
        expect(answer.headers["x-ratelimit-limit"]).toBeUndefined();
      }
    });

    it("tells expired, switched-off, ownerless and removed keys apart", async () => {
      const { userId, organizationId } = world;
      const at = START_MS;
      const expired = await world.newKey({ userId, organizationId, expiresAtMs: at });
      expect((await world.send("GET", "/api/v1/servers", { key: expired })).body).toEqual(
        error(401, "API key has expired"),
      );

      const other = world.sql(
        "insert into users (email, email_key, name, active, created_at_ms) values ('b@test-site.org', 'b@test-site.org', 'Bob', 1, ?)",
        at,
      );
      world.sql(
        "insert into memberships (organization_id, user_id, role, created_at_ms) values (?, ?, 'manager', ?)",
        organizationId,
        other,
        at,
      );
      const key = await world.newKey({ userId: other, organizationId });
      expect((await world.send("GET", "/api/v1/servers", { key })).status).toBe(200);
      world.sql("update users set active = 0 where id = ?", other);
      expect((await world.send("GET", "/api/v1/servers", { key })).body).toEqual(
        error(401, "API key owner account is inactive"),
      );
      world.sql("update users set active = 1 where id = ?", other);
      world.sql("delete from memberships where user_id = ?", other);
      const removed = error(401, "This API key's workspace access has been removed");
      expect((await world.send("GET", "/api/v1/servers", { key })).body).toEqual(removed);
    });

    it("stops a revoked key with the next request", async () => {
      const key = await world.newKey({ userId: world.userId, organizationId: world.organizationId });
      expect((await world.send("GET", "/api/v1/servers", { key })).status).toBe(200);
      world.sql("update api_keys set active = 0 where id = ?", Number(/\d+/.exec(key)?.[0]));
      const answer = await world.send("GET", "/api/v1/servers", { key });
      expect(answer.body).toEqual(error(401, "Invalid or expired API key"));
      world.sql("delete from api_keys where id = ?", Number(/\d+/.exec(key)?.[0]));
      expect((await world.send("GET", "/api/v1/servers", { key })).status).toBe(401);
    });

    it("wants a project, and one the key reaches", async () => {
      const get = (project: string | null) => world.send("GET", "/api/v1/servers", { project });
      expect((await get(null)).body).toEqual(error(400, "X-Project-Id header is required"));
      for (const bad of ["0", "prj_", "srv_1", "-1", "1.5", "prj_1 2", "1e3", "99999999999999999999"]) {
        expect((await get(bad)).body).toEqual(error(400, "Invalid X-Project-Id header"));
      }
      expect((await get(String(world.projectId))).status).toBe(200);
      const missing = await get("prj_999");
      expect(missing.body).toEqual(error(404, "Project not found or inactive"));
      expect(missing.headers["x-ratelimit-limit"]).toBe("1000000000");

      const inactive = world.sql(
        "insert into projects (organization_id, name, active, created_at_ms) values (?, 'Old', 0, 1)",
        world.organizationId,
      );
      expect((await get(`prj_${inactive}`)).status).toBe(404);
      const acme2 = world.sql(
        "insert into workspaces (name, plan, suspended, created_at_ms) values ('Other', 'pro', 0, 1)",
      );
      const foreign = world.sql(
        "insert into projects (organization_id, name, active, created_at_ms) values (?, 'P', 1, 1)",
        acme2,
      );
      expect((await get(`prj_${foreign}`)).body).toEqual(
        error(403, "This API key is scoped to a different organization"),
      );

      const account = await world.newKey({ userId: world.userId, organizationId: null });
      const refused = await world.send("GET", "/api/v1/servers", { key: account, project: `prj_${foreign}` });
      expect(refused.body).toEqual(error(403, "You do not have access to this project"));
      expect(refused.headers["x-ratelimit-limit"]).toBe("1000000000");
      expect((await world.send("GET", "/api/v1/servers", { key: account })).status).toBe(200);
      expect((await world.send("GET", "/api/v1/servers", { key: account, project: null })).status).toBe(400);
      // The project's workspace decides.
      world.sql(
        "insert into memberships (organization_id, user_id, role, created_at_ms) values (?, ?, 'viewer', 1)",
        acme2,
        world.userId,
      );
      const reached = await world.send("GET", "/api/v1/servers", { key: account, project: `prj_${foreign}` });
      expect(reached.status).toBe(200);
      expect(reached.headers["x-ratelimit-limit"]).toBe("60");
    });

    it("keeps viewers from changing anything", async () => {
      const viewer = world.sql(
        "insert into users (email, email_key, name, active, created_at_ms) values ('v@test-site.org', 'v@test-site.org', null, 1, 1)",
      );
      world.sql(
        "insert into memberships (organization_id, user_id, role, created_at_ms) values (?, ?, 'viewer', 1)",
        world.organizationId,
        viewer,
      );
      const key = await world.newKey({ userId: viewer, organizationId: world.organizationId });
      const says = async (method: string, path: string) => (await world.send(method, path, { key, body: {} })).body;
      expect(await says("POST", "/api/v1/servers")).toEqual(
        error(403, "You do not have permission to create monitors in this project"),
      );
      // Role before path id (docs/api-contract.md#order-of-checks).
      expect(await says("PUT", "/api/v1/servers/x")).toEqual(
        error(403, "You do not have permission to edit this monitor"),
      );
      expect(await says("DELETE", "/api/v1/servers/1")).toEqual(
        error(403, "You do not have permission to delete this monitor"),
      );
      expect(await says("POST", "/api/v1/incidents/1/acknowledge")).toEqual(
        error(403, "You do not have permission to edit this project"),
      );
      expect((await world.send("GET", "/api/v1/servers", { key })).status).toBe(200);
    });

    it("answers unknown paths and wrong methods before asking who calls", async () => {
      for (const path of [
        "/index.html",
        "/api/v1",
        "/api/v1/",
        "/api/v1/nope",
        "/api/v1/servers/",
        "/api/v1//servers",
        "/api/v1/servers/../keys",
        "/api/v1/servers/1/2/3",
      ]) {
        const answer = await world.send("GET", path, { key: null });
        expect([path, answer.body]).toEqual([path, error(404, "Not found")]);
        expect(answer.headers["x-ratelimit-limit"]).toBeUndefined();
      }
      const wrong = await world.send("DELETE", "/api/v1/servers", { key: null });
      expect(wrong.body).toEqual(error(405, "Method not allowed"));
      expect(wrong.headers.allow).toBe("GET, HEAD, POST");
      expect(wrong.headers["x-ratelimit-limit"]).toBeUndefined();
      expect((await world.send("PATCH", "/api/v1/servers/1")).headers.allow).toBe("GET, HEAD, PUT, DELETE");
      expect((await world.send("POST", "/api/v1/servers/search")).headers.allow).toBe("GET, HEAD");
      expect((await world.send("OPTIONS", "/api/v1/servers")).status).toBe(405);
    });

    it("answers HEAD as GET without the body", async () => {
      const get = await world.send("GET", "/api/v1/servers");
      const head = await world.send("HEAD", "/api/v1/servers");
      expect([head.status, head.text]).toEqual([200, ""]);
      expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    });
  });

  describe("wrong keys", () => {
    it("lets an address send ten a minute, then one every six seconds", async () => {
      const world = await openWorld(server);
      const wrong = (key = "uk1_wrong") => world.send("GET", "/api/v1/servers", { key });
      // Missing, expired and switched-off keys do not count (docs/api-contract.md#order-of-checks).
      for (let index = 0; index < 15; index++)
        expect((await world.send("GET", "/api/v1/servers", { key: null })).status).toBe(401);
      const none = [
        "x",
        "uk1",
        "uk0_a",
        "uk1_",
        `uk${world.keyId}_wrong`,
        "uk99_abc",
        "uk1 x",
        "xk1_a",
        "constructor",
        "__proto__",
      ];
      for (const key of none) {
        const answer = await world.send("GET", "/api/v1/servers", {
          key: null,
          headers: { authorization: `Bearer ${key}` },
        });
        expect(answer.body).toEqual({ error: true, code: 401, message: "Invalid or expired API key" });
      }
      const throttled = await world.send("GET", "/api/v1/servers");
      expect(throttled.status).toBe(429);
      expect(throttled.body).toMatchObject({ error: true, code: 429, retry_after: 6 });
      expect(throttled.headers["retry-after"]).toBe("6");
      expect((await world.send("GET", "/api/v1/health")).status).toBe(200);
      world.clock.nowMs += 6_000;
      expect((await world.send("GET", "/api/v1/servers")).status).toBe(200);
      expect((await wrong()).status).toBe(401);
      expect((await wrong()).status).toBe(429);
      await world.close();
    });

    it("counts the addresses of one IPv6 network as one, and no further", async () => {
      const world = await openWorld(server, { trustedProxies: ["127.0.0.0/8"] });
      const from = (address: string, key?: string) =>
        world.send("GET", "/api/v1/servers", {
          headers: { "x-forwarded-for": address },
          ...(key !== undefined && { key }),
        });
      for (let index = 0; index < 10; index++)
        expect((await from(`2001:db8:1:2::${index}`, "uk1_wrong")).status).toBe(401);
      expect((await from("2001:db8:1:2:ffff::1", "uk1_wrong")).status).toBe(429);
      expect((await from("2001:db8:1:2:aaaa::1")).status).toBe(429);
      expect((await from("2001:db8:1:3::1")).status).toBe(200);
      await world.close();
    });

    it.each(["ack", "confirm"])("counts the addresses of one IPv6 network as one at /%s", async (where) => {
      const world = await openWorld(server, { trustedProxies: ["127.0.0.0/8"] });
      const from = (address: string) =>
        world.send("GET", `/${where}/x`, { key: null, project: null, headers: { "x-forwarded-for": address } });
      for (let index = 0; index < 60; index++) expect((await from(`2001:db8:1:2::${index}`)).status).toBe(404);
      expect((await from("2001:db8:1:2:ffff::1")).status).toBe(429);
      expect((await from("2001:db8:1:3::1")).status).toBe(404);
      await world.close();
    });

    it("reads the forwarded address of the nearest proxy, also where each proxy wrote a line of its own", async () => {
      const world = await openWorld(server, { trustedProxies: ["127.0.0.0/8"] });
      const from = (lines: readonly string[]): Promise<number> =>
        statusOf(world.api.port, [
          "GET /api/v1/servers HTTP/1.1",
          "Host: a",
          "X-API-Key: uk1_wrong",
          ...lines.map((line) => `X-Forwarded-For: ${line}`),
        ]);
      // The first line is the caller's own invention.
      for (let index = 0; index < 10; index++) expect(await from([`203.0.113.${index}`, "198.51.100.7"])).toBe(401);
      expect(await from(["203.0.113.200", "198.51.100.7"])).toBe(429);
      await world.close();
    });

    it("believes a forwarded address from a trusted proxy only", async () => {
      const world = await openWorld(server, { trustedProxies: ["127.0.0.0/8"] });
      const from = (address: string, key?: string) =>
        world.send("GET", "/api/v1/servers", {
          headers: { "x-forwarded-for": address },
          ...(key !== undefined && { key }),
        });
      for (let index = 0; index < 10; index++) await from("6.6.6.6, 198.18.0.1", "uk1_wrong");
      expect((await from("6.6.6.6, 198.18.0.1")).status).toBe(429);
      expect((await from("198.18.0.1, 198.18.0.2")).status).toBe(200);
      expect((await from("garbage")).status).toBe(200);
      await world.close();
    });
  });

  describe("usage limits", () => {
    const plans = (most: Partial<Record<"requestsPerMinute" | "requestsPerDay" | "requestsPerMonth", number>>) =>
      overridePlans({ business: { requestsPerMinute: 1000, requestsPerDay: 1000, requestsPerMonth: 1000, ...most } });

    it("counts down the minute and starts anew with the next", async () => {
      const world = await openWorld(server, { plans: plans({ requestsPerMinute: 2 }) });
      const first = await world.send("GET", "/api/v1/servers");
      const minuteEnds = String(Date.UTC(2026, 10, 21, 6, 11) / 1_000);
      expect(first.headers).toMatchObject({
        "x-ratelimit-limit": "2",
        "x-ratelimit-remaining": "1",
        "x-ratelimit-reset": minuteEnds,
      });
      // An error of a valid key counts and carries the headers.
      const second = await world.send("GET", "/api/v1/servers/x");
      expect([second.status, second.headers["x-ratelimit-remaining"]]).toEqual([400, "0"]);
      const third = await world.send("GET", "/api/v1/servers");
      expect(third.status).toBe(429);
      expect(third.body).toEqual({
        error: "Rate limit exceeded",
        message: "Per-minute limit of 2 requests exceeded",
        retry_after: 60,
      });
      expect(third.headers).toMatchObject({ "retry-after": "55", "x-ratelimit-remaining": "0" });
      expect((await world.send("GET", "/api/v1/health")).status).toBe(200);
      world.clock.nowMs += 60_000;
      expect((await world.send("GET", "/api/v1/servers")).status).toBe(200);
      expect(world.state.endpoints).toEqual([
        { endpoint: "GET /servers", isError: false },
        { endpoint: "GET /servers/{id}", isError: true },
        { endpoint: "GET /servers", isError: false },
      ]);
      await world.close();
    });

    it("says which of day and month is used up", async () => {
      const daily = await openWorld(server, { plans: plans({ requestsPerDay: 1 }) });
      await daily.send("GET", "/api/v1/servers");
      const day = await daily.send("GET", "/api/v1/servers");
      expect(day.body).toMatchObject({ error: "Daily limit exceeded", retry_after: 3600 });
      expect(day.headers["retry-after"]).toBe(String(17 * 3_600 + 49 * 60 + 55));
      await daily.close();
      const monthly = await openWorld(server, { plans: plans({ requestsPerMonth: 1 }) });
      await monthly.send("GET", "/api/v1/servers");
      const month = await monthly.send("GET", "/api/v1/servers");
      expect(month.body).toEqual({ error: "Monthly limit exceeded", message: "Monthly limit of 1 requests exceeded" });
      expect(month.headers["retry-after"]).toBeUndefined();
      await monthly.close();
    });

    it("refuses a plan without API access, before limits and project", async () => {
      const world = await openWorld(server);
      world.sql("update workspaces set plan = 'free'");
      const answer = await world.send("GET", "/api/v1/servers", { project: null });
      expect(answer.body).toEqual({
        error: true,
        code: 403,
        message: "API access isn't included on this workspace's plan.",
      });
      expect(answer.headers).toMatchObject({ "x-ratelimit-limit": "0", "x-ratelimit-remaining": "0" });
      await world.close();
    });

    it("answers 503 when a store is away, and writes when keys were used", async () => {
      const world = await openWorld(server);
      world.state.isAway = true;
      const away = await world.send("GET", "/api/v1/servers");
      expect(away.status).toBe(503);
      expect(away.headers["retry-after"]).toBe("5");
      world.state.isAway = false;
      await world.send("GET", "/api/v1/servers");
      await world.api.close();
      const access = await world.controlPlane.keys.access(world.keyId);
      expect(access?.key.lastUsedAtMs).toBe(START_MS);
      expect(world.log.join("")).not.toContain(world.key);
      await world.close();
    });
  });
}

/** The status of one request with these lines, as they are. */
function statusOf(port: number, lines: readonly string[]): Promise<number> {
  return new Promise((settle, fail) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`));
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", fail);
    socket.on("close", () => settle(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])));
  });
}
